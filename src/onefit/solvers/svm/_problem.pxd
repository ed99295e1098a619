"""The dual problem of a support vector machine as compiled code sees it (see ``dual.py`` for the mathematics)."""

from libc.math cimport fabs


cdef struct Problem:
    Py_ssize_t n  # rows
    Py_ssize_t stride  # from one row of K to the next
    const double *K
    const double *ridge
    const double *target
    const double *lower
    const double *upper
    double epsilon
    bint bias


cdef inline double gradient_at(const Problem *p, const double *beta, const double *u, Py_ssize_t i) noexcept nogil:
    """Derivative of the quadratic part of the objective, from ``u = K beta``."""
    return u[i] + p.ridge[i] * beta[i] - p.target[i]


cdef inline double slope_up(double gradient, double epsilon, double beta) noexcept nogil:
    """Derivative of the objective when a coefficient grows."""
    return gradient + (epsilon if beta >= 0 else -epsilon)


cdef inline double slope_down(double gradient, double epsilon, double beta) noexcept nogil:
    """Derivative of the objective when a coefficient falls, with its sign turned."""
    return gradient + (epsilon if beta > 0 else -epsilon)


cdef inline double piece_end(const Problem *p, double side, Py_ssize_t i, double direction) noexcept nogil:
    """Where the piece of coefficient i, on which the objective is quadratic, ends in a direction."""
    if direction > 0:
        return 0.0 if p.epsilon > 0 and side < 0 else p.upper[i]
    return 0.0 if p.epsilon > 0 and side > 0 else p.lower[i]


cdef inline bint is_free(const Problem *p, const double *beta, Py_ssize_t i) noexcept nogil:
    """Whether coefficient i is at no end of its piece."""
    return p.lower[i] < beta[i] < p.upper[i] and (p.epsilon == 0 or beta[i] != 0)


cdef inline bint gains(const Problem *p, double slope, double beta, double tolerance, Py_ssize_t i) noexcept nogil:
    """Whether a resting coefficient would gain by moving, given its gradient with the bias."""
    if not p.lower[i] < p.upper[i]:
        return False
    return (beta < p.upper[i] and slope_up(slope, p.epsilon, beta) < -tolerance) or (
        beta > p.lower[i] and slope_down(slope, p.epsilon, beta) > tolerance
    )


cdef inline double side_of(const Problem *p, double slope, double beta, double tolerance, Py_ssize_t i) noexcept nogil:
    """The piece, -1 or +1, on which a coefficient that gains will be."""
    if beta != 0:
        return 1.0 if beta > 0 else -1.0
    return 1.0 if beta < p.upper[i] and slope_up(slope, p.epsilon, beta) < -tolerance else -1.0


cdef inline double sum_of(const double *x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(n):
        total += x[i]
    return total


cdef inline double absolute_sum(const double *x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(n):
        total += fabs(x[i])
    return total
