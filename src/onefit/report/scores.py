"""Scores, ranks and labels of all candidates, from the table of a search."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError

from ..criteria import resolve_all
from ..estimators.kernel_search import KernelSearchCV
from ..machines import Exactness
from ..search.choice import error_of_mean, one_standard_error
from .text import plain


@dataclass(frozen=True)
class Scores:
    """A search's candidates, in the order of its grid.

    ``values`` are what is shown: scores, larger is better, or the natural values of the criterion that selected, whose
    direction ``greater_is_better`` says. ``errors`` are standard errors of the means over splits, NaN without splits;
    ``tested`` is how many splits there are, 0 if the criterion holds nothing out. ``best`` is the chosen candidate,
    ``cautious`` that of the one-standard-error rule, None if it does not apply.
    """

    name: str
    greater_is_better: bool
    params: list[dict[str, Any]]
    values: np.ndarray
    errors: np.ndarray
    ranks: np.ndarray
    exactness: np.ndarray
    bounds: np.ndarray
    status: np.ndarray
    seconds: np.ndarray
    tested: int
    best: int
    cautious: int | None

    def __len__(self) -> int:
        return len(self.params)

    @property
    def merit(self) -> np.ndarray:
        """The values with the sign that makes larger better."""
        return self.values if self.greater_is_better else -self.values


def read_scores(search: KernelSearchCV) -> Scores:
    """The candidates of a search that is fitted, or of one that was interrupted after some rows."""
    if not isinstance(search, KernelSearchCV):
        raise ValueError(f"search must be a fitted KernelSearchCV, got {type(search).__name__}.")
    if not hasattr(search, "cv_results_"):
        raise NotFittedError("This KernelSearchCV has no results yet: call fit first.")
    results = search.cv_results_
    metric = _metric(search)
    means = np.asarray(results[f"mean_test_{metric}"], dtype=float)
    n_splits = sum(re.fullmatch(rf"split\d+_test_{re.escape(metric)}", key) is not None for key in results)
    criterion = getattr(search, "criteria_", None) or resolve_all(search.criterion)
    deviations = np.asarray(results[f"std_test_{metric}"], dtype=float)
    errors = error_of_mean(deviations, n_splits) if n_splits > 1 else np.full(len(means), np.nan)
    scored = bool(criterion[0].scores)
    larger = scored or criterion[0].greater_is_better
    return Scores(
        name=_score_name(search, metric) if scored else criterion[0].name,
        greater_is_better=larger,
        params=list(results["params"]),
        values=means if larger else -means,
        errors=errors,
        ranks=np.asarray(results[f"rank_test_{metric}"]),
        exactness=np.asarray(results["exactness"], dtype=str),
        bounds=np.asarray(results["error_bound"], dtype=float),
        status=np.asarray(results["status"], dtype=str),
        seconds=np.asarray(results["seconds"], dtype=float),
        tested=search.n_splits_ if scored else 0,
        best=int(getattr(search, "best_index_", np.asarray(results[f"rank_test_{metric}"]).argmin())),
        cautious=_cautious(results, metric) if n_splits > 1 else None,
    )


def _metric(search: KernelSearchCV) -> str:
    """The metric that selects: the only one, that of ``refit``, or the first."""
    names = [key.removeprefix("mean_test_") for key in search.cv_results_ if key.startswith("mean_test_")]
    return search.refit if isinstance(search.refit, str) and search.refit in names else names[0]


def _score_name(search: KernelSearchCV, metric: str) -> str:
    """Name of the score: the metric, or that of the estimator's own ``score``."""
    if metric != "score":
        return metric
    if isinstance(search.scoring, str):
        return search.scoring
    if search.scoring is not None:
        return getattr(search.scoring, "__name__", None) or plain(search.scoring)
    return "accuracy" if is_classifier(search.estimator) else "R²" if is_regressor(search.estimator) else "score"


def _cautious(results: dict, metric: str) -> int | None:
    """The choice of ``one_standard_error`` for any metric; None if nothing has a score.

    What was pruned has no score of all splits, and is no choice.
    """
    suffix = f"_test_{metric}"
    own = {key.removesuffix(suffix) + "_test_score": column for key, column in results.items() if key.endswith(suffix)}
    own["mean_test_score"] = np.where(results["exactness"] == Exactness.PRUNED, np.nan, own["mean_test_score"])
    try:
        return one_standard_error({**own, "params": results["params"]})
    except ValueError:
        return None
