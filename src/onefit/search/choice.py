"""Choosing from the results of a search."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from .._exceptions import warn_caller
from .._public import set_module
from ..machines import Exactness
from .execution import Execution
from .request import check_refit_metric
from .strategies import edges_of
from .table import report_failures
from .tasks import Row


@set_module("onefit")
class GridEdgeWarning(UserWarning):
    """The best value of a parameter is the first or last of its list: a better one may lie beyond."""


def error_of_mean(deviation, n_splits: int):
    """Standard error of the mean over splits, from ``std_test_score``, which is the deviation of a population."""
    return deviation / np.sqrt(n_splits - 1)


@set_module("onefit")
def one_standard_error(cv_results) -> int:
    """The most regularised candidate within one standard error of the best: a ready-made ``refit``.

    Among candidates whose mean test score is at least the best one less its standard error (sample standard
    deviation over the splits, divided by the root of their number), takes the largest ``alpha``, or the smallest
    ``C``; then the smallest gamma and degree; then the best score; then the first.

    Parameters
    ----------
    cv_results : dict
        ``cv_results_`` of a search with a single metric and two splits or more.

    Returns
    -------
    int
        The number of the candidate.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from onefit import LSSVR, KernelSearchCV, one_standard_error
    >>> X, y = load_diabetes(return_X_y=True)
    >>> grid = {"gamma": [0.1, 1, 10, 100], "alpha": [0.01, 0.03, 0.1, 0.3, 1, 3, 10]}
    >>> KernelSearchCV(LSSVR(), grid, cv=5).fit(X, y).best_params_
    {'alpha': 1, 'gamma': 10}
    >>> KernelSearchCV(LSSVR(), grid, cv=5, refit=one_standard_error).fit(X, y).best_params_
    {'alpha': 3, 'gamma': 10}
    """
    if "mean_test_score" not in cv_results:
        raise ValueError("one_standard_error needs a single metric: cv_results_ has no mean_test_score.")
    means = np.asarray(cv_results["mean_test_score"], dtype=float)
    n_splits = sum(key.startswith("split") and key.endswith("_test_score") for key in cv_results)
    if n_splits < 2:
        raise ValueError("one_standard_error needs the scores of two splits or more.")
    if np.isnan(means).all():
        raise ValueError("one_standard_error has nothing to choose from: all scores are NaN.")
    best = int(np.nanargmax(means))
    error = error_of_mean(float(cv_results["std_test_score"][best]), n_splits)
    close = np.flatnonzero(means >= means[best] - error)
    return int(min(close, key=lambda i: (*_complexity(cv_results["params"][i]), -means[i], i)))


def _complexity(params: dict) -> tuple[float, float, float]:
    """Sorts from smooth to rough: regularisation first, then the kernel's width, then its degree."""

    def value(name: str) -> float:
        found = [v for key, v in params.items() if key.rsplit("__", 1)[-1] == name]
        try:  # of several, that of the last step; of several targets, their mean
            return float(np.mean(found[-1])) if found else 0.0
        except (TypeError, ValueError):
            return 0.0

    return value("C") - value("alpha"), value("gamma"), value("degree")


def _select_best(refit, metric: str, results: dict) -> int:
    """The chosen row: a callable's answer, or the first with rank one (grid order breaks ties)."""
    if not callable(refit):
        return int(results[f"rank_test_{metric}"].argmin())
    best = refit(results)
    if not isinstance(best, int | np.integer):
        raise TypeError("best_index_ returned is not an integer")
    if best < 0 or best >= len(results["params"]):
        raise IndexError("best_index_ index out of range")
    return int(best)


def warn_at_edge(results: dict, best: int, metric: str) -> None:
    """Warn if the best candidate lies at the edge of those that were reached."""
    reached = np.flatnonzero(results["exactness"] != Exactness.UNREACHED)
    candidates, scores = [results["params"][i] for i in reached], results[f"mean_test_{metric}"][reached]
    edges = edges_of(candidates, scores, int(np.searchsorted(reached, best)))
    if edges:
        where = "; ".join(map(str, edges))
        warn_caller(
            f"The best parameters lie at the edge of the grid: {where}. Better ones may lie beyond.", GridEdgeWarning
        )


class Choice:
    """The results of a search, and the candidate that ``refit`` takes from them.

    ``index`` is None where there are several metrics and ``refit`` names none. An error says that no candidate could be
    trained.
    """

    def __init__(self, execution: Execution) -> None:
        self.execution, self.refit = execution, execution.request.refit
        self.index: int | None = None
        rows = execution.table.finished()
        report_failures(rows, len(execution.request.folds), execution.request.error_score)
        self.results = execution.table.results()
        self.multimetric = execution.table.multimetric

    @property
    def metric(self) -> str:
        """The name of the metric that decides."""
        return self.refit if self.multimetric else "score"

    @property
    def row(self) -> Row:
        """The row of the best candidate."""
        assert self.index is not None
        return self.execution.table.finished()[self.index]

    def model(self) -> Any:
        """The best candidate, not yet trained."""
        return clone(self.execution.request.estimator).set_params(**clone(self.params, safe=False))

    @property
    def params(self) -> dict:
        """The parameters of the best candidate."""
        return self.results["params"][self.index]

    def make(self) -> None:
        """Take the best candidate; to be delivered, none whose scores depend on a bias that is left open.

        Such a candidate is trained on every fold, as GridSearchCV does. Where that confirms its scores it stays the
        best; otherwise they take their place, and the choice is made again.
        """
        if self.multimetric:
            check_refit_metric(self.refit, list(self.execution.table.finished()[0].test))
            if not self.refit:
                return
        self.index = _select_best(self.refit, self.metric, self.results)
        while self.refit and self.row.open_bias:
            self._train(self.row.status, confirm=True)

    def make_anew(self, reason: str) -> None:
        """Score the best candidate by training it on every fold, for a reason, and choose again."""
        self._train(reason, confirm=False)
        self.make()

    def _train(self, reason: str, confirm: bool) -> None:
        """Score the best candidate by training it, or ``confirm`` its scores so, and select again."""
        assert self.index is not None
        self.execution.score_by_training(self.index, reason, confirm)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said of the first table
            self.results = self.execution.table.results()
        self.index = _select_best(self.refit, self.metric, self.results)

    def warn_at_edge(self) -> None:
        """Warn if the best candidate lies at the edge of the grid; a callable ``refit`` has its own reasons."""
        if self.index is not None and not callable(self.refit):
            warn_at_edge(self.results, self.index, self.metric)
