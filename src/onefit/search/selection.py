"""Choosing from a results table."""

from __future__ import annotations

import numbers
from dataclasses import dataclass

import numpy as np

from .._exceptions import warn_caller
from .._public import set_module
from ..machines import Exactness


@set_module("onefit")
class GridEdgeWarning(UserWarning):
    """The best value of a parameter is the first or last of its list: a better one may lie beyond."""


def standard_error(deviation, n_splits: int):
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
    error = standard_error(float(cv_results["std_test_score"][best]), n_splits)
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


def select_best(refit, metric: str, results: dict) -> int:
    """The chosen row: a callable's answer, or the first with rank one (grid order breaks ties)."""
    if not callable(refit):
        return int(results[f"rank_test_{metric}"].argmin())
    best = refit(results)
    if not isinstance(best, int | np.integer):
        raise TypeError("best_index_ returned is not an integer")
    if best < 0 or best >= len(results["params"]):
        raise IndexError("best_index_ index out of range")
    return int(best)


@dataclass(frozen=True)
class Edge:
    """A parameter whose best value is the smallest (sign -1) or largest (+1) one tried."""

    name: str
    value: float
    sign: int

    def __str__(self) -> str:
        return f"{self.name}={self.value} is the {'smallest' if self.sign < 0 else 'largest'} value tried"


def edges_of(candidates: list[dict], scores: np.ndarray, best: int) -> list[Edge]:
    """Where the best candidate has the smallest or largest of three or more numbers, and no other value ties.

    Zero, and degree one, are ends that cannot be passed: they are not edges.
    """
    edges = []
    for name, value in candidates[best].items():
        tried = {params[name] for params in candidates if _is_number(params.get(name))}
        if not _is_number(value) or len(tried) < 3 or value not in (min(tried), max(tried)):
            continue
        if value == 0 or (value == 1 and name.endswith("degree")):
            continue
        others = [i for i, params in enumerate(candidates) if params.get(name) != value]
        if np.isfinite(scores[best]) and not np.any(scores[others] >= scores[best]):
            edges.append(Edge(name, value, -1 if value == min(tried) else 1))
    return edges


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


def _is_number(value) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
