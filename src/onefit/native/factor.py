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
def append(U, m, column, diagonal, smallest):
    """Take in one more index, whose new column of M (``column``, overwritten) and diagonal entry are given.

    M contains a jitter, so no pivot is smaller than that but for rounding: ``smallest`` is where pivots end.
    """
    solve_transposed(U, m, column)
    pivot = diagonal
    for i in range(m):
        U[i, m] = column[i]
        pivot -= column[i] * column[i]
    U[m, m] = np.sqrt(max(pivot, smallest))


@compiled
def remove(U, m, p, x, y):
    """Leave out the p-th of m indices; x and y, which solve ``Uᵀ x = …``, follow by the same rotations."""
    for i in range(p):
        row = U[i]
        for j in range(p, m - 1):
            row[j] = row[j + 1]
    for i in range(p, m):  # a Hessenberg block is left, with one entry below each diagonal entry
        row = U[i]
        for j in range(max(i - 1, p), m - 1):
            row[j] = row[j + 1]
    for i in range(p, m - 1):
        above, below = U[i], U[i + 1]
        length = np.hypot(above[i], below[i])
        c, s = above[i] / length, below[i] / length
        for j in range(i, m - 1):
            first, second = above[j], below[j]
            above[j] = c * first + s * second
            below[j] = c * second - s * first
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
