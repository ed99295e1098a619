"""Losses of numbers: functions of the residual y - f."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from .margin import ramp, smoothed
from .taylor import FrozenSlope, SlopeSeries


class SquaredLoss:
    """``(y - f)²``."""

    piecewise = True

    def value(self, y: Array, f: Array) -> Array:
        return (y - f) ** 2

    def slope(self, y: Array, f: Array) -> Array:
        return np.asarray(2.0 * (f - y))

    def curvature(self, y: Array, f: Array) -> Array:
        return np.full(np.broadcast(y, f).shape, 2.0)

    def taylor(self, y: Array, f: Array) -> SlopeSeries:
        return FrozenSlope(self.curvature(y, f))


class AbsoluteLoss:
    """``|y - f|``."""

    def value(self, y: Array, f: Array) -> Array:
        return np.abs(y - f)

    def slope(self, y: Array, f: Array) -> Array:
        return np.sign(f - y)


@dataclass(frozen=True)
class EpsilonInsensitiveLoss:
    """``max(0, |y - f| - epsilon)``."""

    epsilon: float

    def value(self, y: Array, f: Array) -> Array:
        return np.maximum(0.0, np.abs(y - f) - self.epsilon)


@dataclass(frozen=True)
class SmoothedTubeLoss:
    """The epsilon-insensitive loss, quadratic within ``h`` on both sides of its kinks."""

    epsilon: float
    h: float
    piecewise = True

    @property
    def kinked(self) -> EpsilonInsensitiveLoss:
        """The loss itself."""
        return EpsilonInsensitiveLoss(self.epsilon)

    def value(self, y: Array, f: Array) -> Array:
        return smoothed(np.abs(y - f) - self.epsilon, self.h)

    def slope(self, y: Array, f: Array) -> Array:
        return np.asarray(np.sign(f - y) * ramp(np.abs(y - f) - self.epsilon, self.h))

    def curvature(self, y: Array, f: Array) -> Array:
        return np.asarray((np.abs(np.abs(y - f) - self.epsilon) <= self.h) / (2.0 * self.h))

    def taylor(self, y: Array, f: Array) -> SlopeSeries:
        return FrozenSlope(self.curvature(y, f))

    def kinks(self, y: Array) -> tuple[Array, ...]:
        """Values around which the loss is smoothed."""
        return y - self.epsilon, y + self.epsilon

    def dual(self, y: Array, slope: Array) -> Array:
        """Share of each row in the dual objective, whose coefficients are minus the slopes."""
        return np.asarray(-y * slope - self.epsilon * np.abs(slope))
