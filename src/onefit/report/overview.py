"""The data of a report: what every column holds, and how the target is distributed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .text import number, plain

COLUMNS = 200
"""Columns that are described one by one."""

BARS = 12
"""Bars of the small picture of a column."""

FREQUENT = 3
"""Values of a text column that are named."""


@dataclass(frozen=True)
class ColumnFacts:
    """A column: its name, what it is, missing and different values, a summary, and the heights of its bars (0 to 1)."""

    name: str
    kind: str
    missing: int
    distinct: int
    summary: str
    bars: tuple[float, ...]


@dataclass(frozen=True)
class Overview:
    """Rows, columns, and the target: shares of its classes by falling size, or its summary as of a column."""

    rows: int
    width: int
    columns: list[ColumnFacts]
    classes: list[tuple[str, int, float]]
    target: ColumnFacts | None

    @property
    def missing(self) -> int:
        """Missing values of the columns that are described."""
        return sum(column.missing for column in self.columns)


def overview_of(X: Any, y: Any, *, classifier: bool, names: Any = None, kinds: Any = None) -> Overview | None:
    """Facts of a table; None for what has no columns to describe, such as a sparse matrix or a Gram matrix.

    ``names`` and ``kinds`` say what the columns are called and how they are used, by default as X itself says.
    """
    if X is None or hasattr(X, "toarray"):
        return None
    if names is None:
        names = getattr(X, "columns", None)
    table = np.asarray(X)
    if table.ndim != 2:
        return None
    names = [f"column {k + 1}" for k in range(table.shape[1])] if names is None else [plain(name) for name in names]
    columns = [
        column_facts(names[k], table[:, k], None if kinds is None else kinds[k])
        for k in range(min(table.shape[1], COLUMNS))
    ]
    classes: list[tuple[str, int, float]] = []
    target = None
    if y is not None and np.asarray(y).ndim == 1:
        if classifier:
            labels, counts = np.unique(np.asarray(y), return_counts=True)
            order = np.argsort(-counts, kind="stable")
            classes = [(plain(labels[k]), int(counts[k]), float(counts[k] / counts.sum())) for k in order]
        else:
            target = column_facts("target", np.asarray(y), "number")
    return Overview(len(table), table.shape[1], columns, classes, target)


def column_facts(name: str, values: np.ndarray, kind: str | None = None) -> ColumnFacts:
    """The facts of one column of numbers or text."""
    try:
        numbers = values.astype(float)
    except (TypeError, ValueError):
        return _text_facts(name, values, kind or "text")
    known = numbers[np.isfinite(numbers)]
    missing = int(np.isnan(numbers).sum())
    if not len(known):
        return ColumnFacts(name, kind or "number", missing, 0, "no value", ())
    low, middle, high = np.quantile(known, [0, 0.5, 1])
    counts = np.histogram(known, bins=BARS)[0] if high > low else np.array([len(known)])
    summary = " … ".join(number(end, 4) for end in (low, middle, high))
    bars = tuple(float(count) for count in counts / counts.max())
    return ColumnFacts(name, kind or "number", missing, len(np.unique(known)), summary, bars)


def _text_facts(name: str, values: np.ndarray, kind: str) -> ColumnFacts:
    present = [str(value) for value in values if value is not None and value == value]
    missing = len(values) - len(present)
    if not present:
        return ColumnFacts(name, kind, missing, 0, "no value", ())
    labels, counts = np.unique(np.array(present, dtype=str), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    named = ", ".join(f"{plain(labels[k])[:24]} ({counts[k]:,})" for k in order[:FREQUENT])
    bars = tuple(float(count) for count in counts[order[:BARS]] / counts.max())
    return ColumnFacts(name, kind, missing, len(labels), named, bars)
