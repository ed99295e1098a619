"""The duality gap of a dual problem (see ``dual.py`` for the problem)."""

from libc.math cimport fabs, fmax, fmin, isfinite


def duality_gap(
    const double[::1] ridge, const double[::1] target, double epsilon, const double[::1] lower, const double[::1] upper,
    const double[::1] beta, const double[::1] u, double b,
):
    """Primal less dual value, as a sum of non-negative terms.

    Row i contributes ``max_v (beta - v) r + D/2 (beta² - v²) + eps (|beta| - |v|)`` over ``l <= v <= u``, with
    ``r = u + b - t``: what is lost by not answering the other rows optimally (Fenchel-Young). Cost: O(n).
    """
    cdef Py_ssize_t i
    cdef double total = 0.0, r, lost, best
    with nogil:
        for i in range(len(beta)):
            r = u[i] + b - target[i]
            if ridge[i] > 0:
                best = 0.0 if fabs(r) <= epsilon else (-r - epsilon if r < 0 else -r + epsilon) / ridge[i]
                lost = _lost(ridge[i], epsilon, beta[i], r, fmin(fmax(best, lower[i]), upper[i]))
            else:
                lost = fmax(_lost(0.0, epsilon, beta[i], r, lower[i]), _lost(0.0, epsilon, beta[i], r, upper[i]))
                if epsilon > 0:
                    lost = fmax(lost, _lost(0.0, epsilon, beta[i], r, fmin(fmax(0.0, lower[i]), upper[i])))
            total += fmax(lost, 0.0)
    return total


cdef inline double _lost(double ridge, double epsilon, double beta, double r, double v) noexcept nogil:
    """What answering beta instead of v costs; a bound at infinity is no answer."""
    if not isfinite(v):
        return 0.0
    return (beta - v) * (r + ridge / 2 * (beta + v)) + epsilon * (fabs(beta) - fabs(v))
