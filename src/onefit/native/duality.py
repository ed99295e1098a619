"""The duality gap of a dual problem (see ``active_set`` for the problem)."""

from __future__ import annotations

import numpy as np

from .compiling import compiled


@compiled
def duality_gap(ridge, target, epsilon, lower, upper, beta, u, b):
    """Primal less dual value, as a sum of non-negative terms.

    Row i contributes ``max_v (beta - v) r + D/2 (beta² - v²) + eps (|beta| - |v|)`` over ``l <= v <= u``, with
    ``r = u + b - t``: what is lost by not answering the other rows optimally (Fenchel-Young). Cost: O(n).
    """
    total = 0.0
    for i in range(len(beta)):
        r = u[i] + b - target[i]
        if ridge[i] > 0:
            away = -r - epsilon if r < 0 else -r + epsilon
            best = 0.0 if abs(r) <= epsilon else away / ridge[i]
            lost = _lost(ridge[i], epsilon, beta[i], r, min(max(best, lower[i]), upper[i]))
        else:
            lost = max(_lost(0.0, epsilon, beta[i], r, lower[i]), _lost(0.0, epsilon, beta[i], r, upper[i]))
            if epsilon > 0:
                lost = max(lost, _lost(0.0, epsilon, beta[i], r, min(max(0.0, lower[i]), upper[i])))
        total += max(lost, 0.0)
    return total


@compiled
def _lost(ridge, epsilon, beta, r, v):
    """What answering beta instead of v costs; a bound at infinity is no answer."""
    if not np.isfinite(v):
        return 0.0
    return (beta - v) * (r + ridge / 2 * (beta + v)) + epsilon * (abs(beta) - abs(v))
