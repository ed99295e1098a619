"""The choices of several criteria on one grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..estimators.comparison import Comparison, curve_of, parameter_of
from ..search.appraisal import column_names
from .scores import Scores


@dataclass(frozen=True)
class CriterionChoice:
    """A criterion's choice: its natural value there, and what cross-validation says of it (NaN, 0 where unknown)."""

    criterion: str
    params: dict[str, Any]
    value: float
    greater_is_better: bool
    cv_score: float
    cv_rank: int
    seconds: float | None
    places: np.ndarray  # of the parameter that is drawn over
    curve: np.ndarray  # best natural value over all other parameters
    chosen_at: float | None


@dataclass(frozen=True)
class CriteriaChoices:
    """The choices, the parameter their curves are drawn over, and the number of candidates."""

    parameter: str
    choices: list[CriterionChoice]
    candidates: int


def compared(search: Any, scores: Scores, comparison: Comparison | None) -> CriteriaChoices | None:
    """From a Comparison, or from the columns ``criterion_<name>`` of the search; None if there are no two."""
    if comparison is not None and not isinstance(comparison, Comparison):
        raise ValueError(f"comparison must come from onefit.compare, got {type(comparison).__name__}.")
    comparison = comparison or _own_comparison(search, scores)
    if comparison is None:
        return None
    try:
        parameter = parameter_of(comparison)
    except ValueError:  # nothing numeric to draw over: the table remains
        parameter = ""
    choices = [_choice(comparison, row, parameter) for row in comparison.rows]
    return CriteriaChoices(parameter, choices, len(comparison.candidates))


def _choice(comparison: Comparison, row: dict[str, Any], parameter: str) -> CriterionChoice:
    name = row["criterion"]
    places, curve = curve_of(comparison, name, parameter) if parameter else (np.empty(0), np.empty(0))
    at = row["params"].get(parameter)
    return CriterionChoice(
        name, row["params"], row["value"], comparison.greater_is_better[name], row["cv_score"], row["cv_rank"],
        row["seconds"], places, curve, float(at) if isinstance(at, int | float | np.number) else None,
    )  # fmt: skip


def _own_comparison(search: Any, scores: Scores) -> Comparison | None:
    """The criteria that were computed along with the search, each as if it had selected by itself."""
    criteria = list(getattr(search, "criteria_", []))
    if len(criteria) < 2:
        return None
    if criteria[0].scores:
        named = [(scores.name, True, scores.values)]
        criteria = criteria[1:]
    else:
        named = []
    for criterion, name in zip(criteria, column_names(criteria)):
        values = np.asarray(search.cv_results_[f"criterion_{name}"], dtype=float)
        if np.isfinite(values).any():
            named.append((name, bool(criterion.greater_is_better), values))
    known = scores.tested > 0
    rows = [_own_row(scores, *entry, known) for entry in named]
    values_of = {name: values for name, _, values in named}
    directions = {name: larger for name, larger, _ in named}
    return Comparison(rows, scores.params, values_of, scores.values, directions) if len(rows) > 1 else None


def _own_row(scores: Scores, name: str, larger: bool, values: np.ndarray, known: bool) -> dict[str, Any]:
    best = int(np.nanargmax(values if larger else -values))
    return {
        "criterion": name,
        "params": scores.params[best],
        "value": float(values[best]),
        "cv_score": float(scores.values[best]) if known else np.nan,
        "cv_rank": int(scores.ranks[best]) if known else 0,
        "seconds": None,
    }
