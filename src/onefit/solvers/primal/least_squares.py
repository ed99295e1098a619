"""Exact cross-validation of least squares on explicit features, for a whole path of ridges, from one pass.

The sums of a split's training rows are those of all cells less those of the rows it tests. From them every ridge is
solved, and the squared errors on the tested rows follow from the sums of these: no fold is ever trained on its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...gram.cells import Cells
from ...gram.feature_map import FeatureMap
from ...gram.streamed import PassRecord, RowBlocks, Sums, accumulate
from ...losses.residual import SquaredLoss
from ...machines.primal import FeatureProblem, SplitSolution, SplitSolutions, SquaredErrors
from .ridge_path import ridge_path, squared_errors

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FromSums:
    """The solver on explicit features of least squares. Cost: that of ``solve_splits``."""

    from_sums = True

    def refuse(self, penalties: Sequence[float]) -> str | None:
        """Ridges must be positive: features may be linearly dependent."""
        if min(penalties) <= 0:
            return f"With an approximation alpha must be positive, got {min(penalties):g}."
        return None

    def half_width(self, Y: Array) -> float | None:
        """None: the loss has no kinks."""
        return None

    def smoothed_over(self, h: float | None) -> FromSums:
        """Itself: the loss has no kinks."""
        return self

    def loss(self, Y: Array) -> SquaredLoss:
        """``(y - f)²``."""
        return SquaredLoss()

    def factors(self, penalties: Array) -> Array:
        """``1 / (2 alpha)``."""
        return 0.5 / penalties

    def counts(self, y: Array) -> NDArray[np.bool_]:
        """All rows."""
        return np.ones(len(y), dtype=bool)

    def usual_passes(self, columns: float, penalties: int) -> float:
        """One pass serves all columns and ridges."""
        return 1.0

    def solve(self, problem: FeatureProblem) -> SplitSolutions:
        """The machines of all splits, from one pass for each group of cells."""
        return solve_splits(
            problem.feature_map, problem.X, problem.Y, problem.groups, problem.penalties, bias=problem.bias,
            widths=problem.widths, shares=problem.shares, threads=problem.threads, records=problem.records,
            on_all_rows=problem.on_all_rows,
        )  # fmt: skip


def solve_splits(
    feature_map: FeatureMap,
    X: RowBlocks,
    Y: Array,
    groups: Sequence[Cells],
    ridges: Array,
    *,
    bias: bool,
    widths: Sequence[int],
    shares: Sequence[float] | Array,
    threads: int = 1,
    records: Sequence[PassRecord | None] | None = None,
    on_all_rows: bool = False,
) -> SplitSolutions:
    """Train on every split, for L ridges and the first features of several ``widths``, and if asked ``on_all_rows``.

    ``shares`` multiply the ridges of each split; ``records`` keep the sums of each group of cells. Cost: one pass over
    the rows for each group of cells, and r³ / 3 for each split and ridge (an eigendecomposition for many ridges);
    memory r² for each cell and lane.
    """
    solutions: dict[int, SplitSolution] = {}
    whole = None
    for cells, record in zip(groups, records or [None] * len(groups)):
        sums = accumulate(feature_map, X, Y, cells, threads=threads, record=record)

        def solve(k: int, cells: Cells = cells, sums: Sums = sums) -> SplitSolution:
            own = ridges * shares[cells.splits[k]]
            return _solve_split(sums, cells.share[k], int(cells.tested[k]), own, bias, widths)

        with ThreadPoolExecutor(threads) as pool:
            solutions.update(zip(cells.splits, pool.map(solve, range(len(cells.splits)))))
        if on_all_rows and (cells.tested >= 0).all():  # disjoint cells, which are all rows together
            whole = ridge_path(sums.mix(np.ones(cells.count)), ridges, bias=bias)
    return SplitSolutions([solutions[split] for split in sorted(solutions)], whole, len(groups))


def _solve_split(
    sums: Sums, share: Array, tested: int, ridges: Array, bias: bool, widths: Sequence[int]
) -> SplitSolution:
    """Train on the cells that have a ``share`` in a split; its errors on the cell that it tests, if there is one."""
    train = sums.mix(share)
    paths = [ridge_path(train, ridges, bias=bias, leading=width) for width in widths]
    if tested < 0:
        return SplitSolution(paths)
    held_out = sums.of_cell(tested)
    T = held_out.T[0]
    weight = float(T[0, 0])
    spread = (np.diag(T)[1:] - T[0, 1:] ** 2 / weight) / weight if weight > 0 else np.zeros(len(T) - 1)
    return SplitSolution(paths, [SquaredErrors(weight, *squared_errors(held_out, path), spread) for path in paths])
