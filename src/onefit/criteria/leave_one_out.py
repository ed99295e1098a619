"""From leave-one-out residuals to a loss."""

from __future__ import annotations

import numpy as np

from ..core.evidence import Evidence
from .base import Array

_ROUNDING = 8 * np.finfo(np.float64).eps


def left_out_loss(evidence: Evidence, residuals: Array) -> Array:
    """Mean loss (E,) from leave-one-out residuals (E, n, c): squared error, or the share of wrong labels."""
    coded = evidence.machine.coded
    if coded.coding.classes is None:
        return np.asarray((residuals**2).mean(axis=(1, 2)))
    values = coded.Y - residuals
    values[np.abs(values) <= _ROUNDING] = 0.0  # a machine without neighbours says zero
    number = np.searchsorted(coded.coding.classes, coded.labels)
    for row in np.flatnonzero(np.bincount(number)[number] == 1):  # nobody else is of this class
        if len(coded.coding.classes) == 2:
            evidence.reasons.append("leaving out the only row of a class leaves one class only")
            return np.full(evidence.size, np.nan)
        coded.coding.lose(values[:, row], np.arange(len(coded.coding.classes)) == number[row])
    wrong = (coded.coding.predict(values) != coded.labels).astype(np.float64)
    wrong[np.isnan(values).any(axis=(1, 2))] = np.nan
    return np.asarray(wrong.mean(axis=1))
