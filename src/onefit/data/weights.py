"""Validation of sample weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def as_numbers(sample_weight: Any, name: str = "sample_weight") -> Array:
    """Weights as a float array; what is none is refused under the name of the argument."""
    try:
        return np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers: {error}.") from error


def check_sample_weight(sample_weight: Any, n: int) -> Array | None:
    """A float array of n non-negative weights, or None; a number counts for every row."""
    if sample_weight is None:
        return None
    weights = as_numbers(sample_weight)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}, expected ({n},): one weight for each row.")
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight contains NaN or infinity.")
    if (weights < 0).any():
        raise ValueError("sample_weight must be non-negative.")
    if not weights.any():
        raise ValueError("All sample weights are zero: there is nothing to train on.")
    return weights
