"""Validated data, splits, and the base matrices that kernels share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import Kernel, Precomputed
from ..kernels.bases import Base
from ..resources.ledger import Ledger
from .folds import Folds
from .ties import identical_rows

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass
class Problem:
    """Rows X, folds, and base matrices computed at most once.

    ``keep_bases=False`` computes a base anew whenever one is asked for, for when memory is short.
    ``total`` is the number of rows of the full data, if these are only those of one fold. A problem with a ``parent``
    has the same rows, and takes base matrices from it.
    """

    X: Any
    folds: Folds
    ledger: Ledger = field(default_factory=Ledger)
    keep_bases: bool = True
    total: int | None = None
    parent: Problem | None = None
    _bases: dict[Base, Array] = field(default_factory=dict, repr=False)
    _smallest: dict[Base, float] = field(default_factory=dict, repr=False)
    _identical: tuple[Rows | None] | None = field(default=None, repr=False)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.folds.n

    def base(self, base: Base) -> Array:
        """The base matrix of all rows: read it, do not write."""
        if self.parent is not None:
            return self.parent.base(base)
        if base in self._bases:
            return self._bases[base]
        with self.ledger.record("base"):
            values = base(self.X)
        if base is Precomputed.base:
            _check_gram(values)
        elif np.isnan(values.sum()) and np.isnan(values).any():  # inf - inf sums to NaN as well
            raise ValueError("Distances or inner products of these rows overflow: scale the features.")
        if self.keep_bases:
            self._bases[base] = values
        return values

    def release(self, wanted: Iterable[Base] = ()) -> None:
        """Free the base matrices that no remaining kernel wants."""
        wanted = set(wanted)
        for base in [base for base in self._bases if base not in wanted]:
            del self._bases[base]

    def gram(self, kernel: Kernel, rows: Rows | None = None, columns: Rows | None = None) -> Array:
        """A fresh Gram matrix of all rows, or its block [rows, columns]."""
        bases = {base: self.base(base) for base in kernel.bases}
        block = None if rows is None else np.ix_(rows, rows if columns is None else columns)
        with self.ledger.record("gram" if columns is None else "block"), np.errstate(over="ignore", invalid="ignore"):
            if block is None and kernel.positive:
                K, total = _mirrored(kernel, bases, self.n)
            else:
                K = kernel.evaluate(lambda base: bases[base].copy() if block is None else bases[base][block])
                total = float(K.sum())
            if not np.isfinite(total):
                raise ValueError(f"{kernel} has values that are not finite on these data.")
            return K

    @property
    def identical_rows(self) -> Rows | None:
        """For every row the first one with the same inputs; None if all rows differ."""
        if self.parent is not None:
            return self.parent.identical_rows
        if self._identical is None:
            self._identical = (identical_rows(self.X),)
        return self._identical[0]

    def of_fold(self, number: int) -> Problem:
        """A problem with all rows of this one and one of its splits only."""
        fold = self.folds.folds[number]
        return Problem(self.X, Folds(self.n, (fold,)), self.ledger, total=self.total, parent=self)

    def smallest_of_first_row(self, base: Base) -> float:
        """The smallest base value of the first row and another one."""
        if self.parent is not None:
            return self.parent.smallest_of_first_row(base)
        return float(self.base(base)[0, 1:].min())

    def smallest_off_diagonal(self, base: Base) -> float:
        """The smallest base value of two different rows: of distances, that of the closest pair."""
        if self.parent is not None:
            return self.parent.smallest_off_diagonal(base)
        if base not in self._smallest:
            self._smallest[base] = _smallest_off_diagonal(self.base(base))
        return self._smallest[base]


_STRIP = 64
"""Rows of a Gram matrix that are computed at a time, and mirrored while they are in the cache."""


def _mirrored(kernel: Kernel, bases: dict[Base, Array], n: int) -> tuple[Array, float]:
    """(a Gram matrix from half of its entries, the sum of these) of a kernel that is symmetric."""
    K, total = np.empty((n, n)), 0.0
    for start in range(0, n, _STRIP):
        strip = np.s_[start : start + _STRIP, start:]
        part = kernel.evaluate(partial(_copy_of, bases, strip))
        K[strip], K[strip[::-1]] = part, part.T
        total += float(part.sum())
    return K, total


def _copy_of(bases: dict[Base, Array], strip: tuple[slice, slice], base: Base) -> Array:
    return bases[base][strip].copy()


def _smallest_off_diagonal(values: Array) -> float:
    smallest = np.inf
    for i in range(len(values) - 1):  # the upper triangle, a row at a time
        smallest = min(smallest, float(values[i, i + 1 :].min()))
    return smallest


_TILE = 128
"""Rows and columns of the parts of a Gram matrix that are compared with their mirror images."""


def _check_gram(K: Array) -> None:
    """Refuse what is not a Gram matrix; remove asymmetry that is rounding. K is changed in place."""
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"A precomputed Gram matrix must be square, got shape {K.shape}.")
    largest, worst = max(float(K.max(initial=0.0)), -float(K.min(initial=0.0))), 0.0
    if not np.isfinite(largest):
        raise ValueError("A precomputed Gram matrix must be finite: it contains NaN or infinity.")
    parts = [slice(start, start + _TILE) for start in range(0, len(K), _TILE)]
    for i, j in ((i, j) for k, i in enumerate(parts) for j in parts[k:]):
        upper, lower = K[i, j], K[j, i].T
        difference = float(np.abs(upper - lower).max())
        if difference == 0.0:
            continue
        worst = max(worst, difference)
        if worst > 1e-8 * largest:
            raise ValueError(
                "A precomputed Gram matrix must be symmetric: entries (i, j) and (j, i) differ by up to "
                f"{worst:.3g}, more than 1e-8 times the largest entry ({largest:.3g})."
            )
        mean = (lower + upper) / 2
        K[i, j], K[j, i] = mean, mean.T
