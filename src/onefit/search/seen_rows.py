"""Rows that a search has seen before, and knows by their sums only: new rows are added to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import Fold, Folds
from ..gram.basis import Basis


@dataclass(frozen=True, eq=False)
class SeenRows:
    """How many rows each split has ``tested``, and where their sums are: in the journal, under the name ``mark``.

    ``classes`` are those of a classifier. ``weighted`` says whether rows have weights, ``outputs`` is the second
    dimension of y, if it has one. ``complete`` says that every row is tested once, and trained on by all other splits,
    with all classes.
    """

    mark: str
    basis: Basis
    tested: NDArray[np.intp]
    classes: NDArray[Any] | None = None
    weighted: bool = False
    outputs: int | None = None
    complete: bool = True

    @property
    def n(self) -> int:
        """How many rows there are."""
        return int(self.tested.sum())

    def deal(self, n: int) -> Folds:
        """Splits of n new rows, dealt round-robin: row j of all, the old ones counted, is tested by split j mod t."""
        t = len(self.tested)
        turn = (self.n + np.arange(n)) % t
        tests = [np.flatnonzero(turn == split).astype(np.intp) for split in range(t)]
        return Folds(n, tuple(Fold(n, test, test) for test in tests))

    def after(self, mark: str, folds: Folds) -> SeenRows:
        """The rows that were seen and those of ``folds``."""
        new = np.array([len(fold.test) for fold in folds], dtype=np.intp)
        return replace(self, mark=mark, tested=self.tested + new)
