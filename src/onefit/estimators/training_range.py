"""Where the training rows lie, column by column, and which values are far from there.

A kernel that decays with distance knows nothing far from its training rows, and a narrow scale of one feature makes far
what is near in all others.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import StandardScaler

FAR = 6.0
"""Standard deviations from the mean of the training rows from which on a value is far outside of them."""


def column_moments(X: Any) -> NDArray[np.float64]:
    """Mean and standard deviation (2, d) of every column, over what is known; NaN of columns that are no numbers."""
    if sparse.issparse(X):
        scaler = StandardScaler(with_mean=False).fit(X)
        return np.array([scaler.mean_, np.sqrt(scaler.var_)])
    values = _numbers(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # columns without numbers
        return np.array([np.nanmean(values, axis=0), np.nanstd(values, axis=0)])


def count_far_values(X: Any, moments: NDArray[np.float64]) -> NDArray[np.intp]:
    """How many values of every column are far outside of the training rows; a constant column has none."""
    center, spread = moments
    with np.errstate(invalid="ignore"):
        away = np.abs(_numbers(X) - center) > FAR * np.where(spread > 0, spread, np.inf)
    return np.asarray(away.sum(axis=0))


def _numbers(X: Any) -> NDArray[np.float64]:
    """The columns as numbers, NaN in those that are none (texts, dates)."""
    if hasattr(X, "toarray"):
        return np.asarray(X.toarray(), dtype=np.float64)
    try:
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        columns = [X[name] for name in X.columns] if hasattr(X, "columns") else list(np.asarray(X, dtype=object).T)
        return np.column_stack([_number_column(column) for column in columns])


def _number_column(column: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return np.full(len(column), np.nan)
