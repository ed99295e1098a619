r"""The dual problem that all support vector machines share.

.. math:: \min_\beta \tfrac12 \beta^T (K + D) \beta - t^T \beta + \epsilon |\beta|_1,
          \quad l \le \beta \le u, \quad \sum_i \beta_i = 0 \text{ with a bias}

with ``f = K beta + b``. Hinge loss: ``t = y`` and ``0 <= y beta <= C``; squared hinge: ``D = 1 / (2 C)`` and no upper
bound; epsilon-insensitive loss: ``-C <= beta <= C``. Rows that are left out have ``l = u = 0``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..._arrays import Array, Mask

TOLERANCE = 1e-10
"""Violation of the conditions of optimality, relative to the targets, at which a problem counts as solved."""

EPS = float(np.finfo(np.float64).eps)

ROUNDING = 16 * EPS
"""Rounding of ``K beta``, relative to the coefficients times the norms of the rows."""


@dataclass(frozen=True)
class Dual:
    """Targets, bounds and diagonal of the problem; ``moving`` says that its bounds follow the penalty."""

    target: Array
    lower: Array
    upper: Array
    ridge: Array
    epsilon: float
    bias: bool
    moving: bool = True

    def at(self, C: float) -> Dual:
        """The problem for a penalty C, if this is the one for a penalty of one."""
        return replace(self, lower=C * self.lower, upper=C * self.upper, ridge=self.ridge / C)

    def free(self, beta: Array) -> Mask:
        """The coefficients that are at no end of their piece."""
        inside = (beta > self.lower) & (beta < self.upper)
        return inside & (beta != 0) if self.epsilon > 0 else inside

    def within(self, beta: Array | float) -> Array:
        """The nearest coefficients within the bounds; takes less time than ``np.clip``."""
        return np.minimum(np.maximum(beta, self.lower), self.upper)

    def bounded(self, beta: Array) -> bool:
        """Whether some coefficient rests at a bound that follows the penalty: else a larger C changes nothing."""
        if not self.moving:
            return True
        return bool(((beta != 0) & ((beta == self.lower) | (beta == self.upper))).any())

    @cached_property
    def least_ridge(self) -> float:
        """The smallest ridge of the rows that are not left out."""
        return float(np.min(self.ridge, where=self.lower < self.upper, initial=np.inf))

    @cached_property
    def tolerance(self) -> float:
        """The violation at which the problem counts as solved, apart from rounding of ``K beta``."""
        return self.relative_tolerance(TOLERANCE)

    def relative_tolerance(self, share: float) -> float:
        """``share`` of the spread of the targets, since a bias takes up what they have in common."""
        if not len(self.target):
            return share
        largest = float(np.abs(self.target).max())
        spread = float(np.ptp(self.target)) / 2 if self.bias else largest
        return max(share * max(spread, self.epsilon), 4 * EPS * largest)

    def like(self, other: Dual) -> bool:
        """Whether it has the ridges of another problem on the rows that they share."""
        rows = (self.lower < self.upper) & (other.lower < other.upper)
        return np.array_equal(self.ridge[rows], other.ridge[rows])

    def gradient(self, beta: Array, u: Array) -> Array:
        """Derivative of the quadratic part, from ``u = K beta``."""
        return u + self.ridge * beta - self.target

    def objective(self, beta: Array, u: Array) -> float:
        """The value to be minimised, from ``u = K beta``."""
        quadratic = beta @ (u / 2 + self.ridge * beta / 2 - self.target)
        return float(quadratic + self.epsilon * np.abs(beta).sum())

    def gap(self, beta: Array, u: Array, b: float) -> float:
        """Primal less dual value, from ``u = K beta`` and the bias."""
        from ._duality import duality_gap  # absent where no compiler was at hand

        return float(duality_gap(self.ridge, self.target, self.epsilon, self.lower, self.upper, beta, u, b))


def shrink(values: Array, epsilon: float) -> Array:
    """Values nearer to zero by epsilon, or zero: where ``x²/2 - values x + epsilon |x|`` is smallest."""
    return np.sign(values) * np.maximum(np.abs(values) - epsilon, 0.0) if epsilon > 0 else values


def smoothing_ridge(C: float, weights: Array, h: float) -> Array:
    """The ridge of a loss with slopes up to ``C weights`` whose kinks are smoothed over h on both sides."""
    used = weights > 0
    return np.where(used, 2.0 * h / (C * np.where(used, weights, 1.0)), 1.0)


@dataclass(frozen=True)
class Solution:
    """Coefficients, ``u = K beta``, bias, the largest violation of optimality, whether it is tolerable, rounds made."""

    beta: Array
    u: Array
    b: float
    violation: float
    converged: bool
    rounds: int = 0
