"""Kernels that decay with the distance of two points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy import special

from .._arrays import Array
from .._checks import check_number
from . import bases
from .bases import Base
from .element_wise import ElementWise, WithGamma
from .parameters import Gamma, NotDifferentiableError, known_gamma

LARGEST_NU = 100
"""Beyond it a Matérn kernel differs from the Gaussian (infinity) by less than a percent."""

ZERO_FROM = 1e3
"""Scaled distances from which on every kernel of this file is zero in double precision."""


class _Decaying(ElementWise):
    """A map that is monotone in the distance, so the closest pair has the largest kernel value."""

    positive = True

    def largest_off_diagonal(self, smallest: Callable[[Base], float]) -> float:
        value = np.array([smallest(self.own_base)])
        self.map(value)
        return float(value[0])


class _Exponential(_Decaying, WithGamma):
    """``exp(-gamma distance)``."""

    def map(self, values: Array) -> None:
        values *= -known_gamma(self.gamma)
        np.exp(values, out=values)

    def slope(self, values: Array) -> Array:
        slopes = values.copy()
        self.map(slopes)
        slopes *= -known_gamma(self.gamma)
        return slopes


@dataclass(frozen=True)
class Gaussian(_Exponential):
    """``exp(-gamma |x - x'|²)``, scikit-learn's ``rbf``.

    ``gamma=None`` is ``1 / n_features``, "scale" that over the variance of the entries of X; an array has a number for
    each feature, ``exp(-Σ gamma_j (x_j - x'_j)²)``, and is kept as a tuple.

    Parameters
    ----------
    gamma : float, array, "scale" or None, default=None
        Inverse width. None is ``1 / n_features``, "scale" that over the variance of the entries of X; an array has
        one number for each feature.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import kernels
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> kernels.Gaussian(gamma=0.5)(X).round(4).tolist()
    [[1.0, 0.6065], [0.6065, 1.0]]
    """

    gamma: Gamma = None
    base = staticmethod(bases.sqdist)


@dataclass(frozen=True)
class Laplacian(_Exponential):
    """``exp(-gamma |x - x'|₁)``.

    Parameters
    ----------
    gamma
        As in ``Gaussian``.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import kernels
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> kernels.Laplacian(gamma=1.0)(X).round(4).tolist()
    [[1.0, 0.3679], [0.3679, 1.0]]
    """

    gamma: Gamma = None
    base = staticmethod(bases.cityblock)


@dataclass(frozen=True)
class Matern(_Decaying):
    """Matérn kernel of smoothness ``nu`` in ``r = |x - x'| / length_scale``, as scikit-learn's GP kernel.

    ``nu`` = 1/2 is exp(-r), 3/2 and 5/2 have closed forms, infinity is exp(-r²/2); others, up to 100, use the
    Bessel function ``K_nu`` and are much slower.

    Parameters
    ----------
    length_scale : float, default=1.0
        Unit of distances.
    nu : float, default=1.5
        Smoothness, at most 100, or infinity.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import kernels
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> kernels.Matern(nu=0.5)(X).round(4).tolist()
    [[1.0, 0.3679], [0.3679, 1.0]]
    """

    length_scale: float = 1.0
    nu: float = 1.5
    base = staticmethod(bases.sqdist)
    width = ("length_scale", -2)

    def __post_init__(self) -> None:
        check_number("length_scale", self.length_scale)
        if not isinstance(self.nu, Real) or not (0 < self.nu <= LARGEST_NU or self.nu == np.inf):
            raise ValueError(f"nu must be positive and at most {LARGEST_NU}, or infinity, got {self.nu!r}.")

    def map(self, values: Array) -> None:
        self._to_arguments(values)
        # The rest is written a row at a time: no second n x n array.
        for row in values.reshape(-1, values.shape[-1]):
            row[...] = _matern_of(row, float(self.nu))

    def slope(self, values: Array) -> Array:
        """``dk/dr² = -nu / (2 (nu - 1) length_scale²) M``, M the Matérn correlation of nu - 1 at the same argument.

        That of nu = 1/2 is infinite between equal rows, where it multiplies zero: zero stands there.
        """
        nu, slopes = float(self.nu), values.copy()
        if nu <= 1 and nu != 0.5:
            raise NotDifferentiableError(f"{self} has no derivatives here: nu must be 1/2 or more than 1.")
        self._to_arguments(slopes)
        for row in slopes.reshape(-1, slopes.shape[-1]):
            if nu == 0.5:
                row[...] = 0.5 * np.divide(np.exp(-row), row, out=np.zeros_like(row), where=row > 0)
            else:
                row[...] = _matern_of(row, nu - 1.0) * (0.5 if nu == np.inf else nu / (2.0 * (nu - 1.0)))
        slopes *= -1.0 / self.length_scale**2
        return slopes

    def _to_arguments(self, values: Array) -> None:
        """From squared distances to ``sqrt(2 nu) r``, or r if nu is infinite, in place; at most ``ZERO_FROM``."""
        np.sqrt(values, out=values)
        values *= (1.0 if self.nu == np.inf else np.sqrt(2.0 * self.nu)) / self.length_scale
        np.minimum(values, ZERO_FROM, out=values)


@dataclass(frozen=True)
class RationalQuadratic(_Decaying):
    """``(1 + |x - x'|² / (2 alpha length_scale²)) ** -alpha``, a mixture of Gaussians, as scikit-learn's GP kernel.

    Parameters
    ----------
    length_scale : float, default=1.0
        Unit of distances.
    alpha : float, default=1.0
        Shape of the mixture: infinity would be a Gaussian.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import kernels
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> kernels.RationalQuadratic()(X).round(4).tolist()
    [[1.0, 0.6667], [0.6667, 1.0]]
    """

    length_scale: float = 1.0
    alpha: float = 1.0
    base = staticmethod(bases.sqdist)
    width = ("length_scale", -2)
    shape_parameters = ("alpha",)

    def __post_init__(self) -> None:
        check_number("length_scale", self.length_scale)
        check_number("alpha", self.alpha)

    def map(self, values: Array) -> None:
        self._to_arguments(values)
        np.log1p(values, out=values)
        values *= -self.alpha
        np.exp(values, out=values)

    def slope(self, values: Array) -> Array:
        slopes = values.copy()
        self._to_arguments(slopes)
        np.log1p(slopes, out=slopes)
        slopes *= -self.alpha - 1.0
        np.exp(slopes, out=slopes)
        slopes *= -0.5 / self.length_scale**2
        return slopes

    def shape_slopes(self, values: Array) -> Iterator[Array]:
        z = values.copy()
        self._to_arguments(z)
        logarithm = np.log1p(z)
        yield self.alpha * np.exp(-self.alpha * logarithm) * (z / (1.0 + z) - logarithm)

    def _to_arguments(self, values: Array) -> None:
        values /= 2.0 * self.alpha * self.length_scale**2


def _matern_of(u: Array, nu: float) -> Array:
    """Matérn correlation in terms of ``u = sqrt(2 nu) |x - x'| / length_scale``, or without sqrt(2 nu) if infinite."""
    if nu == np.inf:
        return np.asarray(np.exp(-0.5 * u**2))
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
