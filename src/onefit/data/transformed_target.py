"""Targets that are transformed before a machine is trained on them, and predictions on the original scale.

A TransformedTargetRegressor fits its transformer on the targets of each training set. It is asked itself, with a
``Recorder`` in the place of its regressor, for the targets that the regressor would get and for what it makes of the
regressor's predictions.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone

from .._arrays import Array
from .folds import Folds, take_rows
from .targets import Targets


class Recorder(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Remembers the rows and targets that it is trained on (``X``, ``y``), and the rows it is to predict (``asked``).

    Wrappers train clones of what they contain: a clone of a recorder is the recorder itself. ``answer`` is what it
    predicts.
    """

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer

    def __sklearn_clone__(self) -> Recorder:
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Recorder:
        """Remember rows and targets."""
        self.X, self.y = X, y
        return self

    def predict(self, X: Any) -> Any:
        """Remember rows, and give the answer."""
        self.asked = X
        return self.answer


@dataclass(frozen=True, eq=False)
class TransformedTarget:
    """The target of one training set, (m,) or (m, c), and the TransformedTargetRegressor that transformed it."""

    y: Array
    model: Any

    @classmethod
    def fit(cls, regressor: Any, y: Any) -> TransformedTarget:
        """Let a TransformedTargetRegressor transform a target, and keep what its regressor would be trained on."""
        recorder = Recorder()
        model = clone(regressor).set_params(regressor=recorder).fit(np.empty((len(y), 0)), y)
        return cls(np.asarray(recorder.y, dtype=np.float64), model)

    @property
    def Y(self) -> Array:
        """The target as columns (m, c)."""
        return self.y.reshape(len(self.y), -1)

    def predictions(self, values: Array) -> Array:
        """Predictions (l, k) on the original scale from values (l, c) of the machine.

        One call for the rows of one candidate, as in scikit-learn: an inverse may look at all of them.
        """
        model = copy(self.model)
        model.regressor_ = Recorder(values[:, 0] if self.y.ndim == 1 else values)
        found = np.asarray(model.predict(None), dtype=np.float64)
        return found.reshape(len(found), -1)

    def reach(self, values: Array, error: Array) -> Array:
        r"""How far predictions (l,) may be from those of exact values, to first order.

        Values (l, c) are known up to an ``error`` (l, c):

        .. math:: \sum_c \max_\pm |p(v \pm e_c) - p(v)|
        """
        middle, total = self.predictions(values), np.zeros(len(values))
        for column in np.flatnonzero(error.any(axis=0)):
            move = np.zeros_like(values)
            move[:, column] = error[:, column]
            ends = [np.abs(self.predictions(values + side * move) - middle).max(axis=1) for side in (1, -1)]
            total += np.maximum(*ends)
        return total


@dataclass(frozen=True, eq=False)
class TransformedTargets:
    """The transformed target of every split, and of all rows.

    ``shared`` says that all splits transform it alike, as functions without a memory do.
    """

    whole: TransformedTarget
    of_splits: tuple[TransformedTarget, ...]
    folds: Folds
    shared: bool

    @classmethod
    def fit(cls, regressor: Any, y: Any, folds: Folds) -> TransformedTargets:
        """Fit the transformer on every training set and on all rows."""
        whole = TransformedTarget.fit(regressor, y)
        parts = tuple(TransformedTarget.fit(regressor, take_rows(y, fold.train)) for fold in folds)
        shared = all(np.array_equal(part.y, whole.y[fold.train]) for part, fold in zip(parts, folds))
        return cls(whole, parts, folds, shared)

    def of_split(self, targets: Targets, number: int) -> Targets:
        """The targets of all rows as split ``number`` has them; rows that are not trained on have zeros."""
        Y = np.zeros_like(targets.Y)
        Y[self.folds.folds[number].train] = self.of_splits[number].Y
        return Targets(Y, targets.fold_weights(number))

    def predictions(self, values: list[Array]) -> list[Array]:
        """Predictions (E, l, k) on the original scale from the values (E, l, c) of each split.

        Leave-one-out has one entry with all rows. Candidates without values keep NaN.
        """
        if self.folds.leave_one_out and len(values) == 1:
            pooled = np.full((*values[0].shape[:2], self._columns), np.nan)
            for fold, part in zip(self.folds, self.of_splits):
                pooled[:, fold.test] = _predictions(part, values[0][:, fold.test], self._columns)
            return [pooled]
        return [_predictions(part, own, self._columns) for part, own in zip(self.of_splits, values)]

    def predictions_of_training(self, number: int, values: Array) -> Array:
        """Predictions (E, m, k) of the training rows of a split from values (E, m, c)."""
        return _predictions(self.of_splits[number], values, self._columns)

    def reach(self, values: list[Array], error: Array) -> Array:
        """How far predictions (splits, E) may be off where values (E, l, c) may be, by ``error`` (splits, E, c)."""
        found = np.zeros(error.shape[:2])
        if self.folds.leave_one_out and len(values) == 1:
            values = [values[0][:, fold.test] for fold in self.folds]
        for number, part in enumerate(values):
            known = np.flatnonzero(np.isfinite(part).all(axis=(1, 2)) & error[number].any(axis=1))
            if len(known):
                own = np.repeat(error[number, known], part.shape[1], axis=0)
                reach = self.of_splits[number].reach(part[known].reshape(len(own), -1), own)
                found[number, known] = reach.reshape(len(known), -1).max(axis=1)
        return found

    @property
    def _columns(self) -> int:
        return int(self.whole.predictions(self.whole.Y[:1]).shape[1])


def _predictions(target: TransformedTarget, values: Array, columns: int) -> Array:
    found = np.full((*values.shape[:2], columns), np.nan)
    for k in np.flatnonzero(np.isfinite(values).all(axis=(1, 2))):
        found[k] = target.predictions(values[k])
    return found
