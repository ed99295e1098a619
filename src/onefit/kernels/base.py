"""What a kernel is, and the algebra of kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.utils import check_array

from .bases import Array, Base
from .gamma import Gamma, check_gamma, resolve_gamma, variance_of

Lookup = Callable[[Base], Array]
"""Given a base, return a *fresh* array of its values: the kernel writes into it."""


class Kernel(ABC):
    """A frozen value that turns base matrices into Gram matrices.

    >>> import numpy as np
    >>> from onefit.kernels import Gaussian, Linear
    >>> X = np.array([[0.0], [1.0]])
    >>> (Gaussian(gamma=0.5) + 2 * Linear())(X).round(3).tolist()
    [[1.0, 0.607], [0.607, 3.0]]
    """

    @property
    @abstractmethod
    def bases(self) -> frozenset[Base]:
        """Every base matrix the kernel reads."""

    @property
    @abstractmethod
    def positive(self) -> bool:
        """True if every Gram matrix is known to be positive semi-definite."""

    @abstractmethod
    def evaluate(self, lookup: Lookup) -> Array:
        """Return the kernel's values from those of its bases, computed in the arrays that it is handed."""

    @property
    def buffers(self) -> int:
        """How many arrays of the size of the Gram matrix ``evaluate`` has at once."""
        return 1

    def rank(self, n_features: int) -> float:
        """An upper bound of the rank of any Gram matrix: infinite where none is known."""
        return np.inf

    @property
    def follows_data(self) -> bool:
        """True if a parameter depends on the training rows (``gamma="scale"``)."""
        return False

    def bound(self, n_features: int, variance: float | None = None) -> Kernel:
        """Fix what depends on the data: ``gamma=None`` becomes ``1 / n_features``, and "scale" that over ``variance``.

        Without a ``variance`` "scale" stays as it is.
        """
        return self

    def largest_off_diagonal(self, smallest: Callable[[Base], float]) -> float:
        """Bound ``max |k(x, x')|`` over distinct rows from the smallest off-diagonal base value.

        Infinite where nothing is known; only kernels that decay with distance know better.
        """
        return np.inf

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """The Gram matrix of the rows of X, or the kernel between the rows of X and those of Y.

        Two single rows give a number, so that a Kernel also serves as scikit-learn's pairwise callable.
        """
        if np.ndim(X) == 1 and np.ndim(Y) == 1:
            return self(np.atleast_2d(X), np.atleast_2d(Y))[0, 0]  # type: ignore[no-any-return]
        X = check_array(X, accept_sparse="csr", dtype=np.float64)
        Y = None if Y is None else check_array(Y, accept_sparse="csr", dtype=np.float64)
        return self.bound(X.shape[1], variance_of(X)).evaluate(lambda base: base(X, Y))

    def __add__(self, other: Kernel) -> Kernel:
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        if isinstance(other, Kernel):
            return Product(self, other)
        if isinstance(other, Real):
            return Scaled(float(other), self)
        return NotImplemented

    __rmul__ = __mul__


class ElementWise(Kernel):
    """A kernel that is one base matrix and one element-wise map."""

    base: ClassVar[Base]

    @property
    def bases(self) -> frozenset[Base]:
        return frozenset([type(self).base])

    @property
    def positive(self) -> bool:
        return False  # families that are override this

    @abstractmethod
    def map(self, values: Array) -> None:
        """Turn base values into kernel values, in place."""

    def evaluate(self, lookup: Lookup) -> Array:
        values = lookup(type(self).base)
        self.map(values)
        return values


class WithGamma(ElementWise):
    """An element-wise map with a parameter ``gamma`` that may depend on the data; a dataclass declares it."""

    gamma: Gamma

    def __post_init__(self) -> None:
        check_gamma(self.gamma)

    @property
    def follows_data(self) -> bool:
        return self.gamma == "scale"

    def bound(self, n_features: int, variance: float | None = None) -> Kernel:
        resolved: Kernel = replace(cast(Any, self), gamma=resolve_gamma(self.gamma, n_features, variance))
        return resolved


@dataclass(frozen=True)
class _Pair(Kernel):
    left: Kernel
    right: Kernel

    @property
    def bases(self) -> frozenset[Base]:
        return self.left.bases | self.right.bases

    @property
    def positive(self) -> bool:
        return self.left.positive and self.right.positive

    @property
    def buffers(self) -> int:
        return max(self.left.buffers, 1 + self.right.buffers)

    @property
    def follows_data(self) -> bool:
        return self.left.follows_data or self.right.follows_data

    def bound(self, n_features: int, variance: float | None = None) -> Kernel:
        return type(self)(self.left.bound(n_features, variance), self.right.bound(n_features, variance))


@dataclass(frozen=True)
class Sum(_Pair):
    """``k(x, x') = left(x, x') + right(x, x')``."""

    def rank(self, n_features: int) -> float:
        return self.left.rank(n_features) + self.right.rank(n_features)

    def evaluate(self, lookup: Lookup) -> Array:
        values = self.left.evaluate(lookup)
        values += self.right.evaluate(lookup)
        return values

    def largest_off_diagonal(self, smallest: Callable[[Base], float]) -> float:
        return self.left.largest_off_diagonal(smallest) + self.right.largest_off_diagonal(smallest)


@dataclass(frozen=True)
class Product(_Pair):
    """``k(x, x') = left(x, x') right(x, x')``."""

    def rank(self, n_features: int) -> float:
        return self.left.rank(n_features) * self.right.rank(n_features)

    def evaluate(self, lookup: Lookup) -> Array:
        values = self.left.evaluate(lookup)
        values *= self.right.evaluate(lookup)
        return values


@dataclass(frozen=True)
class Scaled(Kernel):
    """``k(x, x') = factor kernel(x, x')``."""

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        if not (np.isfinite(self.factor) and self.factor >= 0):
            raise ValueError(f"A kernel can be scaled by a finite non-negative number only, got {self.factor}.")

    @property
    def bases(self) -> frozenset[Base]:
        return self.kernel.bases

    @property
    def positive(self) -> bool:
        return self.kernel.positive

    @property
    def buffers(self) -> int:
        return self.kernel.buffers

    def rank(self, n_features: int) -> float:
        return self.kernel.rank(n_features)

    @property
    def follows_data(self) -> bool:
        return self.kernel.follows_data

    def bound(self, n_features: int, variance: float | None = None) -> Kernel:
        return Scaled(self.factor, self.kernel.bound(n_features, variance))

    def evaluate(self, lookup: Lookup) -> Array:
        values = self.kernel.evaluate(lookup)
        values *= self.factor
        return values

    def largest_off_diagonal(self, smallest: Callable[[Base], float]) -> float:
        return self.factor * self.kernel.largest_off_diagonal(smallest) if self.factor else 0.0
