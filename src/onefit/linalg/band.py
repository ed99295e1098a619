r"""Ridge systems and hold-out blocks along a whole path from one band form, without eigenvectors.

.. math:: K = Q B Q^T, \qquad (K + \gamma I)^{-1} = Q (B + \gamma I)^{-1} Q^T, \qquad B + \gamma I = L L^T,

B of bandwidth b. ``BandForm`` keeps Q as reflections, which is enough for solutions and as cheap as four Cholesky
factorisations: ten ridges take a third of the time of one each. ``BandFactor`` has Q as an array for the blocks
of the inverse that hold rows I out, :math:`G_{II} = S^T S` with :math:`S = L^{-1} Q_I^T`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from .._arrays import Array, Indices, Mask
from .factor import EPS, Factor, NotPositiveDefiniteError, Solved
from .spectrum import ROUNDINGS, frobenius_norm, on_complement, reflected_back

try:
    from ._band import form_q, multiply_by_q, reduce_to_band, substitute
except ImportError:  # no compiler was at hand when onefit was installed
    AVAILABLE = False
else:
    AVAILABLE = True

BANDWIDTH = 32
"""Between 24 and 64 the time differs by less than 5 % (n = 300 to 2,000, ten ridges)."""

TRIDIAGONAL_ROWS = 2500
"""Rows up to which an explicit Q comes with a tridiagonal B. Fifteen ridges and ten folds, in products of two matrices,
for b = 1 and 32: 3.4 and 4.5 at 1,000 rows, 4.0 and 4.3 at 2,000, 4.9 and 3.5 at 4,000."""


def _bands(A: Array, width: int) -> Array:
    """The lower band of A (n, n) in LAPACK's storage."""
    n = len(A)
    bands = np.zeros((min(width, n - 1) + 1, n), order="F")
    for distance in range(len(bands)):
        bands[distance, : n - distance] = np.diagonal(A, -distance)
    return bands


def _factorised(bands: Array, ridge: float) -> Array:
    """L with ``L Lᵀ = B + ridge I``. Cost: O(n b²)."""
    shifted = bands.copy(order="F")
    shifted[0] += ridge
    factor, failed = lapack.dpbtrf(shifted, lower=1, overwrite_ab=1)
    if failed:
        raise NotPositiveDefiniteError(f"K + {ridge} I is not numerically positive definite")
    return np.asarray(factor)


def smallest_eigenvalue(bands: Array) -> float:
    """A lower bound of the smallest eigenvalue of B, and more than half of it, unless it is rounding: then zero.

    By bisection of the exponent: ``B - s I`` has a Cholesky factor as long as s is below. Cost: O(n b²).
    """
    largest, low, high = float(bands[0].min(initial=np.inf)), 0, 53
    while low < high:
        middle = (low + high) // 2
        try:
            _factorised(bands, -largest * 0.5**middle)
            high = middle
        except NotPositiveDefiniteError:
            low = middle + 1
    return 0.0 if low == 53 else largest * 0.5**low


class BandForm:
    """The band form of a symmetric K, which is left alone. Cost: 4/3 n³, an n x n array."""

    def __init__(self, K: Array) -> None:
        self._A = K.T.copy(order="F")
        self._tau = reduce_to_band(self._A, BANDWIDTH)
        self.bands = _bands(self._A, BANDWIDTH)

    def solve(self, Y: Array, ridges: Array) -> Array:
        """Solutions (L, n, c) of ``(K + ridge I) X = Y`` at every ridge, or a NotPositiveDefiniteError.

        Cost: O(n b²) a ridge, and O(n²) for each right-hand side.
        """
        (n, c), L = Y.shape, len(ridges)
        right = Y.astype(np.float64, order="F")
        multiply_by_q(self._A, self._tau, right, True)
        X = np.empty((n, L * c), order="F")
        for k, ridge in enumerate(ridges):
            X[:, k * c : (k + 1) * c] = lapack.dpbtrs(_factorised(self.bands, ridge), right, lower=1)[0]
        multiply_by_q(self._A, self._tau, X, False)
        return np.ascontiguousarray(X.reshape(n, L, c).transpose(1, 0, 2))


@dataclass(frozen=True)
class BandFactor(Factor):
    r"""``K = Q B Qᵀ`` of a positive semi-definite K, on the complement of the unit vector ``null`` if there is one.

    ``rotation`` is Qᵀ (p, n), with p = n - 1 where there is a ``null``; ``magnitude`` the norm of K.
    """

    bands: Array  # (b + 1, p)
    rotation: Array  # (p, n)
    magnitude: float
    null: Array | None = None  # (n,)
    coupling: Array | None = None  # (n,)

    @property
    def inaccuracy(self) -> float:
        return ROUNDINGS * EPS * self.magnitude

    @cached_property
    def smallest(self) -> float:
        """See ``smallest_eigenvalue``."""
        return smallest_eigenvalue(self.bands)

    def smallest_pivots(self, ridges: Array) -> Array:
        return np.asarray(self.smallest + ridges)

    def singular(self, ridges: Array) -> Mask:
        """None; ridges below the rounding of K are refused."""
        if ridges.min(initial=np.inf) <= EPS * self.magnitude:
            raise NotPositiveDefiniteError(f"a ridge of {ridges.min()} is below the rounding of K")
        return np.zeros(len(ridges), dtype=bool)

    def harmless(self, ridges: Array, bad: Mask) -> Array:
        return ridges

    def inverses(self, ridges: Array) -> Iterator[tuple[Indices, BandInverse]]:
        """All ridges at once: (their positions, the inverses)."""
        yield np.arange(len(ridges)), BandInverse(self, ridges, [_factorised(self.bands, ridge) for ridge in ridges])

    def solve(self, Y: Array, ridges: Array, *, minimum_norm: bool = False) -> Solved:
        """Solutions for targets Y (n, c) at every ridge. Cost O(L c n p)."""
        bad = self.singular(ridges)
        ((_, inverse),) = self.inverses(ridges)
        dual = inverse.apply(Y)
        return Solved(dual, self.biases(Y, dual), self.rounding(ridges), bad)


@dataclass(frozen=True)
class BandInverse:
    """``G(ridge) = Q (B + ridge I)^{-1} Qᵀ`` for L ridges, never formed."""

    form: BandFactor
    ridges: Array  # (L,)
    factors: list[Array]  # of B + ridge I
    definite: bool = True

    def norms(self) -> Array:
        """Bounds of the norms of G, shape (L,)."""
        return 1.0 / self.form.smallest_pivots(self.ridges)

    def apply(self, B: Array) -> Array:
        """``G B`` for every ridge: B is (n, c) or (L, n, c), the result (L, n, c). Cost O(L c n p)."""
        return self._spread(self.form.rotation @ B)

    def apply_columns(self, rows: Indices, B: Array) -> Array:
        """``G[:, rows] B`` for B of shape (L, len(rows), c). Cost O(L c n p)."""
        return self._spread(self.form.rotation[:, rows] @ B)

    def _spread(self, inner: Array) -> Array:
        """``Q (B + ridge I)^{-1} inner``, with one product for all ridges."""
        (p, n), c = self.form.rotation.shape, inner.shape[-1]
        solved = np.empty((p, len(self.factors), c))
        for k, factor in enumerate(self.factors):
            solved[:, k] = lapack.dpbtrs(factor, inner if inner.ndim == 2 else inner[k], lower=1)[0]
        result = self.form.rotation.T @ solved.reshape(p, -1)
        return np.ascontiguousarray(result.reshape(n, -1, c).transpose(1, 0, 2))

    def diagonals(self) -> Array:
        """The diagonals of G, shape (L, n). Cost O(L b n p)."""
        n = self.form.rotation.shape[1]
        result, step = np.empty((len(self.factors), n)), 64
        for start in range(0, n, step):
            columns = slice(start, start + step)
            for k, S in enumerate(self._substituted(columns)):
                result[k, columns] = np.einsum("ij,ij->j", S, S)
        return result

    def blocks(self, rows: Indices) -> Iterator[Array]:
        """``G[rows, rows]`` for one ridge after the other. Cost O((l² + b l) p) each for l rows."""
        for S in self._substituted(rows):
            yield S.T @ S  # numpy sees that this is symmetric and does half of the work

    def _substituted(self, rows: Indices | slice) -> Iterator[Array]:
        """``L^{-1} Qᵀ[:, rows]`` for one ridge after the other, in one array."""
        columns = np.ascontiguousarray(self.form.rotation[:, rows])
        S = np.empty_like(columns)
        for factor in self.factors:
            np.copyto(S, columns)
            substitute(factor, S)
            yield S


def band_factor(K: Array, null: Array | None = None, width: int | None = None) -> BandFactor:
    """The band form of a positive semi-definite K with an explicit Q, on the complement of ``null`` if one is given.

    K is overwritten by Q. The bandwidth is the one that pays unless it is given as ``width``.
    Cost: 8/3 n³, about half of an eigendecomposition, and no other n x n array.
    """
    magnitude = frobenius_norm(K)
    inner, coupling, reflector = on_complement(K, null)
    A = inner.T
    width = width or (1 if len(A) <= TRIDIAGONAL_ROWS else BANDWIDTH)
    tau = reduce_to_band(A, width)
    bands = _bands(A, width)
    form_q(A, tau)
    rotation = A.T if reflector is None else reflected_back(A.T, reflector)
    return BandFactor(bands, rotation, magnitude, null, coupling)
