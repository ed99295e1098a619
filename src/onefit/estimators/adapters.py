"""Readers of estimators: of a machine, to its learner, kernel and penalty; of what contains one, to a ``Layer``.

Each kind has a function, and one line of ``register_reader`` or ``register_wrapper``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR
from sklearn.utils.metadata_routing import get_routing_for_object, process_routing

from .. import kernels
from .._checks import check_number
from .._exceptions import NotUnderstoodError
from ..data.coding import Pairs
from ..kernels.naming import kernel_of
from ..machines.contract import Machine
from ..machines.registry import Layer, register_linear_reader, register_reader, register_wrapper
from ..search.routing import routing_enabled
from ..solvers.least_squares.learner import SquareLoss
from ..solvers.logistic import newton as logistic_newton
from ..solvers.logistic.learner import Logistic
from ..solvers.svm.dual import TOLERANCE
from ..solvers.svm.learner import EpsilonInsensitive, Hinge, SquaredHinge
from .kernel_logistic import KernelLogisticRegression
from .ls_svm import LSSVC, LSSVR
from .support_vector import L2SVC, EpsilonSVR, HingeSVC, SupportVectorMachine

DIRECT_SOLVERS = ("auto", "cholesky", "svd")
"""Solvers of Ridge that find the solution itself: others stop at ``tol``."""


def _ridges_of(estimator) -> tuple[float, ...]:
    """One penalty, or one per target; errors name the estimator."""
    try:
        penalties = np.atleast_1d(np.asarray(estimator.alpha, dtype=np.float64))
    except (TypeError, ValueError):
        penalties = np.array([np.nan])
    if penalties.ndim != 1 or not np.isfinite(penalties).all() or (penalties < 0).any():
        raise ValueError(
            f"alpha of {type(estimator).__name__} must be finite and non-negative, got {estimator.alpha!r}."
        )
    return tuple(penalties.tolist())


def _kernel_ridge(estimator) -> Machine:
    if estimator.kernel == "chi2" and estimator.gamma is None:
        raise NotUnderstoodError("KernelRidge cannot be fitted with the chi2 kernel and gamma=None")
    return Machine(SquareLoss(bias=False), kernel_of(estimator, auto=False), _ridges_of(estimator))


def _ridge(estimator) -> Machine:
    return _linear_least_squares(estimator, _ridges_of(estimator))


def _ridge_classifier(estimator) -> Machine:
    # its balanced weights count rows, whatever these weigh
    class_weight = _class_weight_of(estimator, zero=False)
    return replace(
        _linear_least_squares(estimator, _single_ridge(estimator)), class_weight=class_weight, balance_weighted=False
    )


def _linear_least_squares(estimator, ridges: tuple[float, ...]) -> Machine:
    """Least squares in the features themselves; what is not the exact solution of a ridge is left to scikit-learn."""
    name = type(estimator).__name__
    if estimator.positive or estimator.solver not in DIRECT_SOLVERS:
        raise NotUnderstoodError(f"{name} with solver={estimator.solver!r}, positive={estimator.positive}")
    if min(ridges) <= 0:
        raise NotUnderstoodError(f"{name} with alpha=0 may have many solutions")
    return Machine(SquareLoss(bool(estimator.fit_intercept)), kernels.Linear(), ridges)


def _ls_svm(estimator) -> Machine:
    learner = SquareLoss(bool(estimator.fit_intercept), minimum_norm=True)
    class_weight = _class_weight_of(estimator) if isinstance(estimator, LSSVC) else None
    return Machine(learner, kernel_of(estimator, auto=False), _single_ridge(estimator), class_weight)


def _class_weight_of(estimator, zero: bool = True):
    """None, "balanced" or a tuple of pairs; errors name the estimator.

    Weights that are negative, or zero where that is not allowed, are left to the estimator itself.
    """
    weight = estimator.class_weight
    if weight is not None and not isinstance(weight, Mapping) and weight != "balanced":
        name = type(estimator).__name__
        raise ValueError(f'class_weight of {name} must be None, "balanced" or a dict, got {weight!r}.')
    if isinstance(weight, Mapping):
        if not all(np.isfinite(value) and (value > 0 or (zero and value == 0)) for value in weight.values()):
            raise NotUnderstoodError(f"class_weight={weight!r} has weights that are not positive numbers")
        weight = tuple(sorted(dict(weight).items(), key=lambda item: str(item[0])))
    return weight


def _svm_kernel_of(estimator):
    """The kernel of a support vector machine: gamma may be "auto" or "scale"; callables take two matrices."""
    kernel, own = estimator.kernel, isinstance(estimator, SupportVectorMachine)
    if callable(kernel) and not isinstance(kernel, kernels.Kernel) and not own:
        raise NotUnderstoodError(f"{type(estimator).__name__} has a callable kernel")
    if own:
        _check_number(estimator, "tol", finite=False)
    else:
        _check_as_scikit_learn(estimator)
    return kernel_of(estimator)


def _check_as_scikit_learn(estimator) -> None:
    """Refuse what SVC and SVR would refuse when they are fitted, before any work."""
    name, kernel = type(estimator).__name__, estimator.kernel
    if isinstance(kernel, str) and kernel not in ("linear", "poly", "rbf", "sigmoid", "precomputed"):
        raise ValueError(f"kernel of {name} must be linear, poly, rbf, sigmoid or precomputed, got {kernel!r}.")
    if estimator.gamma is None:
        raise ValueError(f'gamma of {name} must be "scale", "auto" or a number, got None.')
    _check_number(estimator, "tol", finite=False)
    _check_number(estimator, "cache_size", finite=False)
    if not isinstance(estimator.shrinking, bool | np.bool_):
        raise ValueError(f"shrinking of {name} must be True or False, got {estimator.shrinking!r}.")


def _check_number(estimator, parameter: str, sign: str = "positive", *, finite: bool = True) -> None:
    check_number(f"{parameter} of {type(estimator).__name__}", getattr(estimator, parameter), sign, finite=finite)


def _box_of(estimator) -> tuple[float, ...]:
    if isinstance(estimator.C, Real) and np.isposinf(float(estimator.C)):
        raise NotUnderstoodError("C is infinite, and the margin hard")
    _check_number(estimator, "C")
    return (float(estimator.C),)


def _refuse_limit(estimator) -> None:
    if estimator.max_iter != -1:
        raise NotUnderstoodError(f"max_iter={estimator.max_iter} stops the solver before it is done")


def _svc(estimator) -> Machine:
    if estimator.probability not in (False, "deprecated"):
        raise NotUnderstoodError(
            "probability=True trains five more machines in every fold (search without it, then call "
            "onefit.calibrated(search): probabilities from out-of-fold decision values)"
        )
    _refuse_limit(estimator)
    shape, break_ties = estimator.decision_function_shape, bool(estimator.break_ties)
    if shape not in ("ovr", "ovo") or (shape == "ovo" and break_ties):
        raise NotUnderstoodError(f"decision_function_shape={shape!r} with break_ties={break_ties}")
    return Machine(
        Hinge(), _svm_kernel_of(estimator), _box_of(estimator), _class_weight_of(estimator, zero=False),
        pairs=Pairs(shape, break_ties), balance_weighted=False, stops_at_tol=True,
    )  # fmt: skip


def _own_classifier(estimator) -> Machine:
    _refuse_limit(estimator)
    return Machine(
        estimator.learner(), _svm_kernel_of(estimator), _box_of(estimator), _class_weight_of(estimator, zero=False),
        pairs=Pairs(), balance_weighted=estimator.balance_weighted, stops_at_tol=True,
        exact_tol=TOLERANCE,
    )  # fmt: skip


def _logistic(estimator) -> Machine:
    _refuse_limit(estimator)
    _check_number(estimator, "tol", finite=False)
    return Machine(
        Logistic(bool(estimator.fit_intercept)), kernel_of(estimator), _box_of(estimator), _class_weight_of(estimator),
        link=logistic_newton.probability, stops_at_tol=True, exact_tol=logistic_newton.TOLERANCE,
    )  # fmt: skip


def _svr(estimator) -> Machine:
    own = isinstance(estimator, EpsilonSVR)
    _check_number(estimator, "epsilon", "non-negative")
    _refuse_limit(estimator)
    learner = EpsilonInsensitive(bool(estimator.fit_intercept) if own else True, float(estimator.epsilon))
    kernel, box = _svm_kernel_of(estimator), _box_of(estimator)
    return Machine(learner, kernel, box, stops_at_tol=True, exact_tol=TOLERANCE if own else None)


def _single_ridge(estimator) -> tuple[float, ...]:
    penalties = _ridges_of(estimator)
    if len(penalties) != 1:
        raise ValueError(f"alpha of {type(estimator).__name__} must be one number, got {estimator.alpha!r}.")
    return penalties


register_reader(KernelRidge, _kernel_ridge, SquareLoss)
register_linear_reader(Ridge, _ridge, SquareLoss)
register_linear_reader(RidgeClassifier, _ridge_classifier, SquareLoss)
register_reader(LSSVC, _ls_svm, SquareLoss)
register_reader(LSSVR, _ls_svm, SquareLoss)
register_reader(SVC, _svc, Hinge)
register_reader(HingeSVC, _own_classifier, Hinge)
register_reader(L2SVC, _own_classifier, SquaredHinge)
register_reader(KernelLogisticRegression, _logistic, Logistic)
register_reader(SVR, _svr, EpsilonInsensitive)
register_reader(EpsilonSVR, _svr, EpsilonInsensitive)


def _pipeline(estimator: Pipeline, params: dict[str, Any]) -> Layer:
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


def _imblearn_pipeline(estimator: Pipeline, params: dict[str, Any]) -> Layer:
    """A Pipeline of imbalanced-learn: steps with ``fit_resample`` make the training rows, and are passed by others.

    A sampler whose ``random_state`` is None, or one that goes on from training to training, draws other rows each time,
    so that there is no one view of a fold.
    """
    layer = _pipeline(estimator, params)
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


def _transformed_target(estimator: TransformedTargetRegressor, params: dict[str, Any]) -> Layer:
    """The regressor; all metadata are its own."""
    if estimator.regressor is None:
        raise NotUnderstoodError("regressor=None of TransformedTargetRegressor is a LinearRegression")
    if routing_enabled() and params:
        params = dict(process_routing(estimator, "fit", **params).regressor.fit)
    return Layer(estimator.regressor, "regressor", params, transforms_target=True)


def _each_output(estimator: MultiOutputRegressor, params: dict[str, Any]) -> Layer:
    """One regressor for each column of the target; all get the same metadata."""
    if routing_enabled() and params:
        params = dict(process_routing(estimator, "fit", **params).estimator.fit)
    return Layer(estimator.estimator, "estimator", params, separate="outputs")


def _one_vs_rest(estimator: OneVsRestClassifier, params: dict[str, Any]) -> Layer:
    """One classifier for each class, or a single one for two classes."""
    if params:
        raise NotUnderstoodError("OneVsRestClassifier is given metadata")
    return Layer(estimator.estimator, "estimator", separate="classes")


register_wrapper(Pipeline, _pipeline)
register_wrapper("imblearn.pipeline.Pipeline", _imblearn_pipeline)
register_wrapper(TransformedTargetRegressor, _transformed_target)
register_wrapper(MultiOutputRegressor, _each_output)
register_wrapper(OneVsRestClassifier, _one_vs_rest)
