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
