"""Products with a matrix that may be stored in single precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_BLOCK_ROWS = 256
"""Rows of a single precision matrix that are converted at a time: 2 MB of doubles for a thousand columns."""


def product(K: NDArray[Any], B: Array) -> Array:
    """``K @ B`` in double precision; of a single precision K some rows at a time are converted, never all."""
    if K.dtype == np.float64:
        return np.asarray(K @ B)
    out = np.empty((len(K), *B.shape[1:]))
    for start in range(0, len(K), _BLOCK_ROWS):
        out[start : start + _BLOCK_ROWS] = K[start : start + _BLOCK_ROWS].astype(np.float64) @ B
    return out
