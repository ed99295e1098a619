r"""Dual problems whose matrix is a multiple of the identity: no two rows know of each other.

Each coefficient is a decreasing, piecewise linear function of the bias, ``beta_i(b) = clip(soft(t_i - b, eps) /
(k + D_i), l_i, u_i)``; the bias is where their sum crosses zero.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import Array, Mask
from .dual import Dual, Solution, shrink

EPS = np.finfo(np.float64).eps


def solve_diagonal(dual: Dual, diagonal: float) -> tuple[Array, float]:
    """(coefficients, bias) for ``K = diagonal I``. Cost: O(n log n)."""
    b = sum(biases(dual, diagonal)) / 2 if dual.bias else 0.0
    return _coefficients(dual, diagonal + dual.ridge, b), b


def diagonal_solution(dual: Dual, diagonal: float) -> Solution:
    """``solve_diagonal`` as other solvers return it."""
    beta, b = solve_diagonal(dual, diagonal)
    return Solution(beta, diagonal * beta, b, 0.0, True)


def _coefficients(dual: Dual, bend: Array, b: float) -> Array:
    return dual.within(shrink(dual.target - b, dual.epsilon) / bend)


def _if_all_are_free(dual: Dual, bend: Array, used: Mask) -> float | None:
    """The bias if no bound is met, the usual case with large penalties; else None."""
    if dual.epsilon > 0 or not used.any():
        return None
    slopes = used / bend
    b = float(slopes @ dual.target) / float(slopes.sum())
    beta = (dual.target - b) * slopes
    inside = (beta > dual.lower) & (beta < dual.upper)
    return b if np.array_equal(inside, used) else None


def biases(dual: Dual, diagonal: float) -> tuple[float, float]:
    """The ends of the interval where the sum is zero, mostly a single point; LIBSVM takes the middle."""
    bend, used = diagonal + dual.ridge, dual.lower < dual.upper
    b = _if_all_are_free(dual, bend, used)
    if b is not None:
        return b, b
    corners = [(1, dual.upper), (-1, dual.lower)]  # beta_i reaches a bound at t - sign eps - bend bound
    if dual.epsilon > 0:
        corners += [(1, np.zeros_like(bend)), (-1, np.zeros_like(bend))]
    with np.errstate(invalid="ignore"):
        kinks = np.concatenate([(dual.target - sign * dual.epsilon - bend * end)[used] for sign, end in corners])
    kinks = np.unique(kinks[np.isfinite(kinks)])
    if len(kinks) == 0:
        return 0.0, 0.0

    largest, steepest = float((np.abs(dual.target) / bend)[used].max()), float((1.0 / bend)[used].max())

    def total(b: float) -> float:
        beta = _coefficients(dual, bend, b)
        rounding = 8 * EPS * (float(np.abs(beta).sum()) + largest + abs(b) * steepest)
        value = float(beta.sum())
        return 0.0 if abs(value) <= rounding else value

    first, last = -1, len(kinks)  # the sum is positive at ``first`` and not at ``last``
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if total(kinks[middle]) > 0 else (first, middle)
    if last + 1 < len(kinks) and total(kinks[last]) == 0 == total((kinks[last] + kinks[last + 1]) / 2):
        return float(kinks[last]), float(kinks[last + 1])
    left = kinks[first] if first >= 0 else kinks[0] - 1.0
    right = kinks[last] if last < len(kinks) else kinks[-1] + 1.0
    beta = _coefficients(dual, bend, (left + right) / 2)
    free = dual.free(beta)
    if not free.any():
        return float(right), float(right)
    offset = dual.target[free] - np.sign(beta[free]) * dual.epsilon
    resting = float(beta[~free].sum())
    b = (float((offset / bend[free]).sum()) + resting) / float((1.0 / bend[free]).sum())
    return b, b
