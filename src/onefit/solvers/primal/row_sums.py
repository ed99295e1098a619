"""Sums over rows of what a loss is at values of explicit features: from blocks read here, or on a dask cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...data.blocks import Chunk, RowScan
from ...gram.cells import Cells
from ...gram.cluster import Batch, Kept, neighbouring_chunks, reduce_batches, rows_of
from ...gram.feature_map import FeatureMap
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
class Labels:
    """Labels, cells and weights (n,) of consecutive rows; those that do not ``count`` are left out of sums."""

    y: Array
    counts: NDArray[np.bool_]
    cell: Numbers
    weights: Array

    def __getitem__(self, rows: slice | Numbers) -> Labels:
        return Labels(self.y[rows], self.counts[rows], self.cell[rows], self.weights[rows])


def labels_of(y: Array, cells: Cells, *, all_count: bool = False) -> Labels:
    """Labels (n,) ±1 with the cells and weights of their rows; those with a zero do not count, unless ``all_count``."""
    counts = np.ones(len(y), dtype=bool) if all_count else y != 0
    weights = np.ones(len(y)) if cells.weights is None else cells.weights
    return Labels(np.ascontiguousarray(y), counts, cells.number, weights)


class FeatureRows:
    """Rows X as features, over which many sums are taken, in ``threads`` or on a cluster.

    Workers of a cluster keep what every pass needs, the map and the labels: a pass sends what is summed, and gets sums.
    """

    def __init__(self, feature_map: FeatureMap, X: RowBlocks, threads: int) -> None:
        self.feature_map, self.X, self.threads = feature_map, X, threads
        self.chunks = X.chunks if isinstance(X, RowScan) else []
        self.kept_map = Kept(feature_map)


class LabelledRows:
    """Rows with one column of labels. Memory: 25 bytes for each row, and as much on the scheduler of a cluster."""

    def __init__(self, rows: FeatureRows, labels: Labels) -> None:
        self.features, self.labels = rows, labels
        self._kept = {(c.numbers.start, c.numbers.stop): Kept(labels[c.numbers]) for c in rows.chunks}

    def sum(self, row_sum: RowSum) -> Totals:
        """The sum over all rows that count; it does not depend on the number of threads or workers."""
        rows, width = self.features, self.features.feature_map.width
        with unchanged(rows.X):
            if rows.chunks:
                size = sum(part.size for part in row_sum.summand.zeros().sums)
                groups = neighbouring_chunks(rows.chunks, width, size / rows.X.shape[1])
                return reduce_batches([self._batch(row_sum, group) for group in groups])
            total, *others = in_lanes(
                lambda _, blocks: self._of_blocks(row_sum, blocks), len(self.labels.y), width, rows.threads
            )
        return sum(others, start=total)

    def _batch(self, row_sum: RowSum, chunks: Sequence[Chunk]) -> Batch:
        numbers = [chunk.numbers for chunk in chunks]
        arguments = [(self._kept[rows.start, rows.stop], rows.start) for rows in numbers]
        return Batch(_of_chunks, [row_sum, self.features.kept_map], [chunk.rows for chunk in chunks], arguments)

    def _of_blocks(self, row_sum: RowSum, blocks: Iterator[slice]) -> Totals:
        totals = row_sum.summand.zeros()
        for block in blocks:
            if self.labels.counts[block].any():  # rows of a file are not read in vain
                labels = self.labels[block]
                row_sum.add(totals, self.features.feature_map, self.features.X[block], labels, block.start)
        return totals


@dataclass(frozen=True)
class RowSum:
    """The sum of a function over rows, with weights times a ``scale``.

    Features are ``whitened``, or such as sums are whitened of; a ``constant`` may be appended to them.
    """

    summand: Summand
    whitened: bool
    constant: bool
    scale: float

    def add(self, totals: Totals, feature_map: FeatureMap, X: Any, labels: Labels, start: int) -> None:
        """Add a block of rows, the first of which has the number ``start``."""
        used = np.flatnonzero(labels.counts)
        if not len(used):
            return
        Z = checked_features(feature_map if self.whitened else feature_map.unwhitened, X[used], start + used)
        if self.constant:
            Z = np.column_stack([Z, np.ones(len(Z))])
        labels = labels[used]
        self.summand.add(totals, Z, labels.y, labels.cell, self.scale * labels.weights)


def _of_chunks(shared: tuple[RowSum, FeatureMap], chunks: list[Any], arguments: list[tuple[Labels, int]]) -> Totals:
    """The sum over chunks of rows, of each of which the first has the number ``start``, on a worker."""
    row_sum, feature_map = shared
    totals = row_sum.summand.zeros()
    for chunk, (labels, start) in zip(chunks, arguments):
        X = rows_of(chunk)
        for block in blocks_of(len(X), feature_map.width):
            row_sum.add(totals, feature_map, X[block], labels[block], start + block.start)
    return totals
