"""Validated data, splits, and the base matrices that kernels share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from .._arrays import Array, Indices
from ..kernels import Kernel, Precomputed
from ..kernels.bases import Base
from ..resources.ledger import Ledger
from .folds import Folds
from .ties import identical_rows

Entries = Callable[[tuple[slice, slice], Base], Array]
"""A fresh array of base values of a part of some rows and columns."""


@dataclass
class Problem:
    """Rows X, folds, and base matrices computed at most once.

    ``keep_bases=False`` computes a base anew whenever one is asked for, for when memory is short or nobody asks twice.
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
    _identical: tuple[Indices | None] | None = field(default=None, repr=False)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.folds.n

    def growth(self, number: int) -> float:
        """Rows of the full data for each one that a split trains on: the factor of a penalty C on the mean loss."""
        return (self.total or self.n) / len(self.folds.folds[number].train)

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

    def has_base(self, kernel: Kernel) -> bool:
        """Whether a base matrix of a kernel is at hand."""
        if self.parent is not None:
            return self.parent.has_base(kernel)
        return Precomputed.base in kernel.bases or any(base in self._bases for base in kernel.bases)

    def _reads_inputs(self, kernel: Kernel, block: bool) -> bool:
        """Whether entries are computed from the rows' inputs: blocks without a base at hand, all if none is kept."""
        if self.parent is not None:
            return self.parent._reads_inputs(kernel, block)
        return (block or not self.keep_bases) and not self.has_base(kernel)

    def gram(self, kernel: Kernel, rows: Indices | None = None, columns: Indices | None = None) -> Array:
        """A fresh Gram matrix of all rows, or its block [rows, columns].

        Entries are computed from base matrices of all rows, or from the rows' inputs where those do not exist or pay.
        """
        lazy = self._reads_inputs(kernel, block=columns is not None)
        entries = self._from_inputs(rows, columns) if lazy else self._from_bases(kernel, rows, columns)
        with self.ledger.record("gram" if columns is None else "block"), np.errstate(over="ignore", invalid="ignore"):
            if columns is None and kernel.positive:
                K, total = _mirrored(kernel, entries, self.n if rows is None else len(rows))
            else:
                K = kernel.evaluate(partial(entries, np.s_[:, :]))
                total = float(K.sum())
            if not np.isfinite(total):
                raise ValueError(f"{kernel} has values that are not finite on these data.")
            return K

    def _from_bases(self, kernel: Kernel, rows: Indices | None, columns: Indices | None) -> Entries:
        """Base values of some rows and columns, part by part, from those of all rows."""
        bases = {base: self.base(base) for base in kernel.bases}
        if rows is not None:
            block = np.ix_(rows, rows if columns is None else columns)
            bases = {base: values[block] for base, values in bases.items()}
        return lambda part, base: bases[base][part].copy()

    def _from_inputs(self, rows: Indices | None, columns: Indices | None) -> Entries:
        """Base values of some rows and columns, part by part, each computed when it is asked for."""
        left = self.X if rows is None else self.X[rows]
        right = left if columns is None else self.X[columns]
        return lambda part, base: base(left[part[0]], right[part[1]])

    @property
    def identical_rows(self) -> Indices | None:
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
        if base in self._bases or base is Precomputed.base:
            return float(self.base(base)[0, 1:].min())
        return float(base(self.X[:1], self.X[1:]).min())

    def smallest_off_diagonal(self, base: Base) -> float:
        """The smallest base value of two different rows: of distances, that of the closest pair."""
        if self.parent is not None:
            return self.parent.smallest_off_diagonal(base)
        if base not in self._smallest:
            self._smallest[base] = _smallest_off_diagonal(self.base(base))
        return self._smallest[base]


_STRIP = 64
"""Rows of a Gram matrix that are computed at a time, and mirrored while they are in the cache."""


def _mirrored(kernel: Kernel, entries: Entries, n: int) -> tuple[Array, float]:
    """(a Gram matrix from half of its entries, the sum of these) of a kernel that is symmetric."""
    K, total = np.empty((n, n)), 0.0
    for start in range(0, n, _STRIP):
        strip = np.s_[start : start + _STRIP, start:]
        part = kernel.evaluate(partial(entries, strip))
        own = part[:, : len(part)]
        np.copyto(own, own.T, where=np.tri(len(part), k=-1, dtype=bool))  # a product may differ from its mirror image
        K[strip], K[strip[::-1]] = part, part.T
        total += float(part.sum())
    return K, total


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
