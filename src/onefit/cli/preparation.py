"""Preparation of ``select`` and ``compare``: check what is asked for, read the data, say what was done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .data import Data, read_data
from .pipeline import build
from .roles import TableRequest
from .screen import counted, note
from .splitters import splitter_of
from .validation import OF_ONE_CLASS, check_scoring_name, check_scoring_suits, kernel_names, scorer_of
from .yardsticks import far_targets, imbalance


@dataclass(frozen=True, eq=False)
class SearchInput:
    """Rows, the estimator for them, their splitter, and the names of the kernels asked for (None: any)."""

    rows: Data
    estimator: Any
    splitter: Any
    kernels: list[str] | None


def prepare(
    request: TableRequest,
    *,
    learner: str,
    scale: str,
    kernel: str | None,
    cv: int | None,
    folds: str,
    scoring: str | None,
    class_weight: str,
) -> SearchInput:
    """Everything that a search needs; names are checked before the data are read."""
    check_scoring_name(scoring)
    kernels = kernel_names(kernel, scale)
    if request.time is not None and not request.ordered:
        raise ValueError(f"--time {request.time} is for --folds time, which predicts later rows from earlier ones.")
    rows = read_data(request)
    estimator, transformations = build(rows, learner, scale, None if class_weight == "none" else str(class_weight))
    splitter, remarks = splitter_of(rows, cv, None if folds == "auto" else folds)
    check_scoring_suits(scoring, scorer_of(scoring, rows), estimator, rows)
    if scoring in OF_ONE_CLASS and request.positive is None and rows.positive is not None:
        remarks.append(f"{scoring} is that of class {rows.positive!r}; --positive names the other one")
    note(f"{rows.name}: {counted(len(rows.y), 'row')}, {counted(rows.X.shape[1], 'column')}")
    for remark in (*rows.remarks, *transformations, *remarks):
        note(f"  {remark}")
    if warning := imbalance(rows, scoring) or far_targets(rows, scoring):
        note(f"warning: {warning}")
    return SearchInput(rows, estimator, splitter, kernels)
