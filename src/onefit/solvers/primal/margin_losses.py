"""Losses of classes on explicit features: values, slopes and curvatures in the decision value."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]


class MarginLoss(Protocol):
    """A loss l(y, f) of y = ±1, differentiable in f.

    ``piecewise`` says that the curvature takes few values: between two near solutions it changes for few rows only.
    """

    piecewise: bool

    def value(self, y: Array, f: Array) -> Array:
        """The loss."""

    def slope(self, y: Array, f: Array) -> Array:
        """Its derivative with respect to f."""

    def curvature(self, y: Array, f: Array) -> Array:
        """Its second derivative."""


class SquaredHingeLoss:
    """``max(0, 1 - y f)²``."""

    piecewise = True

    def value(self, y: Array, f: Array) -> Array:
        return np.maximum(0.0, 1.0 - y * f) ** 2

    def slope(self, y: Array, f: Array) -> Array:
        return np.asarray(-2.0 * y * np.maximum(0.0, 1.0 - y * f))

    def curvature(self, y: Array, f: Array) -> Array:
        return np.asarray(2.0 * (y * f < 1.0))


class LogisticLoss:
    """``log(1 + exp(-y f))``."""

    piecewise = False

    def value(self, y: Array, f: Array) -> Array:
        return np.logaddexp(0.0, -y * f)

    def slope(self, y: Array, f: Array) -> Array:
        return np.asarray(-y * expit(-y * f))

    def curvature(self, y: Array, f: Array) -> Array:
        return np.asarray(expit(f) * expit(-f))


class SmoothedHingeLoss:
    """The hinge loss ``max(0, 1 - y f)``, quadratic within ``h`` on both sides of its kink."""

    piecewise = True

    def __init__(self, h: float) -> None:
        self.h = h

    def value(self, y: Array, f: Array) -> Array:
        return _smoothed(1.0 - y * f, self.h)

    def slope(self, y: Array, f: Array) -> Array:
        return np.asarray(-y * _ramp(1.0 - y * f, self.h))

    def curvature(self, y: Array, f: Array) -> Array:
        return np.asarray((np.abs(1.0 - y * f) <= self.h) / (2.0 * self.h))

    def kinked(self, y: Array, f: Array) -> Array:
        """The loss itself."""
        return np.maximum(0.0, 1.0 - y * f)

    def dual(self, y: Array, slope: Array) -> Array:
        """Share of each row in the dual objective, whose coefficients are minus the slopes."""
        return np.asarray(-y * slope)


class SmoothedTubeLoss:
    """The epsilon-insensitive loss ``max(0, |y - f| - epsilon)``, quadratic within ``h`` on both sides of its kinks."""

    piecewise = True

    def __init__(self, epsilon: float, h: float) -> None:
        self.epsilon, self.h = epsilon, h

    def value(self, y: Array, f: Array) -> Array:
        return _smoothed(np.abs(y - f) - self.epsilon, self.h)

    def slope(self, y: Array, f: Array) -> Array:
        return np.asarray(np.sign(f - y) * _ramp(np.abs(y - f) - self.epsilon, self.h))

    def curvature(self, y: Array, f: Array) -> Array:
        return np.asarray((np.abs(np.abs(y - f) - self.epsilon) <= self.h) / (2.0 * self.h))

    def kinked(self, y: Array, f: Array) -> Array:
        """The loss itself."""
        return np.maximum(0.0, np.abs(y - f) - self.epsilon)

    def dual(self, y: Array, slope: Array) -> Array:
        """Share of each row in the dual objective, whose coefficients are minus the slopes."""
        return np.asarray(-y * slope - self.epsilon * np.abs(slope))


def _smoothed(excess: Array, h: float) -> Array:
    """``max(0, excess)``, quadratic within h around zero."""
    return np.where(excess > h, excess, np.where(excess < -h, 0.0, (excess + h) ** 2 / (4.0 * h)))


def _ramp(excess: Array, h: float) -> Array:
    """The derivative of ``_smoothed``: from zero to one."""
    return np.clip((excess + h) / (2.0 * h), 0.0, 1.0)
