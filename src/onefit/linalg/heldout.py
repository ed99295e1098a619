r"""Exact held-out residuals of a linear smoother from one factorisation.

Notation: ``G`` is the inverse of ``K + ridge I`` (on the complement of an unpenalised direction, if there is
one), ``dual = G Y``, and the fit's residuals are ``Y - F = ridge dual``. Remove the rows I and train again:

.. math::
    (y - f^{(-I)})_I = [G_{II}]^{-1} dual_I, \qquad
    dual^{(-I)} = dual - G_{:I} (y - f^{(-I)})_I.

Only G is ever used, never ``I - H`` as a difference: with a complete spectrum small ridges keep their digits.
Oracle: train on the remaining rows. Source: Cawley & Talbot (2004, 2006); An, Liu & Venkatesh (2007);
Pahikkala et al. (2006).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from scipy.linalg import lapack

from .spectrum import Array, Rows


class Inverse(Protocol):
    """What both kinds of inverse can do, for L ridges."""

    @property
    def ridges(self) -> Array: ...
    def apply(self, B: Array) -> Array: ...
    def apply_columns(self, rows: Rows, B: Array) -> Array: ...
    def diagonals(self) -> Array: ...
    def blocks(self, rows: Rows) -> Iterator[Array]: ...


def block_residuals(inverse: Inverse, dual: Array, rows: Rows) -> Array:
    """Residuals of the held-out rows, shape (L, len(rows), c).

    Cost O(l² n + l³) per ridge for l rows (the block, then a solve of its size).
    """
    residuals = np.empty((len(inverse.ridges), len(rows), dual.shape[-1]))
    for k, block in enumerate(inverse.blocks(rows)):
        residuals[k] = solve_symmetric(block, dual[k, rows])
    return residuals


def single_residuals(inverse: Inverse, dual: Array) -> Array:
    """Leave-one-out residuals of every row, shape (L, n, c). Cost O(n²) per ridge."""
    return dual / inverse.diagonals()[:, :, None]


def remaining_dual(inverse: Inverse, dual: Array, rows: Rows, residuals: Array) -> Array:
    """Dual coefficients after the rows were removed, shape (L, n, c), zero at those rows."""
    dual = dual - inverse.apply_columns(rows, residuals)
    dual[:, rows] = 0.0
    return dual


def solve_symmetric(A: Array, B: Array) -> Array:
    """``A^{-1} B`` by Cholesky, or by LU where A is symmetric but not positive definite."""
    _, solution, failed = lapack.dposv(A, B, lower=1)
    if failed:
        return np.asarray(np.linalg.solve(A, B), dtype=np.float64)
    return np.asarray(solution)
