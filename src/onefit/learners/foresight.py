"""Where splits start from their own solutions at the last two penalties instead of from that of all rows.

The squared hinge loss has no bounds that follow the penalty: as its ridge ``1 / (2 C)`` vanishes, coefficients become
linear in it and fewer and fewer meet zero. From some C on, a line through the last two solutions of a split is
nearer to the next one than the solution of all rows, which then need not be known at all.
"""

from __future__ import annotations

import numpy as np

from .dual import Array, Solution

SPARE = 24
"""Rows for each split from which on its last solutions take little memory beside K."""
FAR = 2.0
"""How far a line may go beyond its second point, relative to the way between both: rounding grows with it."""


class Foresight:
    """The solutions of all splits at the last two penalties, and how many coefficients left or met zero."""

    def __init__(self) -> None:
        self._kept: list[tuple[float, dict[int, Solution]]] = []
        self._changed, self._wrong = np.inf, 0.0

    def keep(self, C: float, solutions: dict[int, Solution], wrong: list[int]) -> None:
        """Solutions at a penalty; how many coefficients those had wrong that were started from the full solution."""
        last = self._kept[-1:]
        self._kept = [(C, solutions)]
        if not last or last[0][0] >= C or last[0][1].keys() != solutions.keys():
            return
        self._kept = [*last, (C, solutions)]
        now, before = ([some[number].beta != 0 for number in solutions] for some in (solutions, last[0][1]))
        self._changed = int(np.count_nonzero(np.not_equal(now, before))) / len(solutions)
        if wrong:
            self._wrong = float(np.mean(wrong))

    def trusted(self, C: float) -> bool:
        """Whether no more coefficients will change sides than a start from the full solution last had wrong."""
        if len(self._kept) < 2:
            return False
        before, ahead = self._ways(C)
        return 0 < ahead <= FAR * before and self.changes(C) <= self._wrong

    def changes(self, C: float) -> float:
        """How many coefficients of a split will leave or meet zero on the way to a penalty: as the root of the way."""
        before, ahead = self._ways(C)
        return self._changed * float(np.sqrt(ahead / before))

    def line(self, number: int, C: float) -> tuple[Array, Array]:
        """(coefficients, maybe out of bounds; their product with K, with more rounding) of a split."""
        (_, old), (_, last) = self._kept
        before, ahead = self._ways(C)
        a, b, weight = old[number], last[number], ahead / before
        return b.beta + weight * (b.beta - a.beta), b.u + weight * (b.u - a.u)

    def _ways(self, C: float) -> tuple[float, float]:
        """How far the ridge last went, and how far it will go."""
        (older, _), (last, _) = self._kept
        return 1 / older - 1 / last, 1 / last - 1 / C
