r"""Sequential minimal optimisation: cheap steps that bring a dual problem near its solution.

.. math:: \min_\beta \tfrac12 \beta^T (K + D) \beta - t^T \beta + \epsilon |\beta|_1,
          \quad l \le \beta \le u, \quad \sum_i \beta_i = 0 \text{ with a bias}
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled


@compiled
def slopes(gradient, epsilon, beta, i):
    """Derivatives of the objective when coefficient i grows and when it falls, the latter with its sign turned."""
    rising = gradient + (epsilon if beta[i] >= 0 else -epsilon)
    falling = gradient + (epsilon if beta[i] > 0 else -epsilon)
    return rising, falling


@compiled
def smo(K, ridge, target, epsilon, lower, upper, bias, beta, u, tol, max_steps):
    """Improve ``beta`` and ``u = K beta`` in place by at most ``max_steps`` steps; return how many were made.

    Each step moves the pair (with a bias) or the coefficient (without) that promises most, judged by second order.
    Stops when no condition of optimality is violated by more than ``tol``. Cost: O(n) a step.
    """
    for step in range(max_steps):
        if bias:
            moved = _pair_step(K, ridge, target, epsilon, lower, upper, beta, u, tol)
        else:
            moved = _single_step(K, ridge, target, epsilon, lower, upper, beta, u, tol)
        if not moved:
            return step
    return max_steps


@compiled
def _pair_step(K, ridge, target, epsilon, lower, upper, beta, u, tol):
    n = len(target)
    i, smallest, largest = -1, np.inf, -np.inf
    for k in range(n):
        gradient = u[k] + ridge[k] * beta[k] - target[k]
        rising, falling = slopes(gradient, epsilon, beta, k)
        if beta[k] < upper[k] and rising < smallest:
            i, smallest = k, rising
        if beta[k] > lower[k] and falling > largest:
            largest = falling
    if i < 0 or not largest - smallest > tol:
        return False
    row, own = K[i], K[i, i] + ridge[i]
    j, best, drop, curvature = -1, 0.0, 0.0, 1.0
    for k in range(n):
        if beta[k] > lower[k]:
            gradient = u[k] + ridge[k] * beta[k] - target[k]
            difference = slopes(gradient, epsilon, beta, k)[1] - smallest
            if difference > 0:
                bend = max(own + K[k, k] + ridge[k] - 2 * row[k], 1e-12 * own, 1e-300)
                if difference * difference / bend > best:
                    j, best, drop, curvature = k, difference * difference / bend, difference, bend
    if j < 0:
        return False
    return _transfer(K, epsilon, lower, upper, beta, u, i, j, drop / curvature)


@compiled
def _transfer(K, epsilon, lower, upper, beta, u, i, j, wish):
    """Move ``wish`` from coefficient j to coefficient i, or as much as their pieces allow."""
    end_i = 0.0 if epsilon > 0 and beta[i] < 0 else upper[i]
    end_j = 0.0 if epsilon > 0 and beta[j] > 0 else lower[j]
    amount = min(wish, end_i - beta[i], beta[j] - end_j)
    beta[i] = end_i if amount == end_i - beta[i] else beta[i] + amount
    beta[j] = end_j if amount == beta[j] - end_j else beta[j] - amount
    gain, loss = K[i], K[j]
    for k in range(len(u)):
        u[k] += amount * (gain[k] - loss[k])
    return True


@compiled
def _single_step(K, ridge, target, epsilon, lower, upper, beta, u, tol):
    i, best, worst, wish = -1, 0.0, tol, 0.0
    violated = False
    for k in range(len(target)):
        gradient = u[k] + ridge[k] * beta[k] - target[k]
        rising, falling = slopes(gradient, epsilon, beta, k)
        slope = 0.0
        if beta[k] < upper[k] and rising < 0:
            slope = rising
        elif beta[k] > lower[k] and falling > 0:
            slope = falling
        if abs(slope) > worst:
            violated = True
        bend = max(K[k, k] + ridge[k], 1e-300)
        if slope * slope / bend > best:
            i, best, wish = k, slope * slope / bend, -slope / bend
    if i < 0 or not violated:
        return False
    end = upper[i] if wish > 0 else lower[i]
    if epsilon > 0 and wish * beta[i] < 0:
        end = 0.0
    room = end - beta[i]
    amount = wish if abs(wish) < abs(room) else room
    beta[i] = beta[i] + amount if amount == wish else end
    row = K[i]
    for k in range(len(u)):
        u[k] += amount * row[k]
    return True
