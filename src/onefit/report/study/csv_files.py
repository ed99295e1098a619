"""Tables for programs: fixed columns, fixed order, six digits, and no times except in files of their own."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from ...studies.comparisons import CellSummary, Ratio
from ...studies.outcome import Outcome
from .numbers import exact

COLUMNS = (
    "study", "dataset", "setting", "method", "splits", "mean", "std",
    "printed_mean", "printed_std", "difference_in_standard_errors", "mark",
)  # fmt: skip
SPENT_COLUMNS = ("study", "dataset", "splits", "mean_seconds", "total_seconds")
RATIO_COLUMNS = ("study", "dataset", "setting", "slow", "fast", "splits", "ratio", "printed_ratio")


def numbers_csv(key: str, cells: Iterable[CellSummary]) -> str:
    """Our mean and standard deviation and the printed ones, a row for each cell."""
    return _table(COLUMNS, ([key, *_cell_row(cell)] for cell in cells))


def _cell_row(cell: CellSummary) -> list[Any]:
    printed = cell.printed
    ours = [exact(cell.mean), exact(cell.std)]
    paper = [exact(printed.mean), exact(printed.std)] if printed else ["", ""]
    return [cell.dataset, cell.setting, cell.method, cell.splits, *ours, *paper, exact(cell.difference), cell.mark]


def spent_csv(outcome: Outcome) -> str:
    """The CPU seconds that were spent on each data set, all methods together."""
    rows = []
    for dataset in outcome.datasets:
        seconds = [value for (name, _), value in sorted(outcome.seconds.items()) if name == dataset]
        if seconds:
            mean, total = sum(seconds) / len(seconds), sum(seconds)
            rows.append([outcome.study.key, dataset, len(seconds), exact(mean), exact(total)])
    return _table(SPENT_COLUMNS, rows)


def ratios_csv(key: str, ratios: Iterable[Ratio]) -> str:
    """How many times slower retraining is, and what the paper's seconds say."""
    return _table(
        RATIO_COLUMNS,
        ([key, r.dataset, r.setting, r.slow, r.fast, r.splits, exact(r.ours), exact(r.printed)] for r in ratios),
    )


def _table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()
