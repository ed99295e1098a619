"""Landmarks of searches from the command line: as many as asked for, or where Gram matrices do not fit into memory."""

from __future__ import annotations

from typing import Any

from .screen import note

MANY = 1000
"""Landmarks where nobody says how many."""

GRAM_ARRAYS = 4
"""n x n arrays that a dense search needs."""


def landmarks_for(n: int, asked: int | None, memory: str | None) -> Any:
    """The approximation of a search over n rows; None where Gram matrices fit into memory, or where 0 is asked for.

    Landmarks are chosen by k-means++, which depends on the rows and the transformers alone: the code that is printed
    chooses the same ones.
    """
    from .. import Landmarks
    from ..resources.memory import human, parse_budget

    budget, needed = parse_budget(memory), 8.0 * GRAM_ARRAYS * n * n
    if asked == 0 or (asked is None and needed <= budget):
        return None
    m = min(n, MANY if asked is None else asked)
    if asked is None:
        note(
            f"  {n:,} rows: Gram matrices would take {human(needed)}, and there are {human(budget)}; "
            f"{m:,} landmarks stand for them (--landmarks says how many)"
        )
    return Landmarks(m, "kmeans", random_state=0)
