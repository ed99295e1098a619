"""Cholesky factorisation in a given order that leaves out rows whose pivot is negligible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from .._arrays import Array, Indices

BLOCK = 64
"""Rows that are factorised at a time: the update of the others is one matrix product."""


INDEFINITE = 1e-8
"""Share of the largest diagonal entry by which a negative pivot shows that a matrix is not positive semi-definite."""


@dataclass(frozen=True)
class OrderedFactor:
    """Which rows of K were kept, in order, and the lower triangular L with ``L Lᵀ = K[kept, kept]``."""

    kept: Indices
    lower: Array  # Fortran order, as LAPACK wants it


def ordered_cholesky(K: Array, negligible: float) -> OrderedFactor:
    r"""Factorise a positive semi-definite K row by row, skipping rows that those before them nearly span.

    A pivot that is clearly negative is an error: K is no Gram matrix.

    The pivot of row j, :math:`K_{jj} - k_j^T K_{SS}^{-1} k_j` with S the rows kept before it, is the squared distance
    of its feature vector from their span. Rows with a pivot of at most ``negligible`` are left out. Since the order is
    given, the factor of the first rows is the leading block of the whole: bases that are nested stay so.

    Cost    m³ / 3 multiplications, nearly all in matrix products.
    Oracle  ``numpy.linalg.cholesky`` of the kept rows; the pivots by solving with all rows before each.
    """
    m, largest = len(K), float(np.abs(np.diag(K)).max(initial=0.0))
    kept = np.empty(0, dtype=np.intp)
    lower = np.zeros((m, m), order="F")
    for start in range(0, m, BLOCK):
        rows = np.arange(start, min(start + BLOCK, m))
        r = len(kept)
        W = linalg.solve_triangular(lower[:r, :r], K[np.ix_(kept, rows)], lower=True, check_finite=False)  # (r, b)
        chosen, factor = _factorise_block(K[np.ix_(rows, rows)] - W.T @ W, negligible, INDEFINITE * largest)
        end = r + len(chosen)
        lower[r:end, :r], lower[r:end, r:end] = W[:, chosen].T, factor
        kept = np.concatenate([kept, rows[chosen]])
    r = len(kept)
    return OrderedFactor(kept, np.asfortranarray(lower[:r, :r]))


def _factorise_block(S: Array, negligible: float, indefinite: float) -> tuple[Indices, Array]:
    """(rows of a small matrix that are kept, their factor); S is overwritten."""
    chosen: list[int] = []
    columns: list[Array] = []
    for j in range(len(S)):
        pivot = S[j, j]
        if pivot < -indefinite:
            raise ValueError(f"The kernel is not positive semi-definite: row {j} has the pivot {pivot:.3g}.")
        if not pivot > negligible:  # nor is NaN
            continue
        column = S[:, j] / np.sqrt(pivot)
        column[:j] = 0.0
        S[j:, j:] -= np.outer(column[j:], column[j:])
        chosen.append(j)
        columns.append(column)
    if not chosen:
        return np.empty(0, dtype=np.intp), np.empty((0, 0))
    return np.array(chosen, dtype=np.intp), np.column_stack(columns)[chosen]
