"""How sure the choice of a candidate is: its probability of being best, by a paired bootstrap of out-of-fold values."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from .understanding import can_be_computed

CANDIDATES = 12
"""Best candidates that are compared."""

REPLICATES = 2000
"""Samples of the rows."""

SECONDS = 10.0
"""Time after which no further candidate is taken into the comparison."""

_AT_ONCE = 2_000_000  # weights of rows in samples that are held in memory

Merit = Callable[[np.ndarray], np.ndarray]
"""From the weights of the rows in samples, (samples, n), to a candidate's score on each of them; larger is better."""


@dataclass(frozen=True, eq=False)
class Sureness:
    """Candidates of the search by rank, their scores on all rows, and the share of samples in which each is best."""

    candidates: list[int]
    values: np.ndarray
    shares: np.ndarray
    score: str
    rows: int


def shares_of_best(merits: list[Merit], n: int, replicates: int = REPLICATES) -> np.ndarray:
    """In which share of samples of n rows, drawn with replacement, each candidate has the largest score.

    Samples are the same for all candidates, so that a row that is hard for all of them does not count. Candidates that
    tie share the sample. Cost: O(replicates n) for each candidate.
    """
    rng = np.random.default_rng(0)
    shares = np.zeros(len(merits))
    for start in range(0, replicates, at_once := max(1, _AT_ONCE // n)):
        weights = rng.multinomial(n, np.full(n, 1 / n), size=min(at_once, replicates - start)).astype(float)
        scores = np.array([merit(weights) for merit in merits])
        best = scores >= scores.max(axis=0) - 1e-12
        shares += (best / best.sum(axis=0)).sum(axis=1)
    return shares / replicates


def mean_of(points: np.ndarray) -> Merit:
    """The mean of a number for each row."""
    return lambda weights: weights @ points / weights.sum(axis=1)


def mean_of_classes(points: np.ndarray, y: np.ndarray) -> Merit:
    """The mean over classes of the mean over their rows."""
    members = [y == label for label in np.unique(y)]

    def merit(weights: np.ndarray) -> np.ndarray:
        sums = [weights[:, rows].sum(axis=1) for rows in members]
        means = [weights[:, rows] @ points[rows] / np.maximum(size, 1.0) for rows, size in zip(members, sums)]
        return np.mean(means, axis=0)

    return merit


def area_under_roc(values: np.ndarray, positive: np.ndarray) -> Merit:
    """The probability that a positive row has a larger value than another, ties counted half."""
    order = np.argsort(values, kind="stable")
    ranked, hits = values[order], positive[order]
    first = np.searchsorted(ranked, ranked, side="left")
    last = np.searchsorted(ranked, ranked, side="right")

    def merit(weights: np.ndarray) -> np.ndarray:
        sorted_weights = weights[:, order]
        below = np.concatenate([np.zeros((len(weights), 1)), np.cumsum(sorted_weights * ~hits, axis=1)], axis=1)
        middle = (below[:, first] + below[:, last]) / 2
        pairs = (sorted_weights * hits).sum(axis=1) * below[:, -1]
        return (sorted_weights * hits * middle).sum(axis=1) / np.maximum(pairs, 1.0)

    return merit


def sureness_of(search: Any, scores: Any, X: Any, y: Any, groups: Any = None) -> Sureness | None:
    """The comparison of the best candidates of a search on its data; None for scores other than those known here.

    Each candidate costs what its part of the search did: one solution for all folds, no training.
    """
    from .. import cross_val_decision

    if len(scores) < 2 or not can_be_computed(search, scores, X, y):
        return None
    y = np.asarray(y)
    order = [i for i in np.argsort(scores.ranks, kind="stable")[:CANDIDATES] if np.isfinite(scores.values[i])]
    start, found, values = time.perf_counter(), [], []
    for i in order:
        model = clone(search.estimator).set_params(**scores.params[i])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                held_out = cross_val_decision(model, X, y, cv=search.cv, groups=groups, preprocessing="shared")
            except (ValueError, TypeError):
                return None
        found.append(int(i))
        values.append(np.asarray(held_out, dtype=float))
        if time.perf_counter() - start > SECONDS:
            break
    known = np.all([np.isfinite(each.reshape(len(y), -1)).all(axis=1) for each in values], axis=0)
    merits = [_merit(scores.name, is_classifier(search.estimator), each[known], y[known]) for each in values]
    if len(found) < 2 or known.sum() < 2 or any(merit is None for merit in merits):
        return None
    usable = [merit for merit in merits if merit is not None]
    all_rows = np.ones((1, int(known.sum())))
    totals = np.array([float(merit(all_rows)[0]) for merit in usable])
    return Sureness(found, totals, shares_of_best(usable, int(known.sum())), scores.name, int(known.sum()))


def _merit(score: str, classifier: bool, values: np.ndarray, y: np.ndarray) -> Merit | None:
    """The score of pooled out-of-fold values as a function of the rows' weights; None for scores that are not known.

    Ranks of R² are those of the negative mean squared error: on the same rows they differ by the spread of the target.
    """
    if not classifier:
        if score in ("R²", "r2", "neg_mean_squared_error", "neg_root_mean_squared_error"):
            return mean_of(-((y - values) ** 2))
        return mean_of(-np.abs(y - values)) if score == "neg_mean_absolute_error" else None
    classes = np.unique(y)
    if score == "roc_auc":
        return area_under_roc(values, y == classes[-1]) if values.ndim == 1 and len(classes) == 2 else None
    labels = np.where(values > 0, classes[-1], classes[0]) if values.ndim == 1 else classes[values.argmax(axis=1)]
    right = (labels == y).astype(float)
    if score == "accuracy":
        return mean_of(right)
    return mean_of_classes(right, y) if score == "balanced_accuracy" else None
