"""A Newton step that changes many coefficients of a dual problem at once (see ``active_set`` for the problem)."""

from __future__ import annotations

import numpy as np

from .active_set import common_bias, newton_step, piece_end, update
from .compiling import compiled
from .factor import solve_transposed
from .smo import slopes


@compiled
def leap(K, ridge, target, epsilon, lower, upper, bias, beta, u, F, m, U, side):
    """One Newton step of the free coefficients, then everything that it has pushed over a bound, or made gain, at once.

    Unlike a round of ``active_set`` this may raise the objective, but it changes many coefficients for the price of a
    new factor. ``F`` and ``side`` become those of the next step; returns (number of free ones, number of changes).
    Cost: O(n m).
    """
    gradient, ones, step = np.empty(m), np.ones(m), np.empty(m)
    for a in range(m):
        i = F[a]
        gradient[a] = u[i] + ridge[i] * beta[i] - target[i] + side[i] * epsilon
    solve_transposed(U, m, gradient)
    solve_transposed(U, m, ones)
    newton_step(gradient, ones, bias, -beta.sum(), U, m, step)
    before, moved, beyond = beta.copy(), F[:m].copy(), u.copy()
    for a in range(m):
        beta[F[a]] += step[a]
    update(K, beyond, beta, before, moved, m)
    b = 0.0
    if bias:
        b = common_bias(ridge, target, epsilon, lower, upper, beta, beyond, side, F, m)
    gaining = _gaining(ridge, target, epsilon, lower, upper, beta, beyond, b, F, m, side)
    kept = _rest_over(epsilon, lower, upper, beta, before, F, m, side)
    # not from the product beyond the bounds, where a nearly singular K may have taken coefficients by far
    update(K, u, beta, before, moved, m)
    for a in range(len(gaining)):
        F[kept + a] = gaining[a]
    return kept + len(gaining), m - kept + len(gaining)


@compiled
def _gaining(ridge, target, epsilon, lower, upper, beta, u, b, F, m, side):
    """The resting coefficients that would gain by moving; their sides are set."""
    n = len(target)
    free, found, count = np.zeros(n, dtype=np.bool_), np.empty(n, dtype=F.dtype), 0
    for a in range(m):
        free[F[a]] = True
    for i in range(n):
        if free[i] or not lower[i] < upper[i]:
            continue
        rising, falling = slopes(u[i] + ridge[i] * beta[i] - target[i] + b, epsilon, beta, i)
        if (beta[i] < upper[i] and rising < 0) or (beta[i] > lower[i] and falling > 0):
            side[i] = 1.0 if beta[i] > 0 or (beta[i] == 0 and rising < 0) else -1.0
            found[count] = i
            count += 1
    return found[:count]


@compiled
def _rest_over(epsilon, lower, upper, beta, before, F, m, side):
    """Rest the free coefficients that are over an end of their piece there; returns how many remain free."""
    kept = 0
    for a in range(m):
        i = F[a]
        direction = 1.0 if beta[i] > before[i] else -1.0
        end = piece_end(lower, upper, epsilon, side, i, direction)
        if (beta[i] - end) * direction >= 0:
            beta[i] = end
        else:
            F[kept] = i
            kept += 1
    return kept
