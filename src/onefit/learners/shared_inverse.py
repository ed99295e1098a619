r"""Newton steps of several dual problems from one inverse.

Let P be the inverse of ``M = K + D`` on the free rows F of the full-data solution. A problem with other free rows,
F less some rows R and with some rows A, needs no factorisation of its own: with multipliers z that hold the rows R at
zero,

.. math:: \begin{pmatrix} M_{AA} - M_{AF} P M_{FA} & -(P M_{FA})_R^T \\ -(P M_{FA})_R & -P_{RR} \end{pmatrix}
          \begin{pmatrix} x_A \\ z \end{pmatrix} = \begin{pmatrix} r_A - M_{AF} P r \\ -(P r)_R \end{pmatrix},
          \quad x_F = P r - P M_{FA} x_A - P_{\cdot R} z.

The same identity as the block hold-out of least squares. Cost: O(m³) for P, then O(m² + m q + q³) for q changes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..linalg.inverse import mirror_upper
from ..linalg.lapack import invert_in_place
from .dual import Array

Rows = NDArray[np.intp]


class SharedInverse:
    """P for the rows ``base``, and its products with the columns of rows that problems have added."""

    def __init__(self, K: Array, ridge: Array, base: Rows, constant: float, jitter: float) -> None:
        self.K, self.ridge, self.base, self.constant = K, ridge + jitter, base, constant
        self.place = np.full(len(K), -1)
        self.place[base] = np.arange(len(base))
        self.P = self._block(base, base)
        self.P.flat[:: len(base) + 1] += self.ridge[base]
        self.definite = invert_in_place(self.P)
        mirror_upper(self.P)
        self.known = np.full(len(K), -1)
        self.columns, self.products = np.empty((0, len(base))), np.empty((0, len(base)))  # of added rows, as rows

    def step(self, right: Array, free: NDArray[np.bool_], missing: Array, bias: bool) -> Array | None:
        """x (n, t) with ``M x = right`` on each column's free rows; with a bias up to a constant, and summing to
        ``missing``. None if a system is singular.
        """
        self._learn(np.flatnonzero(free.any(axis=1) & (self.place < 0)))
        inside = free[self.base]
        ones = self.P @ inside.astype(np.float64) if bias else None
        start = self.P @ (right[self.base] * inside)
        x = np.zeros_like(right)
        for k in range(right.shape[1]):
            sides = [right[:, k], np.ones(len(right))] if bias else [right[:, k]]
            first = [start[:, k], ones[:, k]] if ones is not None else [start[:, k]]
            solved = self._solve(np.column_stack(sides), np.column_stack(first), free[:, k])
            if solved is None:
                return None
            if bias:
                b = (missing[k] - solved[:, 0].sum()) / solved[:, 1].sum()
                x[:, k] = solved[:, 0] + b * solved[:, 1]
            else:
                x[:, k] = solved[:, 0]
        return x

    def _solve(self, right: Array, start: Array, free: NDArray[np.bool_]) -> Array | None:
        """Correct ``start = P right`` for the rows that are left out and those that are added."""
        out = np.flatnonzero(~free[self.base])
        added = np.flatnonzero(free & (self.place < 0))
        which = self.known[added]
        columns, products = self.columns[which], self.products[which]
        a = len(added)
        schur = np.empty((a + len(out), a + len(out)))
        schur[:a, :a] = self._block(added, added) - columns @ products.T
        schur[:a, :a].flat[:: a + 1] += self.ridge[added]
        schur[:a, a:] = -products[:, out]
        schur[a:, :a] = schur[:a, a:].T
        schur[a:, a:] = -self.P[np.ix_(out, out)]
        try:
            z = np.linalg.solve(schur, np.vstack([right[added] - columns @ start, -start[out]]))
        except np.linalg.LinAlgError:
            return None
        x = np.zeros_like(right)
        x[self.base] = start - products.T @ z[:a] - self.P[out].T @ z[a:]
        x[self.base[out]] = 0.0
        x[added] = z[:a]
        return x

    def _learn(self, rows: Rows) -> None:
        """Products with the columns of rows that were not asked for before."""
        new = rows[self.known[rows] < 0]
        if len(new):
            self.known[new] = len(self.columns) + np.arange(len(new))
            columns = self._block(new, self.base)
            self.columns = np.vstack([self.columns, columns])
            self.products = np.vstack([self.products, columns @ self.P])

    def _block(self, rows: Rows, columns: Rows) -> Array:
        if len(rows) == len(columns) == len(self.K):  # then they are all rows, in their order
            block = self.K.astype(np.float64)
        else:
            block = self.K[np.ix_(rows, columns)].astype(np.float64, copy=False)
        block += self.constant
        return block
