"""Pipelines of scikit-learn, and those of imbalanced-learn, whose samplers change the training rows."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing

from ..._exceptions import NotUnderstoodError
from ...machines.wrappers import Layer
from ...search.routing import routing_enabled


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
