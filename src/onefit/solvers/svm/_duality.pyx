"""The duality gap of a dual problem (see ``dual.py`` for the problem)."""

from libc.math cimport fabs, fmax, fmin, isfinite

from ._problem cimport Problem


def duality_gap(
    const double[::1] ridge, const double[::1] target, double epsilon, const double[::1] lower, const double[::1] upper,
    const double[::1] beta, const double[::1] u, double b,
):
    """Primal less dual value, as a sum of non-negative terms.

    Row i contributes ``max_v (beta - v) r + D/2 (beta² - v²) + eps (|beta| - |v|)`` over ``l <= v <= u``, with
    ``r = u + b - t``: what is lost by not answering the other rows optimally (Fenchel-Young). Cost: O(n).
    """
    cdef Problem p = Problem(len(beta), 0, NULL, &ridge[0], &target[0], &lower[0], &upper[0], epsilon, True)
    return gap_of(&p, &beta[0], &u[0], b)


cdef double gap_of(const Problem *p, const double *beta, const double *u, double b) noexcept nogil:
    cdef Py_ssize_t i
    cdef double total = 0.0, r, lost, best, epsilon = p.epsilon, low, high
    for i in range(p.n):
        r, low, high = u[i] + b - p.target[i], p.lower[i], p.upper[i]
        if p.ridge[i] > 0:
            best = 0.0 if fabs(r) <= epsilon else (-r - epsilon if r < 0 else -r + epsilon) / p.ridge[i]
            lost = _lost(p.ridge[i], epsilon, beta[i], r, fmin(fmax(best, low), high))
        else:
            lost = fmax(_lost(0.0, epsilon, beta[i], r, low), _lost(0.0, epsilon, beta[i], r, high))
            if epsilon > 0:
                lost = fmax(lost, _lost(0.0, epsilon, beta[i], r, fmin(fmax(0.0, low), high)))
        total += fmax(lost, 0.0)
    return total


cdef inline double _lost(double ridge, double epsilon, double beta, double r, double v) noexcept nogil:
    """What answering beta instead of v costs; a bound at infinity is no answer."""
    if not isfinite(v):
        return 0.0
    return (beta - v) * (r + ridge / 2 * (beta + v)) + epsilon * (fabs(beta) - fabs(v))
