"""Scores of the rows that are trained on."""

from __future__ import annotations

import numpy as np

from .scoring import Scoring
from .tasks import Entry, Path, Row, Settings


def of_candidates(entries: list[Entry], penalties: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Values of the candidates (entries, l, c) from those of the distinct penalties (L, l, c)."""
    c = part.shape[2]
    wanted = [entry.penalties if len(entry.penalties) == c else c * entry.penalties for entry in entries]
    chosen = np.searchsorted(penalties, wanted)
    return part.transpose(0, 2, 1)[chosen, np.arange(c)].transpose(0, 2, 1)


class TrainScores:
    """Scores of the training rows, taken as a learner reports them, so that they need not be kept."""

    def __init__(self, settings: Settings, scoring: Scoring, path: Path, penalties: np.ndarray) -> None:
        self.settings, self.scoring, self.path, self.penalties = settings, scoring, path, penalties
        self.scores: dict[str, np.ndarray] = {}
        self.pending: dict[int, np.ndarray] = {}

    def of_fold(self, fold: int):
        """The report function of a view that holds one fold."""
        return lambda _, positions, values: self.add(fold, positions, values)

    def add(self, fold: int, positions: np.ndarray, values: np.ndarray) -> None:
        """Take values (k, m, c) of some penalties; a fold is scored once all of its penalties are there."""
        if len(positions) < len(self.penalties):
            part = self.pending.setdefault(fold, np.full((len(self.penalties), *values.shape[1:]), np.nan))
            part[positions] = values
            if positions[-1] != len(self.penalties) - 1:  # penalties are reported in order
                return
            values = self.pending.pop(fold)
        present = self.settings.present[fold]
        values = of_candidates(self.path.entries, self.penalties, values)
        good = np.isfinite(values).any(axis=(1, 2))  # a singular candidate, which is retrained, has no value at all
        if (present is not None and len(present) < 2) or not good.any():
            return
        tested = self.settings.tested(fold, self.settings.folds.folds[fold].train)
        for name, column in self.scoring.path(tested, values[good], self.path.coded.coding).items():
            shape = (len(values), len(self.settings.folds))
            missing = np.nan if self.scoring.error_score == "raise" else self.scoring.error_score
            self.scores.setdefault(name, np.full(shape, missing, dtype=float))[good, fold] = column

    def write(self, rows: list[Row]) -> None:
        """Give each row its scores; leave-one-out gets their mean."""
        for k, row in enumerate(rows):
            for name, scores in self.scores.items():
                pooled = self.settings.folds.leave_one_out
                row.train[name] = scores[k].mean(keepdims=True) if pooled else scores[k]
