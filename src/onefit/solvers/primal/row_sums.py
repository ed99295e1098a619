"""Sums over rows of what a loss is at values of explicit features: from blocks read here, or on a dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...data.blocks import RowScan
from ...gram.cluster import Batch, neighbouring_chunks, reduce_batches, rows_of
from ...gram.streamed import RowBlocks, blocks_of, checked_features, in_lanes, unchanged

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]


@dataclass
class Totals:
    """Arrays that are added from block to block, and arrays of which the least values count."""

    sums: tuple[Array, ...]
    least: tuple[Array, ...] = ()

    def __add__(self, other: Totals) -> Totals:
        sums = tuple(mine + theirs for mine, theirs in zip(self.sums, other.sums))
        return Totals(sums, tuple(np.minimum(mine, theirs) for mine, theirs in zip(self.least, other.least)))


class Summand(Protocol):
    """A function of rows that is summed over them: a value that can be sent to another process."""

    def zeros(self) -> Totals:
        """Totals without rows."""

    def add(self, totals: Totals, Z: Array, y: Array, cell: Numbers, weights: Array) -> None:
        """Add rows with features Z (l, q), labels, cells and weights to the totals, in place."""


@dataclass(frozen=True)
class LabelledRows:
    """Labels, cells and weights (n,) of consecutive rows; those that do not ``count`` are left out of sums."""

    y: Array
    counts: NDArray[np.bool_]
    cell: Numbers
    weights: Array

    def __getitem__(self, rows: slice | Numbers) -> LabelledRows:
        return LabelledRows(self.y[rows], self.counts[rows], self.cell[rows], self.weights[rows])


@dataclass(frozen=True)
class RowSum:
    """The sum of a function over rows with some features (l, ``width``), to which a constant may be appended."""

    summand: Summand
    features: Callable[[Any], Array]
    width: int
    constant: bool

    def over(self, X: RowBlocks, rows: LabelledRows, threads: int) -> Totals:
        """The sum over all rows; it does not depend on the number of threads or workers."""
        n = len(rows.y)
        with unchanged(X):
            if isinstance(X, RowScan) and X.chunks:
                size = sum(part.size for part in self.summand.zeros().sums)
                return reduce_batches([
                    Batch(_of_chunks, self, [c.rows for c in own], [(rows[c.numbers], c.numbers.start) for c in own])
                    for own in neighbouring_chunks(X.chunks, self.width, size / X.shape[1])
                ])  # fmt: skip
            total, *others = in_lanes(lambda _, blocks: self._of_blocks(X, rows, blocks), n, self.width, threads)
        return sum(others, start=total)

    def _of_blocks(self, X: RowBlocks, rows: LabelledRows, blocks: Iterator[slice]) -> Totals:
        totals = self.summand.zeros()
        for block in blocks:
            if rows.counts[block].any():  # rows of a file are not read in vain
                self.add(totals, X[block], rows[block], block.start)
        return totals

    def add(self, totals: Totals, X: Any, rows: LabelledRows, start: int) -> None:
        """Add a block of rows, the first of which has the number ``start``."""
        used = np.flatnonzero(rows.counts)
        if not len(used):
            return
        Z = checked_features(self.features, X[used], start + used)
        if self.constant:
            Z = np.column_stack([Z, np.ones(len(Z))])
        rows = rows[used]
        self.summand.add(totals, Z, rows.y, rows.cell, rows.weights)


def _of_chunks(row_sum: RowSum, chunks: list[Any], arguments: list[tuple[LabelledRows, int]]) -> Totals:
    """The sum over chunks of rows, of each of which the first has the number ``start``, on a worker."""
    totals = row_sum.summand.zeros()
    for chunk, (rows, start) in zip(chunks, arguments):
        X = rows_of(chunk)
        for block in blocks_of(len(X), row_sum.width):
            row_sum.add(totals, X[block], rows[block], start + block.start)
    return totals
