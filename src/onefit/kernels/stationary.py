"""Kernels that decay with the distance of two points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy import special

from . import bases
from .base import ElementWise, WithGamma
from .bases import Array, Base
from .checks import check_positive
from .gamma import Gamma, known_gamma

LARGEST_NU = 100
"""Beyond it a Matérn kernel differs from the Gaussian (infinity) by less than a percent."""

ZERO_FROM = 1e3
"""Scaled distances from which on every kernel of this file is zero in double precision."""


class _Decaying(ElementWise):
    """A map that is monotone in the distance, so the closest pair has the largest kernel value."""

    @property
    def positive(self) -> bool:
        return True

    def largest_off_diagonal(self, smallest: Callable[[Base], float]) -> float:
        value = np.array([smallest(type(self).base)])
        self.map(value)
        return float(value[0])


@dataclass(frozen=True)
class Gaussian(_Decaying, WithGamma):
    """``exp(-gamma |x - x'|²)``, scikit-learn's ``rbf``.

    ``gamma=None`` is ``1 / n_features``, "scale" that over the variance of the entries of X.
    """

    gamma: Gamma = None
    base = staticmethod(bases.sqdist)

    def map(self, values: Array) -> None:
        values *= -known_gamma(self.gamma)
        np.exp(values, out=values)


@dataclass(frozen=True)
class Laplacian(_Decaying, WithGamma):
    """``exp(-gamma |x - x'|₁)``; ``gamma`` as in ``Gaussian``."""

    gamma: Gamma = None
    base = staticmethod(bases.cityblock)

    def map(self, values: Array) -> None:
        values *= -known_gamma(self.gamma)
        np.exp(values, out=values)


@dataclass(frozen=True)
class Matern(_Decaying):
    """Matérn kernel of smoothness ``nu`` in ``r = |x - x'| / length_scale``, as scikit-learn's GP kernel.

    ``nu`` = 1/2 is exp(-r), 3/2 and 5/2 have closed forms, infinity is exp(-r²/2); others, up to 100, use the
    Bessel function ``K_nu`` and are much slower.
    """

    length_scale: float = 1.0
    nu: float = 1.5
    base = staticmethod(bases.sqdist)

    def __post_init__(self) -> None:
        check_positive("length_scale", self.length_scale)
        if not isinstance(self.nu, Real) or not (0 < self.nu <= LARGEST_NU or self.nu == np.inf):
            raise ValueError(f"nu must be positive and at most {LARGEST_NU}, or infinity, got {self.nu!r}.")

    def map(self, values: Array) -> None:
        np.sqrt(values, out=values)
        values /= self.length_scale
        # The rest is written a row at a time: no second n x n array.
        for row in values.reshape(-1, values.shape[-1]):
            row[...] = _matern_of(row, float(self.nu))


def _matern_of(r: Array, nu: float) -> Array:
    """Matérn correlation of ``r = |x - x'| / length_scale``, in terms of ``u = sqrt(2 nu) r``."""
    if nu == np.inf:
        return np.asarray(np.exp(-0.5 * np.minimum(r, ZERO_FROM) ** 2))
    u: Array = np.minimum(np.sqrt(2.0 * nu) * r, ZERO_FROM)
    if nu == 0.5:
        return np.exp(-u)
    if nu == 1.5:
        return (1.0 + u) * np.exp(-u)
    if nu == 2.5:
        return (1.0 + u + u**2 / 3.0) * np.exp(-u)
    return _bessel_form(u, nu)


def _bessel_form(u: Array, nu: float) -> Array:
    """``2^(1 - nu) / Gamma(nu) u^nu K_nu(u)`` through logarithms; near zero, where K_nu overflows, its series."""
    bessel = special.kve(nu, np.where(u == 0, 1.0, u))
    series = (u == 0) | ~np.isfinite(bessel)
    safe, bessel = np.where(series, 1.0, u), np.where(series, 1.0, bessel)
    logarithm = (1.0 - nu) * np.log(2.0) - special.gammaln(nu) + nu * np.log(safe) + np.log(bessel) - safe
    quarter = np.where(series, u, 0.0) ** 2 / 4.0
    near_zero = 1.0 - quarter / (nu - 1.0) + quarter**2 / (2.0 * (nu - 1.0) * (nu - 2.0)) if nu > 2 else 1.0
    return np.asarray(np.where(series, near_zero, np.exp(logarithm)))
