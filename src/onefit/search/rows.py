"""Taking rows of whatever holds data."""

from __future__ import annotations

import numbers

import numpy as np
from scipy import sparse


def take_rows(data, rows):
    """The given rows of an array, sparse matrix, pandas or polars object, or list."""
    if data is None or isinstance(data, numbers.Number | str):  # metadata that is not one value per row
        return data
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    if sparse.issparse(data):
        return (data if data.format in ("csr", "lil") else data.tocsr())[rows]
    if hasattr(data, "shape"):
        return data[rows]
    return [data[i] for i in rows]


def take_block(estimator_is_pairwise, data, rows, columns):
    """``data[rows]``, or ``data[rows][:, columns]`` if the data are a precomputed Gram matrix."""
    if estimator_is_pairwise:
        return np.asarray(data)[np.ix_(rows, columns)]
    return take_rows(data, rows)
