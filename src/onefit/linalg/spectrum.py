"""The spectrum of a Gram matrix, and the inverses that one spectrum gives for every ridge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from .._arrays import Array, Indices, Mask
from .factor import EPS, Factor, Solved
from .lapack import eigh_in_place

ROUNDINGS = 32.0
"""Error of solutions, in roundings of the norm of K over the smallest pivot. Not derived: in 13,458 random searches of
8 to 14 rows, with weights over 12 decades and ill-conditioned K, compared with arithmetic in 320 bits, the largest was
25.3 and five were above 18, from a spectrum and from a band form alike."""


@dataclass(frozen=True)
class Spectrum(Factor):
    r"""Eigenvalues and eigenvectors of a symmetric matrix, complete or with a flat remainder.

    .. math:: K = U \mathrm{diag}(s) U^T + \kappa (I - U U^T - v v^T)

    ``vectors`` U (n x p) and ``values`` s; ``flat`` is the eigenvalue κ of everything orthogonal to U
    (0 for a matrix of low rank, 1 for the identity), or None if U is complete. ``null`` is a unit vector v
    that was projected out first (an unpenalised bias), with ``coupling`` = K v of the matrix before that.
    ``error`` bounds the norm of the difference to the matrix that was asked for, ``magnitude`` the norm of
    the matrix that was decomposed (before a projection), to which rounding is relative.
    """

    values: Array  # (p,)
    vectors: Array  # (n, p)
    flat: float | None = None
    null: Array | None = None  # (n,)
    coupling: Array | None = None  # (n,)
    error: float = 0.0
    magnitude: float = 0.0

    @property
    def norm(self) -> float:
        """The largest absolute eigenvalue."""
        largest = float(np.abs(self.values).max(initial=0.0))
        return max(largest, abs(self.flat or 0.0))

    @property
    def smallest(self) -> float:
        """The smallest eigenvalue."""
        smallest = float(self.values.min(initial=np.inf))
        return smallest if self.flat is None else min(smallest, self.flat)

    @property
    def inaccuracy(self) -> float:
        return ROUNDINGS * EPS * max(self.norm, self.magnitude) + self.error

    def smallest_pivots(self, ridges: Array) -> Array:
        return np.asarray(self._pivots(ridges).min(axis=1, initial=np.inf))

    def _pivots(self, ridges: Array) -> Array:
        """``|s + ridge|`` of all distinct eigenvalues, for every ridge."""
        eigenvalues = self.values if self.flat is None else np.append(self.values, self.flat)
        return np.asarray(np.abs(eigenvalues + ridges[:, None]))

    def singular(self, ridges: Array) -> Mask:
        """Which of ``K + ridge I`` are singular to working precision: ``min |s + ridge| <= eps |K|``.

        A ridge of no more than ``eps |K|`` does not count: then K itself must be regular, and its smallest
        eigenvalue, known to ``n eps |K|`` only, has to exceed that.
        """
        rounding_unit = EPS * max(self.norm, self.magnitude)
        tolerance = np.where(ridges <= rounding_unit, len(self.vectors) * rounding_unit, rounding_unit)
        return np.asarray(self.smallest_pivots(ridges) <= tolerance)

    def harmless(self, ridges: Array, bad: Mask) -> Array:
        return np.where(bad, 2.0 * (self.norm or 1.0), ridges)

    def solve(self, Y: Array, ridges: Array, *, minimum_norm: bool = False) -> Solved:
        """Solutions for targets Y (n, c) at every ridge. Cost O(L c n p)."""
        bad = self.singular(ridges)
        usable = self.harmless(ridges, bad)
        inverse = SpectralInverse(self, usable)
        dual, error = inverse.apply(Y), self.rounding(usable)
        dual[bad] = np.nan
        if minimum_norm and bad.any():
            inverse = self.pseudo_inverse(ridges[bad])
            dual[bad], error[bad] = inverse.apply(Y), self.inaccuracy * inverse.norms()
        return Solved(dual, self.biases(Y, dual), error, bad)

    def pseudo_inverse(self, ridges: Array) -> SpectralInverse:
        """Of singular ``K + ridge I``: pivots up to ``n eps |K + ridge I|`` are rounding, as in ``numpy.linalg.lstsq``.

        The norm is that before any projection, by which the rounding is not made smaller.
        """
        largest = self._pivots(ridges).max(axis=1, initial=self.magnitude)
        return SpectralInverse(self, ridges, negligible=len(self.vectors) * EPS * largest)

    def inverses(self, ridges: Array) -> Iterator[tuple[Indices, SpectralInverse]]:
        """All ridges at once: (their positions, the inverses)."""
        yield np.arange(len(ridges)), SpectralInverse(self, ridges)


@dataclass(frozen=True)
class SpectralInverse:
    r"""``G(ridge) = (K + ridge I)^{-1}`` on the complement of ``null``, for L ridges, never formed.

    .. math:: G = U \mathrm{diag}(1/(s+\gamma) - w_0) U^T + w_0 (I - v v^T), \quad w_0 = 1/(\kappa+\gamma)

    with w_0 = 0 for a complete spectrum: then no difference is taken and small ridges keep their digits.
    Where ``negligible`` is given, directions whose ``|s + ridge|`` is no larger are left out: a pseudo-inverse.
    """

    spectrum: Spectrum
    ridges: Array  # (L,)
    negligible: Array | None = None  # (L,)

    @property
    def definite(self) -> bool:
        """True if K is positive semi-definite, so that no block of G can be singular."""
        return self.spectrum.smallest >= 0

    def norms(self) -> Array:
        """The norms of G, shape (L,)."""
        weights, flat = self._weights
        return np.asarray(np.maximum(np.abs(weights + flat[:, None]).max(axis=1, initial=0.0), np.abs(flat)))

    @property
    def _weights(self) -> tuple[Array, Array]:
        """Weights of U (L, p) and of the remainder (L,)."""
        s = self.spectrum
        flat = np.zeros(len(self.ridges)) if s.flat is None else self._reciprocal(s.flat + self.ridges[:, None])[:, 0]
        return self._reciprocal(s.values + self.ridges[:, None]) - flat[:, None], flat

    def _reciprocal(self, pivots: Array) -> Array:
        if self.negligible is None:
            return 1.0 / pivots
        kept = np.abs(pivots) > self.negligible[:, None]
        return np.divide(1.0, pivots, out=np.zeros_like(pivots), where=kept)

    def apply(self, B: Array) -> Array:
        """``G B`` for every ridge: B is (n, c) or (L, n, c), the result (L, n, c). Cost O(L c n p)."""
        return self._spread(self.spectrum.vectors.T @ B, B)

    def apply_columns(self, rows: Indices, B: Array) -> Array:
        """``G[:, rows] B`` for B of shape (L, len(rows), c). Cost O(L c n p)."""
        padded = B
        if self.spectrum.flat is not None:
            padded = np.zeros((len(B), len(self.spectrum.vectors), B.shape[2]))
            padded[:, rows] = B
        return self._spread(self.spectrum.vectors[rows].T @ B, padded)

    def _spread(self, inner: Array, B: Array) -> Array:
        """``U (weights * inner)`` as one matrix product for all ridges, and the remainder's part of B."""
        U = self.spectrum.vectors
        weights, flat = self._weights
        inner = inner * weights[:, :, None]  # (L, p, c)
        L, p, c = inner.shape
        result = (U @ inner.transpose(1, 0, 2).reshape(p, L * c)).reshape(-1, L, c).transpose(1, 0, 2)
        if self.spectrum.flat is not None:
            result = result + flat[:, None, None] * self._off_null(B)
        return np.ascontiguousarray(result)

    def diagonals(self) -> Array:
        """The diagonals of G, shape (L, n). Cost O(n p) once and O(L n p) for the ridges."""
        n, p = self.spectrum.vectors.shape
        weights, flat = self._weights
        result = np.empty((len(self.ridges), n))
        step = max(1, (1 << 19) // max(1, p))
        for start in range(0, n, step):
            squares = self.spectrum.vectors[start : start + step] ** 2
            result[:, start : start + step] = weights @ squares.T
        if self.spectrum.flat is not None:
            null = self.spectrum.null
            result += flat[:, None] * (1.0 - (0.0 if null is None else null**2))
        return result

    def blocks(self, rows: Indices) -> Iterator[Array]:
        """``G[rows, rows]`` for one ridge after the other. Cost O(l² p) each for l rows."""
        U = self.spectrum.vectors[rows]
        null = self.spectrum.null
        for weight, flat in zip(*self._weights):
            block = _weighted_products(U, weight)
            if self.spectrum.flat is not None:
                block.flat[:: len(rows) + 1] += flat
                if null is not None:
                    block -= flat * np.outer(null[rows], null[rows])
            yield block

    def _off_null(self, B: Array) -> Array:
        null = self.spectrum.null
        return B if null is None else B - null[:, None] * (null @ B)[..., None, :]


def _weighted_products(U: Array, weight: Array) -> Array:
    """``U diag(weight) Uᵀ``; numpy sees that ``S Sᵀ`` is symmetric and does half of the work."""
    if (weight >= 0).all():
        S = U * np.sqrt(weight)
        return S @ S.T
    return (U * weight) @ U.T


def decompose(K: Array, null: Array | None = None, positive: bool = False) -> Spectrum:
    """The complete spectrum of K, on the complement of the unit vector ``null`` if one is given.

    K is overwritten. Eigenvalues that are negative by no more than rounding (``n eps |K|``, K before any
    projection), or negative at
    all where K is known to be ``positive``, become zero.

    Cost: O(n³) by LAPACK's divide and conquer, in place with 2 n² doubles of work space.
    """
    K = np.ascontiguousarray(K)
    magnitude = frobenius_norm(K)
    inner, coupling, reflector = on_complement(K, null)
    values, vectors = eigh_in_place(inner)
    if reflector is not None:
        vectors = reflected_back(vectors.T, reflector).T
    rounding = len(values) * EPS * magnitude
    values[(values < 0) & ((values >= -rounding) | positive)] = 0.0
    # Folds gather rows, and rows are contiguous in C order.
    vectors = np.ascontiguousarray(vectors)
    return Spectrum(values, vectors, null=null, coupling=coupling, magnitude=magnitude)


def frobenius_norm(K: Array) -> float:
    """Of K whose squares may overflow: then blocks of rows are scaled before they are squared, as BLAS does."""
    with np.errstate(over="ignore"):
        norm = float(np.linalg.norm(K))
    if np.isfinite(norm):
        return norm
    blocks = (K[start : start + 256].reshape(-1) for start in range(0, len(K), 256))
    return float(linalg.norm([linalg.norm(block, check_finite=False) for block in blocks]))


def on_complement(K: Array, null: Array | None) -> tuple[Array, Array | None, Array | None]:
    """(K on the complement of the unit vector v = ``null``, ``K v``, reflector), or K itself and None twice.

    The complement of v is reached by the Householder reflection that sends v to the first axis: an
    orthonormal basis to the last bit, where a shifted ``(I - v vᵀ) K (I - v vᵀ)`` would mix v with the null space.
    K is overwritten: the result is in its memory. Cost: O(n²).
    """
    if null is None:
        return K, None, None
    coupling, reflector = K @ null, _reflector(null)
    _reflect_both_sides(K, reflector)
    return _drop_first(K), coupling, reflector


def reflected_back(rows: Array, reflector: Array) -> Array:
    """Vectors on the complement, the rows of a (p, n - 1) array, in the coordinates before it was taken (p, n)."""
    vectors = np.zeros((len(rows), len(reflector)))
    vectors[:, 1:] = rows
    for start in range(0, len(vectors), 256):
        some = vectors[start : start + 256]
        some -= np.outer(2.0 * (some @ reflector), reflector)
    return vectors


def _drop_first(K: Array) -> Array:
    """K without its first row and column, moved to the front of K's own memory."""
    n = len(K)
    compact = K.reshape(-1)[: (n - 1) ** 2].reshape(n - 1, n - 1)
    for i in range(n - 1):
        compact[i] = K[i + 1, 1:].copy()
    return compact


def _reflector(v: Array) -> Array:
    """Unit u such that ``(I - 2 u uᵀ) v = ± e_1``."""
    u = v.copy()
    u[0] += np.copysign(1.0, v[0])
    return u / np.linalg.norm(u)


def _reflect_both_sides(K: Array, u: Array) -> None:
    """``K <- (I - 2 u uᵀ) K (I - 2 u uᵀ)`` in place, row blocks at a time. Cost O(n²)."""
    w = 2.0 * (K @ u)
    w -= (u @ w) * u  # K' = K - u wᵀ - w uᵀ
    step = max(1, (1 << 19) // len(u))
    for start in range(0, len(u), step):
        block = slice(start, start + step)
        K[block] -= np.outer(u[block], w)
        K[block] -= np.outer(w[block], u)
