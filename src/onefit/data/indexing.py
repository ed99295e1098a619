"""Taking rows of whatever holds data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Rows = NDArray[np.intp]


def take_rows(data: Any, rows: Rows) -> Any:
    """The given rows of an array, sparse matrix, pandas or polars object, or list."""
    if data is None:
        return None
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    if sparse.issparse(data):
        return _by_rows(data)[rows]
    if hasattr(data, "shape"):
        return data[rows]
    return [data[i] for i in rows]


def take_metadata(value: Any, rows: Rows, n: int) -> Any:
    """The rows of metadata that has one value for each of n rows; anything else unchanged, as scikit-learn."""
    if getattr(value, "shape", None):
        length = value.shape[0]
    elif isinstance(value, dict | str) or not hasattr(value, "__len__"):
        return value
    else:
        length = len(value)
    return take_rows(value, rows) if length == n else value


def take_block(pairwise: bool, data: Any, rows: Rows, columns: Rows | None) -> Any:
    """``data[rows]``, or ``data[rows][:, columns]`` if the data are a precomputed Gram matrix."""
    if pairwise and sparse.issparse(data):
        return _by_rows(data)[rows][:, columns]
    if pairwise:
        assert columns is not None
        return np.asarray(data)[np.ix_(rows, columns)]
    return take_rows(data, rows)


def _by_rows(data: Any) -> Any:
    """A sparse matrix in a format whose rows can be taken."""
    return data if data.format in ("csr", "lil") else data.tocsr()
