"""An estimate of the cost of training every candidate on every fold, and how it was made."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .scores import scorer_of

if TYPE_CHECKING:
    from .data import Data

TIMED = 5
"""Trainings that are timed, at most."""

ENOUGH = 1.5
"""Seconds after which no further training is timed."""


@dataclass(frozen=True)
class Savings:
    """``trainings`` were not needed for a search of ``searched`` seconds.

    One of them takes ``each`` seconds, the mean of ``timed`` drawn at random, NaN if none was. ``resumed`` says that a
    journal knew some candidates already, whose time is not counted.
    """

    trainings: int
    searched: float
    resumed: bool = False
    each: float = float("nan")
    timed: int = 0

    @property
    def estimate(self) -> float:
        """Seconds that the trainings would have taken one after the other."""
        return self.trainings * self.each

    def timed_on(
        self, estimator: Any, candidates: list[dict[str, Any]], data: Data, splitter: Any, scoring: str | None
    ) -> Savings:
        """These savings with an estimate of ``each``: some candidates are trained and scored on a fold each, and timed.

        Training times differ by orders of magnitude over a grid: the chosen candidate's would not do for all.
        """
        from sklearn.base import clone
        from sklearn.metrics import check_scoring

        score = check_scoring(estimator, scorer_of(scoring, data))
        order = np.random.default_rng(0).permutation(len(candidates))
        spent: list[float] = []
        for number, (train, test) in zip(order[:TIMED], splitter.split(data.X, data.y, data.groups)):
            model = clone(estimator).set_params(**candidates[number])
            start = time.perf_counter()
            score(model.fit(data.X[train], data.y[train]), data.X[test], data.y[test])
            spent.append(time.perf_counter() - start)
            if sum(spent) > ENOUGH:
                break
        return replace(self, each=float(np.mean(spent)), timed=len(spent))

    def __str__(self) -> str:
        from ..report.text import seconds

        if not self.timed:
            return f"{seconds(self.searched)} in place of {self.trainings:,} trainings, which were not timed"
        ratio = self.estimate / self.searched
        times = f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"
        gain = f"about {times} times faster" if ratio > 1.05 else "no time saved at this size"
        spent = f"{seconds(self.searched)} instead of about {seconds(self.estimate)}"
        return (
            f"{spent} for {self.trainings:,} trainings: {gain}\n(an estimate, by the clock: {self.timed} of these "
            f"trainings, drawn at random, took {seconds(self.each)} on average"
            f"{'; the time of earlier runs is not counted' if self.resumed else ''})"
        )
