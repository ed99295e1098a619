"""Readers of estimators that contain a machine: a function and one line of ``register_wrapper`` for each kind."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing

from .._exceptions import NotUnderstoodError
from ..machines.wrappers import Layer, register_wrapper
from ..search.routing import routing_enabled


def pipeline(estimator: Pipeline, params: dict[str, Any]) -> Layer:
    """Transformers, and the last step behind them."""
    name, inner = estimator.steps[-1]
    transformers = estimator[:-1] if len(estimator.steps) > 1 else None
    if routing_enabled():
        final = dict(process_routing(estimator, "fit", **params)[name].fit) if params else {}
        wanted: set[str] = set()
        if params and transformers is not None:
            wanted = set(get_routing_for_object(transformers).consumes("fit_transform", params.keys()))
        before = {key: params[key] for key in wanted}
    else:
        prefix = f"{name}__"
        final = {key.removeprefix(prefix): value for key, value in params.items() if key.startswith(prefix)}
        before = {key: value for key, value in params.items() if not key.startswith(prefix)}
        if any("__" not in key for key in before):
            raise NotUnderstoodError("a Pipeline takes fit parameters as step__parameter only")
    return Layer(inner, name, final, transformers, before, prefixed=not routing_enabled())


def imblearn_pipeline(estimator: Pipeline, params: dict[str, Any]) -> Layer:
    """A Pipeline of imbalanced-learn: steps with ``fit_resample`` make the training rows, and are passed by others.

    A sampler whose ``random_state`` is None, or one that goes on from training to training, draws other rows each time,
    so that there is no one view of a fold.
    """
    layer = pipeline(estimator, params)
    samplers = [step for _, step in estimator.steps[:-1] if hasattr(step, "fit_resample")]
    if not samplers:
        return layer
    for sampler in samplers:
        states = [value for key, value in sampler.get_params().items() if key.split("__")[-1] == "random_state"]
        if not all(isinstance(state, Integral) for state in states):
            raise NotUnderstoodError(
                f"random_state of {type(sampler).__name__} is no number, so that every training draws rows of its own"
            )
    return Layer(layer.inner, layer.name, layer.params, None, layer.transformer_params, resamples=True, prefixed=True)


def transformed_target(estimator: TransformedTargetRegressor, params: dict[str, Any]) -> Layer:
    """The regressor; all metadata are its own."""
    if estimator.regressor is None:
        raise NotUnderstoodError("regressor=None of TransformedTargetRegressor is a LinearRegression")
    if routing_enabled() and params:
        params = dict(process_routing(estimator, "fit", **params).regressor.fit)
    return Layer(estimator.regressor, "regressor", params, transforms_target=True)


def each_output(estimator: MultiOutputRegressor, params: dict[str, Any]) -> Layer:
    """One regressor for each column of the target; all get the same metadata."""
    if routing_enabled() and params:
        params = dict(process_routing(estimator, "fit", **params).estimator.fit)
    return Layer(estimator.estimator, "estimator", params, separate="outputs")


def one_vs_rest(estimator: OneVsRestClassifier, params: dict[str, Any]) -> Layer:
    """One classifier for each class, or a single one for two classes."""
    if params:
        raise NotUnderstoodError("OneVsRestClassifier is given metadata")
    return Layer(estimator.estimator, "estimator", separate="classes")


register_wrapper(Pipeline, pipeline)
register_wrapper("imblearn.pipeline.Pipeline", imblearn_pipeline)
register_wrapper(TransformedTargetRegressor, transformed_target)
register_wrapper(MultiOutputRegressor, each_output)
register_wrapper(OneVsRestClassifier, one_vs_rest)
