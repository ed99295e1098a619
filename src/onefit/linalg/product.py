"""Products with a matrix that may be stored in single precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ROWS = 256


def product(K: NDArray[Any], B: Array) -> Array:
    """``K @ B`` in double precision; of a single precision K some rows at a time are converted, never all."""
    if K.dtype == np.float64:
        return np.asarray(K @ B)
    out = np.empty((len(K), *B.shape[1:]))
    for start in range(0, len(K), ROWS):
        out[start : start + ROWS] = K[start : start + ROWS].astype(np.float64) @ B
    return out
