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
