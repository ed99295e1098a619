"""Probabilities from decision values: one logistic curve for each class (Platt's method)."""

from __future__ import annotations

from typing import Any

import numpy as np


def logistic_curves(decision: Any, y: Any, classes: list) -> list[list[float]] | None:
    """Slope and offset of each class's curve from out-of-fold decision values; of two classes that of the second.

    The probability of a class is ``1 / (1 + exp(-(slope * value + offset)))``, of several classes divided by their sum.
    Targets are Platt's: (n + 1) / (n + 2) for the n rows of the class and 1 / (m + 2) for the m others, which keeps
    slopes finite where values tell the classes apart. None where no curve can be drawn.
    """
    values = np.asarray(decision, dtype=float).reshape(len(y), -1)
    known = np.isfinite(values).all(axis=1)
    values, labels = values[known], np.asarray(y)[known]
    if values.shape[1] not in (1, len(classes)) or set(np.unique(labels).tolist()) != set(classes):
        return None
    wanted = [classes[1]] if values.shape[1] == 1 else classes
    return [_curve(values[:, k], labels == label) for k, label in enumerate(wanted)]


def _curve(values: np.ndarray, positive: np.ndarray) -> list[float]:
    """Slope and offset of the logistic regression of a class: every row counts as both, with Platt's targets."""
    from sklearn.linear_model import LogisticRegression

    n, m = int(positive.sum()), int((~positive).sum())
    targets = np.where(positive, (n + 1) / (n + 2), 1 / (m + 2))
    unit = float(np.abs(values).max()) or 1.0
    X = np.concatenate([values, values])[:, None] / unit
    y = np.repeat([1, 0], len(values))
    model = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000)
    model.fit(X, y, sample_weight=np.concatenate([targets, 1 - targets]))
    return [float(model.coef_[0, 0]) / unit, float(model.intercept_[0])]


def probabilities(decision: Any, curves: list[list[float]]) -> np.ndarray:
    """Probabilities (n, classes) from decision values and the curves of ``logistic_curves``."""
    from scipy.special import expit

    values = np.asarray(decision, dtype=float).reshape(len(decision), -1)
    if values.shape[1] != len(curves):
        raise ValueError(f"the model has {values.shape[1]} decision values, and {len(curves)} curves of probabilities")
    slopes, offsets = np.transpose(np.asarray(curves, dtype=float))
    found = expit(values * slopes + offsets)
    if len(curves) == 1:
        return np.column_stack([1 - found[:, 0], found[:, 0]])
    sums = found.sum(axis=1, keepdims=True)
    return np.where(sums > 0, found / np.where(sums > 0, sums, 1.0), 1 / found.shape[1])
