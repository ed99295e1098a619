"""Criteria side by side on one grid."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone, is_classifier
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils import indexable

from .._public import set_module
from ..criteria import Criterion, resolve_all
from ..data import Folds
from ..search.appraisal import column_names
from ..search.choice import GridEdgeWarning
from ..search.plan import plan
from ..search.request import Request
from ..search.table import NothingFittedError
from .criterion_parameters import splits_any_rows
from .kernel_search import KernelSearchCV

COLUMNS = ("criterion", "params", "value", "cv_score", "cv_rank", "rank", "seconds")


@set_module("onefit")
@dataclass(frozen=True)
class Comparison:
    """The candidate that each criterion chooses on a grid, and its rank by cross-validation.

    ``rows`` has a dict for each criterion: ``criterion``, the ``params`` that it chooses, its natural ``value`` there,
    the exact ``cv_score`` of that choice, ``cv_rank``, the place of that score among all candidates, ``rank``, its
    place among the criteria, and the ``seconds`` of a search by this criterion alone, without refit. ``candidates``
    are the parameters of the grid, ``values`` the natural values of each criterion for all of them, ``cv_scores``
    their exact scores, and ``greater_is_better`` the direction of each criterion. ``failures`` says of criteria that
    have no value for any candidate why: they have no row.
    """

    rows: list[dict[str, Any]]
    candidates: list[dict[str, Any]]
    values: dict[str, np.ndarray]
    cv_scores: np.ndarray
    greater_is_better: dict[str, bool]
    failures: dict[str, str] = field(default_factory=dict)

    def to_frame(self):
        """The rows as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.rows, columns=list(COLUMNS))

    def plot(self, parameter: str | None = None):
        """A matplotlib figure with a panel for each criterion: its best value at every value of a parameter.

        ``parameter`` is one of the grid's, by default a kernel parameter. The point that the criterion chooses is
        marked.
        """
        from .comparison_plot import plot_comparison

        return plot_comparison(self, parameter)

    def __str__(self) -> str:
        lines = [COLUMNS, *(tuple(_text(row[column]) for column in COLUMNS) for row in self.rows)]
        widths = [max(len(line[k]) for line in lines) for k in range(len(COLUMNS))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={_text(part)}" for name, part in value.items())
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)


@set_module("onefit")
def compare(
    estimator,
    param_grid,
    X,
    y,
    criteria,
    *,
    cv=None,
    groups=None,
    sample_weight=None,
    scoring=None,
    preprocessing="per_fold",
    scale_penalty=False,
    n_jobs=None,
) -> Comparison:
    """Choose by each of several criteria, and cross-validate what they choose.

    Parameters
    ----------
    estimator, param_grid, X, y
        As in ``KernelSearchCV``.
    criteria : list of str or criterion
        Names or objects of ``onefit.criteria``.
    cv, groups, sample_weight
        As in ``KernelSearchCV``.
    scoring : str or callable, default=None
        What cross-validation scores the choices by.
    preprocessing, scale_penalty, n_jobs
        As in ``KernelSearchCV``.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import compare
    >>> X, y = load_diabetes(return_X_y=True)
    >>> grid = {"gamma": [0.1, 1, 10, 100], "alpha": [1e-3, 1e-2, 0.1, 1, 10]}
    >>> result = compare(KernelRidge(kernel="rbf"), grid, X, y, ["cv", "gcv", "ckta"])
    >>> [(row["criterion"], row["params"]["gamma"], int(row["rank"])) for row in result.rows]
    [('cv', 1, 1), ('gcv', 1, 1), ('ckta', 1, 3)]
    """
    X, y = indexable(X, y)
    chosen = resolve_all([criteria] if isinstance(criteria, str | Criterion) else list(criteria))
    if isinstance(scoring, list | tuple | set | dict):
        raise ValueError(f"compare ranks by one score: scoring must be one metric, or None, got {scoring!r}.")
    splits = list(check_cv(cv, y, classifier=is_classifier(estimator)).split(X, y, groups))
    params = {} if sample_weight is None else {"sample_weight": sample_weight}

    def search(criterion, folds, params=params):
        found = KernelSearchCV(
            clone(estimator), param_grid, criterion=criterion, cv=folds, scoring=scoring, refit=False,
            preprocessing=preprocessing, scale_penalty=scale_penalty, n_jobs=n_jobs,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GridEdgeWarning)
            return found.fit(X, y, **params)

    request = Request(clone(estimator), X, y, Folds.from_splits(splits, len(y)), preprocessing=preprocessing)
    unscored = tuple(criterion for criterion in chosen if not criterion.scores)
    plan(replace(request, columns=unscored), list(ParameterGrid(param_grid)))  # refuses criteria that are not defined
    reference = search("cv", splits)
    scores = reference.cv_results_["mean_test_score"]
    rows, values = [], {}
    failures: dict[str, str] = {}
    for criterion, name in zip(chosen, column_names(chosen)):
        start = time.perf_counter()
        try:
            if len(criterion.choices()) > 1 and "heldout" in criterion.reads and splits_any_rows(cv):
                found = search(criterion, cv, params if groups is None else {**params, "groups": groups})
            else:
                found = search(criterion, splits)
        except NothingFittedError as error:
            if len(failures) == len(chosen) - 1:
                raise
            failures[name] = error.reason
            continue
        seconds = time.perf_counter() - start
        column = "mean_test_score" if criterion.scores else f"criterion_{criterion.name}"
        values[name], best = found.cv_results_[column], found.best_index_
        rows.append(
            {
                "criterion": name,
                "params": found.best_params_,
                "value": float(values[name][best]),
                "cv_score": float(scores[best]),
                "cv_rank": int(reference.cv_results_["rank_test_score"][best]),
                "seconds": seconds,
            }
        )
    for row, rank in zip(rows, rankdata([-row["cv_score"] for row in rows], method="min")):
        row["rank"] = int(rank)
    rows = [{column: row[column] for column in COLUMNS} for row in rows]
    directions = {n: c.scores or c.greater_is_better for c, n in zip(chosen, column_names(chosen)) if n in values}
    return Comparison(rows, reference.cv_results_["params"], values, scores, directions, failures)
