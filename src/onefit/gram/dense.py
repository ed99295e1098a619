"""A Gram matrix as an n x n array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .._arrays import Array, Indices
from ..data.folds import Folds
from ..data.problem import Problem
from ..kernels import Kernel, Precomputed
from ..linalg.band import BandFactor, band_factor
from ..linalg.cost import Route, cheapest_route
from ..linalg.factor import EPS, Factor, unit_bias
from ..linalg.inverse import CholeskyFamily
from ..linalg.lapack import MOST_ROWS, cholesky_in_place
from ..linalg.spectrum import Spectrum, decompose
from ..linalg.structure import identity_spectrum, structured, without
from ..resources.ledger import Ledger
from .contract import Gram, strips_of


class DenseGram(Gram):
    """K as an array, computed from the base matrices of the problem and kept while it is asked for.

    A factorisation takes the array and overwrites it, which keeps the peak at four n x n arrays (base, Gram turned
    eigenvectors, and LAPACK's work space of two); who asks for entries afterwards has K computed again, in O(n²).
    """

    refinable = True

    def __init__(self, problem: Problem, kernel: Kernel, positive: bool | None = None) -> None:
        super().__init__(problem, kernel, positive)
        self._matrix: list[Array] = []  # K while it is kept; copies with other folds share it
        self._factors: dict[object, Factor] = {}

    @classmethod
    def of_matrix(cls, K: Array, positive: bool, ledger: Ledger | None = None) -> DenseGram:
        """K that is given and may be overwritten."""
        problem = Problem(K, Folds(len(K), ()), Ledger() if ledger is None else ledger)
        gram = cls(problem, Precomputed(), positive=positive)
        gram._matrix.append(K)
        return gram

    def dense(self) -> Array:
        if not self._matrix:
            self._matrix.append(self.problem.gram(self.kernel))
        return self._matrix[0]

    @property
    def untouched(self) -> bool:  # type: ignore[override]
        return not (self._matrix or self.problem.has_base(self.kernel))

    def block(self, rows: Indices, columns: Indices) -> Array:
        return self.problem.gram(self.kernel, rows, columns)

    def part(self, rows: Indices) -> Gram:
        return DenseGram.of_matrix(self.problem.gram(self.kernel, rows), self.positive, self.problem.ledger)

    def times(self, B: Array) -> Array:
        """``K B`` for B of shape (n, k) with few columns. Cost O(k n²)."""
        # one column at a time: a matrix-vector product reads K as fast as memory gives it, a narrow matrix product not
        K = self._readable()
        return np.column_stack([K @ np.ascontiguousarray(column) for column in B.T])

    def strips(self) -> Iterator[tuple[slice, Array]]:
        K = self._readable()
        return ((rows, K[rows]) for rows in strips_of(self.n))

    @property
    def diagonal(self) -> Array:
        return self._once("diagonal", lambda: self._readable().diagonal().copy())

    def _readable(self) -> Array:
        """K to be read only: a matrix that was given is read where it is."""
        if not self._matrix and self.kernel == Precomputed():
            return self.problem.base(Precomputed.base)
        return self.dense()

    def factor(self, weights: Array | None, bias: bool, route: Route) -> Factor:
        """See ``Gram.factor``. Structure in K is used first; a spectrum asked for after an inverse takes its matrix."""
        case = (None if weights is None else weights.tobytes(), bias)
        if case not in self._factors:
            self._factors[case] = self._new_factor(weights, bias, route)
        factor = self._factors[case]
        if route == "spectrum" and isinstance(factor, CholeskyFamily):
            factor = self._factors[case] = self._spectrum(factor.K, factor.null)
        elif route == "spectrum" and isinstance(factor, BandFactor):  # which took its matrix
            del factor, self._factors[case]
            factor = self._factors[case] = self._new_factor(weights, bias, route)
        return factor

    def forget_factors(self) -> None:
        self._factors.clear()

    def route(self, training_sizes: Sequence[int], n_ridges: int, *, leave_one_out: bool, positive: bool) -> Route:
        def cheapest(positive: bool) -> Route:
            return cheapest_route(self.n, training_sizes, n_ridges, leave_one_out=leave_one_out, positive=positive)

        route = cheapest(positive and self.positive)
        if positive and not self.positive and cheapest(True) != route and self._once("definite", self._is_definite):
            return cheapest(True)
        return route

    def _is_definite(self) -> bool:
        """Whether K, if that is not known of the kernel, is positive semi-definite up to rounding.

        Cost: one Cholesky factorisation, a fifteenth of the spectrum that an indefinite K needs.
        """
        if self.n > MOST_ROWS:
            return False
        K = self._readable().copy()
        K.flat[:: self.n + 1] += self.n * EPS * np.abs(K.diagonal()).max(initial=0.0)
        return cholesky_in_place(K, self.n)

    def _spectrum(self, K: Array, null: Array | None) -> Spectrum:
        with self.problem.ledger.record("eigendecomposition"):
            return decompose(K, null, self.positive)

    def _new_factor(self, weights: Array | None, bias: bool, route: Route) -> Factor:
        scale = None if weights is None else np.sqrt(weights)
        null = unit_bias(self.n, scale) if bias else None
        if weights is None and (found := self.identity()) is not None:
            spectrum = identity_spectrum(self.n, found[0], (self.n - 1) * found[1])
            return spectrum if null is None else without(spectrum, null)
        K = self._taken(scale)
        if (shortcut := structured(K, null, self.positive, self._rank)) is not None:
            return shortcut
        if route == "inverse":
            return CholeskyFamily(K, null, self.problem.ledger.record)
        if route == "band":
            with self.problem.ledger.record("band form"):
                return band_factor(K, null)
        return self._spectrum(K, null)

    @property
    def _rank(self) -> float:
        return self.kernel.rank(self.problem.X.shape[1])

    def identity(self) -> tuple[float, float] | None:
        """(diagonal, largest other entry) if K is a multiple of I to machine precision, else None.

        Known from the closest pair of rows, before any Gram matrix.
        """
        if self.n < 2 or self.kernel.largest_off_diagonal(self.problem.smallest_of_first_row) > EPS:
            return None  # nearly always: one row is enough to see it
        largest = self.kernel.largest_off_diagonal(self.problem.smallest_off_diagonal)
        if largest > EPS:
            return None
        diagonal = float(self.kernel.evaluate(lambda base: base(self.problem.X[:1]))[0, 0])
        return None if largest > EPS * diagonal else (diagonal, largest)

    def _taken(self, scale: Array | None) -> Array:
        """``S K S`` in K's own array, which is not kept."""
        K = self.dense()
        self._matrix.clear()
        if scale is not None:
            K *= scale[:, None]
            K *= scale
        return K
