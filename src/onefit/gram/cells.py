"""Cells: disjoint sets of rows, such that the training rows of every split are a sum of some of them.

Sums over the training rows of t splits then cost as much as sums over all rows once. In k-fold cross-validation the
cells are the folds, and the training rows of a split are all cells but one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..data import Folds, Targets

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Cells:
    """The cell of each row, and how often each split trains on the rows of each cell.

    ``splits`` are the numbers of the splits, ``number`` (n,) the cell of each row, ``share`` (splits, cells) the factor
    of a cell's rows in a split. ``weights`` (n,) multiply rows in all splits; None is one each. ``tested`` says which
    cell has exactly the rows that a split tests, -1 where none has.
    """

    splits: Sequence[int]
    number: Rows
    share: Array
    weights: Array | None
    tested: Rows

    @property
    def count(self) -> int:
        """How many cells there are."""
        return int(self.share.shape[1])


def divide_rows(folds: Folds, targets: Targets, limit: int) -> list[Cells]:
    """Cells of the splits: the folds themselves where these are disjoint, else sets of rows that splits share.

    At most ``limit`` cells are summed at a time; the others take further passes over the rows.
    """
    weights = targets.weights
    if not isinstance(weights, tuple) and len(folds) < limit and _disjoint(folds):
        return [disjoint_cells([fold.test for fold in folds], folds.n, weights)]
    if isinstance(weights, tuple):
        factors = [fold.counts * own for fold, own in zip(folds, weights)]
        return grouped_cells(factors, None, limit)
    return grouped_cells([fold.counts for fold in folds], weights, limit)


def _disjoint(folds: Folds) -> bool:
    """Whether every split trains once on each row that it does not test, and no row is tested twice."""
    tested = np.zeros(folds.n, dtype=np.intp)
    for fold in folds:
        np.add.at(tested, fold.test, 1)
        if fold.given_train is not None or len(fold.removed) != len(fold.test):
            return False
    return bool(tested.max() <= 1) and folds.removable


def disjoint_cells(test_sets: Sequence[Rows], n: int, weights: Array | None) -> Cells:
    """Cells of splits that train on all rows but those they test, where no two test the same row."""
    t = len(test_sets)
    number = np.full(n, t, dtype=np.intp)  # rows that are never tested are trained on by all
    for i, test in enumerate(test_sets):
        number[test] = i
    rest = bool((number == t).any())
    return Cells(range(t), number, 1.0 - np.eye(t, t + rest), weights, np.arange(t, dtype=np.intp))


def grouped_cells(factors: Sequence[Array], weights: Array | None, limit: int) -> list[Cells]:
    """Cells of splits that use row j with a factor (split by split, each of shape (n,)), in groups of splits.

    Rows with equal factors in all splits of a group are a cell. A group has at most ``limit`` cells, or one split: its
    factors are then weights of the rows. Cost: O(n log n) for each split, and a pass over the rows for each group.
    """
    groups: list[Cells] = []
    first, number = 0, np.zeros(len(factors[0]), dtype=np.intp)
    for i, factor in enumerate(factors):
        finer = _refine(number, factor)
        if i > first and finer.max() >= limit:
            groups.append(_cells(range(first, i), number, factors, weights, limit))
            first, number = i, _refine(np.zeros_like(number), factor)
        else:
            number = finer
    groups.append(_cells(range(first, len(factors)), number, factors, weights, limit))
    return groups


def _refine(number: Rows, factor: Array) -> Rows:
    """Divide cells by the values of another factor."""
    _, values = np.unique(factor, return_inverse=True)
    _, finer = np.unique(number * (int(values.max()) + 1) + values, return_inverse=True)
    return np.asarray(finer, dtype=np.intp)


def _cells(splits: range, number: Rows, factors: Sequence[Array], weights: Array | None, limit: int) -> Cells:
    nowhere = np.full(len(splits), -1, dtype=np.intp)
    if len(splits) == 1 and number.max() >= limit:
        own = factors[splits[0]] if weights is None else factors[splits[0]] * weights
        return Cells(splits, np.zeros_like(number), np.ones((1, 1)), own, nowhere)
    _, examples = np.unique(number, return_index=True)
    return Cells(splits, number, np.array([factors[i][examples] for i in splits]), weights, nowhere)
