"""What ``select`` and ``compare`` do before they search: check what is asked for, read the data, say what was done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .data import Data, read_data
from .folds import splitter_of
from .pipeline import build
from .screen import counted, note
from .validation import check_scoring_name, check_scoring_suits, kernel_names


@dataclass(frozen=True, eq=False)
class SearchInput:
    """Rows, the estimator for them, their splitter, and the names of the kernels asked for (None: any)."""

    rows: Data
    estimator: Any
    splitter: Any
    kernels: list[str] | None


def prepare(
    data: str,
    *,
    target: str | None,
    task: str,
    groups: str | None,
    learner: str,
    scale: str,
    kernel: str | None,
    cv: int | None,
    scoring: str | None,
) -> SearchInput:
    """Everything that a search needs; names are checked before the data are read."""
    check_scoring_name(scoring)
    kernels = kernel_names(kernel, scale)
    rows = read_data(data, target=target, task=task, groups=groups)
    estimator, transformations = build(rows, learner, scale)
    splitter, fewer = splitter_of(rows, cv)
    check_scoring_suits(scoring, estimator, rows)
    note(f"{rows.name}: {counted(len(rows.y), 'row')}, {counted(rows.X.shape[1], 'column')}")
    for remark in (*rows.remarks, *transformations, *fewer):
        note(f"  {remark}")
    return SearchInput(rows, estimator, splitter, kernels)
