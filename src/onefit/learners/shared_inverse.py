r"""Newton steps of several dual problems from one inverse.

P is the inverse of ``M = K + D`` on the free rows F of the full-data solution. A problem with other free rows, F less
some rows R and with some rows A, needs no factorisation of its own: see ``native.schur``. The same identity as the
block hold-out of least squares. Cost: O(m³) for P, then for each problem O(q³) for q rows R, and O(m²) for each row A.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from ..linalg.inverse import mirror_upper
from ..linalg.lapack import cholesky_in_place, invert_in_place
from ..native.factor import gather
from ..native.narrow import narrow_product
from ..native.schur import schur_leaps
from .dual import Array

Rows = NDArray[np.intp]

LEAPS = 12
"""Changes of bounds, many at once, after which a problem is given up."""
ROUGHER = 100.0
"""Times the tolerance: what is less than that is left to steps with an exact gradient."""
ROOM = 128
"""Rows of the base that may come to rest during the leaps of a problem, or a third of them if that is more."""


class SharedInverse:
    """P for the rows ``base``, and its products with the columns of rows that problems have added."""

    def __init__(
        self, K: Array, ridge: Array, base: Rows, constant: float, jitter: float, factor: Array | None = None
    ) -> None:
        """``factor`` is U with ``UᵀU = M`` on the rows ``base``, in their order, if it is known: a third is saved."""
        m = len(base)
        self.K, self.ridge, self.base, self.constant = K, ridge + jitter, base, constant
        self.place = np.full(len(K), -1)
        self.place[base] = np.arange(m)
        self.P = np.empty((m, m))
        if factor is None:
            gather(K, base, m, constant, self.ridge, self.P)
        else:
            self.P[:] = factor[:m, :m]
        self.definite = invert_in_place(self.P, factorised=factor is not None)
        mirror_upper(self.P)
        self.ones = self.P.sum(axis=0)
        self.known: Rows = np.empty(0, dtype=np.intp)
        self.columns, self.Q, self.S = np.empty((0, len(base))), np.empty((0, len(base))), np.empty((0, 0))

    def step(self, right: Array, free: NDArray[np.bool_], missing: Array, bias: bool) -> Array | None:
        """x (n, t) with ``M x = right`` on each column's free rows; with a bias up to a constant, and summing to
        ``missing``. None if a system is singular.

        A leap that meets no bound.
        """
        ends = np.where(free.T, np.inf, 0.0)
        x, sets, side = np.zeros_like(ends), free.T.copy(), np.ones_like(ends)
        solved = self.leaps(-right.T, 0.0, -ends, ends, bias, missing, 0.0, x, sets, side)
        return x.T if solved.all() else None

    def leaps(
        self,
        gradient: Array,
        epsilon: float,
        lower: Array,
        upper: Array,
        bias: bool,
        missing: Array,
        tolerance: float,
        beta: Array,
        free: NDArray[np.bool_],
        side: Array,
    ) -> NDArray[np.bool_]:
        """Move every problem (rows of arrays (t, n), the last three changed) to where no bound changes any more.

        Coefficients that are not free now but outside the base stay where they are, and so may violate the conditions
        of optimality afterwards. With a bias the steps sum to ``missing``. Returns for which problems all went well.
        """
        self._learn(np.flatnonzero(free.any(axis=0)))
        base, rows = self.base, np.concatenate([self.base, self.known])
        right = np.take(-(gradient + epsilon * side) * free, base, axis=1)
        start = np.empty_like(right)
        narrow_product(self.P, right, start)
        reach, q_ones = right @ self.Q.T, self.Q.sum(axis=1)
        possible = np.zeros(len(beta), dtype=bool)
        for k in range(len(beta)):
            parts = [part[k, rows] for part in (beta, free, side)]
            R, q, U = self._resting(free[k])
            if q < 0:
                continue
            with suppress(np.linalg.LinAlgError):
                possible[k] = schur_leaps(
                    self.P, self.ones, self.Q, q_ones, self.S, right[k], start[k], reach[k], gradient[k, rows], epsilon,
                    lower[k, rows], upper[k, rows], bias, missing[k], ROUGHER * tolerance, *parts, R, q, U, LEAPS,
                )  # fmt: skip
            beta[k, rows], free[k, rows], side[k, rows] = parts
        return possible

    def _resting(self, free: NDArray[np.bool_]) -> tuple[Rows, int, Array]:
        """(rows of the base that are not free, their number, the factor of P on them), with room for more."""
        resting = np.flatnonzero(~free[self.base])
        q = len(resting)
        room = min(q + max(ROOM, len(self.base) // 8), len(self.base))
        R, U = np.empty(room, dtype=np.intp), np.empty((room, room))
        R[:q] = resting
        gather(self.P, R, q, 0.0, np.zeros(len(self.P)), U)
        return R, q if cholesky_in_place(U, q) else -1, U

    def _learn(self, free: Rows) -> None:
        """What leaps need to know of the rows outside the base that are free for the first time."""
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

    def _block(self, rows: Rows, columns: Rows) -> Array:
        block = self.K[np.ix_(rows, columns)].astype(np.float64, copy=False)
        block += self.constant
        return block
