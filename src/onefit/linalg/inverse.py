"""The inverse at a single ridge by Cholesky factorisation: cheaper than a spectrum when ridges are few."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from .._arrays import Array, Indices, Mask
from .band import AVAILABLE, BandForm, smallest_eigenvalue
from .factor import EPS, Factor, NotPositiveDefiniteError, Solved
from .lapack import invert_in_place
from .spectrum import frobenius_norm

BAND_ERROR = 5.0
"""Errors of solutions from the band form, in those of a Cholesky factorisation: there are more roundings on the way."""

BAND_FROM = 4
"""Ridges from which on one reduction to band form is cheaper than a Cholesky factorisation each (n = 300 to 2,000)."""


@dataclass(frozen=True)
class DenseInverse:
    r"""``G = (K + ridge I)^{-1}`` as an array, on the complement of a unit vector v if there is one:

    .. math:: G = A^{-1} - A^{-1} v v^T A^{-1} / (v^T A^{-1} v), \quad A = K + \gamma I.

    The interface is that of ``SpectralInverse`` with L = 1.
    """

    matrix: Array  # (n, n)
    ridges: Array  # (1,)
    definite: bool = True

    def norms(self) -> Array:
        """A bound of the norm of G, shape (1,)."""
        return 1.0 / self.ridges

    def apply(self, B: Array) -> Array:
        """``G B``, shape (1, n, c). Cost O(c n²)."""
        return self.matrix @ B if B.ndim == 3 else (self.matrix @ B)[None]

    def apply_columns(self, rows: Indices, B: Array) -> Array:
        """``G[:, rows] B`` for B of shape (1, len(rows), c)."""
        return self.matrix[:, rows] @ B

    def diagonals(self) -> Array:
        """The diagonal of G, shape (1, n)."""
        return self.matrix.diagonal()[None]

    def blocks(self, rows: Indices) -> Iterator[Array]:
        """``G[rows, rows]``."""
        yield self.matrix[np.ix_(rows, rows)]


def _unrecorded(event: str) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True)
class CholeskyFamily(Factor):
    """A positive definite Gram matrix that is factorised anew for each ridge.

    Cost O(n³) a ridge, about a sixth of an eigendecomposition; K is kept and one more n x n array is used.
    """

    K: Array
    null: Array | None = None
    record: Callable[[str], AbstractContextManager[None]] = _unrecorded  # counts and times factorisations

    def inverses(self, ridges: Array) -> Iterator[tuple[Indices, DenseInverse]]:
        """One ridge after the other: (its position, the inverse)."""
        for position, ridge in enumerate(ridges):
            with self.record("cholesky"):
                inverse = invert(self.K, float(ridge), self.null)
            yield np.array([position]), inverse
            del inverse  # before the next one is made

    @cached_property
    def _norm(self) -> float:
        return frobenius_norm(self.K)

    @property
    def coupling(self) -> Array | None:
        return None if self.null is None else self.K @ self.null

    @property
    def inaccuracy(self) -> float:
        return 10 * EPS * self._norm

    def smallest_pivots(self, ridges: Array) -> Array:
        return ridges

    def singular(self, ridges: Array) -> Mask:
        """None: a Cholesky factorisation finds out by itself."""
        return np.zeros(len(ridges), dtype=bool)

    def harmless(self, ridges: Array, bad: Mask) -> Array:
        return np.where(bad, 2.0, ridges)

    def solve(self, Y: Array, ridges: Array, *, minimum_norm: bool = False) -> Solved:
        """Solutions for targets Y (n, c) at every ridge, or a NotPositiveDefiniteError.

        Cost: O(n³/3) a ridge, or O(4/3 n³) for all of them if there are BAND_FROM or more.
        """
        (_, c), L = Y.shape, len(ridges)
        if ridges.min() <= EPS * self._norm:
            raise NotPositiveDefiniteError(f"a ridge of {ridges.min()} is below the rounding of K")
        right = Y if self.null is None else np.column_stack([Y, self.null])
        if L >= BAND_FROM and AVAILABLE:
            with self.record("cholesky"):
                form = BandForm(self.K)
                solutions, pivots = form.solve(right, ridges), ridges + smallest_eigenvalue(form.bands)
            error = BAND_ERROR * self.inaccuracy / pivots
        else:
            solutions = np.stack([self._by_cholesky(right, float(ridge)) for ridge in ridges])
            error = self.inaccuracy / ridges
        dual, bias = solutions[:, :, :c], np.zeros((L, c))
        if self.null is not None:
            response = solutions[:, :, c]
            bias = (self.null @ dual) / (response @ self.null)[:, None]
            dual = dual - response[:, :, None] * bias[:, None, :]
        return Solved(dual, bias, error, np.zeros(L, dtype=bool))

    def _by_cholesky(self, right: Array, ridge: float) -> Array:
        """The solution (n, c) for one ridge."""
        A = self.K.T.copy(order="F")
        A.flat[:: len(A) + 1] += ridge
        try:
            with self.record("cholesky"):
                factor = linalg.cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            raise NotPositiveDefiniteError(f"K + {ridge} I is not numerically positive definite") from None
        return np.asarray(linalg.cho_solve(factor, right, check_finite=False))


def invert(K: Array, ridge: float, null: Array | None = None) -> DenseInverse:
    """``(K + ridge I)^{-1}`` on the complement of ``null``; K is left alone.

    A ridge below the rounding of K cannot be relied on to make it positive definite and is refused.
    """
    n = len(K)
    if ridge <= EPS * frobenius_norm(K):
        raise NotPositiveDefiniteError(f"a ridge of {ridge} is below the rounding of K")
    A = np.array(K, order="C")
    A.flat[:: n + 1] += ridge
    if not invert_in_place(A):
        raise NotPositiveDefiniteError(f"K + {ridge} I is not numerically positive definite")
    mirror_upper(A)
    if null is not None:
        g = A @ null
        g /= np.sqrt(null @ g)
        for start in range(0, n, 256):
            A[:, start : start + 256] -= np.outer(g, g[start : start + 256])
    return DenseInverse(A, np.array([ridge]))


def mirror_upper(A: Array) -> None:
    """Copy the upper triangle onto the lower one, a block of rows at a time."""
    n = len(A)
    for start in range(0, n, 128):
        stop = min(start + 128, n)
        A[stop:, start:stop] = A[start:stop, stop:].T
        corner = A[start:stop, start:stop]
        np.copyto(corner, corner.T.copy(), where=np.tri(stop - start, k=-1, dtype=bool))
