r"""Sums over blocks of rows: all that least squares on explicit features needs of the data.

For features Z (n x r), targets Y (n x c) and weights W of the rows a cell of rows I has the sums

.. math:: G_I = Z_I^T W_I Z_I, \quad H_I = Z_I^T W_I E_I, \quad T_I = E_I^T W_I E_I, \qquad E = [1, Y].

Features exist a block at a time. Blocks are dealt to two lanes, each with sums of its own, that may run in two threads;
the lanes are added at the end. Results therefore do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from threading import Event
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ..data.blocks import RowScan, UnreadableRowsError, check_no_missing
from ..linalg.unlocked import add_squares
from .cells import Cells
from .cluster import Batch, map_chunks, neighbouring_chunks, reduce_batches, rows_of
from .feature_map import WELL_CONDITIONED, FeatureMap

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
T = TypeVar("T")

LANES = 2
"""Accumulators that blocks are dealt to."""

BLOCK = 1 << 21
"""Features in a block of rows: 16 MB."""

SMALLEST_BLOCK = 1024
"""Rows, at least, in a block: products of fewer rows are slow."""


class RowBlocks(Protocol):
    """Anything that gives consecutive rows: arrays, memory maps, CSR matrices, scans of files."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __getitem__(self, rows: slice) -> Any: ...


@dataclass
class Sums:
    """Sums of k cells: G (k, r, r), of which the upper triangles count, H (k, r, 1 + c) and T (k, 1 + c, 1 + c)."""

    G: Array
    H: Array
    T: Array

    def __reduce__(self) -> tuple[Any, ...]:
        """Half of G travels between processes."""
        return Sums.unpacked, self.packed

    @property
    def packed(self) -> tuple[Array, Array, Array]:
        """The upper triangles of G (k, r (r + 1) / 2), row after row, and H and T."""
        return self.G[:, *np.triu_indices(self.G.shape[1])], self.H, self.T

    @classmethod
    def unpacked(cls, triangles: Array, H: Array, T: Array) -> Sums:
        """Sums from the triangles of ``packed``."""
        count, width, _ = H.shape
        G = np.zeros((count, width, width))
        G[:, *np.triu_indices(width)] = triangles
        return cls(G, H, T)

    @classmethod
    def zeros(cls, count: int, width: int, columns: int) -> Sums:
        """Sums of ``count`` cells without rows."""
        return cls(
            np.zeros((count, width, width)),
            np.zeros((count, width, columns)),
            np.zeros((count, columns, columns)),
        )

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.G + other.G, self.H + other.H, self.T + other.T)

    def __iadd__(self, other: Sums) -> Sums:
        for mine, theirs in zip((self.G, self.H, self.T), (other.G, other.H, other.T)):
            mine += theirs
        return self

    def add_rows(self, cell: int, Z: Array, E: Array) -> None:
        """Add rows (l, r) and (l, 1 + c), already multiplied by the square roots of their weights, to a cell."""
        add_squares(self.G[cell], Z)
        self.H[cell] += Z.T @ E
        self.T[cell] += E.T @ E

    def whiten(self, lower: Array) -> None:
        """From sums of unwhitened features to those of ``L⁻¹`` times them, in place."""
        for cell in range(len(self.G)):
            G = symmetric(self.G[cell])
            G = linalg.solve_triangular(lower, G, lower=True, check_finite=False)
            self.G[cell] = linalg.solve_triangular(lower, G.T, lower=True, check_finite=False)
            self.H[cell] = linalg.solve_triangular(lower, self.H[cell], lower=True, check_finite=False)

    def of_cell(self, cell: int) -> Sums:
        """The sums of one cell."""
        return Sums(self.G[cell : cell + 1], self.H[cell : cell + 1], self.T[cell : cell + 1])

    def mix(self, share: Array) -> Sums:
        """The sum of all cells, each with its ``share`` (cells,), as sums of one cell."""
        used = np.flatnonzero(share)
        return Sums(*(np.tensordot(share[used], part[used], axes=1)[None] for part in (self.G, self.H, self.T)))


def symmetric(upper: Array) -> Array:
    """A full matrix from its upper triangle."""
    G = np.triu(upper)
    G += np.triu(upper, 1).T
    return G


class PassRecord(Protocol):
    """Sums of one pass over the rows that outlive the process: whoever begins the pass again goes on from them."""

    def finished(self) -> Sums | None:
        """The sums of the whole pass, if it was finished."""

    def begun(self, lane: int) -> tuple[int, Sums] | None:
        """(how many blocks of a lane are done, their sums), if they were kept."""

    def keep(self, lane: int, done: int, sums: Sums) -> None:
        """Take note of the sums of the first blocks of a lane: now and then they are written down."""

    def finish(self, total: Sums) -> Sums:
        """Write down the sums of the whole pass; the same, with those of earlier rows that they are to be added to."""


class SumsStore(Protocol):
    """Where sums over the rows outlive a search."""

    def of_pass(self, key: str, facts: Any) -> PassRecord | None:
        """The record of one pass; ``facts`` tell it from passes over other cells, targets or features."""


def accumulate(
    feature_map: FeatureMap,
    X: RowBlocks,
    Y: Array,
    cells: Cells,
    *,
    threads: int = 1,
    step: int | None = None,
    record: PassRecord | None = None,
) -> Sums:
    """Sums of all cells from one pass over the rows, or from what a ``record`` has of it.

    Cost    n r² multiplications for the products, n r entries of a kernel, and n r² multiplications for the features of
            landmarks, or 2 r³ for each cell where the landmarks are well conditioned and rows many.
    Memory  for each lane a block of features (16 MB, twice while they are made) and r² numbers for each cell.
    Oracle  ``Z[cell].T @ Z[cell]``.
    """
    if record is not None and (known := record.finished()) is not None:
        return known
    late = feature_map.condition * _offset(Y) <= WELL_CONDITIONED and len(Y) > 4 * cells.count * feature_map.width
    summing = _Summing(feature_map, late, cells.count, 1 + Y.shape[1], step)
    with unchanged(X):
        if isinstance(X, RowScan) and X.chunks:
            total = reduce_batches(_batches(summing, X, Y, cells), record)
        else:
            total = _sum_in_lanes(summing, X, Y, cells, threads, record)
    if late:
        total.whiten(feature_map.whitening)
    return total if record is None else record.finish(total)


def _offset(Y: Array) -> float:
    """How far targets are from zero, relative to their standard deviation: so much larger are errors of scores."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.nanmax(np.sqrt(1.0 + Y.mean(axis=0) ** 2 / Y.var(axis=0)), initial=1.0))


def _sum_in_lanes(
    summing: _Summing, X: RowBlocks, Y: Array, cells: Cells, threads: int, record: PassRecord | None
) -> Sums:
    """Sums of rows that are read here. A lane adds its blocks one after another, also where it was begun before."""

    def run(lane: int, blocks: Iterator[slice]) -> Sums:
        begun = None if record is None else record.begun(lane)
        done, sums = (0, summing.zeros()) if begun is None else begun
        for number, rows in enumerate(blocks, 1):
            if number > done:
                own = None if cells.weights is None else cells.weights[rows]
                summing.add(sums, X[rows], Y[rows], cells.number[rows], own, rows.start)
                if record is not None:
                    record.keep(lane, number, sums)
        return sums

    total, *others = in_lanes(run, len(Y), summing.feature_map.width, threads, summing.step)
    for other in others:
        total += other
    return total


def _batches(summing: _Summing, X: RowScan, Y: Array, cells: Cells) -> list[Batch]:
    """Chunks of rows, with their targets and cells, in batches of neighbours that one worker sums."""
    width = summing.feature_map.width
    return [
        Batch(_sums_of_chunks, [summing], [chunk.rows for chunk in own], [_of_chunk(Y, cells, c.numbers) for c in own])
        for own in neighbouring_chunks(X.chunks, width, cells.count * width**2 / X.shape[1])
    ]


def _of_chunk(Y: Array, cells: Cells, rows: slice) -> tuple[Any, ...]:
    """(targets, cells, weights, number of the first row) of a chunk."""
    return Y[rows], cells.number[rows], None if cells.weights is None else cells.weights[rows], rows.start


@dataclass(frozen=True)
class _Summing:
    """How blocks of rows are summed: with features or unwhitened ones, for so many cells and columns."""

    feature_map: FeatureMap
    late: bool
    cells: int
    columns: int
    step: int | None = None

    def zeros(self) -> Sums:
        return Sums.zeros(self.cells, self.feature_map.width, self.columns)

    def add(self, sums: Sums, X: Any, Y: Array, number: Rows, weights: Array | None, start: int) -> None:
        """Add a block of rows, the first of which has the number ``start``, to the sums of their cells."""
        order = np.argsort(number, kind="stable")
        numbers, block = number[order], X[order]
        features = self.feature_map.unwhitened if self.late else self.feature_map
        Z = checked_features(features, block, start + order)
        E = np.column_stack([np.ones(len(order)), Y[order]])
        if weights is not None:
            root = np.sqrt(weights[order])[:, None]
            Z *= root
            E *= root
        edges = np.flatnonzero(np.diff(numbers, prepend=-1, append=-2))
        for first, end in pairwise(edges):
            sums.add_rows(numbers[first], Z[first:end], E[first:end])


def _sums_of_chunks(shared: list[_Summing], chunks: list[Any], arguments: list[tuple[Any, ...]]) -> Sums:
    """Sums of chunks of rows, of each of which the first has the number ``start``, on a worker."""
    (summing,) = shared
    sums = summing.zeros()
    for chunk, (Y, number, weights, start) in zip(chunks, arguments):
        X = rows_of(chunk)
        for block in blocks_of(len(X), summing.feature_map.width, summing.step):
            own = None if weights is None else weights[block]
            summing.add(sums, X[block], Y[block], number[block], own, start + block.start)
    return sums


def in_lanes(
    run: Callable[[int, Iterator[slice]], T], n: int, width: int, threads: int, step: int | None = None
) -> list[T]:
    """Deal blocks of n rows to the lanes, in ``threads``; what ``run(lane, blocks)`` returns of each, in order."""
    blocks = blocks_of(n, width, step)
    lanes = [blocks[lane::LANES] for lane in range(LANES) if blocks[lane::LANES]]
    if threads == 1 or len(lanes) == 1:
        return [run(number, iter(lane)) for number, lane in enumerate(lanes)]
    stop = Event()

    def until_stopped(lane: list[slice]) -> Iterator[slice]:
        for block in lane:
            if stop.is_set():
                return
            yield block

    with ThreadPoolExecutor(min(threads, len(lanes))) as pool:
        running = [pool.submit(run, number, until_stopped(lane)) for number, lane in enumerate(lanes)]
        try:
            wait(running, return_when=FIRST_EXCEPTION)
        finally:
            stop.set()  # an error in one lane, or Ctrl-C, ends the others after their block
        return [lane.result() for lane in running]


def blocks_of(n: int, width: int, step: int | None = None) -> list[slice]:
    """Consecutive blocks of n rows with about ``BLOCK`` features, or of ``step`` rows."""
    step = max(SMALLEST_BLOCK, BLOCK // max(1, width)) if step is None else step
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def products(
    feature_map: FeatureMap, X: RowBlocks, wanted: list[tuple[Rows, Array]], *, threads: int = 1
) -> list[Array]:
    """``Z[rows] B`` for several pairs of row numbers and coefficients B (r, k), from one pass over the rows.

    Rows that nobody wants are not computed.
    """
    lower, features = feature_map.whitening, feature_map.unwhitened
    if lower is None:
        features = feature_map.__call__
    else:  # the triangular solution is that of the coefficients
        wanted = [
            (rows, linalg.solve_triangular(lower, B, lower=True, trans="T", check_finite=False)) for rows, B in wanted
        ]
    orders = [np.argsort(rows, kind="stable") for rows, _ in wanted]
    ascending = [rows[order] for order, (rows, _) in zip(orders, wanted)]
    found = [np.empty((len(rows), B.shape[1])) for rows, B in wanted]
    coefficients = [B for _, B in wanted]

    def places_in(block: slice) -> list[Rows]:
        """Where the rows of a block stand among the wanted ones."""
        return [
            order[slice(*np.searchsorted(rows, [block.start, block.stop]))] for order, rows in zip(orders, ascending)
        ]

    def local(block: slice, places: list[Rows]) -> list[Rows]:
        return [rows[place] - block.start for place, (rows, _) in zip(places, wanted)]

    def take(places: list[Rows], values: list[Array]) -> None:
        for target, place, own in zip(found, places, values):
            target[place] = own

    def run(lane: int, blocks: Iterator[slice]) -> None:
        for block in blocks:
            places = places_in(block)
            take(places, _products_of_rows((features, coefficients), X[block], local(block, places)))

    chunks = X.chunks if isinstance(X, RowScan) else []
    with unchanged(X):
        if chunks:
            places = [places_in(chunk.numbers) for chunk in chunks]
            own = [(local(chunk.numbers, place),) for chunk, place in zip(chunks, places)]
            for place, values in zip(places, map_chunks(chunks, _products_of_chunk, own, (features, coefficients))):
                take(place, values)
        else:
            in_lanes(run, X.shape[0], feature_map.width, threads)
    return found


def _products_of_rows(shared: tuple[Any, list[Array]], X: Any, wanted: list[Rows]) -> list[Array]:
    """``features(X)[rows] @ B`` for several pairs of row numbers and coefficients; rows nobody wants are left out."""
    features, coefficients = shared
    used = np.unique(np.concatenate(wanted))
    if not len(used):
        return [np.empty((0, B.shape[1])) for B in coefficients]
    Z = features(X if len(used) == X.shape[0] else X[used])
    return [Z[np.searchsorted(used, rows)] @ B for rows, B in zip(wanted, coefficients)]


def _products_of_chunk(shared: tuple[Any, list[Array]], rows: Any, wanted: list[Rows]) -> list[Array]:
    """Products of a chunk of rows, on a worker, a block at a time."""
    X, parts = rows_of(rows), []
    for block in blocks_of(len(X), max(B.shape[0] for B in shared[1])):
        here = [own[(own >= block.start) & (own < block.stop)] - block.start for own in wanted]
        parts.append(_products_of_rows(shared, X[block], here))
    return [np.vstack(values) for values in zip(*parts)]


@contextmanager
def unchanged(X: Any) -> Iterator[None]:
    """A pass over rows of files: an error if these have changed since they were first looked at, or meanwhile."""
    if isinstance(X, RowScan):
        X.check_unchanged()
        yield
        X.check_unchanged()
    else:
        yield


def checked_features(features: Callable[[Any], Array], X: Any, numbers: Rows) -> Array:
    """Features of rows that have these numbers; an error that names a row without: values are missing, or overflow."""
    check_no_missing(X, numbers)
    Z = features(X)
    if np.isfinite(Z.sum()) or np.isfinite(Z).all():
        return Z
    inputs = np.abs(X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64))
    row = int(numbers[inputs.max(axis=1).argmax()])  # its distance to the mean row makes those of all others overflow
    raise UnreadableRowsError(f"Row {row} of X has inputs so large that kernels of it overflow.")
