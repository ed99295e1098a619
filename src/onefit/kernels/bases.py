"""Base matrices: the costly part of a kernel, shared by every kernel built on them.

A base is a plain function ``base(X, Y=None)`` that returns a fresh float64 array. Kernels that name the
same base share its matrix: a width grid costs one distance matrix and one element-wise map per width.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise

from .._arrays import Array, Indices

Base = Callable[..., Array]

CANCELLATION = 1e-2
"""Pairs whose squared distance is below this share of their squared norms are recomputed by differences."""

BLOCK = 1 << 17
"""Numbers in the largest temporary array: few enough to stay in a cache."""


def dense(product: Any) -> Array:
    """A contiguous float64 array from any matrix."""
    return np.ascontiguousarray(product.toarray() if _is_sparse(product) else product, dtype=np.float64)


def _is_sparse(X: Any) -> bool:
    return bool(sparse.issparse(X))


def dot(X: Any, Y: Any = None) -> Array:
    """Inner products ``X Yᵀ``."""
    return dense(X @ (X if Y is None else Y).T)


def cosine(X: Any, Y: Any = None) -> Array:
    """Inner products of the rows scaled to unit length; a zero row stays zero, as in scikit-learn.

    Raises ValueError where squared lengths overflow: such rows would become zero.
    """
    for rows in (X, Y):
        if rows is not None and not np.isfinite(_squared_norms(rows)).all():
            raise ValueError("The squared lengths of some rows overflow: scale the features.")
    return dense(pairwise.cosine_similarity(X, Y))


def cityblock(X: Any, Y: Any = None) -> Array:
    """Sums of absolute differences."""
    return dense(pairwise.manhattan_distances(X, Y))


def additive_chi2(X: Any, Y: Any = None) -> Array:
    """scikit-learn's ``-Σ (x - y)² / (x + y)`` of non-negative features."""
    return dense(pairwise.additive_chi2_kernel(X, Y))


def precomputed(X: Any, Y: Any = None) -> Array:
    """The data *are* the Gram matrix."""
    if Y is not None:
        raise ValueError("A precomputed kernel has no second set of points: slice its Gram matrix instead.")
    return np.array(X, dtype=np.float64)


def sqdist(X: Any, Y: Any = None) -> Array:
    """Squared Euclidean distances with small relative error for near, far and duplicated points.

    ``|x|² + |y|² - 2 x·y`` after centring (dense data), at the speed of one matrix product. Where that
    difference cancels (see ``CANCELLATION``) the entry is recomputed as ``Σ (x - y)²``: the diagonal and
    duplicated points are exactly zero, nothing is negative.

    Cost: O(n m d), and O(d) more for each recomputed pair.
    """
    symmetric = Y is None
    other = X if symmetric else Y
    if _is_sparse(X):
        near, far = X, other
    else:
        centre = X.mean(axis=0)
        near = X - centre
        far = near if symmetric else Y - centre
    x_norms, y_norms = _squared_norms(near), _squared_norms(far)
    D = dot(near, None if symmetric else far)
    _complete(D, X, other, x_norms, y_norms)  # differences of the data as given: centring rounds
    if symmetric:
        np.fill_diagonal(D, 0.0)
    return D


def _squared_norms(X: Any) -> Array:
    squares = X.multiply(X).sum(axis=1) if _is_sparse(X) else np.einsum("ij,ij->i", X, X)
    return np.asarray(squares, dtype=np.float64).ravel()


def _complete(D: Array, X: Any, Y: Any, x_norms: Array, y_norms: Array) -> None:
    """Turn ``x·y`` into squared distances a block of rows at a time, recomputing what lost digits."""
    step = max(1, BLOCK // max(1, D.shape[1]))
    pairs = max(1, BLOCK // max(1, X.shape[1]))
    for start in range(0, D.shape[0], step):
        stop = min(start + step, D.shape[0])
        rows, columns = complete_distances(D, x_norms, y_norms, CANCELLATION, start, stop)
        for first in range(0, len(rows), pairs):
            i, j = rows[first : first + pairs], columns[first : first + pairs]
            D[i, j] = _squared_norms(X[i] - Y[j])


def _complete_distances(
    D: Array, x_norms: Array, y_norms: Array, cancellation: float, first: int, stop: int
) -> tuple[Indices, Indices]:
    """The NumPy form of the compiled ``complete_distances``, for installations without a compiler."""
    block, norms = D[first:stop], x_norms[first:stop, None] + y_norms
    block *= -2.0
    block += norms
    rows, columns = np.nonzero(block <= cancellation * norms)
    return rows + first, columns


try:
    from ._distances import complete_distances
except ImportError:
    complete_distances = _complete_distances


HOMOGENEITY: dict[Base, int] = {sqdist: 2, dot: 2, cityblock: 1}
"""Bases of rows with scaled features: features times s multiply the base by s to this power."""


Change = Callable[[Any, tuple[Any, ...]], Any]
"""How features are changed, ``change(X, by)``: ``scale_features``, ``select_features`` or ``map_features``."""


@dataclass(frozen=True)
class ChangedFeatures:
    """A base matrix of rows whose features are scaled, selected or mapped: ``base(change(X, by), change(Y, by))``."""

    base: Base
    change: Change
    by: tuple[Any, ...]

    def __call__(self, X: Any, Y: Any = None) -> Array:
        return self.base(self.change(X, self.by), None if Y is None else self.change(Y, self.by))


def root(base: Base) -> Base:
    """The base of rows as they are, from one of changed features."""
    while isinstance(base, ChangedFeatures):
        base = base.base
    return base


def of_changed_features(base: Base, change: Change, by: tuple[Any, ...]) -> Base:
    """The base of changed rows: the base itself where nothing changes, so that kernels share its matrix."""
    return base if changes_nothing(change, by) else ChangedFeatures(base, change, by)


def changes_nothing(change: Change, by: tuple[Any, ...]) -> bool:
    """Whether all features are multiplied by one."""
    return change is scale_features and all(factor == 1.0 for factor in by)


def scale_features(X: Any, factors: tuple[float, ...]) -> Any:
    """The rows of X with feature j multiplied by ``factors[j]``."""
    if X.shape[1] != len(factors):
        raise ValueError(f"The kernel has one scale for each of {len(factors)} features, X has {X.shape[1]}.")
    return X.multiply(np.array(factors)).tocsr() if _is_sparse(X) else X * np.array(factors)


def map_features(X: Any, matrix: tuple[tuple[float, ...], ...]) -> Array:
    """``X matrix``, dense."""
    if X.shape[1] != len(matrix):
        raise ValueError(f"The kernel has a matrix for {len(matrix)} features, X has {X.shape[1]}.")
    return dense(X @ np.array(matrix))


def select_features(X: Any, columns: tuple[int, ...]) -> Any:
    """Some columns of X."""
    check_columns(columns, X.shape[1])
    return X[:, list(columns)]


def check_columns(columns: tuple[int, ...], n_features: int) -> None:
    """Refuse positions that rows of so many features do not have."""
    for column in columns:
        if not -n_features <= column < n_features:
            raise ValueError(f"The kernel reads column {column}, X has {n_features}.")


@dataclass(frozen=True)
class PairwiseFunction:
    """A callable of two rows that returns a number, as scikit-learn's ``KernelRidge(kernel=callable)``.

    ``token`` identifies the callable and its parameters; two equal tokens share their matrix.
    """

    function: Callable[..., float]
    params: dict[str, Any]
    token: Hashable

    def __call__(self, X: Any, Y: Any = None) -> Array:
        return dense(pairwise.pairwise_kernels(X, Y, metric=self.function, **self.params))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PairwiseFunction) and self.token == other.token

    def __hash__(self) -> int:
        return hash(self.token)
