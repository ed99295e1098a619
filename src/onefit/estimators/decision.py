"""Out-of-fold decision values of one estimator."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import indexable

from ..core import Folds
from ..core.coding import Coding
from ..core.machine import Series
from ..search.executors import Executor
from ..search.planning import Preparation, RetrainingWarning
from ..search.resources import allot
from ..search.retraining import retrained_decisions
from ..search.routing import routing_enabled
from .oof import assemble


@dataclass(frozen=True)
class LaterDecisions:
    """Out-of-fold values of a retrained estimator that nobody has asked for yet: they take a training per fold."""

    estimator: Any
    X: Any
    y: Any
    folds: Folds
    fit_params: dict[str, Any]
    scale_penalty: bool

    def compute(self) -> np.ndarray:
        """Train on every fold; (n,) or (n, outputs)."""
        parts, coding, present = _retrained(
            self.estimator, self.X, self.y, self.folds, self.fit_params, self.scale_penalty
        )
        return assemble(parts, self.folds, coding, present, warn=False)


def cross_val_decision(
    estimator,
    X,
    y,
    *,
    cv=None,
    groups=None,
    sample_weight=None,
    method="exact",
    order=5,
    h=None,
    start="smoothed",
    scale_penalty=False,
    preprocessing="per_fold",
    n_jobs=None,
):
    """Out-of-fold values of ``decision_function`` (regression: ``predict``) for every row.

    Parameters
    ----------
    estimator : estimator
        ``SVC``, ``SVR``, ``HingeSVC``, ``EpsilonSVR``, ``L2SVC``, ``KernelRidge``, ``LSSVC``, ``LSSVR``, or a Pipeline
        that ends in one; others are retrained, with a warning.
    X, y, cv, groups
        As in ``cross_val_predict``, but the splits may overlap and need not cover all rows.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights for fitting.
    method : {"exact", "bif", "retrain"}, default="exact"
        From the full-data solution; approximated by the influence-function series of the given ``order``; or by
        really retraining.
    order : int or np.inf, default=5
        Order of the series.
    h : float, default=None
        Over how much on both sides of its kinks the series smooths the hinge loss (None: 0.01) and the
        epsilon-insensitive one (None: a hundredth of ``epsilon``).
    start : {"smoothed", "plug-in"}, default="smoothed"
        Where the series of a loss with kinks starts from: the minimiser of the smoothed loss, or that of the loss
        itself, as in the paper. Without kinks the two are the same.
    scale_penalty : bool, default=False
        Whether the penalty follows the number of training rows.
    preprocessing : {"per_fold", "shared"}, default="per_fold"
        Whether transformers and balanced class weights learn from each fold's training rows or from all rows.
    n_jobs : int, default=None
        Accepted for symmetry with scikit-learn; one estimator is one kernel, which is not divided.

    Returns
    -------
    ndarray of shape (n_samples,) or (n_samples, n_outputs)
        NaN for rows that are never tested and the mean for rows tested more than once, with a warning.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import cross_val_decision
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KernelRidge(kernel="rbf", gamma=1.0, alpha=0.01)
    >>> exact = cross_val_decision(model, X, y, cv=10)
    >>> retrained = cross_val_decision(model, X, y, cv=10, method="retrain")
    >>> bool(abs(exact - retrained).max() < 1e-8)
    True
    """
    if method not in ("exact", "bif", "retrain"):
        raise ValueError(f'method must be "exact", "bif" or "retrain", got {method!r}.')
    if preprocessing not in ("per_fold", "shared"):
        raise ValueError(f'preprocessing must be "per_fold" or "shared", got {preprocessing!r}.')
    series = Series(order, h, start)  # checks them, whatever the method
    X, y = indexable(X, y)
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    folds = Folds.from_splits(splitter.split(X, y, groups), X.shape[0] if hasattr(X, "shape") else len(X))
    fit_params = {} if sample_weight is None else {_weight_name(estimator): sample_weight}
    parts, coding, present = decisions(
        estimator, X, y, folds, fit_params, preprocessing=preprocessing, scale_penalty=scale_penalty,
        series=series if method == "bif" else None, retrain=method == "retrain",
    )  # fmt: skip
    return assemble(parts, folds, coding, present)


def decisions(estimator, X, y, folds, fit_params, *, preprocessing, scale_penalty, series, retrain=False):
    """(values of each split, their coding, the classes each split trains on), retrained where need be."""
    preparation = Preparation(estimator, X, y, folds, fit_params, preprocessing)
    if not retrain:
        plan = preparation.plan([{}])
        if plan.refused:
            raise plan.refused[0]
        reason = plan.retrain.get(0)
        if reason is None:
            resources = allot(plan.tasks)
            settings = preparation.settings(series=series, scale_penalty=scale_penalty, raise_errors=True)
            _refuse_single_class(settings.present)
            ((_, outcome),) = Executor(resources).run(plan.tasks, settings)
            (row,) = outcome.rows
            reason = row.retrain
            if reason is None:
                return row.values, plan.tasks[0].paths[0].coded.coding, settings.present
        warnings.warn(f"Retraining on every fold: {reason}.", RetrainingWarning, stacklevel=3)
    return _retrained(estimator, X, y, folds, fit_params, scale_penalty)


def _retrained(estimator, X, y, folds, fit_params, scale_penalty):
    """The same from real retraining; classes that a fold lacks are moved to their columns."""
    trained = retrained_decisions(estimator, X, y, folds, fit_params, scale_penalty)
    classes = np.unique(np.asarray(y)) if is_classifier(estimator) else None
    values = [np.asarray(value) for value, _ in trained]
    flat = values[0].ndim == 1
    if classes is None or all(len(found) == len(classes) for _, found in trained):
        coding = Coding(None, flat=flat)  # nothing to align: columns are what the estimator returns
        return [v[:, None] if v.ndim == 1 else v for v in values], coding, [None] * len(folds)
    coding, parts, present = Coding(classes, flat=True), [], []
    for value, (_, found) in zip(values, trained):
        columns = np.searchsorted(classes, found)
        if _decides_pairs(estimator) or (value.ndim > 1 and value.shape[1] != len(found)):
            raise ValueError(
                "A split lacks a class, and the estimator has one decision value for each pair of classes."
            )
        part = np.zeros((len(value), 1 if len(classes) == 2 else len(classes)))
        if len(classes) == 2:
            part[:, 0] = value
        elif value.ndim == 1:  # two of several classes: one value, negated for the other
            part[:, columns] = np.column_stack([-value, value])
        else:
            part[:, columns] = value
        parts.append(part)
        present.append(None if len(found) == len(classes) else found)
    return parts, coding, present


def _decides_pairs(estimator) -> bool:
    """Whether decision values are said to be those of pairs: of three classes there are as many pairs as classes."""
    final = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    return getattr(final, "decision_function_shape", "ovr") == "ovo"


def _refuse_single_class(present) -> None:
    for number, classes in enumerate(present):
        if classes is not None and len(classes) < 2:
            raise ValueError(f"Split {number} trains on one class only: {classes.tolist()}.")


def _weight_name(estimator) -> str:
    """How the final estimator's weights are called in ``fit``; with metadata routing its steps ask for them."""
    if isinstance(estimator, Pipeline) and not routing_enabled():
        return f"{estimator.steps[-1][0]}__sample_weight"
    return "sample_weight"
