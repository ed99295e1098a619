"""The loss of a criterion as a scorer, so that a search selects by it."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from ..criteria.losses import Loss, left_out_losses, row_losses
from ..data.coding import Coding, PairCoding

Array = NDArray[np.float64]


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
        return -float(np.average(losses[0], weights=sample_weight))

    def path(self, coding: Coding, labels: Any, values: Array, present: Any, weights: Any) -> Array:
        """Scores (L,) from decision values (L, l, c) of machines that were trained on the classes ``present``."""
        losses = row_losses(self.loss, coding, labels, values, present)
        return -np.average(losses, axis=1, weights=weights)

    def pooled(self, coding: Coding, labels: Any, values: Array, present: Any) -> Array:
        """Scores (L,) of leave-one-out values (L, n, c); ``present`` are the classes trained on without each row."""
        return -left_out_losses(self.loss, coding, labels, values, present).mean(axis=1)


def _decision_values(estimator: Any, X: Any) -> tuple[Coding, Array]:
    """How the values of a trained estimator relate to targets, and its values (l, c) of the rows of X."""
    if not is_classifier(estimator):
        values = np.asarray(estimator.predict(X), dtype=np.float64)
        return Coding(None, values.ndim == 1), values.reshape(len(values), -1)
    classes = estimator.classes_
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if len(classes) > 2 and hasattr(last, "decision_function_shape"):
        pairs = copy(last)
        pairs.decision_function_shape = "ovo"  # read when values are asked for; the copy shares what was learned
        X = estimator[:-1].transform(X) if last is not estimator and len(estimator) > 1 else X
        return PairCoding(classes, True), -pairs.decision_function(X)
    values = np.asarray(estimator.decision_function(X), dtype=np.float64)
    return Coding(classes, True), values.reshape(len(values), -1)
