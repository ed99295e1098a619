"""Fitting the chosen model so that it is the one that was scored.

Searches score the exact solutions of support vector machines. LIBSVM, which trains the model that is delivered, stops
at ``tol``, keeps the kernel in single precision, and takes any bias of an interval where no coefficient is free. So the
model is fitted with a ``tol`` that is small beside the spread of its values, and its values on training rows are
compared with those of the exact solution.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

from .._exceptions import NotUnderstoodError, warn_caller
from .._public import set_module
from ..data import Folds
from ..data.coding import PairCoding
from ..data.folds import take_block
from ..machines.registry import innermost, read_model
from ..search.execution import evaluate_single
from ..search.plan import plan
from ..search.request import Request

RELATIVE_TOL = 1e-9
"""``tol``, relative to the spread of the values, at which LIBSVM's solution is the exact one for every score."""

MAX_COMPARED_ROWS = 200
"""Training rows, at most, whose values are compared: enough to notice another bias or another solution."""

MAX_STEPS_PER_ROW = 100
"""Steps of LIBSVM for each training row, and no fewer than for a thousand rows, after which a larger ``tol`` is tried.
An ordinary problem takes between one and ten."""

WARNED_DIFFERENCE = 1e-4
"""Difference, relative to the spread of the values, from which on there is a warning."""

REJECTED_DIFFERENCE = 1e-2
"""Difference, relative to the spread of the values, from which on the model is not the one that was scored."""


@set_module("onefit")
class RefitWarning(UserWarning):
    """``best_estimator_`` differs noticeably from the solution that was scored."""


@dataclass(frozen=True)
class Delivery:
    """A fitted model, and how far its values are from those of the solution that was scored, relative to their spread.

    ``difference`` is NaN where there is nothing to compare with.
    """

    model: Any
    difference: float

    @property
    def as_scored(self) -> bool:
        """Whether it is the model that was scored."""
        return not self.difference > REJECTED_DIFFERENCE

    def warn(self) -> None:
        """Tell a remaining difference."""
        if self.difference > WARNED_DIFFERENCE:
            warn_caller(
                f"The values of best_estimator_ differ by up to {self.difference:.1g} of their spread from those of "
                "the solution that was scored: scikit-learn's solver does not come nearer.",
                RefitWarning,
            )


def deliver(model, X, y, fit_params: dict, *, exactly: bool, keep_tol: bool = False) -> Delivery:
    """Fit ``model`` on all rows: as it is, or ``exactly``, as near to the exact solution as its solver comes.

    An estimator whose solver stops at ``tol`` is given a smaller one, unless ``keep_tol``, that its solver can reach.
    Cost: a training, and for estimators of other packages an exact solution on all rows.
    """
    final, exact_tol = _stops_at_tol(model) if exactly else (None, None)
    if final is not None and exact_tol is not None:  # the solver that searches use
        final.set_params(tol=min(final.tol, exact_tol))
        return Delivery(_fit(model, X, y, fit_params), np.nan)
    exact = None if final is None else _exact_values(model, X, y, fit_params)
    if final is None or exact is None:
        return Delivery(_fit(model, X, y, fit_params), np.nan)
    spread = exact.spread
    tolerances = [final.tol] if keep_tol else _tolerances(float(spread.min()), final.tol)
    fitted = _fit_precisely(model, X, y, fit_params, tolerances)
    values = exact.of(fitted, X)
    if values.shape != exact.values.shape:  # a class without weight
        return Delivery(fitted, np.nan)
    difference = np.abs(values - exact.values).max(axis=0)
    size = np.maximum(np.ptp(exact.values, axis=0), np.finfo(np.float64).tiny)
    return Delivery(fitted, float((difference / size).max()))


def _tolerances(spread: float, given: float) -> list[float]:
    """The tolerance for values that spread so far, one half-way on a logarithmic scale, and the given one.

    Powers of ten, since they are printed.
    """
    if not 0 < RELATIVE_TOL * spread < given:
        return [given]
    low, high = math.floor(math.log10(RELATIVE_TOL * spread)), math.log10(given)
    return [10.0**low, 10.0 ** math.floor((low + high) / 2), given]


def _stops_at_tol(model):
    """(final estimator, ``exact_tol``) if its solver is iterative and it is one that searches solve by themselves."""
    try:
        parts = read_model(model)
        machine = parts.machine()
    except (NotUnderstoodError, ValueError, TypeError):
        return None, None
    return (parts.final, machine.exact_tol) if machine.stops_at_tol else (None, None)


@dataclass(frozen=True)
class _ExactValues:
    """Values (rows, columns) of the exact solution at some training rows; a column for each pair of classes.

    ``spread`` is that of the machine's own values, one for each of its columns, also where the model has another scale.
    """

    rows: np.ndarray
    values: np.ndarray
    spread: np.ndarray
    columns: np.ndarray | None  # all rows, where X is a precomputed Gram matrix
    pairs: bool  # columns are pairs of classes

    def of(self, model, X) -> np.ndarray:
        """The values of a fitted model at the rows."""
        X = take_block(self.columns is not None, X, self.rows, self.columns)
        if not is_classifier(model):
            return np.asarray(model.predict(X)).reshape(len(self.rows), -1)
        if not self.pairs:
            return np.asarray(model.decision_function(X)).reshape(len(self.rows), -1)
        final = innermost(model)[1]
        shape = final.decision_function_shape
        final.decision_function_shape = "ovo"  # votes would hide the values of pairs
        try:
            values = np.asarray(model.decision_function(X))
        finally:
            final.decision_function_shape = shape
        return values[:, None] if values.ndim == 1 else -values


def _exact_values(model, X, y, fit_params: dict) -> _ExactValues | None:
    """The exact solution on all rows, at some of them; None if it is not to be had."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    everything = np.arange(n)
    rows = np.unique(np.linspace(0, n - 1, min(n, MAX_COMPARED_ROWS)).astype(np.intp))
    folds = Folds.from_splits([(everything, rows)], n)
    try:
        planned = plan(Request(model, X, y, folds, fit_params, error_score="raise"), [{}])
        if not planned.tasks:
            return None
        (path,) = planned.paths
        scaled = path.transformed
        if scaled is not None:  # tol is compared with values of the machine
            planned.tasks = [replace(task, paths=(replace(path, transformed=None),)) for task in planned.tasks]
        row = evaluate_single(planned)
    except (ArithmeticError, MemoryError, ValueError):  # a comparison must not cost a finished search
        return None
    if row.retrain is not None or row.values is None:
        return None
    (values,) = row.values
    spread = np.ptp(values, axis=0)
    if scaled is not None:
        values = scaled.predictions([values[None]])[0][0]
    columns = everything if get_tags(model).input_tags.pairwise else None
    return _ExactValues(rows, values, spread, columns, isinstance(path.coded.coding, PairCoding))


def _fit(model, X, y, fit_params: dict):
    model.fit(X, *(() if y is None else (y,)), **fit_params)
    return model  # whatever its fit returns


def _fit_precisely(model, X, y, fit_params: dict, tolerances: list[float]):
    """Fit with the first of some tolerances that the solver reaches in reasonable time; the last has no limit."""
    final = innermost(model)[1]
    limit, n = final.max_iter, X.shape[0] if hasattr(X, "shape") else len(X)
    for tol in tolerances[:-1]:
        final.set_params(tol=tol, max_iter=MAX_STEPS_PER_ROW * max(n, 1000))
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            try:
                return _fit(model, X, y, fit_params)
            except ConvergenceWarning:
                continue
            finally:
                final.set_params(max_iter=limit)
    final.set_params(tol=tolerances[-1])
    return _fit(model, X, y, fit_params)
