"""The contract of kernels, and their algebra."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, cast

import numpy as np
from sklearn.gaussian_process.kernels import Kernel as ScikitLearnKernel
from sklearn.utils import check_array

from .._arrays import Array, Mask
from .bases import Base, dense
from .parameters import NotDifferentiableError, variance_of
from .row_pairs import RowPairs

Lookup = Callable[[Base], Array]
"""Given a base, return a *fresh* array of its values: the kernel writes into it."""


class Kernel(ABC):
    """A frozen value that turns base matrices into Gram matrices.

    Examples
    --------
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

    def fresh_gram(self, rows: RowPairs) -> Array:
        """The kernel's values on rows, in an array of their own; what learning does not change may be kept in rows."""
        return self.evaluate(rows.fresh)

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

    # Parameters that can be learned, as logarithms, and derivatives with respect to them

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The positive parameters, once the kernel is ``bound`` to data."""
        return ()

    @property
    def log_parameters(self) -> Array:
        """Logarithms of the parameters, in the order of their names; ``-inf`` for zero."""
        return np.empty(0)

    def with_log_parameters(self, values: Array) -> Kernel:
        """The kernel with other parameters."""
        return self

    @property
    def is_width(self) -> Mask:
        """Which of the parameters scales of features can stand for."""
        return np.zeros(len(self.parameter_names), dtype=bool)

    @property
    def stationary(self) -> bool:
        """True if the kernel depends on differences of rows only."""
        return False

    @property
    def width_factor(self) -> float | None:
        """Factor of the only base matrix that the width is; None if the kernel has no single width."""
        return None

    def rescaled(self, factor: float) -> Kernel:
        """The kernel with a base matrix that is multiplied by a factor, where it has a ``width_factor``."""
        raise ValueError(f"{self} has no single width.")

    def pullback(self, rows: RowPairs, G: Array) -> Array:
        r"""From ``G = dL/dK`` (n, n), symmetric, to ``dL/dlog`` of the parameters.

        Cost: a few passes over G, and two products with the rows where there is a scale for each feature.
        """
        return np.empty(0)

    def input_gradient(self, rows: RowPairs, B: Array) -> Array:
        """``Σ_b B_ab ∂k(x_a, y_b)/∂x_a`` for all rows a, shape (n, d)."""
        raise NotDifferentiableError(f"{self} has no derivatives with respect to features.")

    def feature_pullback(self, rows: RowPairs, G: Array) -> Array:
        """From ``G = dL/dK``, symmetric, to ``dL/dlog s`` (d,) of factors s that multiply the features, at s = 1.

        ``Σ_ab G_ab (x_aj ∂k_ab/∂x_aj + x_bj ∂k_ab/∂x_bj)``, and the two terms have equal sums. Differences do not
        change if rows are shifted, and centred rows lose no digits.
        """
        X = dense(rows.X)
        X = X - X.mean(axis=0) if self.stationary else X
        return np.asarray(2.0 * np.einsum("ij,ij->j", X, self.input_gradient(rows, G)))

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


# KernelRidge calls a callable once for every pair of rows, but a kernel of scikit-learn once with all rows, which ours
# take too: KernelRidge(kernel=Gaussian(0.1)) trains at the speed of kernel="rbf".
ScikitLearnKernel.register(Kernel)


class Several(Kernel):
    """A kernel that is made of several others, its ``parts``."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels that it is made of."""

    @property
    def bases(self) -> frozenset[Base]:
        return frozenset[Base]().union(*(kernel.bases for kernel in self.parts))

    @property
    def positive(self) -> bool:
        return all(kernel.positive for kernel in self.parts)

    @property
    def follows_data(self) -> bool:
        return any(kernel.follows_data for kernel in self.parts)

    @property
    def stationary(self) -> bool:
        return all(kernel.stationary for kernel in self.parts)


@dataclass(frozen=True)
class _Pair(Several):
    left: Kernel
    right: Kernel

    @property
    def parts(self) -> tuple[Kernel, ...]:
        return self.left, self.right

    @property
    def buffers(self) -> int:
        return max(self.left.buffers, 1 + self.right.buffers)

    def bound(self, n_features: int, variance: float | None = None) -> Kernel:
        return type(self)(self.left.bound(n_features, variance), self.right.bound(n_features, variance))

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return tuple(
            f"{side}.{name}"
            for side, kernel in (("left", self.left), ("right", self.right))
            for name in kernel.parameter_names
        )

    @property
    def log_parameters(self) -> Array:
        return np.concatenate([self.left.log_parameters, self.right.log_parameters])

    def with_log_parameters(self, values: Array) -> Kernel:
        first = len(self.left.parameter_names)
        return type(self)(self.left.with_log_parameters(values[:first]), self.right.with_log_parameters(values[first:]))


@dataclass(frozen=True)
class Sum(_Pair):
    """``k(x, x') = left(x, x') + right(x, x')``.

    Parameters
    ----------
    left, right : Kernel
        Kernels that are added.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import kernels
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> (kernels.Linear() + kernels.Linear())(X).round(4).tolist()
    [[2.0, 2.0], [2.0, 4.0]]
    """

    def rank(self, n_features: int) -> float:
        return self.left.rank(n_features) + self.right.rank(n_features)

    def evaluate(self, lookup: Lookup) -> Array:
        values = self.left.evaluate(lookup)
        values += self.right.evaluate(lookup)
        return values

    def largest_off_diagonal(self, smallest: Callable[[Base], float]) -> float:
        return self.left.largest_off_diagonal(smallest) + self.right.largest_off_diagonal(smallest)

    def pullback(self, rows: RowPairs, G: Array) -> Array:
        return np.concatenate([self.left.pullback(rows, G), self.right.pullback(rows, G)])

    def input_gradient(self, rows: RowPairs, B: Array) -> Array:
        return self.left.input_gradient(rows, B) + self.right.input_gradient(rows, B)


@dataclass(frozen=True)
class Product(_Pair):
    """``k(x, x') = left(x, x') right(x, x')``.

    Parameters
    ----------
    left, right : Kernel
        Kernels that are multiplied.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import kernels
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> (kernels.Linear() * kernels.Linear())(X).round(4).tolist()
    [[1.0, 1.0], [1.0, 4.0]]
    """

    def rank(self, n_features: int) -> float:
        return self.left.rank(n_features) * self.right.rank(n_features)

    def evaluate(self, lookup: Lookup) -> Array:
        values = self.left.evaluate(lookup)
        values *= self.right.evaluate(lookup)
        return values

    def pullback(self, rows: RowPairs, G: Array) -> Array:
        left, right = self.left.evaluate(rows.fresh), self.right.evaluate(rows.fresh)
        left *= G
        right *= G
        return np.concatenate([self.left.pullback(rows, right), self.right.pullback(rows, left)])

    def input_gradient(self, rows: RowPairs, B: Array) -> Array:
        left, right = self.left.evaluate(rows.fresh), self.right.evaluate(rows.fresh)
        left *= B
        right *= B
        return self.left.input_gradient(rows, right) + self.right.input_gradient(rows, left)


class Derived(Kernel):
    """A kernel that is made of another one, ``kernel``, which a dataclass declares, and is like it in most respects."""

    kernel: Kernel

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

    @property
    def stationary(self) -> bool:
        return self.kernel.stationary

    @property
    def width_factor(self) -> float | None:
        return self.kernel.width_factor

    def rescaled(self, factor: float) -> Kernel:
        kernel: Kernel = replace(cast(Any, self), kernel=self.kernel.rescaled(factor))
        return kernel

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return self.kernel.parameter_names

    @property
    def log_parameters(self) -> Array:
        return self.kernel.log_parameters

    def with_log_parameters(self, values: Array) -> Kernel:
        kernel: Kernel = replace(cast(Any, self), kernel=self.kernel.with_log_parameters(values))
        return kernel


@dataclass(frozen=True)
class Scaled(Derived):
    """``k(x, x') = factor kernel(x, x')``.

    Parameters
    ----------
    factor : float
        Finite number, not negative.
    kernel : Kernel
        Kernel to be scaled.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import kernels
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> (2 * kernels.Linear())(X).round(4).tolist()
    [[2.0, 2.0], [2.0, 4.0]]
    """

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        if not (np.isfinite(self.factor) and self.factor >= 0):
            raise ValueError(f"A kernel can be scaled by a finite non-negative number only, got {self.factor}.")

    def bound(self, n_features: int, variance: float | None = None) -> Kernel:
        return Scaled(self.factor, self.kernel.bound(n_features, variance))

    def evaluate(self, lookup: Lookup) -> Array:
        values = self.kernel.evaluate(lookup)
        values *= self.factor
        return values

    def largest_off_diagonal(self, smallest: Callable[[Base], float]) -> float:
        return self.factor * self.kernel.largest_off_diagonal(smallest) if self.factor else 0.0

    @property
    def parameter_names(self) -> tuple[str, ...]:
        own = ("factor",) if self.factor > 0 else ()
        return (*own, *self.kernel.parameter_names)

    @property
    def log_parameters(self) -> Array:
        own = [np.log(self.factor)] if self.factor > 0 else []
        return np.concatenate([own, self.kernel.log_parameters])

    def with_log_parameters(self, values: Array) -> Kernel:
        if self.factor == 0:
            return Scaled(0.0, self.kernel.with_log_parameters(values))
        return Scaled(float(np.exp(values[0])), self.kernel.with_log_parameters(values[1:]))

    def pullback(self, rows: RowPairs, G: Array) -> Array:
        own = [float(np.vdot(G, self.evaluate(rows.fresh)))] if self.factor > 0 else []
        return np.concatenate([own, self.factor * self.kernel.pullback(rows, G)])

    def input_gradient(self, rows: RowPairs, B: Array) -> Array:
        return np.asarray(self.factor * self.kernel.input_gradient(rows, B))
