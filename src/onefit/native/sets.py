"""What a step of several dual problems does to their free sets (see ``active_set`` for the problem)."""

from __future__ import annotations

import numpy as np

from .active_set import piece_end, update
from .compiling import compiled
from .smo import slopes

AWAY = 1e-9
"""Distance from an end of a piece, relative to the sum of all coefficients, that is clear."""


@compiled
def change_sets(
    K, ridge, target, epsilon, lower, upper, bias, tolerance, before, beta, u, free, side, b, residual, changes
):
    """After steps from ``before`` to ``beta`` (t, n): rest what is over an end of its piece, free what would gain.

    ``u = K beta`` follows. Written for each problem: its bias b, the largest residual on the rows that were free, and
    the number of changes. Cost: O(n) for each problem and each coefficient over its end.
    """
    t, n = beta.shape
    over, old, kind = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n, dtype=np.int8)
    for k in range(t):
        b[k], residual[k] = _classify(
            ridge[k],
            target,
            epsilon,
            lower[k],
            upper[k],
            bias,
            tolerance,
            before[k],
            beta[k],
            u[k],
            free[k],
            side[k],
            kind,
        )
        n_over, gained = 0, 0
        for i in range(n):
            if kind[i] == 1:
                over[n_over] = i
                old[i] = beta[k, i]
                beta[k, i] = piece_end(lower[k], upper[k], epsilon, side[k], i, beta[k, i] - before[k, i])
                free[k, i] = False
                n_over += 1
            elif kind[i] == 2:
                gradient = u[k, i] + ridge[k, i] * beta[k, i] - target[i] + b[k]
                side[k, i] = new_side(gradient, epsilon, upper[k], beta[k], tolerance, i)
                free[k, i] = True
                gained += 1
        update(K, u[k], beta[k], old, over, n_over)
        changes[k] = n_over + gained


@compiled
def _classify(ridge, target, epsilon, lower, upper, bias, tolerance, before, beta, u, free, side, kind):
    """Write 1 where a coefficient is over an end of its piece, 2 where it would gain, else 0.

    Returns (bias, largest residual). The expressions are those of ``is_over`` and ``gains`` without branches, which are
    hard to foresee here.
    """
    total, count, b = 0.0, 0, 0.0
    for i in range(len(beta)):
        total += (u[i] + ridge[i] * beta[i] - target[i] + side[i] * epsilon) if free[i] else 0.0
        count += 1 if free[i] else 0
    if bias:
        b = -total / count
    if epsilon > 0:
        worst = _classify_pieces(ridge, target, epsilon, lower, upper, tolerance, before, beta, u, free, side, b, kind)
    else:
        worst = _classify_boxes(ridge, target, lower, upper, tolerance, before, beta, u, free, b, kind)
    return b, worst


@compiled
def _classify_pieces(ridge, target, epsilon, lower, upper, tolerance, before, beta, u, free, side, b, kind):
    """The same, for a known bias, where pieces end at zero too; returns the largest residual."""
    worst = 0.0
    for i in range(len(beta)):
        gradient = u[i] + ridge[i] * beta[i] - target[i] + b
        worst = max(worst, abs(gradient + side[i] * epsilon) if free[i] else 0.0)
        high, low = 0.0 if side[i] < 0 else upper[i], 0.0 if side[i] > 0 else lower[i]
        met = (beta[i] >= high) if beta[i] > before[i] else (beta[i] <= low)
        rise = (beta[i] < upper[i]) & (gradient + (epsilon if beta[i] >= 0 else -epsilon) < -tolerance)
        fall = (beta[i] > lower[i]) & (gradient + (epsilon if beta[i] > 0 else -epsilon) > tolerance)
        gain = (rise | fall) & (lower[i] < upper[i])
        kind[i] = (1 if met else 0) if free[i] else (2 if gain else 0)
    return worst


@compiled
def _classify_boxes(ridge, target, lower, upper, tolerance, before, beta, u, free, b, kind):
    """The same where they do not: this takes a third of the time."""
    worst = 0.0
    for i in range(len(beta)):
        gradient = u[i] + ridge[i] * beta[i] - target[i] + b
        worst = max(worst, abs(gradient) if free[i] else 0.0)
        met = (beta[i] >= upper[i]) if beta[i] > before[i] else (beta[i] <= lower[i])
        gain = ((beta[i] < upper[i]) & (gradient < -tolerance)) | ((beta[i] > lower[i]) & (gradient > tolerance))
        gain &= lower[i] < upper[i]
        kind[i] = (1 if met else 0) if free[i] else (2 if gain else 0)
    return worst


@compiled
def is_over(lower, upper, epsilon, before, beta, side, i):
    """Whether coefficient i has met the end of its piece on its way from ``before``."""
    direction = 1.0 if beta[i] > before[i] else -1.0
    return (beta[i] - piece_end(lower, upper, epsilon, side, i, direction)) * direction >= 0


@compiled
def gains(gradient, epsilon, lower, upper, beta, tolerance, i):
    """Whether a resting coefficient would gain by moving, given its gradient with the bias."""
    if not lower[i] < upper[i]:
        return False
    rising, falling = slopes(gradient, epsilon, beta, i)
    return (beta[i] < upper[i] and rising < -tolerance) or (beta[i] > lower[i] and falling > tolerance)


@compiled
def new_side(gradient, epsilon, upper, beta, tolerance, i):
    """The piece on which a coefficient that gains will be."""
    rise = beta[i] < upper[i] and slopes(gradient, epsilon, beta, i)[0] < -tolerance
    return 1.0 if beta[i] > 0 or (beta[i] == 0 and rise) else -1.0


@compiled
def tell_bias(epsilon, lower, upper, beta, free):
    """Which problems, rows of arrays, have a free coefficient that is clearly away from the ends of its piece."""
    found = np.zeros(len(beta), dtype=np.bool_)
    for k in range(len(beta)):
        near = AWAY * np.abs(beta[k]).sum()
        for i in range(beta.shape[1]):
            clear = lower[k, i] + near < beta[k, i] < upper[k, i] - near and (epsilon == 0 or abs(beta[k, i]) > near)
            if free[k, i] and clear:
                found[k] = True
                break
    return found
