"""Probabilities of two classes: how well they are calibrated, and what each threshold would cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..estimators.calibration import logistic_curves, probabilities

BINS = 10
"""Groups of equally many rows in which predicted and observed shares are compared."""

PARTS = 5
"""Parts of the rows, each of which gets its probabilities from a curve that the others gave."""

THRESHOLDS = 200
"""Thresholds that are embedded in a page."""


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Every threshold of the probability, in falling order, with the rows at or above it.

    ``caught`` of ``positives`` rows of the positive class, and ``alarms`` of ``negatives`` others.
    """

    positive: str
    places: np.ndarray
    caught: np.ndarray
    alarms: np.ndarray
    positives: int
    negatives: int

    @property
    def recall(self) -> np.ndarray:
        """Share of the positive rows that are found."""
        return self.caught / self.positives

    @property
    def precision(self) -> np.ndarray:
        """Share of positive rows among those found; 1 where nothing is."""
        found = self.caught + self.alarms
        return np.where(found > 0, self.caught / np.maximum(found, 1), 1.0)

    @property
    def f1(self) -> np.ndarray:
        """The harmonic mean of both."""
        return 2 * self.caught / (self.caught + self.alarms + self.positives)

    def cheapest(self, ratio: float) -> int:
        """The place of the threshold with the lowest cost, where a missed row costs ``ratio`` false alarms."""
        return int(np.argmin(ratio * (self.positives - self.caught) + self.alarms))


@dataclass(frozen=True, eq=False)
class Calibration:
    """Mean predicted probability and observed share in groups of rows, their sizes, and scores of probabilities."""

    predicted: np.ndarray
    observed: np.ndarray
    sizes: np.ndarray
    brier: float
    log_loss: float
    thresholds: Thresholds


def held_out_probabilities(values: np.ndarray, y: np.ndarray, classes: list) -> np.ndarray | None:
    """Probabilities of the second class from out-of-fold decision values, by curves that have not seen the rows."""
    known = np.isfinite(values)
    part = np.random.default_rng(0).permutation(len(values)) % PARTS
    found = np.full(len(values), np.nan)
    for k in range(PARTS):
        others, rows = known & (part != k), known & (part == k)
        curves = logistic_curves(values[others], y[others], classes)
        if curves is None:
            return None
        if rows.any():
            found[rows] = probabilities(values[rows], curves)[:, 1]
    return found


def calibrated_facts(chances: np.ndarray, positive: np.ndarray, name: str) -> Calibration:
    """Calibration and thresholds of the probabilities of a class; ``positive`` says which rows are of it."""
    from sklearn.metrics import brier_score_loss, log_loss

    groups = [rows for rows in np.array_split(np.argsort(chances, kind="stable"), BINS) if len(rows)]
    return Calibration(
        predicted=np.array([chances[rows].mean() for rows in groups]),
        observed=np.array([positive[rows].mean() for rows in groups]),
        sizes=np.array([len(rows) for rows in groups]),
        brier=float(brier_score_loss(positive, chances)),
        log_loss=float(log_loss(positive, chances, labels=[False, True])),
        thresholds=thresholds_of(chances, positive, name),
    )


def thresholds_of(chances: np.ndarray, positive: np.ndarray, name: str) -> Thresholds:
    """Counts at every threshold that changes them, thinned to what a page can hold; the first finds nothing."""
    order = np.argsort(-chances, kind="stable")
    places, hits = chances[order], positive[order]
    last = np.append(places[1:] != places[:-1], True)  # rows with equal probabilities are found together
    caught, alarms, places = np.cumsum(hits)[last], np.cumsum(~hits)[last], places[last]
    finds = np.flatnonzero(np.diff(caught, prepend=0) > 0)  # where rows of a rare class are found, most of all
    keep = np.union1d(_some(np.arange(len(places))), _some(finds))
    return Thresholds(
        name, np.concatenate([[1.0], places[keep]]), np.concatenate([[0], caught[keep]]),
        np.concatenate([[0], alarms[keep]]), int(positive.sum()), int((~positive).sum()),
    )  # fmt: skip


def _some(numbers: np.ndarray) -> np.ndarray:
    """At most half as many of the numbers as a page holds thresholds, the ends among them."""
    chosen = np.linspace(0, len(numbers) - 1, min(THRESHOLDS // 2, len(numbers)))
    return numbers[np.unique(chosen.astype(int))]


def calibration_of(search: Any, y: Any, positive: Any = None) -> Calibration | None:
    """Calibration and thresholds of a search over two classes, from its out-of-fold decision values."""
    values = np.asarray(search.oof_decision_, dtype=float) if hasattr(search, "oof_decision_") else None
    if y is None or values is None or values.ndim > 1:
        return None
    y = np.asarray(y)
    classes = np.unique(y).tolist()
    if len(classes) != 2 or min((y == label).sum() for label in classes) < 2 * PARTS:
        return None
    chances = held_out_probabilities(values, y, classes)
    if chances is None:
        return None
    known = np.isfinite(chances)
    wanted = classes[1] if positive is None else positive
    chances = chances if wanted == classes[1] else 1 - chances
    return calibrated_facts(chances[known], (y == wanted)[known], str(wanted))
