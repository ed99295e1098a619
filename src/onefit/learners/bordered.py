r"""Systems with a bias, from one inverse for all right-hand sides.

.. math:: M x + b 1 = r, \quad \sum x = s \quad (\text{without a bias: } M x = r)

With ``q = P 1``, P the inverse of M or of M plus a constant, ``x = P r + q (s - qᵀr) / qᵀ1``.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .dual import Array
from .shared_inverse import SharedInverse
from .together import images_of

NARROW = 24
"""Vectors up to which there is a faster product than the general one."""

Rows = NDArray[np.intp]


class Bordered(Protocol):
    """The system on some rows of a matrix."""

    def solve(self, right: Array, sums: Array) -> tuple[Array, Array]:
        """(x (m, t), b (t,)) for right-hand sides (m, t)."""

    def block(self, rows: Rows) -> Array:
        """The part of the solution's matrix for ``s = 0`` that belongs to some rows."""

    def without(self, right: Array, free: NDArray[np.bool_], sums: Array) -> Array | None:
        """x (n, t) of the systems on each column's ``free`` rows; None if one is singular."""


class BorderedDense:
    """From a dense inverse. Cost: O(m² t) a solve."""

    def __init__(self, shared: SharedInverse, bias: bool) -> None:
        self.shared, self.bias = shared, bias
        self.q = shared.P.sum(axis=1)

    def solve(self, right: Array, sums: Array) -> tuple[Array, Array]:
        P = self.shared.P
        x = images_of(P, np.ascontiguousarray(right.T)).T if right.shape[1] <= NARROW else P @ right
        if not self.bias:
            return x, np.zeros(right.shape[1])
        lacking = (sums - self.q @ right) / self.q.sum()
        return x + self.q[:, None] * lacking, self.shared.constant * sums - lacking

    def block(self, rows: Rows) -> Array:
        block = self.shared.P[np.ix_(rows, rows)]
        return block - np.outer(self.q[rows], self.q[rows] / self.q.sum()) if self.bias else block

    def without(self, right: Array, free: NDArray[np.bool_], sums: Array) -> Array | None:
        return self.shared.step(right, free, sums, self.bias)


class BorderedDiagonal:
    """For M = diag(``diagonal``) on the rows ``base`` of n."""

    def __init__(self, diagonal: Array, base: Rows, bias: bool) -> None:
        self.diagonal, self.bias = diagonal, bias
        self.p = 1.0 / diagonal[base]

    def solve(self, right: Array, sums: Array) -> tuple[Array, Array]:
        b = np.zeros(right.shape[1])
        if self.bias:
            b = (self.p @ right - sums) / self.p.sum()
        return self.p[:, None] * (right - b), b

    def block(self, rows: Rows) -> Array:
        p = self.p[rows]
        return np.diag(p) - (np.outer(p, p / self.p.sum()) if self.bias else 0.0)

    def without(self, right: Array, free: NDArray[np.bool_], sums: Array) -> Array | None:
        p = free / self.diagonal[:, None]
        counted = p.sum(axis=0)
        b = np.zeros(right.shape[1])
        if self.bias:
            b = np.divide((p * right).sum(axis=0) - sums, counted, out=b, where=counted > 0)
        return np.asarray(p * (right - b))
