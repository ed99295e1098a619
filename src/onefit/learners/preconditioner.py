r"""Preconditioning of the systems of free coefficients by a matrix of low rank plus a diagonal.

A wide kernel has few eigenvalues far above the others, roughly one for each feature, and these are what conjugate
gradients spend their steps on. With ``K ~ G^T G`` from a few columns of K, and E the ridge plus the mean of what that
leaves of the diagonal,

.. math:: (E + G^T G)^{-1} = E^{-1} - E^{-1} G^T (I + G E^{-1} G^T)^{-1} G E^{-1}

(Woodbury), on the free rows only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..linalg.pivoted import pivoted_cholesky
from .dual import Array

RANK = 48
"""Columns of K: more of them save no more steps than they cost."""
USEFUL = 0.6
"""Share of the diagonal that they may leave: of a narrow kernel they leave nearly all, and are not used."""
FLOOR = 1e-7
"""Of what they leave, relative to the diagonal."""
SMALLEST = 1e-30
"""The same if K is zero."""
RESOLVED = 1e-4
"""Of E, relative to the diagonal: less is too near to the rounding of single precision."""


@dataclass(frozen=True)
class Preconditioner:
    """``K / unit``, what is near it, and the precision ``kind`` of products: single, with a copy of K, or double.

    Memory: about n² / 2 doubles in single precision.
    """

    unit: float
    K: NDArray[Any]
    G: Array  # (r, n)
    rest: float
    kind: type[np.floating[Any]]
    least: float = 0.0
    """Ridges of K below this are lost in its precision."""

    @classmethod
    def of(cls, K: NDArray[Any], ridge: float) -> Preconditioner:
        """For a positive semi-definite K, of any magnitude, and ridges from ``ridge`` on. Cost: O(n² + n r²)."""
        diagonal = np.diagonal(K).astype(np.float64)
        largest = float(diagonal.max(initial=0.0))
        unit = float(2.0 ** np.round(np.log2(largest))) if largest > 0 else 1.0
        mean = float(diagonal.mean()) / unit
        G, left = pivoted_cholesky(K, RANK)
        rest = float(left.mean()) / unit
        if rest > USEFUL * mean:
            G, rest = G[:0], mean
        rest = max(rest, FLOOR * mean, SMALLEST)
        least = (RESOLVED * mean - rest) * unit
        if ridge < least:
            return cls(1.0, K, G, rest * unit, np.float64)
        single = np.empty(K.shape, dtype=np.float32)
        np.divide(K, unit, out=single, casting="same_kind")
        return cls(unit, single, G / np.sqrt(unit), rest, np.float32, least)

    def on(self, rows: NDArray[np.intp]) -> Preconditioner:
        """The same for some rows only. Cost: O(m²) for m rows, m² numbers."""
        from ..native.factor import take_block

        block = np.empty((len(rows), len(rows)), dtype=self.K.dtype)
        take_block(self.K, rows, block)
        return replace(self, K=block, G=np.ascontiguousarray(self.G[:, rows]))

    def resolves(self, ridge: float) -> bool:
        """Whether its precision is enough for a ridge."""
        return ridge >= self.least

    @cached_property
    def rounding(self) -> float:
        """Of products with K / unit in its precision, relative to the length of what is multiplied.

        Sums of products are off by much less than the lengths of both factors times a unit of rounding.
        """
        squares = np.einsum("ij,ij->i", self.K, self.K, dtype=np.float64).max(initial=0.0)
        return float(np.finfo(self.kind).eps * np.sqrt(squares))

    @cached_property
    def rows(self) -> NDArray[np.floating[Any]]:
        """G in the precision of products."""
        return self.G.astype(self.kind)

    @cached_property
    def columns(self) -> NDArray[np.floating[Any]]:
        """Its transpose."""
        return np.ascontiguousarray(self.rows.T)

    def scales(self, ridge: Array, free: NDArray[np.bool_]) -> Array:
        """``1 / E`` (t, n) for ridges relative to unit, zero where not free."""
        return np.asarray(free / (ridge + self.rest))

    def inner(self, scale: Array, old: Array | None = None, matrices: Array | None = None) -> Array:
        """``I + G E⁻¹ Gᵀ`` (t, r, r) of several problems, from those of ``old`` scales if they are known.

        Cost: O(r²) for each row that another problem, or an old scale, has otherwise; O(n r²) if none is known.
        """
        if matrices is None or old is None:
            old = np.tile(scale.max(axis=0), (len(scale), 1))
            common = (self.G * old[0]) @ self.G.T
            common.flat[:: len(common) + 1] += 1.0
            matrices = np.tile(common, (len(scale), 1, 1))
        for k, difference in enumerate(scale - old):
            others = np.flatnonzero(difference)
            part = self.G[:, others]
            matrices[k] += (part * difference[others]) @ part.T
        return matrices
