"""An estimate of the cost of training every candidate on every fold, and how it was made."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from .validation import scorer_of

if TYPE_CHECKING:
    from .data import Data

TIMED = 8
"""Trainings that are timed, at most."""

ENOUGH = 0.4
"""Seconds after which no further training is timed."""

CONFIDENCE = 0.9
"""Level of confidence of the range in which the mean time of a training lies."""


@dataclass(frozen=True)
class Savings:
    """``trainings`` were not needed for a search of ``searched`` seconds, in which processors worked for ``worked``.

    ``timed`` are seconds of processor time of trainings drawn at random. ``resumed`` says that a journal knew some
    candidates already, whose time is not counted.
    """

    trainings: int
    searched: float
    worked: float
    resumed: bool = False
    timed: tuple[float, ...] = ()

    @property
    def each(self) -> tuple[float, float]:
        """The range of the mean seconds of a training, NaN if fewer than two were timed.

        An interval of Student's t, but for its lower end, which is at least the smallest of the times: over a grid
        they differ by orders of magnitude, and a few say little about the largest.
        """
        from scipy.stats import t

        if len(self.timed) < 2:
            return math.nan, math.nan
        mean = float(np.mean(self.timed))
        half = float(t.ppf(0.5 + CONFIDENCE / 2, len(self.timed) - 1) * np.std(self.timed, ddof=1))
        half /= math.sqrt(len(self.timed))
        return max(mean - half, min(self.timed)), mean + half

    @property
    def estimate(self) -> tuple[float, float]:
        """The range of the processor time of all trainings."""
        low, high = self.each
        return self.trainings * low, self.trainings * high

    def timed_on(
        self, estimator: Any, candidates: list[dict[str, Any]], data: Data, splitter: Any, scoring: str | None
    ) -> Savings:
        """Savings with an estimate of ``each``: some candidates are trained and scored on a fold each, and timed.

        Training times differ by orders of magnitude over a grid: the chosen candidate's would not do for all.
        """
        from sklearn.base import clone
        from sklearn.metrics import check_scoring

        score = check_scoring(estimator, scorer_of(scoring, data))
        order = np.random.default_rng(0).permutation(len(candidates))
        spent: list[float] = []
        for number, (train, test) in zip(order[:TIMED], cycle(splitter.split(data.X, data.y, data.groups))):
            model = clone(estimator).set_params(**candidates[number])
            start = time.process_time()
            score(model.fit(data.X[train], data.y[train]), data.X[test], data.y[test])
            spent.append(time.process_time() - start)
            if sum(spent) > ENOUGH and len(spent) > 1:
                break
        return replace(self, timed=tuple(spent))

    def __str__(self) -> str:
        from ..report.text import seconds

        took = seconds(self.searched)
        if len(self.timed) < 2:
            return f"{took} in place of {self.trainings:,} trainings, which were not timed"
        low, high = self.estimate
        text = (
            f"{took} ({seconds(self.worked)} of processor time) in place of {self.trainings:,} trainings, "
            f"{seconds(low)} to {seconds(high)}: {self._gain()}\n"
            f"(processor time of {len(self.timed)} of these trainings, drawn at random; the range has {CONFIDENCE:.0%} "
            "confidence"
        )
        return f"{text}{'; the time of earlier runs is not counted' if self.resumed else ''})"

    def _gain(self) -> str:
        """By how much the search is cheaper, where even the lower end of the range says so."""
        low, high = (end / max(self.worked, 1e-9) for end in self.estimate)
        if high < 1.05:
            return "no time saved at this size"
        if low < 1.05:
            return f"up to {_times(high)} times less, or none"
        return f"{_times(low)} to {_times(high)} times less"


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"
