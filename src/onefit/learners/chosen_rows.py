"""The rows that conjugate gradients are on: those that are free in some problem."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .preconditioner import Preconditioner

WHOLE = 0.95
"""Share of the rows from which on it does not pay to leave the others out."""
ALONE = 0.7
"""The same for a problem alone, or two."""
SEVERAL = 3
"""Problems that are more."""
SPARE = 1.06
"""Rows for each one that is needed with which a part of K is still used rather than taken anew."""


class ChosenRows:
    """Some rows, their part of the matrix of ``near``, and what the others see of them.

    The part may be kept for other problems, such as those of the next penalty: few rows are free there that were not
    before. Memory: at most n² numbers of the precision of near.
    """

    inside: NDArray[np.bool_]
    rows: NDArray[np.intp]
    left_out: NDArray[np.intp]
    K: NDArray[Any]
    others: NDArray[Any]
    _part: tuple[Preconditioner, Preconditioner] | None

    def __init__(self, near: Preconditioner) -> None:
        self.near = near
        self.release()

    def release(self) -> None:
        """Have the memory of the parts back; the next rows will be new ones."""
        self._take(np.zeros(self.near.n, dtype=bool))

    def cover(self, wanted: NDArray[np.bool_], problems: int, anew: bool) -> bool:
        """Choose the rows that are ``wanted``, besides those of before unless they are chosen ``anew`` for problems.

        Whether that has changed anything. Cost: O(m²) for m rows where it has.
        """
        count = int(np.count_nonzero(wanted))
        covered = np.count_nonzero(wanted & self.inside) == count
        if covered and not (anew and problems >= SEVERAL and len(self.rows) > SPARE * count):
            return False
        inside = wanted.copy() if anew else wanted | self.inside
        if np.count_nonzero(inside) > (WHOLE if problems >= SEVERAL else ALONE) * len(inside):
            inside[:] = True
        if np.array_equal(inside, self.inside):
            return False
        self.release()  # the old parts make room for new ones
        self._take(inside)
        return True

    def part(self, near: Preconditioner) -> Preconditioner:
        """A preconditioner on the chosen rows, for one that differs from ours in G only."""
        if self._part is None or self._part[0] is not near:
            self._part = near, near.on(self.rows, self.K)
        return self._part[1]

    def _take(self, inside: NDArray[np.bool_]) -> None:
        self.inside, self._part = inside, None
        self.rows, self.left_out = np.flatnonzero(inside), np.flatnonzero(~inside)
        if len(self.left_out):
            self.K, self.others = self.near.between(self.rows, self.rows), self.near.between(self.rows, self.left_out)
        else:
            self.K, self.others = self.near.K, self.near.K[:0]
