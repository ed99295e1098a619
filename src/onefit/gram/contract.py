"""The contract of a Gram matrix: questions about one kernel on the data, in any representation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import TypeVar, cast

import numpy as np

from .._arrays import Array, Indices
from ..data.folds import Folds
from ..data.problem import Problem
from ..kernels import Kernel
from ..linalg.cost import Route
from ..linalg.factor import Factor
from ..linalg.spectrum import Spectrum

T = TypeVar("T")

_BLOCK = 1 << 18
"""Numbers in a block of rows: it stays in the cache while several sums are taken of it."""


class Gram(ABC):
    """The Gram matrix K of a kernel on the rows of a problem: questions, each answered at most once.

    A representation (dense, features in memory, …) gives blocks of entries and factorisations; what can be summed
    over blocks of rows is computed here, in O(n²) entries and without an array of the size of K, and may be overridden
    by something cheaper. ``positive`` says that K is known to be positive semi-definite, ``refinable`` that solutions
    can be refined with the n x n matrix.
    ``starts`` holds coefficients that one learner leaves for the next to start from: they change how long a solution
    takes, not the solution.
    """

    refinable = False
    Z: Array | None = None  # features (n x m) with K = Z Zᵀ, where K is never formed
    features: Array | None = None  # Z where there are fewer features than rows
    untouched = False  # no n x n array has been computed yet: a few blocks of entries cost less than all of them

    def __init__(self, problem: Problem, kernel: Kernel, positive: bool | None = None) -> None:
        self.problem, self.kernel = problem, kernel
        self.positive = kernel.positive if positive is None else positive
        self.starts: dict[object, Array] = {}
        self._known: dict[str, object] = {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.kernel} on {self.n} rows)"

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.problem.n

    def with_folds(self, folds: Folds) -> Gram:
        """K with other folds; everything that is computed already is shared."""
        other = copy(self)
        other.problem = Problem(self.problem.X, folds, self.problem.ledger, parent=self.problem)
        return other

    # Entries

    @abstractmethod
    def dense(self) -> Array:
        """K as an n x n array: read it, do not write. A NotUnderstoodError where K is never formed."""

    @abstractmethod
    def block(self, rows: Indices, columns: Indices) -> Array:
        """A fresh array of the entries ``K[rows, columns]``."""

    @abstractmethod
    def part(self, rows: Indices) -> Gram:
        """The Gram matrix of some rows alone, without folds."""

    @abstractmethod
    def times(self, B: Array) -> Array:
        """``K B`` for B of shape (n, k) with few columns."""

    @abstractmethod
    def strips(self) -> Iterator[tuple[slice, Array]]:
        """(which rows, those rows of K), a block of rows at a time."""

    # Factorisations

    @abstractmethod
    def factor(self, weights: Array | None, bias: bool, route: Route) -> Factor:
        """Factorise ``S K S``, with ``S = diag(sqrt(weights))``, for the inverses of ``S K S + ridge I``.

        With a ``bias`` the inverse is that on the complement of the weights' square roots: the unpenalised constant
        function. ``route`` is what pays: "spectrum", "band" or "inverse".
        """

    @abstractmethod
    def route(self, training_sizes: Sequence[int], n_ridges: int, *, leave_one_out: bool, positive: bool) -> Route:
        """The cheapest way to hold rows out: see ``linalg.cost``. ``positive`` says that all ridges are."""

    def spectrum(self, weights: Array | None = None, bias: bool = False) -> Spectrum:
        """The spectrum of ``S K S``, on the complement of the constant function with a ``bias``."""
        return cast(Spectrum, self.factor(weights, bias, "spectrum"))

    @abstractmethod
    def forget_factors(self) -> None:
        """Make room for other matrices: factors are computed anew if they are asked for again."""

    def identity(self) -> tuple[float, float] | None:
        """(diagonal, largest other entry) if K is known to be a multiple of I to machine precision, else None."""
        return None

    # Sums over rows

    def _once(self, name: str, compute: Callable[[], T]) -> T:
        if name not in self._known:
            self._known[name] = compute()
        return cast(T, self._known[name])

    @property
    @abstractmethod
    def diagonal(self) -> Array:
        """``K_ii``."""

    @property
    def sums(self) -> Array:
        """The sum of each row."""
        return self._totals[0]

    @property
    def squares(self) -> Array:
        """The sum of squares of each row."""
        return self._totals[1]

    @property
    def smallest(self) -> Array:
        """The smallest entry of each row."""
        return self._totals[2]

    @property
    def largest(self) -> Array:
        """The largest entry of each row."""
        return self._totals[3]

    @property
    def _totals(self) -> tuple[Array, Array, Array, Array]:
        """Sums, sums of squares, smallest and largest entries of all rows, from one pass."""

        def compute() -> tuple[Array, Array, Array, Array]:
            sums, squares, smallest, largest = (np.empty(self.n) for _ in range(4))
            for rows, strip in self.strips():
                sums[rows], squares[rows] = strip.sum(axis=1), np.einsum("ij,ij->i", strip, strip)
                smallest[rows], largest[rows] = strip.min(axis=1), strip.max(axis=1)
            return sums, squares, smallest, largest

        return self._once("totals", compute)

    @property
    def absolute_sum(self) -> float:
        """``Σ |K_ij|``."""
        return self._once("absolute sum", lambda: float(sum(np.abs(strip).sum() for _, strip in self.strips())))

    def centred(self, Y: Array) -> tuple[float, Array]:
        r"""(:math:`\|C K C\|_F^2`, :math:`Y^T C K C Y` column by column) with ``C = I - 11ᵀ/n``.

        Each entry is centred before anything is summed, so that digits survive in a K that is nearly constant.
        """
        means = self.sums / self.n
        grand = float(means.mean())
        centred = Y - Y.mean(axis=0)
        squares, forms = 0.0, np.zeros(Y.shape[1])
        for rows, strip in self.strips():
            part = strip - means
            part -= (means[rows] - grand)[:, None]
            squares += float(np.vdot(part, part))
            forms += (centred[rows] * (part @ centred)).sum(axis=0)
        return squares, forms

    def read_sums(self) -> None:
        """Take the sums of all rows now, before a factorisation takes the matrix."""
        _ = self.diagonal, self.sums


def strips_of(n: int) -> Iterator[slice]:
    """Blocks of rows of an n x n matrix that stay in the cache."""
    step = max(1, _BLOCK // max(1, n))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
