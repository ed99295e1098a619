"""Explicit features whose inner products are a kernel: of landmarks, or random."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import lapack

from .._arrays import Array, Indices
from .._public import set_module
from ..kernels import Gaussian, Kernel
from ..kernels.parameters import known_gamma
from ..linalg.ordered_cholesky import ordered_cholesky
from ..linalg.unlocked import divide_rows

ROUNDED = 10 * float(np.finfo(np.float64).eps)
"""Ridge that is added to the kernel of the landmarks, for each of them and relative to the largest diagonal entry, and
that pivots have to exceed. Pivots in a given order say nothing about the conditioning of all of them together: with a
thousand landmarks at random and a wide Gaussian kernel, features without this ridge were wrong in the fourth digit.
Landmarks with larger pivots count for any ridge of the machine: close to another one, the feature of a landmark is a
derivative of the kernel, however small its pivot."""

FAR = 1e4
"""Exponent of a Gaussian kernel from the middle of the landmarks up to which rows keep twelve digits in one product."""

WELL_CONDITIONED = 1e4
"""Condition number of a Cholesky factor up to which sums of products of kernel entries are whitened after summing: that
halves the work. The error grows with its square: scores of 20,000 rows and 500 landmarks, ridges from 1e-4 on, moved by
1e-13 at 8e2, 4e-12 at 4e3, 7e-11 at 2e4 and 5e-9 at 7e4."""

DENSE = 2048
"""Features up to which sparse rows are made dense, a block at a time: matrix products are then those of dense data."""


class FeatureMap(ABC):
    """Features z(x) of rows, ``width`` of them."""

    width: int

    @abstractmethod
    def __call__(self, X: Any) -> Array:
        """Features (l, width) of rows X (l, d), dense or CSR, in a fresh array. Cost: O(l width (d + width))."""

    def unwhitened(self, X: Any) -> Array:
        """Features before the triangular solution of ``whitening``."""
        return self(X)

    @property
    def whitening(self) -> Array | None:
        """A well-conditioned L, ``z(x) = L⁻¹ unwhitened(x)``: sums and coefficients may be multiplied by it instead.

        None where that would cost digits.
        """
        return None

    @property
    def condition(self) -> float:
        """The condition number of L."""
        return np.inf

    @abstractmethod
    def leading(self, count: int) -> int | None:
        """How many features the first ``count`` landmarks have; None where features are not nested."""


@set_module("onefit.gram")
@dataclass(frozen=True)
class LandmarkMap(FeatureMap):
    r"""Features whose inner products are the kernel in the span of landmarks: :math:`z(x) = L^{-1} k_m(x)`.

    L is the Cholesky factor of :math:`K_{mm}`, with a ridge of the size of rounding, in the order of the landmarks, so
    that the features of the first m' are the first features of all; ``kept`` are the landmarks that have a feature.
    """

    kernel: Kernel
    landmarks: Any
    kept: Indices
    lower: Array

    @classmethod
    def build(cls, kernel: Kernel, landmarks: Any) -> LandmarkMap:
        """Factorise the kernel of the landmarks, leaving out those whose pivot is rounding."""
        landmarks = as_dense(landmarks)
        K = kernel.evaluate(lambda base: base(landmarks))
        if not np.isfinite(K).all():
            raise ValueError(f"{kernel} has values that are not finite on these landmarks.")
        rounding = ROUNDED * len(K) * float(np.diag(K).max(initial=0.0))
        K[np.diag_indices_from(K)] += rounding
        factor = ordered_cholesky(K, 2 * rounding)
        if not len(factor.kept):
            raise ValueError(f"{kernel} is zero on all landmarks.")
        return cls(kernel, landmarks[factor.kept], factor.kept, factor.lower)

    @property
    def width(self) -> int:  # type: ignore[override]
        return len(self.kept)

    def __call__(self, X: Any) -> Array:
        K = self.unwhitened(X)
        divide_rows(self.lower, K)
        return K

    def unwhitened(self, X: Any) -> Array:
        """Kernel entries (l, width) between rows and landmarks."""
        X = as_dense(X)
        with np.errstate(over="ignore", invalid="ignore"):
            K = self._gaussian(X)
            if K is None:
                K = np.ascontiguousarray(self.kernel.evaluate(lambda base: base(X, self.landmarks)))
        return K

    @property
    def whitening(self) -> Array | None:
        return self.lower if self.condition <= WELL_CONDITIONED else None

    @cached_property
    def condition(self) -> float:
        reciprocal, _ = lapack.dtrcon(self.lower, norm="1", uplo="L")
        return float(1 / reciprocal) if reciprocal else np.inf

    def _gaussian(self, X: Any) -> Array | None:
        """Entries of a Gaussian kernel of one width by a single product: half the time of distances and a map.

        None for other kernels, and where rows are so far from the middle that the product would lose digits.
        """
        if not isinstance(self.kernel, Gaussian) or isinstance(self.kernel.gamma, tuple) or hasattr(X, "toarray"):
            return None
        centre, factors = self._exponents
        rows = np.empty((len(X), X.shape[1] + 2))
        np.subtract(X, centre, out=rows[:, :-2])
        np.einsum("ij,ij->i", rows[:, :-2], rows[:, :-2], out=rows[:, -2])
        rows[:, -1] = 1.0
        if not -float(factors[-2, 0]) * float(rows[:, -2].max(initial=0.0)) <= FAR:  # nor is NaN
            return None
        K = rows @ factors
        np.minimum(K, 0.0, out=K)
        return np.asarray(np.exp(K, out=K))

    @cached_property
    def _exponents(self) -> tuple[Array, Array]:
        """(centre c, factors A) with ``-γ |x - l|² = [x - c, |x - c|², 1] A`` for all landmarks l."""
        gamma = known_gamma(self.kernel.gamma)  # type: ignore[attr-defined]
        centre = self.landmarks.mean(axis=0)
        shifted = (self.landmarks - centre).T
        norms = (shifted**2).sum(axis=0)
        return centre, np.vstack([2.0 * gamma * shifted, np.full_like(norms, -gamma), -gamma * norms])

    def leading(self, count: int) -> int:
        return int(np.searchsorted(self.kept, count))


@dataclass(frozen=True)
class IdentityMap(FeatureMap):
    """Rows that are features already."""

    width: int

    def __call__(self, X: Any) -> Array:
        return np.array(as_dense(X))

    def leading(self, count: int) -> None:
        return None


@set_module("onefit.gram")
@dataclass(frozen=True)
class FourierMap(FeatureMap):
    """Sines and cosines of ``x · w`` for frequencies w (d, D), the columns of a matrix."""

    frequencies: Array

    @classmethod
    def build(cls, kernel: Kernel, n_features: int, d: int, seed: int) -> FourierMap:
        """Frequencies of a Gaussian kernel: rotations of lengths that are those of normal vectors."""
        if not isinstance(kernel, Gaussian) or not isinstance(kernel.gamma, float | int):
            raise ValueError(f"RandomFeatures stand for a Gaussian kernel (rbf) only, not for {kernel}.")
        rng = np.random.default_rng(seed)
        parts: list[Array] = []
        wanted = n_features // 2
        while sum(part.shape[1] for part in parts) < wanted:
            Q, R = np.linalg.qr(rng.standard_normal((d, d)))
            parts.append(Q * np.sign(np.diag(R)) * np.sqrt(rng.chisquare(d, size=d)))
        return cls(np.sqrt(2.0 * kernel.gamma) * np.hstack(parts)[:, :wanted])

    @property
    def width(self) -> int:  # type: ignore[override]
        return 2 * int(self.frequencies.shape[1])

    def __call__(self, X: Any) -> Array:
        phases = np.asarray(as_dense(X) @ self.frequencies)
        Z = np.empty((len(phases), self.width))
        np.cos(phases, out=Z[:, 0::2])
        np.sin(phases, out=Z[:, 1::2])
        Z /= np.sqrt(self.frequencies.shape[1])
        return Z

    def leading(self, count: int) -> None:
        return None


def as_dense(X: Any) -> Any:
    """Rows as a dense float64 array, unless they are sparse and have very many features."""
    if hasattr(X, "toarray"):
        return X.toarray() if X.shape[1] <= DENSE else X
    return np.ascontiguousarray(X, dtype=np.float64)
