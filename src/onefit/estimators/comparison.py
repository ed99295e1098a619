"""Criteria side by side on one grid."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field, replace
from numbers import Real
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

KERNEL_PARAMETERS = ("gamma", "degree", "coef0")


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


def plot_comparison(comparison: Comparison, parameter: str | None = None):
    """A matplotlib figure with a panel for each criterion: its best value at every value of a parameter.

    ``parameter`` is one of the grid's; by default ``gamma``, ``degree`` or ``coef0``, also of a Pipeline's step, or
    else the one with most values. The point that the criterion chooses is marked. Needs matplotlib.
    """
    from matplotlib.figure import Figure

    parameter = parameter_of(comparison) if parameter is None else parameter
    figure = Figure(figsize=(3.2 * min(4, len(comparison.rows)), 2.6 * -(-len(comparison.rows) // 4)))
    axes = figure.subplots(-(-len(comparison.rows) // 4), min(4, len(comparison.rows)), squeeze=False).ravel()
    for row, panel in zip(comparison.rows, axes):
        name = row["criterion"]
        places, curve = curve_of(comparison, name, parameter)
        panel.plot(places, curve, marker=".", color="#57606a")
        if isinstance(row["params"].get(parameter), Real):  # what it chooses may have no such parameter
            panel.plot([row["params"][parameter]], [row["value"]], marker="o", color="#0a7d4f")
        panel.set_title(f"{name} ({'larger' if comparison.greater_is_better[name] else 'smaller'} is better)")
        panel.set_xlabel(parameter)
        if len(places) > 1 and places[0] > 0 and places[-1] / places[0] > 10:
            panel.set_xscale("log")
    for panel in axes[len(comparison.rows) :]:
        panel.set_visible(False)
    figure.set_layout_engine("tight")
    return figure


def parameter_of(comparison: Comparison) -> str:
    """The parameter of the horizontal axis: a kernel parameter of the grid, or else the one with most values."""
    found: dict[str, set] = {}
    for params in comparison.candidates:
        for name, value in params.items():
            if isinstance(value, Real) and not isinstance(value, bool):
                found.setdefault(name, set()).add(value)
    if not found:
        raise ValueError("The grid has no numeric parameter to plot over.")
    ours = [name for name in found if name.rsplit("__", 1)[-1] in KERNEL_PARAMETERS]
    return max(ours or found, key=lambda name: len(found[name]))


def curve_of(comparison: Comparison, name: str, parameter: str) -> tuple[np.ndarray, np.ndarray]:
    """The best value over all other parameters, for each value of this one."""
    best: dict[float, float] = {}
    better = np.fmax if comparison.greater_is_better[name] else np.fmin
    for params, value in zip(comparison.candidates, comparison.values[name]):
        place = params.get(parameter)
        if isinstance(place, Real):
            best[float(place)] = float(better(best.get(float(place), np.nan), value))
    if not best:
        raise ValueError(f"The grid has no numbers for {parameter!r}.")
    places = sorted(best)
    return np.array(places), np.array([best[place] for place in places])
