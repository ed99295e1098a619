"""Out-of-fold predictions of the chosen candidate, pooled over all rows that were tested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.base import is_classifier

from .text import plain

POINTS = 300
"""Points of a curve that are drawn."""

DOTS = 1200
"""Rows of a scatter plot that are drawn."""


CONFUSIONS = 5
"""Pairs of classes that are named."""


@dataclass(frozen=True)
class Classification:
    """Counts of true (rows) against predicted (columns) classes, and with two classes the curves of the decisions."""

    classes: list[str]
    confusion: np.ndarray
    accuracy: float
    recall: np.ndarray
    precision: np.ndarray
    untested: int
    roc: np.ndarray | None = None  # false and true positive rates, shape (2, p)
    auc: float = np.nan
    pr: np.ndarray | None = None  # recalls and precisions, shape (2, p)
    average_precision: float = np.nan

    @property
    def confusions(self) -> list[tuple[str, str, int]]:
        """True and predicted classes that differ and their counts, the most frequent first."""
        errors = self.confusion - np.diag(np.diag(self.confusion))
        order = np.argsort(-errors, axis=None, kind="stable")[:CONFUSIONS]
        pairs = (np.unravel_index(place, errors.shape) for place in order)
        return [(self.classes[i], self.classes[j], int(errors[i, j])) for i, j in pairs if errors[i, j]]


@dataclass(frozen=True)
class Regression:
    """Targets and their out-of-fold predictions; of several outputs the first is drawn, ``r2`` has all."""

    true: np.ndarray
    predicted: np.ndarray
    shown: np.ndarray  # rows that are drawn
    r2: list[float]
    rmse: float
    mae: float
    untested: int


def out_of_fold(search: Any, y: Any) -> tuple[Classification | Regression | None, str]:
    """(what out-of-fold values say, why they say nothing)."""
    if not hasattr(search, "oof_decision_"):
        return None, (
            "The search keeps no out-of-fold values: it was selected by a criterion that holds no rows out, was not "
            "finished, or the chosen model has no decision values."
        )
    values = np.asarray(search.oof_decision_, dtype=float)
    if y is None:
        y = getattr(search, "_oof_labels", None)
    if y is None:
        return None, "Give the data to see them: write(search, path, X=X, y=y)."
    y = np.asarray(y)
    if len(y) != len(values):
        raise ValueError(f"y has {len(y)} rows, the search was fitted on {len(values)}.")
    known = np.isfinite(values if values.ndim == 1 else values[:, 0])
    if not known.any():
        return None, "No row was ever tested."
    if not is_classifier(search.estimator):
        return regressed(y, values, known), ""
    classes = np.unique(y)
    if hasattr(search, "oof_prediction_"):
        labels = np.asarray(search.oof_prediction_)
    elif values.ndim == 1:
        labels = np.where(values > 0, classes[-1], classes[0])
    elif values.shape[1] == len(classes):
        labels = classes[values.argmax(axis=1)]
    else:  # one value for each pair of classes
        return None, "The decision values are those of pairs of classes, and the search has no predicted labels."
    return classified(y[known], labels[known], classes, values[known], int((~known).sum())), ""


def classified(
    y: np.ndarray, labels: np.ndarray, classes: np.ndarray, values: np.ndarray, untested: int
) -> Classification:
    """Counts, and with two classes ROC and precision-recall curves of the last class."""
    confusion = metrics.confusion_matrix(y, labels, labels=classes)
    hits = np.diag(confusion)
    recall, precision = hits / np.maximum(confusion.sum(axis=1), 1), hits / np.maximum(confusion.sum(axis=0), 1)
    names = [plain(name) for name in classes]
    accuracy = float(hits.sum() / confusion.sum())
    positive = y == classes[-1]
    if len(classes) != 2 or values.ndim > 1 or positive.all() or not positive.any():
        return Classification(names, confusion, accuracy, recall, precision, untested)
    false, true, _ = metrics.roc_curve(positive, values)
    precisions, recalls, _ = metrics.precision_recall_curve(positive, values)
    return Classification(
        names, confusion, accuracy, recall, precision, untested,
        roc=thinned(np.array([false, true])), auc=float(metrics.roc_auc_score(positive, values)),
        pr=thinned(np.array([recalls, precisions])),
        average_precision=float(metrics.average_precision_score(positive, values)),
    )  # fmt: skip


def thinned(points: np.ndarray) -> np.ndarray:
    """At most ``POINTS`` of the points of a curve, its ends among them."""
    if points.shape[1] <= POINTS:
        return points
    return points[:, np.unique(np.linspace(0, points.shape[1] - 1, POINTS).astype(int))]


def regressed(y: np.ndarray, values: np.ndarray, known: np.ndarray) -> Regression:
    """Errors of a regression."""
    true = y[known].reshape(known.sum(), -1).astype(float)
    predicted = values[known].reshape(known.sum(), -1)
    shown = np.arange(len(true))
    if len(true) > DOTS:
        shown = np.sort(np.random.default_rng(0).choice(len(true), DOTS, replace=False))
    return Regression(
        true[:, 0], predicted[:, 0], shown,
        r2=np.atleast_1d(metrics.r2_score(true, predicted, multioutput="raw_values")).tolist() if len(true) > 1 else [],
        rmse=float(metrics.root_mean_squared_error(true, predicted)),
        mae=float(metrics.mean_absolute_error(true, predicted)),
        untested=int((~known).sum()),
    )  # fmt: skip
