"""Sums over the rows of a Gram matrix, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
T = TypeVar("T")

_BLOCK = 1 << 18
"""Numbers in a block of rows: it stays in the cache while several sums are taken of it."""


@dataclass(frozen=True)
class RowSums:
    """What one pass over K gives: of each row the sum, the sum of squares, the smallest and the largest entry."""

    sums: Array  # (n,)
    squares: Array  # (n,)
    smallest: Array  # (n,)
    largest: Array  # (n,)


@dataclass
class GramRows:
    """Answers about a Gram matrix that passes over its rows give: O(n²), with no array of the size of K.

    Sums are ``kept``: K is fetched only for what is not known yet.
    """

    fetch: Callable[[], Array]
    kept: dict[str, Any]

    def _once(self, name: str, compute: Callable[[], T]) -> T:
        if name not in self.kept:
            self.kept[name] = compute()
        return cast(T, self.kept[name])

    @property
    def K(self) -> Array:
        """The Gram matrix: read it, do not write."""
        return self.fetch()

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """(which rows, those rows)."""
        K = self.K
        n = len(K)
        step = max(1, _BLOCK // max(1, n))
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            yield rows, K[rows]

    @property
    def diagonal(self) -> Array:
        """``K_ii``."""
        return self._once("diagonal", lambda: self.K.diagonal().copy())

    @property
    def totals(self) -> RowSums:
        """The sums of one pass."""
        return self._once("totals", self._totals)

    def _totals(self) -> RowSums:
        n = len(self.diagonal)
        result = RowSums(*(np.empty(n) for _ in range(4)))
        for rows, block in self.blocks():
            result.sums[rows] = block.sum(axis=1)
            result.squares[rows] = np.einsum("ij,ij->i", block, block)
            result.smallest[rows] = block.min(axis=1)
            result.largest[rows] = block.max(axis=1)
        return result

    @property
    def absolute_sum(self) -> float:
        """``Σ |K_ij|``."""
        return self._once("absolute sum", lambda: float(sum(np.abs(block).sum() for _, block in self.blocks())))

    def times(self, B: Array) -> Array:
        """``K B`` for B of shape (n, k) with few columns. Cost O(k n²)."""
        # one column at a time: a matrix-vector product reads K as fast as memory gives it, a narrow matrix product not
        K = self.K
        return np.column_stack([K @ np.ascontiguousarray(column) for column in B.T])

    def centred(self, Y: Array) -> tuple[float, Array]:
        r"""(:math:`\|C K C\|_F^2`, :math:`Y^T C K C Y` column by column) with ``C = I - 11ᵀ/n``.

        Each entry is centred before anything is summed, so that digits survive in a K that is nearly constant.
        """
        n = len(self.diagonal)
        means = self.totals.sums / n
        grand = float(means.mean())
        centred = Y - Y.mean(axis=0)
        squares, forms = 0.0, np.zeros(Y.shape[1])
        for rows, block in self.blocks():
            part = block - means
            part -= (means[rows] - grand)[:, None]
            squares += float(np.vdot(part, part))
            forms += (centred[rows] * (part @ centred)).sum(axis=0)
        return squares, forms
