"""Kernels of the inner product of two points."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from .._arrays import Array
from .._checks import check_number
from . import bases
from .element_wise import BaseItself, WithGamma
from .parameters import Gamma, known_gamma

IN_CACHE = 2**14
"""Entries of a matrix whose powers are computed at a time."""


class _InnerProduct(BaseItself):
    """Inner products of rows with as many entries as there are features."""

    positive = True

    def rank(self, n_features: int) -> float:
        return n_features

    def slope(self, values: Array) -> Array:
        return np.ones_like(values)


@dataclass(frozen=True)
class Linear(_InnerProduct):
    """``x · x'``.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import kernels
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> kernels.Linear()(X).round(4).tolist()
    [[1.0, 1.0], [1.0, 2.0]]
    """

    base = staticmethod(bases.dot)


@dataclass(frozen=True)
class Cosine(_InnerProduct):
    """``x · x' / (|x| |x'|)``.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import kernels
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> kernels.Cosine()(X).round(4).tolist()
    [[1.0, 0.7071], [0.7071, 1.0]]
    """

    base = staticmethod(bases.cosine)


@dataclass(frozen=True)
class Polynomial(WithGamma):
    """``(gamma x · x' + coef0) ** degree``.

    Parameters
    ----------
    degree : float, default=3
        Power; not positive semi-definite if it has a fraction.
    gamma
        As in ``Gaussian``.
    coef0 : float, default=1.0
        Constant that is added to the inner product.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import kernels
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> kernels.Polynomial(degree=2, gamma=1.0)(X).round(4).tolist()
    [[4.0, 4.0], [4.0, 9.0]]
    """

    degree: float = 3
    gamma: Gamma = None
    coef0: float = 1.0
    base = staticmethod(bases.dot)

    def __post_init__(self) -> None:
        check_number("degree", self.degree, "non-negative")
        super().__post_init__()
        check_number("coef0", self.coef0, "any")

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
        if not values.size:  # -1 has no meaning then
            return
        rows = values.reshape(-1, values.shape[-1])
        step = max(1, IN_CACHE // rows.shape[1])
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            part[...] = _integer_power(part, int(self.degree))

    def slope(self, values: Array) -> Array:
        slopes = values.copy()
        replace(self, degree=max(self.degree - 1, 0)).map(slopes)
        slopes *= self.degree * known_gamma(self.gamma)
        return slopes

    @property
    def shape_parameters(self) -> tuple[str, ...]:
        return ("coef0",) if self.coef0 > 0 else ()

    def shape_slopes(self, values: Array) -> Iterator[Array]:
        if self.coef0 > 0:
            yield self.slope(values) * (self.coef0 / known_gamma(self.gamma))


@dataclass(frozen=True)
class Sigmoid(WithGamma):
    """``tanh(gamma x · x' + coef0)``; not positive semi-definite.

    Parameters
    ----------
    gamma
        As in ``Gaussian``.
    coef0 : float, default=1.0
        Constant that is added to the inner product.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import kernels
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> kernels.Sigmoid(gamma=1.0, coef0=0.0)(X).round(4).tolist()
    [[0.7616, 0.7616], [0.7616, 0.964]]
    """

    gamma: Gamma = None
    coef0: float = 1.0
    base = staticmethod(bases.dot)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("coef0", self.coef0, "any")

    def map(self, values: Array) -> None:
        _scale_and_shift(values, self.gamma, self.coef0)
        np.tanh(values, out=values)

    def slope(self, values: Array) -> Array:
        slopes = values.copy()
        self.map(slopes)
        return np.asarray(known_gamma(self.gamma) * (1.0 - slopes**2))


def _scale_and_shift(values: Array, gamma: Gamma, coef0: float) -> None:
    values *= known_gamma(gamma)
    values += coef0


def _integer_power(x: Array, degree: int) -> Array:
    """``x ** degree`` by repeated squaring, several times faster than ``np.power``."""
    result = None
    while degree:
        if degree & 1:
            result = x if result is None else result * x
        degree >>= 1
        if degree:
            x = x * x
    return np.ones_like(x) if result is None else result
