"""Kernels that decay with the distance of two points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from . import bases
from .base import ElementWise, Kernel
from .bases import Array, Base
from .checks import check_non_negative, check_positive


class _Decaying(ElementWise):
    """A map that is monotone in the distance, so the closest pair has the largest kernel value."""

    def largest_off_diagonal(self, smallest: Callable[[Base], float]) -> float:
        value = np.array([smallest(type(self).base)])
        self.map(value)
        return float(value[0])


@dataclass(frozen=True)
class Gaussian(_Decaying):
    """``exp(-gamma |x - x'|²)``, scikit-learn's ``rbf``; ``gamma=None`` is ``1 / n_features``."""

    gamma: float | None = None
    base = staticmethod(bases.sqdist)

    def __post_init__(self) -> None:
        check_non_negative("gamma", self.gamma)

    def bound(self, n_features: int) -> Kernel:
        return replace(self, gamma=1.0 / n_features) if self.gamma is None else self

    def map(self, values: Array) -> None:
        values *= -_known(self.gamma)
        np.exp(values, out=values)


@dataclass(frozen=True)
class Laplacian(_Decaying):
    """``exp(-gamma |x - x'|₁)``; ``gamma=None`` is ``1 / n_features``."""

    gamma: float | None = None
    base = staticmethod(bases.cityblock)

    def __post_init__(self) -> None:
        check_non_negative("gamma", self.gamma)

    def bound(self, n_features: int) -> Kernel:
        return replace(self, gamma=1.0 / n_features) if self.gamma is None else self

    def map(self, values: Array) -> None:
        values *= -_known(self.gamma)
        np.exp(values, out=values)


@dataclass(frozen=True)
class Matern(_Decaying):
    """Matérn kernel of smoothness ``nu`` in ``r = |x - x'| / length_scale``, as scikit-learn's GP kernel.

    ``nu`` = 1/2 is exp(-r), 3/2 and 5/2 have closed forms, infinity is exp(-r²/2); others use the Bessel
    function ``K_nu`` and are much slower.
    """

    length_scale: float = 1.0
    nu: float = 1.5
    base = staticmethod(bases.sqdist)

    def __post_init__(self) -> None:
        check_positive("length_scale", self.length_scale)
        if not self.nu > 0:
            raise ValueError(f"nu must be positive (infinity is allowed), got {self.nu!r}.")

    def map(self, values: Array) -> None:
        values /= self.length_scale**2
        if self.nu == np.inf:
            values *= -0.5
            np.exp(values, out=values)
            return
        values *= 2.0 * self.nu
        np.sqrt(values, out=values)  # sqrt(2 nu) r
        # The polynomial factor of half-integer nu is written a row at a time: no second n x n array.
        for row in values.reshape(-1, values.shape[-1]):
            row[...] = _matern_of(row, self.nu)


def _matern_of(u: Array, nu: float) -> Array:
    """Matérn correlation as a function of ``u = sqrt(2 nu) r``."""
    if nu == 0.5:
        return np.exp(-u)
    if nu == 1.5:
        return (1.0 + u) * np.exp(-u)
    if nu == 2.5:
        return (1.0 + u + u**2 / 3.0) * np.exp(-u)
    safe = np.where(u == 0, 1.0, u)
    values = 2.0 ** (1.0 - nu) / special.gamma(nu) * safe**nu * special.kv(nu, safe)
    return np.where(u == 0, 1.0, values)


def _known(gamma: float | None) -> float:
    if gamma is None:
        raise ValueError("gamma=None needs the number of features: call kernel.bound(n_features) first.")
    return gamma
