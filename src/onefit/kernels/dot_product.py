"""Kernels of the inner product of two points."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from . import bases
from .base import ElementWise, WithGamma
from .bases import Array
from .checks import check_finite, check_non_negative
from .gamma import Gamma, check_gamma, known_gamma


@dataclass(frozen=True)
class Linear(ElementWise):
    """``x · x'``."""

    base = staticmethod(bases.dot)

    @property
    def positive(self) -> bool:
        return True

    def rank(self, n_features: int) -> float:
        return n_features

    def map(self, values: Array) -> None:
        """Nothing to do: the base is the kernel."""


@dataclass(frozen=True)
class Cosine(ElementWise):
    """``x · x' / (|x| |x'|)``."""

    base = staticmethod(bases.cosine)

    @property
    def positive(self) -> bool:
        return True

    def rank(self, n_features: int) -> float:
        return n_features

    def map(self, values: Array) -> None:
        """Nothing to do: the base is the kernel."""


@dataclass(frozen=True)
class Polynomial(WithGamma):
    """``(gamma x · x' + coef0) ** degree``; ``gamma`` as in ``Gaussian``."""

    degree: float = 3
    gamma: Gamma = None
    coef0: float = 1.0
    base = staticmethod(bases.dot)

    def __post_init__(self) -> None:
        check_non_negative("degree", self.degree)
        check_gamma(self.gamma)
        check_finite("coef0", self.coef0)

    @property
    def positive(self) -> bool:
        return self.coef0 >= 0 and float(self.degree).is_integer()

    def rank(self, n_features: int) -> float:
        return math.comb(n_features + int(self.degree), int(self.degree)) if self.positive else np.inf

    def map(self, values: Array) -> None:
        _scale_and_shift(values, self.gamma, self.coef0)
        if not float(self.degree).is_integer():
            np.power(values, self.degree, out=values)
            return
        for row in values.reshape(-1, values.shape[-1]):
            row[...] = _integer_power(row, int(self.degree))


@dataclass(frozen=True)
class Sigmoid(WithGamma):
    """``tanh(gamma x · x' + coef0)``; not positive semi-definite; ``gamma`` as in ``Gaussian``."""

    gamma: Gamma = None
    coef0: float = 1.0
    base = staticmethod(bases.dot)

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        check_finite("coef0", self.coef0)

    @property
    def positive(self) -> bool:
        return False

    def map(self, values: Array) -> None:
        _scale_and_shift(values, self.gamma, self.coef0)
        np.tanh(values, out=values)


def _scale_and_shift(values: Array, gamma: Gamma, coef0: float) -> None:
    values *= known_gamma(gamma)
    values += coef0


def _integer_power(x: Array, degree: int) -> Array:
    """``x ** degree`` by repeated squaring, several times faster than ``np.power``."""
    result = np.ones_like(x)
    while degree:
        if degree & 1:
            result = result * x
        degree >>= 1
        if degree:
            x = x * x
    return result
