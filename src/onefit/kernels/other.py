"""Kernels without derivatives: chi-squared ones, Gram matrices that are given, functions of two rows."""

from __future__ import annotations

import types
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import joblib
import numpy as np

from .._arrays import Array
from .._checks import check_number
from . import bases
from .base import Kernel, Lookup
from .bases import Base, PairwiseFunction
from .element_wise import BaseItself, ElementWise


@dataclass(frozen=True)
class Precomputed(BaseItself):
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


@dataclass(frozen=True)
class AdditiveChi2(BaseItself):
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
    positive = True
    width = ("gamma", 1)

    def __post_init__(self) -> None:
        if self.gamma is not None:
            check_number("gamma", self.gamma, "non-negative")

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
    positive = False  # not known

    @classmethod
    def of(cls, function: Callable[..., float], params: Mapping[str, Any] | None = None) -> Function:
        """Wrap a callable; equal callables with equal parameters make equal kernels."""
        params = dict(params or {})
        return cls(PairwiseFunction(function, params, (_identity(function), _identity(params))))

    @property
    def bases(self) -> frozenset[Base]:
        return frozenset([self.function])

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


@dataclass(frozen=True)
class GivenMatrix:
    """A base matrix that is looked up: rows of X are numbers of rows of the matrix. Equal matrices are equal."""

    values: Array = field(compare=False, repr=False)
    token: str

    def __call__(self, X: Any, Y: Any = None) -> Array:
        rows = self._numbers(X)
        return np.array(self.values[np.ix_(rows, rows if Y is None else self._numbers(Y))])

    def _numbers(self, X: Any) -> np.ndarray:
        X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        numbers = np.asarray(X[:, 0], dtype=np.intp)
        if X.shape[1] != 1 or (numbers != X[:, 0]).any():
            raise ValueError("A given Gram matrix is read by the numbers of its rows: X must be one column of them.")
        if (numbers < 0).any() or (numbers >= len(self.values)).any():
            raise ValueError(f"The given Gram matrix has {len(self.values)} rows; X has other numbers.")
        return numbers

    def __deepcopy__(self, memo: Any) -> GivenMatrix:
        return self  # copies of estimators share the matrix, which nobody writes


@dataclass(frozen=True)
class Given(Kernel):
    """The entries of a Gram matrix of all rows, known and new; X is one column with their numbers.

    For kernels that are computed elsewhere (graphs, texts, sequences), and for several of them:
    ``WeightedSum([Given(K1), Given(K2)])`` learns their weights.

    Parameters
    ----------
    matrix : array-like of shape (n_rows, n_rows)
        Symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit.kernels import Given
    >>> K = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]])
    >>> Given(K)(np.array([[0], [2]])).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    matrix: Any
    positive = False  # not known

    def __post_init__(self) -> None:
        if isinstance(self.matrix, GivenMatrix):
            return
        K = np.array(self.matrix.toarray() if hasattr(self.matrix, "toarray") else self.matrix, dtype=np.float64)
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            raise ValueError(f"A given Gram matrix must be square, got shape {K.shape}.")
        largest = float(np.abs(K).max(initial=0.0))
        if not np.isfinite(largest) or np.abs(K - K.T).max(initial=0.0) > 1e-8 * largest:
            raise ValueError("A given Gram matrix must be finite and symmetric.")
        K = (K + K.T) / 2.0
        K.setflags(write=False)
        object.__setattr__(self, "matrix", GivenMatrix(K, str(joblib.hash(K))))

    @property
    def bases(self) -> frozenset[Base]:
        return frozenset([self.matrix])

    def evaluate(self, lookup: Lookup) -> Array:
        return lookup(self.matrix)
