"""Exact cross-validation of least squares on explicit features, for a whole path of ridges, from one pass.

The sums of a split's training rows are those of all cells less those of the rows it tests. From them every ridge is
solved, and the squared errors on the tested rows follow from the sums of these: no fold is ever trained on its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...gram.cells import Cells
from ...gram.feature_map import FeatureMap
from ...gram.streamed import RowBlocks, accumulate
from .ridge_path import RidgePath, ridge_path, squared_errors

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SquaredErrors:
    """Squared errors on the tested rows of a split, summed: ``total`` (L, c), and the ``weight`` of these rows.

    ``terms`` (L, c) is the size of the numbers that they are a difference of: where errors are far smaller, digits are
    lost.
    """

    weight: float
    total: Array
    terms: Array


@dataclass(frozen=True)
class SplitSolution:
    """The machine trained on the training rows of a split, for each number of leading features.

    ``errors`` has one entry for each of them too, or none where the tested rows are no cell. ``accuracy`` (L,) bounds
    the error of decision values, relative to the lengths of features, where the solution is iterative.
    """

    paths: Sequence[RidgePath]
    errors: Sequence[SquaredErrors] = ()
    accuracy: Array | None = None


def solve_splits(
    feature_map: FeatureMap,
    X: RowBlocks,
    Y: Array,
    groups: Sequence[Cells],
    ridges: Array,
    *,
    bias: bool,
    widths: Sequence[int],
    shares: Sequence[float],
    threads: int = 1,
) -> list[SplitSolution]:
    """Train on every split, for L ridges and the first features of several ``widths``.

    ``shares`` multiply the ridges of each split. Cost: one pass over the rows for each group of cells, and r³ / 3 for
    each split and ridge (an eigendecomposition for many ridges); memory r² for each cell and lane.
    """
    solutions: dict[int, SplitSolution] = {}
    for cells in groups:
        sums = accumulate(feature_map, X, Y, cells, threads=threads)
        for k, split in enumerate(cells.splits):
            train = sums.mix(cells.share[k])
            own = ridges * shares[split]
            paths = [ridge_path(train, own, bias=bias, leading=width) for width in widths]
            tested, errors = int(cells.tested[k]), []
            if tested >= 0:
                held_out = sums.of_cell(tested)
                weight = float(held_out.T[0, 0, 0])
                errors = [SquaredErrors(weight, *squared_errors(held_out, path)) for path in paths]
            solutions[split] = SplitSolution(paths, errors)
    return [solutions[split] for split in sorted(solutions)]
