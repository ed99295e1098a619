r"""Systems with a bias, from one inverse for all right-hand sides.

.. math:: M x + b 1 = r, \quad \sum x = s \quad (\text{without a bias: } M x = r)

With ``q = P 1``, P the inverse of M or of M plus a constant, ``x = P r + q (s - qᵀr) / qᵀ1``.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..._arrays import Array, Indices, Mask
from .fold_removal import SharedInverse


class Bordered(Protocol):
    """The system on some rows of a matrix; ``exact`` if its solutions are so but for rounding."""

    exact: bool

    def solve(self, right: Array, sums: Array) -> tuple[Array, Array]:
        """(x (m, t), b (t,)) for right-hand sides (m, t)."""

    def block(self, rows: Indices) -> Array:
        """The part of the solution's matrix for ``s = 0`` that belongs to some rows."""

    def without(self, right: Array, free: Mask, sums: Array) -> Array | None:
        """x (n, t) of the systems on each column's ``free`` rows; None if one is singular."""


class BorderedDense:
    """From a dense inverse. Cost: O(m² t) a solve."""

    exact = True

    def __init__(self, shared: SharedInverse, bias: bool) -> None:
        self.shared, self.bias = shared, bias
        self.q = shared.P.sum(axis=1)

    def solve(self, right: Array, sums: Array) -> tuple[Array, Array]:
        return with_bias(self.q, self.shared.P @ right, right, sums, self)

    def block(self, rows: Indices) -> Array:
        block = self.shared.P[np.ix_(rows, rows)]
        return without_bias(block, self.q, rows) if self.bias else block

    def without(self, right: Array, free: Mask, sums: Array) -> Array | None:
        return self.shared.step(right, free, sums, self.bias)


class BorderedDiagonal:
    """For M = diag(``diagonal``) on the rows ``base`` of n."""

    exact = True

    def __init__(self, diagonal: Array, base: Indices, bias: bool) -> None:
        self.diagonal, self.bias = diagonal, bias
        self.p = 1.0 / diagonal[base]

    def solve(self, right: Array, sums: Array) -> tuple[Array, Array]:
        b = np.zeros(right.shape[1])
        if self.bias:
            b = (self.p @ right - sums) / self.p.sum()
        return self.p[:, None] * (right - b), b

    def block(self, rows: Indices) -> Array:
        p = self.p[rows]
        return np.diag(p) - (np.outer(p, p / self.p.sum()) if self.bias else 0.0)

    def without(self, right: Array, free: Mask, sums: Array) -> Array | None:
        p = free / self.diagonal[:, None]
        counted = p.sum(axis=0)
        b = np.zeros(right.shape[1])
        if self.bias:
            b = np.divide((p * right).sum(axis=0) - sums, counted, out=b, where=counted > 0)
        return np.asarray(p * (right - b))


def with_bias(q: Array, x: Array, right: Array, sums: Array, system: BorderedDense) -> tuple[Array, Array]:
    """(x, b) from ``x = P right`` and q."""
    if not system.bias:
        return x, np.zeros(right.shape[1])
    lacking = (sums - q @ right) / q.sum()
    return x + q[:, None] * lacking, system.shared.constant * sums - lacking


def without_bias(block: Array, q: Array, rows: Indices) -> Array:
    """A part of ``P - q qᵀ / qᵀ1``."""
    return np.asarray(block - np.outer(q[rows], q[rows] / q.sum()))
