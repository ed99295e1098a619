r"""Sequential minimal optimisation (SMO): cheap steps that bring a dual problem near its solution.

.. math:: \min_\beta \tfrac12 \beta^T (K + D) \beta - t^T \beta + \epsilon |\beta|_1,
          \quad l \le \beta \le u, \quad \sum_i \beta_i = 0 \text{ with a bias}

With a bias each step moves a pair: i, the coefficient that gains most by growing, and j, the one for which the second
order of the objective promises the largest decrease (Fan, Chen & Lin, JMLR 6, 2005). Without a bias one coefficient
moves. Cost: O(n) a step, two passes over vectors of length n and two rows of K.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, fmax

from ._problem cimport Problem, gradient_at


def smo_steps(
    const double[:, :] K, const double[::1] ridge, const double[::1] target, double epsilon, const double[::1] lower,
    const double[::1] upper, bint bias, double[::1] beta, double[::1] u, double tolerance, Py_ssize_t max_steps,
):
    """Improve ``beta`` and ``u = K beta`` in place by at most ``max_steps`` steps; return how many were made.

    Stops when no condition of optimality is violated by more than ``tolerance``.
    """
    cdef Problem p = Problem(
        len(target), K.strides[0] // sizeof(double), &K[0, 0], &ridge[0], &target[0], &lower[0], &upper[0], epsilon, bias
    )
    cdef double[::1] work = np.empty(4 * len(target))
    return smo(&p, &beta[0], &u[0], tolerance, max_steps, &work[0])


cdef Py_ssize_t smo(
    const Problem *p, double *beta, double *u, double tolerance, Py_ssize_t max_steps, double *work
) noexcept nogil:
    """``work`` has room for 4 n numbers."""
    if p.bias:
        return _pairs(p, beta, u, tolerance, max_steps, work)
    return _singles(p, beta, u, tolerance, max_steps)


cdef inline void _offsets(const Problem *p, const double *beta, double *up, double *down, Py_ssize_t k) noexcept nogil:
    """What is added to the gradient for the slopes of coefficient k; infinite in directions that its bounds close."""
    up[k] = INFINITY
    down[k] = -INFINITY
    if beta[k] < p.upper[k]:
        up[k] = p.epsilon if beta[k] >= 0 else -p.epsilon
    if beta[k] > p.lower[k]:
        down[k] = p.epsilon if beta[k] > 0 else -p.epsilon


cdef Py_ssize_t _pairs(
    const Problem *p, double *beta, double *u, double tolerance, Py_ssize_t max_steps, double *work
) noexcept nogil:
    cdef Py_ssize_t n = p.n, step, i, j, k
    cdef double *gradient = work
    cdef double *up = work + n
    cdef double *down = work + 2 * n
    cdef double *diagonal = work + 3 * n
    cdef const double *gain = p.K  # rows of K that the last step was made with
    cdef const double *loss = p.K
    cdef double amount = 0.0, smallest, largest, value, own, bend, best, best_bend, drop, change
    for k in range(n):
        gradient[k] = gradient_at(p, beta, u, k)
        diagonal[k] = p.K[k * p.stride + k] + p.ridge[k]
        _offsets(p, beta, up, down, k)
    for step in range(max_steps + 1):
        i, smallest, largest = -1, INFINITY, -INFINITY
        for k in range(n):
            change = amount * (gain[k] - loss[k])
            u[k] += change
            gradient[k] += change
            value = gradient[k] + up[k]
            if value < smallest:
                i, smallest = k, value
            value = gradient[k] + down[k]
            if value > largest:
                largest = value
        if i < 0 or step == max_steps or not largest - smallest > tolerance:
            return step
        gain = p.K + i * p.stride
        own = diagonal[i]
        j, best, best_bend, drop = -1, 0.0, 1.0, 0.0
        for k in range(n):
            value = gradient[k] + down[k] - smallest
            if value > 0:
                bend = fmax(own + diagonal[k] - 2 * gain[k], 1e-12 * own)
                if value * value * best_bend > best * bend:
                    j, best, best_bend, drop = k, value * value, bend, value
        if j < 0:
            return step
        loss = p.K + j * p.stride
        amount = _transfer(p, beta, i, j, drop / fmax(best_bend, 1e-300))
        gradient[i] += p.ridge[i] * amount
        gradient[j] -= p.ridge[j] * amount
        _offsets(p, beta, up, down, i)
        _offsets(p, beta, up, down, j)
    return max_steps


cdef double _transfer(const Problem *p, double *beta, Py_ssize_t i, Py_ssize_t j, double wish) noexcept nogil:
    """Move ``wish`` from coefficient j to coefficient i, or as much as their pieces allow; returns how much."""
    cdef double end_i = 0.0 if p.epsilon > 0 and beta[i] < 0 else p.upper[i]
    cdef double end_j = 0.0 if p.epsilon > 0 and beta[j] > 0 else p.lower[j]
    cdef double room_i = end_i - beta[i], room_j = beta[j] - end_j
    cdef double amount = min(wish, room_i, room_j)
    beta[i] = end_i if amount == room_i else beta[i] + amount
    beta[j] = end_j if amount == room_j else beta[j] - amount
    return amount


cdef Py_ssize_t _singles(const Problem *p, double *beta, double *u, double tolerance, Py_ssize_t max_steps) noexcept nogil:
    cdef Py_ssize_t n = p.n, step, i, k
    cdef double gradient, slope, bend, best, worst, wish, end, room, amount
    cdef const double *row
    for step in range(max_steps):
        i, best, worst, wish = -1, 0.0, 0.0, 0.0
        for k in range(n):
            gradient = gradient_at(p, beta, u, k)
            slope = 0.0
            if beta[k] < p.upper[k] and gradient + (p.epsilon if beta[k] >= 0 else -p.epsilon) < 0:
                slope = gradient + (p.epsilon if beta[k] >= 0 else -p.epsilon)
            elif beta[k] > p.lower[k] and gradient + (p.epsilon if beta[k] > 0 else -p.epsilon) > 0:
                slope = gradient + (p.epsilon if beta[k] > 0 else -p.epsilon)
            worst = fmax(worst, fabs(slope))
            bend = fmax(p.K[k * p.stride + k] + p.ridge[k], 1e-300)
            if slope * slope / bend > best:
                i, best, wish = k, slope * slope / bend, -slope / bend
        if i < 0 or worst <= tolerance:
            return step
        end = p.upper[i] if wish > 0 else p.lower[i]
        if p.epsilon > 0 and wish * beta[i] < 0:
            end = 0.0
        room = end - beta[i]
        amount = wish if fabs(wish) < fabs(room) else room
        beta[i] = beta[i] + amount if amount == wish else end
        row = p.K + i * p.stride
        for k in range(n):
            u[k] += amount * row[k]
    return max_steps
