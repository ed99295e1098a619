"""Choosing from values of which some are equal but for rounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

TIE = 1e-12
"""Relative difference of two values that is rounding: equal errors of folds in another order have another mean."""


def first_smallest(values: NDArray[np.float64]) -> int:
    """The first of the smallest values, NaN left out. A ValueError if none is finite.

    >>> first_smallest(np.array([np.nan, 0.5, 0.3, 0.1 + 0.2]))
    2
    """
    known = np.where(np.isnan(values), np.inf, values)
    smallest = known.min()
    if not np.isfinite(smallest):
        raise ValueError("no candidate has a finite value of the criterion")
    return int(np.argmax(known <= smallest + TIE * abs(smallest)))
