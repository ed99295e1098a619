r"""Exact held-out residuals of a linear smoother from one factorisation.

Notation: ``G`` is the inverse of ``K + ridge I`` (on the complement of an unpenalised direction, if there is
one), ``dual = G Y``, and the fit's residuals are ``Y - F = ridge dual``. Remove the rows I and train again:

.. math::
    (y - f^{(-I)})_I = [G_{II}]^{-1} dual_I, \qquad
    dual^{(-I)} = dual - G_{:I} (y - f^{(-I)})_I.

Only G is ever used, never ``I - H`` as a difference: with a complete spectrum small ridges keep their digits.
Oracle: train on the remaining rows. Source: Cawley & Talbot (2004, 2006); An, Liu & Venkatesh (2007);
Pahikkala et al. (2006).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from .._arrays import Array, Indices, Mask
from .factor import EPS, Inverse


def block_residuals(inverse: Inverse, dual: Array, rows: Indices) -> Array:
    """Residuals of the held-out rows, shape (L, len(rows), c).

    Cost O(l² n + l³) per ridge for l rows (the block, then a solve of its size).
    """
    residuals = np.empty((len(inverse.ridges), len(rows), dual.shape[-1]))
    norms = None if inverse.definite else inverse.norms()
    for k, block in enumerate(inverse.blocks(rows)):
        residuals[k] = solve_symmetric(block, dual[k, rows], None if norms is None else float(norms[k]))
    return residuals


def single_residuals(inverse: Inverse, dual: Array) -> Array:
    """Leave-one-out residuals of every row, shape (L, n, c); NaN where a row cannot be left out.

    That is where ``G_ii`` vanishes, which happens for indefinite K only. Cost O(n²) per ridge.
    """
    diagonals = inverse.diagonals()
    if not inverse.definite:
        vanishing = np.abs(diagonals) <= diagonals.shape[1] * EPS * inverse.norms()[:, None]
        diagonals = np.where(vanishing, np.nan, diagonals)
    return dual / diagonals[:, :, None]


def remaining_dual(inverse: Inverse, dual: Array, rows: Indices, residuals: Array) -> Array:
    """Dual coefficients after the rows were removed, shape (L, n, c), zero at those rows."""
    dual = dual - inverse.apply_columns(rows, residuals)
    dual[:, rows] = 0.0
    return dual


def solve_symmetric(A: Array, B: Array, norm: float | None = None) -> Array:
    """``A^{-1} B`` for a positive definite A, or one that is not (``norm`` given), NaN if that is singular.

    ``norm`` is that of the matrix which A is a block of: an eigenvalue of ``len(A) eps norm`` is rounding.
    """
    if norm is None:
        _, solution, failed = lapack.dposv(A, B, lower=1)
        if not failed:
            return np.asarray(solution)
    values, vectors = np.linalg.eigh(A)
    norm = float(np.abs(values).max(initial=0.0)) if norm is None else norm
    if np.abs(values).min(initial=np.inf) <= len(values) * EPS * norm:
        return np.full(B.shape, np.nan)
    return np.asarray(vectors @ ((vectors.T @ B) / values[:, None]), dtype=np.float64)


class HeldOutSolver:
    """Machines trained without some rows, for every ridge of an inverse: a solver to refine with.

    Columns are ordered by ridge, then by split, then by target. ``scale`` holds the square roots of the weights (n,),
    ``K`` the Gram matrix before it was scaled by them.

    Cost of a solution: O(n²) a column, and the blocks of the removed rows once.
    """

    def __init__(self, inverse: Inverse, removed: list[Indices], scale: Array, K: Array, bias: bool) -> None:
        self.inverse, self.removed, self.scale, self.K, self.bias = inverse, removed, scale, K, bias
        self.kept: Mask = np.ones((len(K), len(removed)), dtype=bool)
        for split, rows in enumerate(removed):
            self.kept[rows, split] = False
        self.blocks = [list(inverse.blocks(rows)) for rows in removed]

    def kept_columns(self, targets: int) -> Mask:
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
