r"""Sums over blocks of rows: all that least squares on explicit features needs of the data.

For features Z (n x r), targets Y (n x c) and weights W of the rows a cell of rows I has the sums

.. math:: G_I = Z_I^T W_I Z_I, \quad H_I = Z_I^T W_I E_I, \quad T_I = E_I^T W_I E_I, \qquad E = [1, Y].

Features exist a block at a time. Blocks are dealt to two lanes, each with sums of its own, that may run in two threads;
the lanes are added at the end. Results therefore do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import blas

from ..data.blocks import RowScan
from .cells import Cells
from .feature_map import FeatureMap

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

    @classmethod
    def zeros(cls, count: int, width: int, columns: int) -> Sums:
        """Sums of ``count`` cells without rows."""
        return cls(
            np.zeros((count, width, width)),
            np.zeros((count, width, columns)),
            np.zeros((count, columns, columns)),
        )

    def __iadd__(self, other: Sums) -> Sums:
        for mine, theirs in zip((self.G, self.H, self.T), (other.G, other.H, other.T)):
            mine += theirs
        return self

    def add_rows(self, cell: int, Z: Array, E: Array) -> None:
        """Add rows (l, r) and (l, 1 + c), already multiplied by the square roots of their weights, to a cell."""
        # dsyrk works on columns: Zᵀ in Fortran order is Z in C order, and so is the triangle that it writes
        blas.dsyrk(1.0, Z.T, beta=1.0, c=self.G[cell].T, trans=0, lower=1, overwrite_c=1)
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


def accumulate(
    feature_map: FeatureMap, X: RowBlocks, Y: Array, cells: Cells, *, threads: int = 1, step: int | None = None
) -> Sums:
    """Sums of all cells from one pass over the rows.

    Cost    n r² multiplications for the products, n r entries of a kernel, and n r² multiplications for the features of
            landmarks, or 2 r³ for each cell where the landmarks are well conditioned and rows many.
    Memory  for each lane a block of features (16 MB, twice while they are made) and r² numbers for each cell.
    Oracle  ``Z[cell].T @ Z[cell]``.
    """
    scale = None if cells.weights is None else np.sqrt(cells.weights)
    late = feature_map.whitening is not None and len(Y) > 4 * cells.count * feature_map.width
    features = feature_map.unwhitened if late else feature_map

    def run(blocks: Iterator[slice]) -> Sums:
        sums = Sums.zeros(cells.count, feature_map.width, 1 + Y.shape[1])
        for rows in blocks:
            order = np.argsort(cells.number[rows], kind="stable")
            numbers = cells.number[rows][order]
            block = X[rows][order]
            Z = features(block)
            _check_finite(Z, block, rows.start + order)
            E = np.column_stack([np.ones(len(order)), Y[rows][order]])
            if scale is not None:
                root = scale[rows][order][:, None]
                Z *= root
                E *= root
            edges = np.flatnonzero(np.diff(numbers, prepend=-1, append=-2))
            for start, end in pairwise(edges):
                sums.add_rows(numbers[start], Z[start:end], E[start:end])
        return sums

    with _unchanged(X):
        first, *others = in_lanes(run, len(Y), feature_map.width, threads, step)
    for other in others:
        first += other
    if late and feature_map.whitening is not None:
        first.whiten(feature_map.whitening)
    return first


def in_lanes(run: Callable[[Iterator[slice]], T], n: int, width: int, threads: int, step: int | None = None) -> list[T]:
    """Deal blocks of n rows to the lanes, in ``threads``; what each lane returns, in order."""
    blocks = blocks_of(n, width, step)
    lanes = [blocks[lane::LANES] for lane in range(LANES) if blocks[lane::LANES]]
    if threads == 1 or len(lanes) == 1:
        return [run(iter(lane)) for lane in lanes]
    with ThreadPoolExecutor(min(threads, len(lanes))) as pool:
        return list(pool.map(lambda lane: run(iter(lane)), lanes))


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
    found = [np.empty((len(rows), B.shape[1])) for rows, B in wanted]

    def run(blocks: Iterator[slice]) -> None:
        for block in blocks:
            places = [
                order[np.searchsorted(rows[order], block.start) : np.searchsorted(rows[order], block.stop)]
                for order, (rows, _) in zip(orders, wanted)
            ]
            used = np.unique(np.concatenate([rows[place] for place, (rows, _) in zip(places, wanted)]))
            if not len(used):
                continue
            Z = features(X[block] if len(used) == block.stop - block.start else X[block][used - block.start])
            for place, (rows, B), values in zip(places, wanted, found):
                if len(place):
                    values[place] = Z[np.searchsorted(used, rows[place])] @ B

    with _unchanged(X):
        in_lanes(run, X.shape[0], feature_map.width, threads)
    return found


@contextmanager
def _unchanged(X: Any) -> Iterator[None]:
    """A pass over rows of files: an error if these have changed since they were first looked at, or meanwhile."""
    if isinstance(X, RowScan):
        X.check_unchanged()
        yield
        X.check_unchanged()
    else:
        yield


def _check_finite(Z: Array, X: Any, numbers: Rows) -> None:
    """Name the first row whose features are not finite: its inputs are missing, or overflow."""
    if np.isfinite(Z.sum()) or np.isfinite(Z).all():
        return
    inputs = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    missing = ~np.isfinite(inputs).all(axis=1)  # of a whole block, distances to the mean row are missing then
    bad = missing if missing.any() else ~np.isfinite(Z).all(axis=1)
    reason = "missing or infinite values" if missing.any() else "inputs so large that kernels of it overflow"
    raise ValueError(f"Row {int(numbers[bad].min())} of X has {reason}.")
