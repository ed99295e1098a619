"""Scores of the rows that are trained on."""

from __future__ import annotations

import warnings

import numpy as np

from .determinacy import differ
from .scoring import ScoredRows, Scoring
from .tasks import Path, Row, Settings

TIED = 1e-9
"""Difference of training values, relative to the largest, below which they may be equal: free support vectors have
equal values in exact arithmetic, and conditions of optimality hold to 1e-10."""

TIES = "the train scores depend on which of nearly equal values are equal"
"""Status of rows whose train scores rounding decides."""


class TrainScores:
    """Scores of the training rows, taken as a learner reports them, so that they need not be kept."""

    def __init__(self, settings: Settings, scoring: Scoring, path: Path) -> None:
        self.settings, self.scoring, self.path = settings, scoring, path
        self.scores: dict[str, np.ndarray] = {}
        self.pending: dict[int, np.ndarray] = {}
        self.decided_by_ties = np.zeros(len(path.entries), dtype=bool)

    def add(self, fold: int, positions: np.ndarray, values: np.ndarray) -> None:
        """Take values (k, m, c) of some penalties; a fold is scored once all of its penalties are there."""
        if len(positions) < len(self.path.penalties):
            part = self.pending.setdefault(fold, np.full((len(self.path.penalties), *values.shape[1:]), np.nan))
            part[positions] = values
            if positions[-1] != len(self.path.penalties) - 1:  # penalties are reported in order
                return
            values = self.pending.pop(fold)
        present = self.settings.present[fold]
        values = self.path.of_candidates(values)
        if self.path.transformed is not None:
            values = self.path.transformed.predictions_of_training(fold, values)
        good = np.isfinite(values).any(axis=(1, 2))  # a singular candidate, which is retrained, has no value at all
        if (present is not None and len(present) < 2) or not good.any():
            return
        tested = self.settings.scored_rows(fold, self.settings.folds.folds[fold].train)
        scores = self.scoring.path(tested, values[good], self.path.coded.coding)
        self.decided_by_ties[good] |= self._changes_with_ties(tested, values[good], scores)
        for name, column in scores.items():
            shape = (len(values), len(self.settings.folds))
            missing = np.nan if self.scoring.error_score == "raise" else self.scoring.error_score
            self.scores.setdefault(name, np.full(shape, missing, dtype=float))[good, fold] = column

    def _changes_with_ties(self, tested: ScoredRows, values: np.ndarray, scores: dict[str, np.ndarray]) -> np.ndarray:
        """Which candidates have other scores (of classes) where nearly equal values are made equal."""
        found = np.zeros(len(values), dtype=bool)
        if self.path.coded.coding.classes is None or self.scoring.reads_labels:
            return found
        tied = _merge_ties(values)
        moved = np.flatnonzero((tied != values).any(axis=(1, 2)))
        if len(moved):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # said when the scores were computed
                again = self.scoring.path(tested, tied[moved], self.path.coded.coding)
            found[moved] = differ({name: column[moved] for name, column in scores.items()}, again)
        return found

    def write(self, rows: list[Row]) -> None:
        """Give each row its scores; leave-one-out gets their mean."""
        for k, row in enumerate(rows):
            if self.decided_by_ties[k] and row.retrain is None:
                row.doubt(TIES)
            for name, scores in self.scores.items():
                pooled = self.settings.folds.leave_one_out
                row.train[name] = scores[k].mean(keepdims=True) if pooled else scores[k]


def _merge_ties(values: np.ndarray) -> np.ndarray:
    """Values (E, l, c) with those of each column that are TIED replaced by their mean. Cost: O(E l log l c)."""
    order = np.argsort(values, axis=1)
    ranked = np.take_along_axis(values, order, axis=1)
    apart = np.diff(ranked, axis=1) > TIED * np.abs(values).max(axis=1, keepdims=True)
    group = np.concatenate([np.zeros_like(order[:, :1]), np.cumsum(apart, axis=1)], axis=1)
    for e, c in np.ndindex(values.shape[0], values.shape[2]):
        numbers = group[e, :, c]
        mean = np.bincount(numbers, weights=ranked[e, :, c]) / np.bincount(numbers)
        alone = np.bincount(numbers)[numbers] == 1
        ranked[e, :, c] = np.where(alone, ranked[e, :, c], mean[numbers])
    tied = np.empty_like(values)
    np.put_along_axis(tied, order, ranked, axis=1)
    return tied
