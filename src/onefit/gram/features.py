r"""A Gram matrix that is the product of few features, :math:`K = Z Z^T`, never formed.

The singular value decomposition of Z (n x m), ``Z = U diag(t) Vᵀ``, gives the spectrum of K: eigenvectors U with
eigenvalues t², and zero on everything else. Hold-out identities and criteria that read spectra, products or sums then
cost O(n m²) instead of O(n³) or O(n²).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import linalg

from .._arrays import Array, Indices
from .._exceptions import NotUnderstoodError
from ..data.folds import Folds
from ..data.problem import Problem
from ..kernels import Linear
from ..linalg.cost import Route
from ..linalg.factor import EPS, unit_bias
from ..linalg.spectrum import Spectrum, decompose
from ..linalg.structure import without
from ..resources.ledger import Ledger
from .contract import Gram, strips_of


class FeatureGram(Gram):
    """``K = Z Zᵀ`` for features Z (n x m) in memory.

    Memory: Z, a scaled copy of it and the eigenvectors: 3 n m doubles, and a few m x m arrays.
    """

    Z: Array

    def __init__(
        self, Z: Array, folds: Folds | None = None, ledger: Ledger | None = None, total: int | None = None
    ) -> None:
        folds = Folds(len(Z), ()) if folds is None else folds
        super().__init__(Problem(Z, folds, Ledger() if ledger is None else ledger, total=total), Linear())
        self.Z = Z
        self.features = Z if Z.shape[1] < len(Z) else None
        self._spectra: dict[object, Spectrum] = {}

    def dense(self) -> Array:
        raise NotUnderstoodError("features stand for the Gram matrix, which is never formed: this needs all of it")

    def block(self, rows: Indices, columns: Indices) -> Array:
        return self.Z[rows] @ self.Z[columns].T

    def part(self, rows: Indices) -> Gram:
        return FeatureGram(self.Z[rows], ledger=self.problem.ledger)

    def times(self, B: Array) -> Array:
        """``K B``. Cost O(n m k)."""
        return np.asarray(self.Z @ (self.Z.T @ B))

    def strips(self) -> Iterator[tuple[slice, Array]]:
        return ((rows, self.Z[rows] @ self.Z.T) for rows in strips_of(self.n))

    @property
    def diagonal(self) -> Array:
        return self._once("diagonal", lambda: np.einsum("ij,ij->i", self.Z, self.Z))

    @property
    def sums(self) -> Array:
        """The sum of each row. Cost O(n m)."""
        return self._once("sums", lambda: np.asarray(self.Z @ self.Z.sum(axis=0)))

    @property
    def squares(self) -> Array:
        """The sum of squares of each row, ``zᵢᵀ (ZᵀZ) zᵢ``. Cost O(n m²)."""
        return self._once("squares", lambda: np.einsum("ij,ij->i", self.Z @ (self.Z.T @ self.Z), self.Z))

    def centred(self, Y: Array) -> tuple[float, Array]:
        """``Gram.centred`` from centred columns of Z. Cost O(n m²)."""
        Z = self.Z - self.Z.mean(axis=0)
        images = Z.T @ (Y - Y.mean(axis=0))
        return float((np.asarray(Z.T @ Z) ** 2).sum()), np.asarray((images**2).sum(axis=0))

    def route(self, training_sizes: Sequence[int], n_ridges: int, *, leave_one_out: bool, positive: bool) -> Route:
        """One spectrum of size m serves all splits."""
        return "spectrum"

    def factor(self, weights: Array | None, bias: bool, route: Route) -> Spectrum:
        """The spectrum of ``S K S`` from features ``S Z``, whatever the route. Cost O(n m²).

        Directions of no more than rounding, ``n eps`` times the largest eigenvalue, are left out.
        """
        case = (None if weights is None else weights.tobytes(), bias)
        if case not in self._spectra:
            scale = None if weights is None else np.sqrt(weights)
            null = unit_bias(self.n, scale) if bias else None
            with self.problem.ledger.record("eigendecomposition"):
                self._spectra[case] = spectrum_of_features(self.Z if scale is None else self.Z * scale[:, None], null)
        return self._spectra[case]

    def forget_factors(self) -> None:
        self._spectra.clear()


def spectrum_of_features(Z: Array, null: Array | None) -> Spectrum:
    """The spectrum of ``Z Zᵀ`` by a singular value decomposition of Z, which loses no digits to ``ZᵀZ``.

    With as many features as rows the n x n matrix is no larger than Z, and is decomposed.
    """
    if Z.shape[1] >= len(Z):
        return decompose(Z @ Z.T, null, positive=True)
    vectors, singular, _ = linalg.svd(Z, full_matrices=False, check_finite=False)
    kept = singular > len(Z) * EPS * singular.max(initial=0.0)
    values = singular[kept] ** 2
    neglected = float((singular[~kept] ** 2).sum())
    spectrum = Spectrum(values, np.ascontiguousarray(vectors[:, kept]), 0.0, error=neglected)
    return spectrum if null is None else without(spectrum, null)
