r"""Newton steps of a dual problem whose free rows are nearly those of which an inverse is known.

P is the inverse of ``M = K + D`` on the rows F (the *base*), ``Q = M_AF P`` and ``S = M_AA - M_AF P M_FA`` belong to other
rows A that were added. From a start with the gradient g, let s solve ``M_FF s = r`` for ``r = -(g + side epsilon)``. Then
the step that minimises over some free rows, with the others of F (R) and of A moved by given amounts, is

.. math:: x_F = s - b P 1 - Q^T x_A - P_{\cdot R} z,
    \quad \begin{pmatrix} S_{AA} & -Q_{AR} \\ Q_{AR}^T & P_{RR} \end{pmatrix} \begin{pmatrix} x_A \\ z \end{pmatrix}
    = \begin{pmatrix} r_A - Q_A r - b (1 - Q_A 1) \\ s_R - b (P 1)_R - x_R \end{pmatrix}

with multipliers z, which are also the gradient of the rows R: no product with K is needed until bounds stop changing.
This is the block elimination by which Schur complements remove a fold in least squares, applied to an active set.
"""

import numpy as np

from libc.math cimport fabs, fmax, isfinite
from scipy.linalg.cython_blas cimport daxpy, dgemm, dgemv, dtrsm

from ._active_set cimport add_rows
from ._cholesky cimport append, factorise, remove, solve_transposed, solve_upper
from ._problem cimport Problem, absolute_sum, gains, gradient_at, piece_end, side_of

cdef Py_ssize_t BATCH = 16  # rows that are taken into a factor at once
cdef double AWAY = 1e-9  # distance from an end of a piece, relative to the sum of all coefficients, that is clear


cdef class FoldRemoval:
    """The work space of ``steps``, for a base of m rows, ``resting`` of which are not free at the start, and a others."""

    cdef const double[:, ::1] P, Q, S
    cdef const double[::1] ones, q_ones
    cdef double[::1] U, z, x, W, T, moved, before, slope, columns, unused, carried
    cdef Py_ssize_t[::1] R, A, over
    cdef Py_ssize_t m, n, room, q

    def __init__(self, P, ones, Q, S, Py_ssize_t resting):
        m, a = len(P), len(Q)
        n, room = m + a, min(m, resting + max(128, m // 8))
        self.P, self.ones, self.Q, self.S, self.q_ones = P, ones, Q, S, Q.sum(axis=1)
        self.m, self.n = m, n
        self.room = room
        self.U, self.z, self.x = np.empty(room * room), np.empty(2 * max(room, 1)), np.empty(2 * max(a, 1))
        self.W, self.T = np.empty(max(1, room * a)), np.empty(max(1, a * a))
        self.moved, self.before, self.slope = np.empty(n), np.empty(n), np.empty(n)
        self.columns, self.unused = np.empty(BATCH * (room + 1) + BATCH), np.zeros(m + 1)
        self.carried = np.empty(m + 1)
        self.R, self.A, self.over = (np.empty(n + 1, dtype=np.intp) for _ in range(3))

    def steps(
        self, double[::1] right, double[::1] start, double[::1] reach, const double[::1] gradient, double epsilon,
        const double[::1] lower, const double[::1] upper, bint bias, double missing, double tolerance,
        double[::1] beta, char[::1] free, double[::1] side, Py_ssize_t max_steps,
    ):
        """Newton steps, each followed by all changes of bounds at once, until none changes; False if that takes too many.

        The rows are those of the base, then those of Q: ``gradient``, the bounds, ``beta``, ``free`` and ``side`` have
        their order, and the last three are changed. ``right`` and ``start = P right`` are of the base, ``reach = Q right``
        of the others; they change where coefficients that rested become free. With a bias the step sums to ``missing``.
        Cost: O(q² a + q m) a step for q rows of the base that are not free and a free rows of the others.
        """
        cdef Problem p = Problem(
            self.n, 0, NULL, NULL, NULL, &lower[0], &upper[0], epsilon, bias
        )
        cdef double[::1] first = beta.copy()
        cdef double *others = NULL if self.n == self.m else &reach[0]
        cdef bint found = False
        with nogil:
            if _rest_base(self, &free[0]):
                found = _steps(
                    self, &p, &right[0], &start[0], others, &gradient[0], missing,
                    tolerance, &first[0], &beta[0], &free[0], &side[0], max_steps,
                )
        return found


cdef bint _rest_base(FoldRemoval w, const char *free) noexcept nogil:
    """Find the rows R of the base that are not free and factorise P on them; False if that fails."""
    cdef Py_ssize_t i, a, b
    w.q = 0
    for i in range(w.m):
        if not free[i]:
            w.R[w.q] = i
            w.q += 1
    for a in range(w.q):
        for b in range(a, w.q):
            w.U[a * w.room + b] = w.P[w.R[a], w.R[b]]
    return factorise(&w.U[0], w.room, w.q)


cdef bint _steps(
    FoldRemoval w, Problem *p, double *right, double *start, double *reach, const double *gradient, double missing,
    double tolerance, const double *first, double *beta, char *free, double *side, Py_ssize_t max_steps,
) noexcept nogil:
    cdef Py_ssize_t step, i, count, m = w.m, n = w.n
    cdef double b
    for step in range(max_steps):
        count = 0
        for i in range(n):
            w.before[i], w.moved[i] = beta[i], beta[i] - first[i]
            if i >= m and free[i]:
                w.A[count] = i - m
                count += 1
        _right_sides(w, start, reach, gradient, side, p.epsilon, count)
        if not _solve(w, count):
            return False
        b = _constant(w, start, missing, count) if p.bias else 0.0
        for i in range(w.q):
            w.z[i] += b * w.z[w.q + i]
        for i in range(count):
            w.moved[m + w.A[i]] = w.x[i] + b * w.x[count + i]
        _move(w, start, b)
        for i in range(n):
            if free[i]:
                beta[i] = first[i] + w.moved[i]
            if not isfinite(beta[i]):
                return False
        _resting_slopes(w, right, reach, gradient, b)
        count = _change(w, p, right, start, reach, gradient, tolerance, beta, free, side)
        if count < 0:
            return False
        if count == 0:
            return True
    return False


cdef void _right_sides(
    FoldRemoval w, const double *start, const double *reach, const double *gradient, const double *side, double epsilon,
    Py_ssize_t count,
) noexcept nogil:
    """Of the system of z and x_A: each for a bias of zero, then what a bias of one adds."""
    cdef Py_ssize_t a, k, m = w.m, q = w.q
    cdef double amount
    for a in range(q):
        w.z[a] = start[w.R[a]] - w.moved[w.R[a]]
        w.z[q + a] = -w.ones[w.R[a]]
    for a in range(count):
        k = w.A[a]
        w.x[a] = -(gradient[m + k] + side[m + k] * epsilon) - reach[k]
        w.x[count + a] = w.q_ones[k] - 1.0
        w.moved[m + k] = 0.0
    for k in range(w.n - m):  # rows that were free on the way and now rest elsewhere
        amount = w.moved[m + k]
        if amount != 0.0:
            for a in range(q):
                w.z[a] -= amount * w.Q[k, w.R[a]]
            for a in range(count):
                w.x[a] -= amount * w.S[k, w.A[a]]


cdef bint _solve(FoldRemoval w, Py_ssize_t count) noexcept nogil:
    """Overwrite the right sides by the solutions: first of the Schur complement of P_RR, which is definite."""
    cdef Py_ssize_t a, k, side, q = w.q
    cdef int size = q, several = count, leading = w.room, height = max(q, 1), width = max(count, 1), one = 1
    cdef double unit = 1.0, minus = -1.0
    cdef double *x
    cdef double *z
    for k in range(count):  # W is stored by columns, one for each row of A
        for a in range(q):
            w.W[k * height + a] = w.Q[w.A[k], w.R[a]]
        for a in range(count):
            w.T[k * count + a] = w.S[w.A[k], w.A[a]]
    if q > 0 and count > 0:
        dtrsm(b"L", b"L", b"N", b"N", &size, &several, &unit, &w.U[0], &leading, &w.W[0], &height)
        dgemm(b"T", b"N", &several, &several, &size, &unit, &w.W[0], &height, &w.W[0], &height, &unit, &w.T[0], &width)
    if not factorise(&w.T[0], count, count):
        return False
    for side in range(2):
        x, z = &w.x[0] + side * count, &w.z[0] + side * q
        solve_transposed(&w.U[0], w.room, q, z)
        if q > 0 and count > 0:
            dgemv(b"T", &size, &several, &unit, &w.W[0], &height, z, &one, &unit, x, &one)
        solve_transposed(&w.T[0], count, count, x)
        solve_upper(&w.T[0], count, count, x)
        if q > 0 and count > 0:
            dgemv(b"N", &size, &several, &minus, &w.W[0], &height, x, &one, &unit, z, &one)
        solve_upper(&w.U[0], w.room, q, z)
    return True


cdef double _constant(FoldRemoval w, const double *start, double missing, Py_ssize_t count) noexcept nogil:
    """The bias with which the step sums to ``missing``."""
    cdef double above = missing, below = 0.0
    cdef Py_ssize_t i, k, m = w.m, q = w.q
    for i in range(m):
        above -= start[i]
        below -= w.ones[i]
    for k in range(w.n - m):
        above -= (1.0 - w.q_ones[k]) * w.moved[m + k]
    for i in range(count):
        k = w.A[i]
        above -= (1.0 - w.q_ones[k]) * w.x[i]
        below += (1.0 - w.q_ones[k]) * w.x[count + i]
    for i in range(q):
        above += w.ones[w.R[i]] * w.z[i]
        below -= w.ones[w.R[i]] * w.z[q + i]
    return above / below


cdef void _move(FoldRemoval w, const double *start, double b) noexcept nogil:
    """Write by how much the base moves; for the rows R that is what they were to move by, but for rounding."""
    cdef Py_ssize_t i, k, m = w.m
    cdef int size = m, one = 1
    cdef double amount
    for i in range(m):
        w.moved[i] = start[i] - b * w.ones[i]
    for k in range(w.n - m):
        amount = -w.moved[m + k]
        if amount != 0.0:
            daxpy(&size, &amount, <double *> &w.Q[k, 0], &one, &w.moved[0], &one)
    for i in range(w.q):
        amount = -w.z[i]
        daxpy(&size, &amount, <double *> &w.P[w.R[i], 0], &one, &w.moved[0], &one)


cdef void _resting_slopes(
    FoldRemoval w, const double *right, const double *reach, const double *gradient, double b
) noexcept nogil:
    """Write the gradient with its bias, of rows that rest only."""
    cdef Py_ssize_t i, k, h, m = w.m
    cdef double held
    for i in range(w.n):
        w.slope[i] = gradient[i]
    for i in range(w.q):
        w.slope[w.R[i]] += right[w.R[i]] - w.z[i]
    for k in range(w.n - m):
        held = reach[k] + b * (1.0 - w.q_ones[k])
        for h in range(w.n - m):
            held += w.S[k, h] * w.moved[m + h]
        for i in range(w.q):
            held -= w.Q[k, w.R[i]] * w.z[i]
        w.slope[m + k] += held


cdef Py_ssize_t _change(
    FoldRemoval w, Problem *p, double *right, double *start, double *reach, const double *gradient, double tolerance,
    double *beta, char *free, double *side,
) noexcept nogil:
    """Rest what is over an end of its piece, free what would gain; R and its factor follow.

    Returns the number of changes, -1 if there is no room for R.
    """
    cdef Py_ssize_t i, a, k, changes = 0, m = w.m, n_over = 0
    cdef int size = m, one = 1
    cdef double direction, end, more
    for i in range(w.n):
        if free[i]:
            direction = 1.0 if beta[i] > w.before[i] else -1.0
            end = piece_end(p, side[i], i, direction)
            if (beta[i] - end) * direction >= 0:
                w.over[n_over] = i
                n_over += 1
    for a in range(w.q - 1, -1, -1):
        i = w.R[a]
        if gains(p, w.slope[i], beta[i], tolerance, i):
            side[i] = side_of(p, w.slope[i], beta[i], tolerance, i)
            free[i] = True
            remove(&w.U[0], w.room, w.q, a, &w.unused[0], &w.unused[0], &w.carried[0])
            for k in range(a, w.q - 1):
                w.R[k] = w.R[k + 1]
            w.q -= 1
            changes += 1
            more = -(gradient[i] + side[i] * p.epsilon) - right[i]
            right[i] += more
            daxpy(&size, &more, <double *> &w.P[i, 0], &one, start, &one)
            for k in range(w.n - m):
                reach[k] += more * w.Q[k, i]
    for i in range(m, w.n):
        if not free[i] and gains(p, w.slope[i], beta[i], tolerance, i):
            side[i] = side_of(p, w.slope[i], beta[i], tolerance, i)
            free[i] = True
            changes += 1
    for a in range(n_over):
        i = w.over[a]
        beta[i] = piece_end(p, side[i], i, beta[i] - w.before[i])
        free[i] = False
    return changes + n_over if _grow(w, n_over) else -1


cdef bint _grow(FoldRemoval w, Py_ssize_t n_over) noexcept nogil:
    """Take the rows ``over`` of the base into R and its factor; False if there is no room."""
    cdef Py_ssize_t place, i, a, count = 0
    cdef double *diagonals = &w.columns[0] + BATCH * (w.room + 1)
    for place in range(n_over):
        i = w.over[place]
        if i < w.m:
            if w.q + count == w.room:
                return False
            w.R[w.q + count] = i
            diagonals[count] = w.P[i, i]
            for a in range(w.q + count):
                w.columns[count * w.room + a] = w.P[i, w.R[a]]
            count += 1
        if count == BATCH or (place == n_over - 1 and count > 0):
            append(&w.U[0], w.room, w.q, &w.columns[0], diagonals, count, 1e-300)
            w.q += count
            count = 0
    return True


def update_images(const double[:, :] K, double[:, ::1] images, const double[:, ::1] after, const double[:, ::1] before):
    """``images += (after - before) K`` for coefficients (t, n) of several problems.

    Cost: O(n) for each coefficient that differs.
    """
    cdef Py_ssize_t k, i, count, n = K.shape[1]
    cdef Problem p = Problem(n, K.strides[0] // sizeof(double), &K[0, 0], NULL, NULL, NULL, NULL, 0.0, False)
    cdef Py_ssize_t[::1] rows = np.empty(n, dtype=np.intp)
    cdef double[::1] change = np.empty(n)
    with nogil:
        for k in range(after.shape[0]):
            count = 0
            for i in range(n):
                if after[k, i] != before[k, i]:
                    rows[count], change[count] = i, after[k, i] - before[k, i]
                    count += 1
            if count > 0:
                add_rows(&p, &images[k, 0], &change[0], &rows[0], count)


def change_sets(
    const double[:, :] K, const double[::1] ridge, const double[::1] target, double epsilon, const double[::1] lower,
    const double[::1] upper, bint bias, double tolerance, const double[::1] before, double[::1] beta, double[::1] u,
    char[::1] free, double[::1] side,
):
    """After a step from ``before`` to ``beta``: rest what is over an end of its piece, free what would gain.

    ``u = K beta`` follows. Returns (bias, largest residual on the rows that were free, number of changes, whether some
    free coefficient is clearly away from the ends of its piece, so that it tells the bias). Cost: O(n), and O(n) more for
    each coefficient over its end.
    """
    cdef Py_ssize_t n = len(beta), i, n_over = 0, changes = 0, count = 0
    cdef Problem p = Problem(
        n, K.strides[0] // sizeof(double), &K[0, 0], &ridge[0], &target[0], &lower[0], &upper[0], epsilon, bias
    )
    cdef double b = 0.0, worst = 0.0, slope, direction, end, away
    cdef Py_ssize_t[::1] rows = np.empty(n, dtype=np.intp)
    cdef double[::1] change = np.empty(n)
    cdef bint tells = False
    with nogil:
        for i in range(n):
            if free[i]:
                b -= gradient_at(&p, &beta[0], &u[0], i) + side[i] * epsilon
                count += 1
        b = b / count if bias and count > 0 else 0.0
        away = AWAY * absolute_sum(&beta[0], n)
        for i in range(n):
            slope = gradient_at(&p, &beta[0], &u[0], i) + b
            if not free[i]:
                if gains(&p, slope, beta[i], tolerance, i):
                    side[i] = side_of(&p, slope, beta[i], tolerance, i)
                    free[i] = True
                    changes += 1
                continue
            worst = fmax(worst, fabs(slope + side[i] * epsilon))
            direction = 1.0 if beta[i] > before[i] else -1.0
            end = piece_end(&p, side[i], i, direction)
            if (beta[i] - end) * direction >= 0:
                rows[n_over], change[n_over] = i, end - beta[i]
                beta[i], free[i] = end, False
                n_over += 1
            elif lower[i] + away < beta[i] < upper[i] - away and (epsilon == 0 or fabs(beta[i]) > away):
                tells = True
        if n_over > 0:
            add_rows(&p, &u[0], &change[0], &rows[0], n_over)
    return b, worst, changes + n_over, tells
