"""Folds, and rows of data taken by their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .._arrays import Array, Indices


@dataclass(frozen=True)
class Fold:
    """One split of n rows: those tested, and those not trained on.

    ``given_train`` are the rows trained on, or None if they are simply all others in order: leave-one-out
    would otherwise hold n² row numbers.
    """

    n: int
    test: Indices
    removed: Indices
    given_train: Indices | None = None

    @property
    def train(self) -> Indices:
        """The rows trained on."""
        return np.delete(np.arange(self.n), self.removed) if self.given_train is None else self.given_train

    @property
    def counts(self) -> Array:
        """How often each of the n rows is trained on."""
        if self.given_train is not None:
            return np.bincount(self.given_train, minlength=self.n).astype(np.float64)
        counts = np.ones(self.n)
        counts[self.removed] = 0.0
        return counts

    @cached_property
    def test_in_removed(self) -> Indices:
        """Where the tested rows stand among the removed ones."""
        return np.searchsorted(self.removed, self.test)


@dataclass(frozen=True)
class Folds:
    """Every split of n rows."""

    n: int
    folds: tuple[Fold, ...]

    @classmethod
    def from_splits(cls, splits: Iterable[tuple[Any, Any]], n: int) -> Folds:
        """Validate (train, test) index pairs; empty or impossible ones are errors that name the split."""
        folds = []
        for number, (train, test) in enumerate(splits):
            train, test = _as_rows(train, n, number, "training"), _as_rows(test, n, number, "test")
            kept = np.zeros(n, dtype=bool)
            kept[train] = True
            plain = np.array_equal(train, np.flatnonzero(kept))
            folds.append(Fold(n, test, np.flatnonzero(~kept), None if plain else train))
        if not folds:
            raise ValueError("No splits: was the cross-validation iterator empty?")
        return cls(n, tuple(folds))

    def __len__(self) -> int:
        return len(self.folds)

    def __iter__(self) -> Any:
        return iter(self.folds)

    @cached_property
    def training_sizes(self) -> Sequence[int]:
        """Number of distinct training rows of each split."""
        return tuple(self.n - len(fold.removed) for fold in self.folds)

    @cached_property
    def removable(self) -> bool:
        """True if each split is the full data less some rows, tested on those: the hold-out identities apply.

        Not so if a split trains on a row twice, or tests rows that it trains on.
        """
        return all(
            (fold.given_train is None or len(fold.given_train) == self.n - len(fold.removed))
            and np.isin(fold.test, fold.removed).all()
            for fold in self.folds
        )

    def pooled(self, parts: list[Array]) -> list[Array]:
        """Values (L, rows, c) of each split's tested rows; of leave-one-out, one part with all rows in their order."""
        if not self.leave_one_out:
            return parts
        order = np.argsort([fold.test[0] for fold in self.folds])
        return [np.concatenate([parts[i] for i in order], axis=1)]

    @cached_property
    def leave_one_out(self) -> bool:
        """True if every row is left out once, by itself."""
        return (
            len(self.folds) == self.n > 1
            and all(len(fold.removed) == 1 and len(fold.test) == 1 for fold in self.folds)
            and len({int(fold.test[0]) for fold in self.folds}) == self.n
            and self.removable
        )


def _as_rows(indices: Any, n: int, number: int, kind: str) -> Indices:
    rows = np.asarray(indices)
    if rows.dtype == bool:
        if len(rows) != n:
            raise ValueError(f"The {kind} mask of split {number} has {len(rows)} entries for {n} rows.")
        rows = np.flatnonzero(rows)
    if rows.size == 0:
        raise ValueError(f"The {kind} set of split {number} is empty.")
    if rows.ndim != 1 or not np.issubdtype(rows.dtype, np.integer):
        raise ValueError(f"The {kind} set of split {number} must be a list of row numbers or a mask.")
    if rows.min() < -n or rows.max() >= n:
        raise ValueError(f"The {kind} set of split {number} has row numbers outside 0 … {n - 1}.")
    return (rows % n).astype(np.intp)


def take_rows(data: Any, rows: Indices) -> Any:
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


def take_metadata(value: Any, rows: Indices, n: int) -> Any:
    """The rows of metadata that has one value for each of n rows; anything else unchanged, as scikit-learn."""
    if getattr(value, "shape", None):
        length = value.shape[0]
    elif isinstance(value, dict | str) or not hasattr(value, "__len__"):
        return value
    else:
        length = len(value)
    return take_rows(value, rows) if length == n else value


def take_block(pairwise: bool, data: Any, rows: Indices, columns: Indices | None) -> Any:
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
