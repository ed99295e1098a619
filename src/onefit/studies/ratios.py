"""Run times as ratios: what cross-validation by retraining costs, in units of another method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .comparisons import encounters
from .outcome import Outcome

RETRAINING = "CV"


@dataclass(frozen=True)
class Ratio:
    """Seconds of ``slow`` over those of ``fast`` on one data set, ours and the paper's; None where not measured."""

    dataset: str
    setting: str
    slow: str
    fast: str
    splits: int
    ours: float | None
    printed: float | None


def compared(methods: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Each method with the retraining of as many folds: (5-CV, 5-BIF), (5-CV, 5-exact), or (CV, SM) without a number.

    >>> compared(["5-CV", "5-BIF", "10-CV", "10-BIF"])
    (('5-CV', '5-BIF'), ('10-CV', '10-BIF'))
    """
    pairs = []
    for method in methods:
        folds, dash, _ = method.partition("-")
        slow = folds + dash + RETRAINING if dash and folds.isdigit() else RETRAINING
        if slow in methods and method != slow:
            pairs.append((slow, method))
    return tuple(pairs)


def ratios(outcome: Outcome) -> tuple[Ratio, ...]:
    """All ratios of a study of seconds, from the means over the splits that both methods have."""
    found = []
    for slow, fast in compared(outcome.methods):
        ours = {(e.dataset, e.setting): e for e in encounters(outcome, fast, slow)}
        for setting in outcome.settings:
            for dataset in outcome.datasets:
                met = ours.get((dataset, setting))
                printed = _printed_ratio(outcome, dataset, setting, slow, fast)
                if met or printed:
                    splits, measured = (met.test.n, met.ratio) if met else (0, None)
                    found.append(Ratio(dataset, setting, slow, fast, splits, measured, printed))
    return tuple(found)


def _printed_ratio(outcome: Outcome, dataset: str, setting: str, slow: str, fast: str) -> float | None:
    above, below = (outcome.printed.get((dataset, setting, method)) for method in (slow, fast))
    return above.mean / below.mean if above and below and below.mean else None


def geometric_mean(values: Sequence[float]) -> float | None:
    """The mean of ratios that treats twice as fast and twice as slow alike; None without values."""
    return float(np.exp(np.mean(np.log(values)))) if len(values) else None
