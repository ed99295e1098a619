"""Losses of classes: functions of the margin y f, with y = ±1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import expit

from .._arrays import Array
from .taylor import FrozenSlope, LogisticSlope, SlopeSeries


class SlopedLoss(Protocol):
    """A loss l(y, f) with a derivative in f; at a kink it is that of one side."""

    def value(self, y: Array, f: Array) -> Array:
        """The loss."""

    def slope(self, y: Array, f: Array) -> Array:
        """Its derivative with respect to f."""


class SmoothLoss(SlopedLoss, Protocol):
    """A loss l(y, f) that is differentiable in f.

    ``piecewise`` says that the curvature takes few values: between two near solutions it changes for few rows only.
    """

    piecewise: bool

    def curvature(self, y: Array, f: Array) -> Array:
        """Its second derivative."""

    def taylor(self, y: Array, f: Array) -> SlopeSeries:
        """Coefficients of the slope while values move away from f; at kinks of the slope it goes on as it is."""


class HingeLoss:
    """``max(0, 1 - y f)``."""

    def value(self, y: Array, f: Array) -> Array:
        return np.maximum(0.0, 1.0 - y * f)

    def slope(self, y: Array, f: Array) -> Array:
        return np.asarray(-y * (y * f < 1.0))


class SquaredHingeLoss:
    """``max(0, 1 - y f)²``."""

    piecewise = True

    def value(self, y: Array, f: Array) -> Array:
        return np.maximum(0.0, 1.0 - y * f) ** 2

    def slope(self, y: Array, f: Array) -> Array:
        return np.asarray(-2.0 * y * np.maximum(0.0, 1.0 - y * f))

    def curvature(self, y: Array, f: Array) -> Array:
        return np.asarray(2.0 * (y * f < 1.0))

    def taylor(self, y: Array, f: Array) -> SlopeSeries:
        return FrozenSlope(self.curvature(y, f))


class LogisticLoss:
    """``log(1 + exp(-y f))``."""

    piecewise = False

    def value(self, y: Array, f: Array) -> Array:
        return np.logaddexp(0.0, -y * f)

    def slope(self, y: Array, f: Array) -> Array:
        return np.asarray(-y * expit(-y * f))

    def curvature(self, y: Array, f: Array) -> Array:
        return np.asarray(expit(f) * expit(-f))

    def taylor(self, y: Array, f: Array) -> SlopeSeries:
        return LogisticSlope(f)


@dataclass(frozen=True)
class SmoothedHingeLoss:
    """The hinge loss, quadratic within ``h`` on both sides of its kink."""

    h: float
    piecewise = True
    kinked = HingeLoss()

    def value(self, y: Array, f: Array) -> Array:
        return smoothed(1.0 - y * f, self.h)

    def slope(self, y: Array, f: Array) -> Array:
        return np.asarray(-y * ramp(1.0 - y * f, self.h))

    def curvature(self, y: Array, f: Array) -> Array:
        return np.asarray((np.abs(1.0 - y * f) <= self.h) / (2.0 * self.h))

    def taylor(self, y: Array, f: Array) -> SlopeSeries:
        return FrozenSlope(self.curvature(y, f))

    def kinks(self, y: Array) -> tuple[Array, ...]:
        """Values around which the loss is smoothed, for labels of -1 and +1."""
        return (y,)

    def dual(self, y: Array, slope: Array) -> Array:
        """Share of each row in the dual objective, whose coefficients are minus the slopes."""
        return np.asarray(-y * slope)


def smoothed(excess: Array, h: float) -> Array:
    """``max(0, excess)``, quadratic within h around zero."""
    return np.where(excess > h, excess, np.where(excess < -h, 0.0, (excess + h) ** 2 / (4.0 * h)))


def ramp(excess: Array, h: float) -> Array:
    """The derivative of ``smoothed``: from zero to one."""
    return np.clip((excess + h) / (2.0 * h), 0.0, 1.0)
