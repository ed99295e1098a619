r"""Leaps of a dual problem whose free rows are nearly those of which an inverse is known.

P is the inverse of M on the rows F (the *base*), ``Q = M_AF P`` and ``S = M_AA - M_AF P M_FA`` belong to other rows A
that were added. From a start with the gradient g, let s solve ``M_FF s = r`` for ``r = -(g + side epsilon)``. Then the
step that minimises over some free rows, with the others of F (R) and of A moved by given amounts, is

.. math:: x_F = s - b P 1 - Q^T x_A - P_{\cdot R} z,
    \quad \begin{pmatrix} S_{AA} & -Q_{AR} \\ Q_{AR}^T & P_{RR} \end{pmatrix} \begin{pmatrix} x_A \\ z \end{pmatrix}
    = \begin{pmatrix} r_A - Q_A r - b (1 - Q_A 1) \\ s_R - b (P 1)_R - x_R \end{pmatrix}

with multipliers z, which are also the gradient of the rows R: no product with K is needed until bounds stop changing.
"""

from __future__ import annotations

import numpy as np

from .active_set import piece_end
from .compiling import compiled
from .factor import append, remove, solve_transposed, solve_upper
from .sets import gains, is_over, new_side

BATCH = 16
"""Rows that are taken into a factor at once."""


@compiled
def schur_leaps(
    P, ones, Q, q_ones, S, right, start, reach, gradient, epsilon, lower, upper, bias, missing, tolerance,
    beta, free, side, R, q, U, max_leaps,
):  # fmt: skip
    """Newton steps, each followed by all changes of bounds at once, until none changes; False if that takes too many.

    The rows are those of the base, then those of Q: ``gradient``, the bounds, ``beta``, ``free`` and ``side`` have
    their order, and the last three are changed. ``right`` and ``start = P right`` are of the base, ``reach = Q right``
    of the others; they change where coefficients that rested become free. ``ones = P 1`` and ``q_ones = Q 1``.
    ``R[:q]`` are the rows of the base that are not free and U is the factor of P on them; both have room for more.
    With a bias the step sums to ``missing``. Cost: O(q² a + q m) a leap for q rows R and a free rows A.
    """
    m, first = len(P), beta.copy()
    for _ in range(max_leaps):
        before = beta.copy()
        A = np.flatnonzero(free[m:])
        moved = beta - first
        z, x = _right_sides(Q, q_ones, S, start, reach, gradient + side * epsilon, ones, moved, R, q, A)
        if not _solve(U, q, Q, S, R, A, z, x):
            return False
        b = 0.0
        if bias:
            b = _constant(ones, q_ones, start, moved[m:], missing, R, q, A, z, x)
        for a in range(q):
            z[0, a] += b * z[1, a]
        for a in range(len(A)):
            moved[m + A[a]] = x[0, a] + b * x[1, a]
        _move(P, ones, Q, start, b, moved, R, q, z[0])
        for i in range(len(beta)):
            if free[i]:
                beta[i] = first[i] + moved[i]
        if not np.isfinite(beta).all():
            return False
        slope = _resting(Q, q_ones, S, right, reach, gradient, moved[m:], b, R, q, z[0])
        q, changes = _change(
            P, Q, right, start, reach, gradient, epsilon, lower, upper, tolerance,
            before, beta, free, side, slope, R, q, U,
        )  # fmt: skip
        if q < 0:
            return False
        if changes == 0:
            return True
    return False


@compiled
def _right_sides(Q, q_ones, S, start, reach, slope, ones, moved, R, q, A):
    """Of the system of z and x_A: each for a bias of zero, and what a bias of one adds."""
    m = len(start)
    z, x = np.empty((2, q)), np.empty((2, len(A)))
    for a in range(q):
        z[0, a] = start[R[a]] - moved[R[a]]
        z[1, a] = -ones[R[a]]
    for a in range(len(A)):
        x[0, a] = -slope[m + A[a]] - reach[A[a]]
        x[1, a] = q_ones[A[a]] - 1.0
        moved[m + A[a]] = 0.0
    for k in range(len(Q)):  # rows that were free on the way and now rest elsewhere
        amount = moved[m + k]
        if amount != 0.0:
            for a in range(q):
                z[0, a] -= amount * Q[k, R[a]]
            for a in range(len(A)):
                x[0, a] -= amount * S[k, A[a]]
    return z, x


@compiled
def _solve(U, q, Q, S, R, A, z, x):
    """Overwrite the right sides by the solutions: first of the Schur complement of P_RR, which is definite."""
    c = len(A)
    W, T = np.empty((q, c)), np.empty((c, c))
    for k in range(c):
        row = Q[A[k]]
        for a in range(q):
            W[a, k] = row[R[a]]
    _solve_many(U, q, W)
    product = W.T @ W
    for a in range(c):
        for k in range(c):
            T[a, k] = S[A[a], A[k]] + product[a, k]
        if not T[a, a] > 0:
            return False
    V = np.ascontiguousarray(np.linalg.cholesky(T).T)
    for side in range(2):
        solve_transposed(U, q, z[side])
        x[side] += z[side] @ W
        solve_transposed(V, c, x[side])
        solve_upper(V, c, x[side])
        z[side] -= W @ x[side]
        solve_upper(U, q, z[side])
    return True


@compiled
def _solve_many(U, q, W):
    """Overwrite W by the solution of ``Uᵀ X = W``, four equations at a time so that W is read less often."""
    c = W.shape[1]
    for start in range(0, q, 4):
        stop = min(start + 4, q)
        for i in range(start, stop):
            for h in range(start, i):
                for k in range(c):
                    W[i, k] -= U[h, i] * W[h, k]
            for k in range(c):
                W[i, k] /= U[i, i]
        if stop == q:
            return
        first, second, third, fourth = W[start], W[start + 1], W[start + 2], W[start + 3]
        for j in range(stop, q):
            a, b, d, e = U[start, j], U[start + 1, j], U[start + 2, j], U[start + 3, j]
            row = W[j]
            for k in range(c):
                row[k] -= a * first[k] + b * second[k] + d * third[k] + e * fourth[k]


@compiled
def _constant(ones, q_ones, start, moved, missing, R, q, A, z, x):
    """The bias with which the step sums to ``missing``."""
    above, below = missing - start.sum(), -ones.sum()
    for k in range(len(moved)):
        above -= (1.0 - q_ones[k]) * moved[k]
    for a in range(len(A)):
        above -= (1.0 - q_ones[A[a]]) * x[0, a]
        below += (1.0 - q_ones[A[a]]) * x[1, a]
    for a in range(q):
        above += ones[R[a]] * z[0, a]
        below -= ones[R[a]] * z[1, a]
    return above / below if below != 0 else np.nan


@compiled
def _move(P, ones, Q, start, b, moved, R, q, z):
    """Write what the base moves by; for the rows R that is what they were to move by, but for rounding."""
    m = len(P)
    for i in range(m):
        moved[i] = start[i] - b * ones[i]
    for k in range(len(Q)):
        amount = moved[m + k]
        if amount != 0.0:
            row = Q[k]
            for i in range(m):
                moved[i] -= amount * row[i]
    for a in range(0, q - 3, 4):
        w, x, y, v = z[a], z[a + 1], z[a + 2], z[a + 3]
        row_w, row_x, row_y, row_v = P[R[a]], P[R[a + 1]], P[R[a + 2]], P[R[a + 3]]
        for i in range(m):
            moved[i] -= w * row_w[i] + x * row_x[i] + y * row_y[i] + v * row_v[i]
    for a in range(q - q % 4, q):
        amount, row = z[a], P[R[a]]
        for i in range(m):
            moved[i] -= amount * row[i]


@compiled
def _resting(Q, q_ones, S, right, reach, gradient, moved, b, R, q, z):
    """The gradient with its bias, of rows that rest only."""
    m, slope = len(right), gradient.copy()
    for a in range(q):
        slope[R[a]] += right[R[a]] - z[a]
    slope[m:] += reach + b * (1.0 - q_ones) + S @ moved
    for k in range(len(Q)):
        row, held = Q[k], 0.0
        for a in range(q):
            held += row[R[a]] * z[a]
        slope[m + k] -= held
    return slope


@compiled
def _change(
    P, Q, right, start, reach, gradient, epsilon, lower, upper, tolerance, before, beta, free, side, slope, R, q, U
):
    """Rest what is over an end of its piece, free what would gain; R and its factor follow.

    Returns (size of R, -1 if there is no room for it; number of changes).
    """
    m, changes = len(P), 0
    over, unused = np.empty(len(beta), dtype=R.dtype), np.zeros(q)
    n_over = 0
    for i in range(len(beta)):
        if free[i] and is_over(lower, upper, epsilon, before, beta, side, i):
            over[n_over] = i
            n_over += 1
    for a in range(q - 1, -1, -1):
        i = R[a]
        if gains(slope[i], epsilon, lower, upper, beta, tolerance, i):
            side[i] = new_side(slope[i], epsilon, upper, beta, tolerance, i)
            free[i] = True
            remove(U, q, a, unused, unused)
            R[a : q - 1] = R[a + 1 : q]
            q -= 1
            changes += 1
            more = -(gradient[i] + side[i] * epsilon) - right[i]
            right[i] += more
            start += more * P[i]
            reach += more * Q[:, i]
    for i in range(m, len(beta)):
        if not free[i] and gains(slope[i], epsilon, lower, upper, beta, tolerance, i):
            side[i] = new_side(slope[i], epsilon, upper, beta, tolerance, i)
            free[i] = True
            changes += 1
    for a in range(n_over):
        i = over[a]
        beta[i] = piece_end(lower, upper, epsilon, side, i, beta[i] - before[i])
        free[i] = False
    return _grow(P, R, q, U, over[:n_over]), changes + n_over


@compiled
def _grow(P, R, q, U, rows):
    """Take those rows that are of the base into R and its factor; returns the size of R, -1 if there is no room."""
    columns, diagonals, count = np.empty((len(U), BATCH)), np.empty(BATCH), 0
    for place in range(len(rows)):
        i = rows[place]
        if i < len(P):
            if q + count == len(U):
                return -1
            R[q + count] = i
            diagonals[count] = P[i, i]
            for a in range(q + count):
                columns[a, count] = P[i, R[a]]
            count += 1
        if count == BATCH or (place == len(rows) - 1 and count > 0):
            append(U, q, columns, diagonals, count, 1e-300)
            q += count
            count = 0
    return q
