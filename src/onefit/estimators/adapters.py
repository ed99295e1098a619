"""What the estimators that the fast path understands ask for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import Pipeline

from .. import kernels
from ..core.machine import Machine, NotUnderstoodError
from ..core.registry import register_reader
from ..learners.square import SquareLoss
from .ls_svm import LSSVC, LSSVR


def split_pipeline(estimator):
    """(transformers or None, final estimator) of a Pipeline or of an estimator by itself."""
    if not isinstance(estimator, Pipeline):
        return None, estimator
    if type(estimator) is not Pipeline:
        raise NotUnderstoodError(f"{type(estimator).__name__} is derived from Pipeline and may do anything")
    final = estimator.steps[-1][1]
    if isinstance(final, Pipeline):
        raise NotUnderstoodError("a Pipeline ends in another Pipeline")
    return (estimator[:-1] if len(estimator.steps) > 1 else None), final


def _kernel_of(estimator):
    return kernels.from_params(
        estimator.kernel,
        gamma=estimator.gamma,
        degree=estimator.degree,
        coef0=estimator.coef0,
        kernel_params=estimator.kernel_params,
    )


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
    return Machine(SquareLoss(bias=False), _kernel_of(estimator), _ridges_of(estimator))


def _ls_svr(estimator) -> Machine:
    return Machine(SquareLoss(bool(estimator.fit_intercept)), _kernel_of(estimator), _single_ridge(estimator))


def _ls_svc(estimator) -> Machine:
    weight = estimator.class_weight
    if weight is not None and not isinstance(weight, Mapping) and weight != "balanced":
        raise ValueError(f'class_weight of LSSVC must be None, "balanced" or a dict, got {weight!r}.')
    if isinstance(weight, Mapping):
        weight = tuple(sorted(dict(weight).items(), key=lambda item: str(item[0])))
    return Machine(SquareLoss(bool(estimator.fit_intercept)), _kernel_of(estimator), _single_ridge(estimator), weight)


def _single_ridge(estimator) -> tuple[float, ...]:
    penalties = _ridges_of(estimator)
    if len(penalties) != 1:
        raise ValueError(f"alpha of {type(estimator).__name__} must be one number, got {estimator.alpha!r}.")
    return penalties


register_reader(KernelRidge, _kernel_ridge)
register_reader(LSSVC, _ls_svc)
register_reader(LSSVR, _ls_svr)
