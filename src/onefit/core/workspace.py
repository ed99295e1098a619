"""Everything costly for one kernel on one problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import Kernel, Precomputed
from ..linalg.factor import Factor, structured, unit_bias
from ..linalg.inverse import CholeskyFamily
from ..linalg.spectrum import EPS, Spectrum, decompose
from ..linalg.structure import identity_spectrum, without
from .gram_rows import GramRows
from .problem import Problem

Array = NDArray[np.float64]


@dataclass
class Workspace:
    """Gram matrix and factors of (problem, kernel), each computed at most once unless it was forgotten.

    ``readers`` is how many learners will ask for a factor: the last one may overwrite the Gram matrix, which
    keeps the peak at four n x n arrays (base, Gram turned eigenvectors, and LAPACK's work space of two). ``starts``
    holds coefficients that one learner leaves for the next to start from: they change how long a solution takes, not
    the solution. ``single`` asks that learners which can do so keep the Gram matrix in single precision.
    """

    problem: Problem
    kernel: Kernel
    readers: int = 1
    single: bool = False
    starts: dict[object, Array] = field(default_factory=dict, repr=False)
    _gram: Array | None = field(default=None, repr=False)
    _single: NDArray[np.float32] | None = field(default=None, repr=False)
    _factors: dict[object, Factor] = field(default_factory=dict, repr=False)
    _sums: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.problem.n

    def gram(self) -> Array:
        """The Gram matrix of all rows: read it, do not write."""
        if self._gram is None:
            self._gram = self.problem.gram(self.kernel)
        return self._gram

    def stored_gram(self) -> NDArray[Any]:
        """The Gram matrix in the precision that was asked for."""
        if not self.single:
            return self.gram()
        if self._single is None:
            self._single = self.problem.gram(self.kernel).astype(np.float32)
        return self._single

    def rows(self) -> GramRows:
        """What passes over the rows of the Gram matrix tell; a matrix that was given is read where it is."""
        return GramRows(self._readable_gram, self._sums)  # made anew: kept, it would keep this Workspace alive

    def _readable_gram(self) -> Array:
        if self._gram is None and self.kernel == Precomputed():
            return self.problem.base(Precomputed.base)
        return self.gram()

    def factor(self, weights: Array | None, bias: bool, route: str) -> Factor:
        r"""What gives the inverses of ``S K S + ridge I``, with ``S = diag(sqrt(weights))``.

        With a ``bias`` the inverse is that on the complement of the weights' square roots (MATH: the
        unpenalised constant function). ``route`` is "spectrum" or "inverse"; structure in K is used first.
        A spectrum asked for after an inverse (which failed) takes that one's matrix.
        """
        case = (None if weights is None else weights.tobytes(), bias)
        if case not in self._factors:
            self._factors[case] = self._new_factor(weights, bias, route)
        factor = self._factors[case]
        if route == "spectrum" and isinstance(factor, CholeskyFamily):
            factor = self._factors[case] = self._spectrum(factor.K, factor.null)
        return factor

    def forget_factors(self) -> None:
        """Make room for others' matrices: factors are computed anew if they are asked for again."""
        self._factors.clear()

    def _spectrum(self, K: Array, null: Array | None) -> Spectrum:
        with self.problem.ledger.record("eigendecomposition"):
            return decompose(K, null, self.kernel.positive)

    def _new_factor(self, weights: Array | None, bias: bool, route: str) -> Factor:
        scale = None if weights is None else np.sqrt(weights)
        null = unit_bias(self.n, scale) if bias else None
        if weights is None and (found := self.identity()) is not None:
            spectrum = identity_spectrum(self.n, found[0], (self.n - 1) * found[1])
            return spectrum if null is None else without(spectrum, null)
        K = self._scaled_gram(scale)
        if (shortcut := structured(K, null, self.kernel.positive, self._rank)) is not None:
            return shortcut
        if route == "inverse":
            return CholeskyFamily(K, null, self.problem.ledger.record)
        return self._spectrum(K, null)

    @property
    def _rank(self) -> float:
        return self.kernel.rank(self.problem.X.shape[1])

    def identity(self) -> tuple[float, float] | None:
        """(diagonal, largest other entry) if K is a multiple of I to machine precision, else None.

        Known from the closest pair of rows, before any Gram matrix.
        """
        largest = self.kernel.largest_off_diagonal(self.problem.smallest_off_diagonal)
        if largest > EPS or self.n < 2:
            return None
        diagonal = float(self.kernel.evaluate(lambda base: base(self.problem.X[:1]))[0, 0])
        return None if largest > EPS * diagonal else (diagonal, largest)

    def _scaled_gram(self, scale: Array | None) -> Array:
        """``S K S`` in an array of its own, or in K's where nobody reads K afterwards."""
        K = self.gram()
        self.readers -= 1
        if self.readers > 0:
            K = K.copy()
        else:
            self._gram = None
        if scale is not None:
            K *= scale[:, None]
            K *= scale
        return K
