r"""Solutions of dual problems that leave some rows out, from the inverse that belongs to all rows.

P is the inverse of ``M = K + D`` on the free rows F of the full-data solution. A problem with other free rows, F less
some rows R and with some rows A, needs no factorisation of its own: Schur complements take R out and A in
(``_fold_removal.pyx``). It is the identity by which least squares removes a fold. Cost: O(m³) for P, then for each
problem O(q³) for q rows R, O(m²) for each row A, and a product with K for each check.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..._arrays import Array, Indices, Mask
from ...linalg.inverse import mirror_upper
from ...linalg.lapack import invert_in_place
from ._fold_removal import FoldRemoval, change_sets
from .dual import ROUNDING, Dual, Solution

STEPS = 12
"""Changes of bounds, many at once, after which a problem is given up."""
CHECKS = 6
"""Products with K, each of which checks the conditions of optimality of all rows, after which it is given up."""
ROUGHER = 100.0
"""Times the tolerance: smaller violations are left to steps with an exact gradient."""


class Watch(Protocol):
    """Closes problems whose solution is known well enough: they are not solved any further."""

    def expect(self, splits: list[int], duals: list[Dual], starts: Array) -> None:
        """Say to which splits some problems belong, and where they start (t, n)."""

    def __call__(self, duals: list[Dual], betas: Array) -> Mask:
        """Look at approximate coefficients (t, n) of some problems: which of them are still open?"""

    def enough(self, dual: Dual, beta: Array) -> bool:
        """Look at one of them: is it closed now?"""

    def wants(self, dual: Dual) -> bool:
        """Whether a problem is still open."""


class SharedInverse:
    """P for the rows ``base``, and its products with the columns of rows that problems have added."""

    def __init__(
        self, K: Array, ridge: Array, base: Indices, constant: float, jitter: float, factor: Array | None = None
    ) -> None:
        """``factor`` is U with ``UᵀU = M`` on the rows ``base``, in their order, if it is known: a third is saved."""
        self.K, self.ridge, self.base, self.constant = K, ridge + jitter, base, constant
        self.place = np.full(len(K), -1)
        self.place[base] = np.arange(len(base))
        self.P = factor if factor is not None else self._matrix()
        while not invert_in_place(self.P, factorised=factor is not None):
            jitter *= 100  # K is less definite than it seemed
            self.ridge, self.P = ridge + jitter, self._matrix()
        mirror_upper(self.P)
        self.ones = self.P.sum(axis=0)
        self.known: Indices = np.empty(0, dtype=np.intp)
        self.columns, self.Q, self.S = np.empty((0, len(base))), np.empty((0, len(base))), np.empty((0, 0))

    def step(self, right: Array, free: Mask, missing: Array, bias: bool) -> Array | None:
        """x (n, t) with ``M x = right`` on each column's free rows; with a bias up to a constant, and summing to
        ``missing``. None if a system is singular.
        """
        ends = np.where(free.T, np.inf, 0.0)
        x, sets, side = np.zeros_like(ends), free.T.copy(), np.ones_like(ends)
        solved = self._newton_steps(-right.T, 0.0, -ends, ends, bias, missing, 0.0, x, sets, side)
        return x.T if solved.all() else None

    def solve(
        self, duals: list[Dual], starts: Array, images: Array, watch: Watch | None = None
    ) -> list[Solution | None]:
        """Solutions of problems with the ridges of P, from starts (t, n) and ``images = starts K``.

        None where bounds do not settle within a few steps, or ``watch`` closes a problem.
        """
        found: list[Solution | None] = [None] * len(duals)
        beta, u = starts.copy(), images
        free = np.array([dual.free(row) for dual, row in zip(duals, beta)])
        side = np.where(beta > 0, 1.0, -1.0)
        left = np.flatnonzero(free.any(axis=1))
        for _ in range(CHECKS):
            if not len(left):
                break
            before = beta[left]
            possible = self._steps_of(duals, left, beta, u, free, side)
            left, before = left[possible], before[possible]
            u[left] = beta[left] @ self.K
            left = self._settle(duals, left, before, beta, u, free, side, found)
            if watch is not None and len(left):
                left = left[watch([duals[k] for k in left], beta[left])]
        return found

    def _steps_of(self, duals: list[Dual], left: Indices, beta: Array, u: Array, free: Mask, side: Array) -> Mask:
        """Newton steps of the problems that are left; which of them went well?"""
        some = [duals[k] for k in left]
        first = some[0]
        gradient = np.array([dual.gradient(beta[k], u[k]) for k, dual in zip(left, some)])
        missing = -beta[left].sum(axis=1) if first.bias else np.zeros(len(left))
        parts = beta[left], free[left], side[left]
        possible = self._newton_steps(
            gradient, first.epsilon, np.array([dual.lower for dual in some]), np.array([dual.upper for dual in some]),
            first.bias, missing, first.tolerance, *parts,
        )  # fmt: skip
        beta[left], free[left], side[left] = parts
        return possible & free[left].any(axis=1)

    def _settle(
        self, duals: list[Dual], left: Indices, before: Array, beta: Array, u: Array, free: Mask, side: Array,
        found: list[Solution | None],
    ) -> Indices:  # fmt: skip
        """Change the free sets after a step; write down what is solved, and return what is not."""
        roots, open_ = np.sqrt(np.abs(np.diagonal(self.K))), []
        for k, start in zip(left, before):
            dual = duals[k]
            b, residual, changes, tells = change_sets(
                self.K, dual.ridge, dual.target, dual.epsilon, dual.lower, dual.upper, dual.bias, dual.tolerance,
                start, beta[k], u[k], free[k].view(np.int8), side[k],
            )  # fmt: skip
            rounding = ROUNDING * roots.max() * float(np.abs(beta[k]) @ roots)
            if changes == 0 and tells and residual <= max(dual.tolerance, rounding):
                found[k] = Solution(beta[k].copy(), u[k].copy(), b, residual, converged=True)
            elif free[k].any():
                open_.append(k)
        return np.array(open_, dtype=np.intp)

    def _newton_steps(
        self, gradient: Array, epsilon: float, lower: Array, upper: Array, bias: bool, missing: Array, tolerance: float,
        beta: Array, free: Mask, side: Array,
    ) -> Mask:  # fmt: skip
        """Move every problem (rows of arrays (t, n), the last three changed) to where no bound changes any more.

        Coefficients that are not free now but outside the base stay where they are, and so may violate the conditions
        of optimality afterwards. With a bias the steps sum to ``missing``. Returns for which problems all went well.
        """
        self._learn(np.flatnonzero(free.any(axis=0)))
        base, rows = self.base, np.concatenate([self.base, self.known])
        right = np.take(-(gradient + epsilon * side) * free, base, axis=1)
        start, reach = right @ self.P, right @ self.Q.T
        resting = len(base) - int(free[:, base].sum(axis=1).min())
        removal = FoldRemoval(self.P, self.ones, self.Q, self.S, resting)
        possible = np.zeros(len(beta), dtype=bool)
        for k in range(len(beta)):
            parts = [np.ascontiguousarray(part[k, rows]) for part in (beta, free.view(np.int8), side)]
            possible[k] = removal.steps(
                right[k], start[k], reach[k], gradient[k, rows], epsilon, lower[k, rows], upper[k, rows], bias,
                missing[k], ROUGHER * tolerance, *parts, STEPS,
            )  # fmt: skip
            beta[k, rows], free[k, rows], side[k, rows] = parts
        return possible

    def _learn(self, free: Indices) -> None:
        """Prepare the rows outside the base that are free for the first time."""
        new = np.setdiff1d(free[self.place[free] < 0], self.known)
        if not len(new):
            return
        columns = self._block(new, self.base)
        products = columns @ self.P
        cross = self._block(self.known, new) - self.columns @ products.T
        own = self._block(new, new) - columns @ products.T
        own.flat[:: len(new) + 1] += self.ridge[new]
        self.S = np.block([[self.S, cross], [cross.T, own]])
        self.known = np.concatenate([self.known, new])
        self.columns, self.Q = np.vstack([self.columns, columns]), np.vstack([self.Q, products])

    def _matrix(self) -> Array:
        """M on the rows of the base."""
        matrix = self._block(self.base, self.base)
        matrix.flat[:: len(matrix) + 1] += self.ridge[self.base]
        return matrix

    def _block(self, rows: Indices, columns: Indices) -> Array:
        block: Array = self.K[np.ix_(rows, columns)]
        block += self.constant
        return block
