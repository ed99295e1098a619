"""Scores from values that are known already, without a trained estimator.

The commonest scorers of scikit-learn have vectorised twins, and a criterion's loss is a scorer too: both score a whole
regularisation path in one call. Every other scorer is called with a stand-in that answers with the known values. A
call of one costs more than our arithmetic (0.3 to 1.7 ms). Each twin equals scikit-learn's scorer, as tests check.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.pipeline import Pipeline

from .._arrays import Array, Mask
from ..criteria.row_losses import Loss, left_out_losses, mean_of_rows, row_losses
from ..data.coding import Coding, PairCoding, class_probabilities


def accuracy(y, predicted, weights):
    """Share of right labels. ``y`` (l,), ``predicted`` (L, l) -> (L,)."""
    return np.average(predicted == y, axis=1, weights=weights)


def neg_mean_squared_error(y, predicted, weights):
    """``y`` (l, c), ``predicted`` (L, l, c) -> (L,); all twins below likewise."""
    return -_mean_over_rows((predicted - y) ** 2, weights).mean(axis=1)


def neg_root_mean_squared_error(y, predicted, weights):
    """The root is taken of each output, then averaged."""
    return -np.sqrt(_mean_over_rows((predicted - y) ** 2, weights)).mean(axis=1)


def neg_mean_absolute_error(y, predicted, weights):
    """Mean of absolute differences."""
    return -_mean_over_rows(np.abs(predicted - y), weights).mean(axis=1)


def r2(y, predicted, weights):
    """Coefficient of determination; of a constant target 1 if predicted perfectly, otherwise 0."""
    return _r2_of_squares(_mean_over_rows((predicted - y) ** 2, weights), variance(y, weights))


def variance(y, weights):
    """The mean squared difference of each output from its mean; ``y`` (l, c) -> (c,)."""
    centred = y - np.average(y, axis=0, weights=weights)
    return np.average(centred**2, axis=0, weights=weights)


def _r2_of_squares(missed, total):
    """``missed`` (L, c) and ``total`` (c,) -> (L,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.where(total > 0, 1.0 - missed / total, np.where(missed > 0, 0.0, 1.0))
    return scores.mean(axis=1)


def _mean_over_rows(values, weights):
    return np.average(values, axis=1, weights=weights)


TWINS = {
    "accuracy": accuracy,
    "r2": r2,
    "neg_mean_squared_error": neg_mean_squared_error,
    "neg_root_mean_squared_error": neg_root_mean_squared_error,
    "neg_mean_absolute_error": neg_mean_absolute_error,
}

OF_SQUARES = {
    r2: _r2_of_squares,
    neg_mean_squared_error: lambda missed, total: -missed.mean(axis=1),
    neg_root_mean_squared_error: lambda missed, total: -np.sqrt(missed).mean(axis=1),
}
"""Twins that read nothing but mean squared errors (L, c) and the ``variance`` (c,) of the targets."""


def roc_auc(positive: Mask, decision: Array) -> Array:
    """Areas under ROC curves of decision values (L, l), where ``positive`` (l,) has both values.

    The same operations in the same order as ``sklearn.metrics.roc_auc_score``, so that ties between candidates are
    decided alike, without its checks, which take ten times as long. Cost: O(l log l) a row.
    """
    areas = np.empty(len(decision))
    for k, values in enumerate(decision):
        order = np.argsort(values, kind="mergesort")[::-1]
        last = np.r_[np.flatnonzero(np.diff(values[order])), len(values) - 1]  # of equal values
        hits = np.cumsum(positive[order], dtype=np.float64)[last]
        alarms = 1 + last - hits
        if len(alarms) > 2:  # points in the middle of a straight line are left out
            corner = np.r_[True, np.logical_or(np.diff(alarms, 2), np.diff(hits, 2)), True]
            hits, alarms = hits[corner], alarms[corner]
        hits, alarms = np.r_[0, hits], np.r_[0, alarms]
        areas[k] = np.trapezoid(hits / hits[-1], alarms / alarms[-1])
    return areas


class LossScorer:
    """Minus the mean ``loss`` of the tested rows, from trained estimators or from decision values that are known.

    Parameters
    ----------
    loss : {"error", "squared", "hinge", "absolute"} or callable
        What is averaged; see ``criteria.CV``.
    """

    def __init__(self, loss: Loss) -> None:
        self.loss = loss

    def __repr__(self) -> str:
        return f"LossScorer({self.loss!r})"

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the mean loss of a trained estimator on the rows of X."""
        coding, values = _decision_values(estimator, X)
        losses = row_losses(self.loss, coding, np.asarray(y), values[None])
        return -float(mean_of_rows(losses, sample_weight)[0])

    def path(self, coding: Coding, labels: Any, values: Array, present: Any, weights: Any) -> Array:
        """Scores (L,) from decision values (L, l, c) of machines that were trained on the classes ``present``."""
        losses = row_losses(self.loss, coding, labels, values, present)
        return -mean_of_rows(losses, weights)

    def pooled(self, coding: Coding, labels: Any, values: Array, present: Any) -> Array:
        """Scores (L,) of leave-one-out values (L, n, c); ``present`` are the classes trained on without each row."""
        return -left_out_losses(self.loss, coding, labels, values, present).mean(axis=1)


def _decision_values(estimator: Any, X: Any) -> tuple[Coding, Array]:
    """How the values of a trained estimator relate to targets, and its values (l, c) of the rows of X."""
    if not is_classifier(estimator):
        values = np.asarray(estimator.predict(X), dtype=np.float64)
        return Coding(None, values.ndim == 1), values.reshape(len(values), -1)
    classes = estimator.classes_
    while isinstance(estimator, Pipeline):
        for _, step in estimator.steps[:-1]:
            if hasattr(step, "transform"):  # samplers change training rows only
                X = step.transform(X)
        estimator = estimator[-1]
    if len(classes) > 2 and hasattr(estimator, "decision_function_shape"):
        pairs = copy(estimator)
        pairs.decision_function_shape = "ovo"  # read when values are asked for; the copy shares what was learned
        return PairCoding(classes, True), -pairs.decision_function(X)
    if len(classes) > 2 and hasattr(estimator, "pair_values"):
        return PairCoding(classes, True), estimator.pair_values(X)
    values = np.asarray(estimator.decision_function(X), dtype=np.float64)
    return Coding(classes, True), values.reshape(len(values), -1)


class _StandIn(BaseEstimator):
    """Knows the values of the very rows that it is handed with, and remembers what else it was asked for."""

    def __init__(self, rows=None, decision=None, prediction=None, classes=None):
        self.rows = rows
        self.decision = decision
        self.prediction = prediction
        self.classes = classes
        self.asked = set()

    def __sklearn_is_fitted__(self):
        return True

    def __getattr__(self, name):
        if not name.startswith("_") and "asked" in self.__dict__:
            self.asked.add(name)
        raise AttributeError(f"out-of-fold values have no attribute {name!r}")

    def __getitem__(self, key):
        self.asked.add(f"step {key!r}")
        raise TypeError("out-of-fold values are no Pipeline")

    def get_params(self, deep=True):
        """Parameters are those of the estimator, which is not here."""
        self.asked.add("get_params")
        raise AttributeError("out-of-fold values have no parameters")

    def predict(self, X):
        """The known predictions of the rows X."""
        return self._known(X, self.prediction)

    def _known(self, X, values):
        if X is not self.rows:
            self.asked.add("predictions for other rows")
            raise ValueError("out-of-fold values are known for the tested rows only")
        return values.copy()


class StandInRegressor(RegressorMixin, _StandIn):
    """Knows ``predict``."""


class StandInLabels(ClassifierMixin, _StandIn):
    """Knows ``predict`` and the classes, to find out whether a scorer is content with labels."""

    @property
    def classes_(self):
        """The classes that were trained on."""
        return self.classes


class StandInClassifier(StandInLabels):
    """Knows ``decision_function`` and ``predict``."""

    def decision_function(self, X):
        """The known decision values of the rows X."""
        return self._known(X, self.decision)


class StandInWithProbabilities(StandInClassifier):
    """Knows ``decision_function``, ``predict`` and, by the ``link`` of the machine, ``predict_proba``."""

    def __init__(self, rows=None, decision=None, prediction=None, classes=None, link=None):
        super().__init__(rows, decision, prediction, classes)
        self.link = link

    def predict_proba(self, X):
        """The probabilities of the classes for the rows X."""
        return class_probabilities(self._known(X, self.decision), self.link)
