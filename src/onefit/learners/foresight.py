"""Where splits start from their own solutions at the last two penalties instead of from that of all rows.

The squared hinge loss has no bounds that follow the penalty: as its ridge ``1 / (2 C)`` vanishes, coefficients become
linear in it and fewer and fewer meet zero. From some C on, a line through the last two solutions of a split is
nearer to the next one than the solution of all rows, which then need not be known at all.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .dual import Array, Dual, Solution

SPARE = 16
"""Rows for each split from which on its last two solutions take little memory beside K."""


class Foresight:
    """The solutions of all splits at the last two penalties, and how many coefficients left or met zero."""

    def __init__(self) -> None:
        self._kept: list[tuple[float, dict[int, Solution]]] = []
        self._changed, self._wrong = np.inf, 0.0

    def keep(self, C: float, solved: Iterable[tuple[int, Solution, Dual]], full: Solution | None) -> None:
        """Solutions at a penalty, which were started from the ``full`` one, or from these here if there is none."""
        solved = list(solved)
        solutions = {number: solution for number, solution, _ in solved}
        last = self._kept[-1:]
        self._kept = [(C, solutions)]
        if not last or last[0][0] >= C or last[0][1].keys() != solutions.keys():
            return
        self._kept = [*last, (C, solutions)]
        support = np.array([solution.beta != 0 for solution in solutions.values()])
        before = np.array([last[0][1][number].beta != 0 for number in solutions])
        self._changed = float((support != before).sum(axis=1).mean())
        if full is not None:
            used = np.array([dual.lower < dual.upper for _, _, dual in solved])
            self._wrong = float((support != (used & (full.beta != 0))).sum(axis=1).mean())

    def trusted(self, C: float) -> bool:
        """Whether fewer coefficients will change sides than a start from the full solution last had wrong."""
        return len(self._kept) == 2 and self._kept[1][0] < C and self.changes(C) <= self._wrong

    def changes(self, C: float) -> float:
        """How many coefficients of a split will leave or meet zero on the way to a penalty: as the root of the way."""
        return self._changed * float(np.sqrt(self._weight(C)))

    def line(self, number: int, C: float) -> tuple[Array, Array]:
        """(coefficients, maybe out of bounds; their product with K) of a split."""
        (_, old), (_, last) = self._kept
        a, b, weight = old[number], last[number], self._weight(C)
        return b.beta + weight * (b.beta - a.beta), b.u + weight * (b.u - a.u)

    def _weight(self, C: float) -> float:
        """How far the ridge will go, relative to how far it last went."""
        (older, _), (last, _) = self._kept
        return (1 / last - 1 / C) / (1 / older - 1 / last)
