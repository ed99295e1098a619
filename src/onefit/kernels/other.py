"""Kernels with a base of their own."""

from __future__ import annotations

import types
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np

from . import bases
from .base import Kernel, Lookup
from .bases import Array, Base, PairwiseFunction
from .checks import check_non_negative
from .element_wise import ElementWise


@dataclass(frozen=True)
class Precomputed(ElementWise):
    """The data are the Gram matrix itself.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import kernels
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> K = X @ X.T
    >>> kernels.Precomputed()(K).tolist()
    [[1.0, 1.0], [1.0, 2.0]]
    """

    base = staticmethod(bases.precomputed)

    def map(self, values: Array) -> None:
        """Nothing to do: the base is the kernel."""


@dataclass(frozen=True)
class AdditiveChi2(ElementWise):
    """``-Σ (x - x')² / (x + x')`` of non-negative features; conditionally positive definite only.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import kernels
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> np.abs(kernels.AdditiveChi2()(X)).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """

    base = staticmethod(bases.additive_chi2)

    def map(self, values: Array) -> None:
        """Nothing to do: the base is the kernel."""


@dataclass(frozen=True)
class Chi2(ElementWise):
    """``exp(-gamma Σ (x - x')² / (x + x'))`` of non-negative features.

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse width.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import kernels
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> kernels.Chi2()(X).round(4).tolist()
    [[1.0, 0.3679], [0.3679, 1.0]]
    """

    gamma: float = 1.0
    base = staticmethod(bases.additive_chi2)

    def __post_init__(self) -> None:
        check_non_negative("gamma", self.gamma)

    @property
    def positive(self) -> bool:
        return True

    width = ("gamma", 1)

    def map(self, values: Array) -> None:
        values *= self.gamma
        np.exp(values, out=values)

    def slope(self, values: Array) -> Array:
        slopes = values.copy()
        self.map(slopes)
        slopes *= self.gamma
        return slopes


@dataclass(frozen=True)
class Function(Kernel):
    """Any callable of two rows that returns a number, with its keyword parameters.

    Parameters
    ----------
    function : PairwiseFunction
        The callable with its parameters, as ``Function.of`` makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import kernels
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> kernels.Function.of(lambda x, z: float(x @ z))(X).tolist()
    [[1.0, 1.0], [1.0, 2.0]]
    """

    function: PairwiseFunction

    @classmethod
    def of(cls, function: Callable[..., float], params: Mapping[str, Any] | None = None) -> Function:
        """Wrap a callable; equal callables with equal parameters make equal kernels."""
        params = dict(params or {})
        return cls(PairwiseFunction(function, params, (_identity(function), _identity(params))))

    @property
    def bases(self) -> frozenset[Base]:
        return frozenset([self.function])

    @property
    def positive(self) -> bool:
        return False  # not known

    def evaluate(self, lookup: Lookup) -> Array:
        return lookup(self.function)


def _identity(function: Any) -> Hashable:
    """A key that equal callables share: a function itself, and one for all copies of an object with equal state."""
    if isinstance(function, types.FunctionType | types.BuiltinFunctionType | np.ufunc):
        return function
    try:
        return str(joblib.hash(function))
    except Exception:  # an object that cannot be pickled is only itself
        return id(function)
