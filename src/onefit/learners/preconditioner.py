r"""Preconditioning of the systems of free coefficients by a matrix of low rank plus a diagonal.

A kernel that is not too narrow has few eigenvalues far above the others, roughly one for each feature, and these are
what conjugate gradients spend their steps on. With ``K ~ G^T G`` from their eigenvectors, nearly, and E the ridge plus
the mean of what that leaves of the diagonal,

.. math:: (E + G^T G)^{-1} = E^{-1} - E^{-1} G^T (I + G E^{-1} G^T)^{-1} G E^{-1}

(Woodbury), on the free rows only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..linalg.pivoted import pivoted_cholesky, towards_eigenvectors
from ..native.gradients import follow_scales
from ..native.panels import empty_panels, fill_panels, take_panels
from .dual import Array

RANK = 32
"""Rows of G at most: more of them save no more steps than they cost."""
NARROW = 0.998
"""Share of the other rows' diagonal that as many columns of K leave if no eigenvalue is far above the others."""
USEFUL = 1.0
"""Eigenvalue, relative to the mean of the others, from which on it slows conjugate gradients down."""
FLOOR = 1e-7
"""Of what they leave, relative to the diagonal."""
SMALLEST = 1e-30
"""The same if K is zero."""
EQUAL = 1e-12
"""Difference of scales that is rounding."""
SPARSE = 8
"""Of as many rows one tells the mean well enough."""
MOST = 0.75
"""Share of the squares of K from which on a constant is taken out of it."""
RESOLVED = 1e-4
"""Of E, relative to the diagonal: less is too near to the rounding of single precision."""


@dataclass(frozen=True)
class Preconditioner:
    """``(K - shift) / unit``, what is near it, and the precision ``kind`` of products: single, in panels, or double.

    A constant has no effect with a bias, and without it the entries of wide kernels, all of which are nearly one,
    have more digits of what they differ in. Memory: about n² / 2 doubles in single precision.
    """

    unit: float
    K: NDArray[Any]
    G: Array  # (r, n)
    rest: float
    kind: type[np.floating[Any]]
    least: float = 0.0
    """Ridges of K below this are lost in its precision."""
    shift: float = 0.0

    @classmethod
    def of(cls, K: NDArray[Any], ridge: float, bias: bool = False) -> Preconditioner:
        """For a positive semi-definite K, of any magnitude, and ridges from ``ridge`` on. Cost: O(n² r)."""
        diagonal = np.diagonal(K).astype(np.float64)
        largest = float(diagonal.max(initial=0.0))
        unit = float(2.0 ** np.round(np.log2(largest))) if largest > 0 else 1.0
        mean = float(diagonal.mean()) / unit
        G = _leading(K, diagonal)
        rest = max(mean - float((G * G).sum()) / len(K) / unit, FLOOR * mean, SMALLEST)
        least = (RESOLVED * mean - rest) * unit
        if ridge < least:
            return cls(1.0, K, G, rest * unit, np.float64)
        shift = _constant(K[::SPARSE]) if bias else 0.0
        single = _panels(K, np.float32, shift, unit)
        return cls(unit, single, G / np.sqrt(unit), rest, np.float32, least, shift)

    @property
    def n(self) -> int:
        """Rows of K."""
        return int(self.G.shape[1])

    def on(self, rows: NDArray[np.intp], K: NDArray[Any]) -> Preconditioner:
        """The same for some rows only, whose part of K is known."""
        return self if len(rows) == self.n else replace(self, K=K, G=np.ascontiguousarray(self.G[:, rows]))

    def between(self, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[Any]:
        """What products of coefficients of some rows, at others, are made with: a part of K, in panels if K is."""
        if self.K.ndim == 2:
            return self.K[np.ix_(others, rows)]
        part = empty_panels((len(rows), len(others)), self.kind)
        take_panels(self.K, rows, others, part)
        return part

    def for_ridges(self, ridge: float) -> Preconditioner:
        """The same for ridges from ``ridge`` on, without the rows of G that these make up for."""
        values = (self.G * self.G).sum(axis=1)
        needed = values > USEFUL * (self.rest + ridge / self.unit)
        rest = self.rest + float(values[~needed].sum()) / self.n
        return self if needed.all() else replace(self, G=np.ascontiguousarray(self.G[needed]), rest=rest)

    def resolves(self, ridge: float) -> bool:
        """Whether its precision is enough for a ridge."""
        return ridge >= self.least

    @cached_property
    def rounding(self) -> float:
        """Of products with K / unit in its precision, relative to the length of what is multiplied.

        A sum of n products is off by some root of n units of rounding, and conjugate gradients add up several of them.
        """
        axes = "pij"[-self.K.ndim :]
        squares = np.einsum(f"{axes},{axes}->i", self.K, self.K).max(initial=0.0)
        return float(np.finfo(self.kind).eps * np.sqrt(squares * self.n) / 4)

    @cached_property
    def rows(self) -> NDArray[np.floating[Any]]:
        """G in panels."""
        return _panels(self.G, self.kind)

    @cached_property
    def columns(self) -> NDArray[np.floating[Any]]:
        """Its transpose."""
        return _panels(self._transposed, self.kind)

    @cached_property
    def _transposed(self) -> Array:
        return np.ascontiguousarray(self.G.T)

    def scales(self, ridge: Array, free: NDArray[np.bool_]) -> Array:
        """``1 / E`` (t, n) for ridges relative to unit, zero where not free."""
        return np.asarray(free / (ridge + self.rest))

    def inner(self, scale: Array, old: Array | None = None, matrices: Array | None = None) -> Array:
        """``I + G E⁻¹ Gᵀ`` (t, r, r) of several problems, from those of ``old`` scales if they are known.

        Cost: O(r²) for each row that another problem, or an old scale, has otherwise, apart from a factor; O(n r²) if
        none is known.
        """
        if matrices is None or old is None:
            largest = scale.max(axis=0)
            common = (self.G * largest) @ self.G.T
            shares = scale.sum(axis=1) / ((scale > 0) @ largest)  # those of problems with another ridge
            old = shares[:, None] * largest
            matrices = shares[:, None, None] * common
            matrices[:, range(len(common)), range(len(common))] += 1.0
        follow_scales(self._transposed, old, scale, EQUAL, matrices)
        return matrices


def _panels(K: NDArray[Any], kind: type[np.floating[Any]], shift: float = 0.0, unit: float = 1.0) -> NDArray[Any]:
    """``(K - shift) / unit`` in panels."""
    panels = empty_panels(K.shape, kind)
    fill_panels(K, shift, unit, panels)
    return panels


def _constant(rows: NDArray[Any]) -> float:
    """The mean of some rows if it is most of them; else zeros, which are exact in sums, would be lost."""
    mean, squares = float(rows.mean(dtype=np.float64)), float(np.einsum("ij,ij->", rows, rows, dtype=np.float64))
    return mean if mean * mean * rows.size > MOST * squares else 0.0


def _leading(K: NDArray[Any], diagonal: Array) -> Array:
    """G of the eigenvalues that are far above the others."""
    G, left = pivoted_cholesky(K, RANK)
    if not len(G) or left.sum() > NARROW * diagonal[left > 0].sum():
        return G[:0]
    G = towards_eigenvectors(K, G)
    values = (G * G).sum(axis=1)
    others = (diagonal.sum() - np.cumsum(values)) / len(K)
    return np.ascontiguousarray(G[values > USEFUL * others])
