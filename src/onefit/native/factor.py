r"""A Cholesky factor that follows a set of indices: ``UᵀU = M[F, F]``, U upper triangular, in rows.

Rows of U are contiguous, so that solves and updates run along memory. U may be larger than ``m``, the number of
indices: only its leading block is read. Every operation costs O(m²).
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled


@compiled
def solve_transposed(U, m, x):
    """Overwrite x by the solution of ``Uᵀ z = x``."""
    for i in range(m):
        row = U[i]
        value = x[i] / row[i]
        x[i] = value
        for j in range(i + 1, m):
            x[j] -= row[j] * value


@compiled
def solve_upper(U, m, x):
    """Overwrite x by the solution of ``U z = x``."""
    for i in range(m - 1, -1, -1):
        row = U[i]
        total = 0.0
        for j in range(i + 1, m):
            total += row[j] * x[j]
        x[i] = (x[i] - total) / row[i]


@compiled
def append(U, m, columns, diagonals, count, smallest):
    """Take in ``count`` more indices at once, which reads U once.

    ``columns[:m + count, k]`` is the k-th index's column of M (overwritten; of the new rows only those above the
    diagonal are read), ``diagonals[k]`` its diagonal entry. M contains a jitter, so no pivot is smaller than that but
    for rounding: ``smallest`` is where pivots end.
    """
    for i in range(m + count):
        row = U[i]
        if i >= m:
            pivot = diagonals[i - m]
            for h in range(i):
                pivot -= columns[h, i - m] * columns[h, i - m]
            row[i] = np.sqrt(max(pivot, smallest))
        solved = columns[i]
        for k in range(max(i - m + 1, 0), count):
            solved[k] /= row[i]
        for j in range(i + 1, m):
            factor, other = row[j], columns[j]
            for k in range(count):
                other[k] -= factor * solved[k]
        for j in range(max(i + 1, m), m + count):  # rows of the indices that are new themselves
            factor, other = columns[i, j - m], columns[j]
            row[j] = factor
            for k in range(j - m + 1, count):
                other[k] -= factor * solved[k]


@compiled
def remove(U, m, p, x, y):
    """Leave out the p-th of m indices; x and y, which solve ``Uᵀ x = …``, follow by the same rotations.

    Without column p, the rows from p on have one entry below each diagonal entry; rotations of neighbouring rows, one
    of them carried along, remove these.
    """
    for i in range(p):
        row = U[i]
        for j in range(p, m - 1):
            row[j] = row[j + 1]
    carried = U[p, 1:m].copy()  # column j of the result is column j + 1 of U from p on
    for i in range(p, m - 1):
        row, below = U[i], U[i + 1]
        length = np.hypot(carried[i], below[i + 1])
        c, s = carried[i] / length, below[i + 1] / length
        for j in range(i, m - 1):
            first, second = carried[j], below[j + 1]
            row[j] = c * first + s * second
            carried[j] = c * second - s * first
        x[i], x[i + 1] = c * x[i] + s * x[i + 1], c * x[i + 1] - s * x[i]
        y[i], y[i + 1] = c * y[i] + s * y[i + 1], c * y[i + 1] - s * y[i]


@compiled
def gather(K, F, m, constant, ridge, U):
    """Write the upper triangle of ``K[F, F] + constant + diag(ridge[F])`` into U."""
    for a in range(m):
        row, source = U[a], K[F[a]]
        for b in range(a, m):
            row[b] = source[F[b]] + constant
        row[a] += ridge[F[a]]
