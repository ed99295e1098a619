"""What training every candidate on every fold would have cost: an estimate, and how it was made."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .data import Data

TIMED = 3
"""Trainings that are timed, at most."""

ENOUGH = 1.0
"""Seconds after which no further training is timed."""


@dataclass(frozen=True)
class Savings:
    """``trainings`` were not needed; one of them takes ``each`` seconds, the mean of ``timed`` of the chosen model."""

    trainings: int
    each: float
    timed: int
    searched: float

    @property
    def estimate(self) -> float:
        """Seconds that the trainings would have taken one after the other."""
        return self.trainings * self.each

    def __str__(self) -> str:
        from ..report.text import seconds

        ratio = self.estimate / self.searched
        gain = f"about {ratio:.2g} times faster" if ratio > 1.05 else "no time saved at this size"
        spent = f"{seconds(self.searched)} instead of about {seconds(self.estimate)}"
        return (
            f"{spent} for {self.trainings:,} trainings: {gain}"
            f"\n(an estimate: {self.timed} training{'s' if self.timed > 1 else ''} of the chosen model took "
            f"{seconds(self.each)} each; other candidates may take more or less)"
        )


def estimate_savings(
    model: Any, data: Data, splitter: Any, *, trainings: int, searched: float, scoring: str | None
) -> Savings:
    """Train and score the chosen model on the first folds, with the clock running."""
    from sklearn.base import clone
    from sklearn.metrics import check_scoring

    score = check_scoring(model, scoring)
    spent: list[float] = []
    for train, test in splitter.split(data.X, data.y, data.groups):
        start = time.perf_counter()
        score(clone(model).fit(data.X[train], data.y[train]), data.X[test], data.y[test])
        spent.append(time.perf_counter() - start)
        if len(spent) == TIMED or sum(spent) > ENOUGH:
            break
    return Savings(trainings, float(np.mean(spent)), len(spent), searched)
