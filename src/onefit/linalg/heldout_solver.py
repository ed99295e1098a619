"""All splits of a path of ridges as one batch of systems, solved by the hold-out identities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .factor import Array, Inverse, Rows
from .heldout import solve_symmetric


class HeldOutSolver:
    """Machines trained without some rows, for every ridge of an inverse: a solver to refine with.

    Columns are ordered by ridge, then by split, then by target. ``scale`` holds the square roots of the weights (n,),
    ``K`` the Gram matrix before it was scaled by them.

    Cost of a solution: O(n²) a column, and the blocks of the removed rows once.
    """

    def __init__(self, inverse: Inverse, removed: list[Rows], scale: Array, K: Array, bias: bool) -> None:
        self.inverse, self.removed, self.scale, self.K, self.bias = inverse, removed, scale, K, bias
        self.kept: NDArray[np.bool_] = np.ones((len(K), len(removed)), dtype=bool)
        for split, rows in enumerate(removed):
            self.kept[rows, split] = False
        self.blocks = [list(inverse.blocks(rows)) for rows in removed]

    def kept_columns(self, targets: int) -> NDArray[np.bool_]:
        """Which rows every column is trained on, shape (n, q)."""
        return np.tile(np.repeat(self.kept, targets, axis=1), (1, len(self.inverse.ridges)))

    def diagonals(self, targets: int) -> Array:
        """``ridge / weights`` of every column, shape (n, q)."""
        ridges = np.repeat(self.inverse.ridges, len(self.removed) * targets)
        return np.asarray(ridges / self.scale[:, None] ** 2)

    def solve(self, R: Array, excess: Array) -> tuple[Array, Array]:
        """As ``linalg.refinement.Solver`` promises."""
        targets = R.shape[1] // (len(self.inverse.ridges) * len(self.removed))
        if not self.bias:
            return self._without_bias(R, targets), np.zeros(R.shape[1])
        kept = self.kept_columns(targets).astype(np.float64)
        even = kept * (excess / kept.sum(axis=0))  # has the wanted sum; the rest has none
        R = kept * (R - self.K @ even - self.diagonals(targets) * even)
        dual = self._without_bias(R, targets)
        weights = kept * self.scale[:, None] ** 2
        bias = (weights * (R - self.K @ dual)).sum(axis=0) / weights.sum(axis=0)
        return dual + even, bias

    def _without_bias(self, R: Array, targets: int) -> Array:
        n, L = len(R), len(self.inverse.ridges)
        scaled = np.ascontiguousarray((R * self.scale[:, None]).reshape(n, L, -1).transpose(1, 0, 2))
        dual = self.inverse.apply(scaled)
        outside = np.zeros_like(dual)
        for split, (rows, blocks) in enumerate(zip(self.removed, self.blocks)):
            own = slice(split * targets, (split + 1) * targets)
            for k, block in enumerate(blocks):
                outside[k, rows, own] = solve_symmetric(block, dual[k, rows, own])
        dual -= self.inverse.apply(outside)
        dual = dual.transpose(1, 0, 2).reshape(n, -1) * self.scale[:, None]
        return np.asarray(np.where(self.kept_columns(targets), dual, 0.0))
