"""Rows with the same inputs have the same value, bit for bit.

A held-out value is a function of its row's inputs, but how it is computed depends on the row's position (and, for
least squares, on its own target), so that equal rows would get values that differ in their last bits. Scorers that
rank values, such as average precision, treat equal values as ties and such values as an order, which is arbitrary.
All rows of a group of identical ones are therefore given the value of the first of them: a number that was really
computed, within the same error bound. Their mean would be one more rounding for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._arrays import Array, Indices

_DIGEST = 16
"""Bytes of a row's digest: two different rows of 10⁶ share one with a probability of 10⁻²⁷."""

_ALONE = 2
"""Columns that are looked at one by one, since one of measurements usually tells all rows apart at once."""

_PROBED = 16
"""Columns by which rows are told apart first: most data need no others, and bytes of short rows need no digest."""


def identical_rows(X: Any) -> Indices | None:
    """For every row of an array or a sparse matrix, the first one that is identical to it; None if all differ.

    Zero and minus zero are identical. Cost: O(n), and O(d) for each row that is like others in a few columns.
    """
    if sparse.issparse(X):
        return _first_equal(_sparse_digests(X))
    X = np.asarray(X, dtype=np.float64)
    n, d = X.shape
    if any(len(np.unique(X[:, column])) == n for column in range(min(d, _ALONE))):
        return None
    first = _first_equal(_short_rows(X[:, np.linspace(0, d - 1, min(d, _PROBED)).astype(np.intp)]))
    if first is None or d <= _PROBED:
        return first
    alike = np.flatnonzero(np.bincount(first, minlength=n)[first] > 1)
    among = _first_equal(_digest((X[i] + 0.0).data) for i in alike)
    if among is None:
        return None
    first = np.arange(n)
    first[alike] = alike[among]
    return first


def _first_equal(keys: Iterable[bytes]) -> Indices | None:
    """For every key the position of the first one that equals it; None if all differ."""
    seen: dict[bytes, int] = {}
    first = np.array([seen.setdefault(key, i) for i, key in enumerate(keys)], dtype=np.intp)
    return None if len(seen) == len(first) else first


def _short_rows(X: Array) -> Iterator[bytes]:
    """The bytes of each row, with zero for minus zero."""
    size, content = 8 * X.shape[1], (X + 0.0).tobytes()
    return (content[i * size : (i + 1) * size] for i in range(len(X)))


def _sparse_digests(X: Any) -> Iterator[bytes]:
    """A digest of the columns and values of each row's entries."""
    entries = X.tocsr(copy=True)
    entries.sum_duplicates()
    entries.eliminate_zeros()
    for start, stop in zip(entries.indptr[:-1], entries.indptr[1:]):
        yield _digest(entries.indices[start:stop].data, entries.data[start:stop].data)


def _digest(*parts: memoryview) -> bytes:
    digest = blake2b(digest_size=_DIGEST)
    for part in parts:
        digest.update(part)
    return digest.digest()


def repeat_first(values: NDArray[Any], first: Indices | None, axis: int = 0) -> None:
    """Give all members of a group, numbered alike in ``first``, the value of the first of them along an axis, in place.

    ``first`` are any numbers that are equal for rows of one group; None says that no two rows are.
    """
    if first is None:
        return
    _, position, group = np.unique(first, return_index=True, return_inverse=True)
    if len(position) == len(first):
        return
    source = position[group]
    repeated = np.flatnonzero(source != np.arange(len(source)))
    values = np.moveaxis(values, axis, 0)
    values[repeated] = values[source[repeated]]


def interchangeable_rows(first: Indices | None, Y: Array, weights: Array | None) -> Indices | None:
    """Groups of identical rows, as in ``identical_rows``, that have equal targets and weights too.

    Leaving out one of them or another is the same, so that their leave-one-out values are equal.
    """
    if first is None:
        return None
    w = np.ones(len(Y)) if weights is None else weights
    return np.asarray(np.unique(np.column_stack([first, Y, w]), axis=0, return_inverse=True)[1].ravel())
