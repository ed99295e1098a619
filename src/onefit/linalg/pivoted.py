"""Matrices of low rank near a Gram matrix, from a few of its columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def pivoted_cholesky(K: NDArray[Any], rank: int) -> tuple[Array, Array]:
    """(G of shape (r, n), the diagonal of ``K - GᵀG``) for at most ``rank`` rows r, from as many columns of K.

    K is symmetric and positive semi-definite; each row of G belongs to the column with the largest diagonal entry of
    what is left, and there are fewer where only rounding is left. Cost: O(n r²).
    """
    rest = np.diagonal(K).astype(np.float64)
    smallest = len(K) * np.finfo(np.float64).eps * rest.max(initial=0.0)
    G = np.empty((min(rank, len(K)), len(K)))
    for k in range(len(G)):
        i = int(np.argmax(rest))
        if rest[i] <= smallest:
            return G[:k], rest
        G[k] = (K[i] - G[:k, i] @ G[:k]) / np.sqrt(rest[i])
        rest -= G[k] ** 2
        rest[i] = 0.0
        np.maximum(rest, 0.0, out=rest)
    return G, rest


def towards_eigenvectors(K: NDArray[Any], G: Array) -> Array:
    """G (r, n) of other rows, largest first: nearly the eigenvectors of the r largest eigenvalues, times their roots.

    By one step of subspace iteration from the rows of a G that belongs to columns of K, and Nystrom's formula: GᵀG is
    at most K. There are fewer rows where only rounding is left. Cost: 2 n² r.
    """
    Q = np.linalg.qr(G.T)[0]
    images = np.asarray(Q.T.astype(K.dtype) @ K, dtype=np.float64)
    values, V = np.linalg.eigh(images @ Q)
    known = values > len(K) * np.finfo(K.dtype).eps * values.max(initial=0.0)
    return np.asarray((V[:, known] / np.sqrt(values[known])).T[::-1] @ images)
