"""Independent data sets, and splits of them into training and test rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from ... import datasets
from ..sampling import seed_of

CLASSIFICATION = (
    "australian", "breast-w683", "diabetes", "german.numer", "fourclass", "heart", "ionosphere", "sonar",
    "liver-disorders", "a9a", "splice", "svmguide3", "colic", "hepatitis", "labor", "vote", "tic-tac-toe", "wdbc",
    "wpbc", "susy_30k", "mushrooms", "w8a", "skin_nonskin", "covtype_10k",
    "anneal", "autos", "glass", "segment", "vehicle", "iris", "wine", "digits",
)  # fmt: skip
"""Each once: no scaled copies, no pairs of classes of a set that is here, one of a1a, a2a and a9a, of pima and
diabetes, of bupa and liver-disorders, and of the three forms of breast-w."""

REGRESSION = (
    "abalone", "bodyfat", "cadata", "cpusmall", "diabetes-progression", "eunite2001", "housing", "mg", "mpg", "pyrim",
    "space_ga", "triazines",
)  # fmt: skip

SETS = CLASSIFICATION + REGRESSION

MOST_TESTED = 2000
"""Rows, at most, that errors are taken over: their standard error is then at most 1.1 points."""


@dataclass(frozen=True)
class Split:
    """Training and test rows, both scaled by means and deviations of the training rows; so are targets of regressions.

    Errors are percentages: of wrong labels, or mean squares relative to the variance of the training targets.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[Any]
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]

    @property
    def classifies(self) -> bool:
        return self.name in CLASSIFICATION

    @property
    def n_classes(self) -> int:
        return len(np.unique(self.y)) if self.classifies else 0


def training_rows(name: str, rows: int) -> int:
    """The number of training rows: as many as asked for, at most two thirds of the set."""
    return min(rows, 2 * datasets.info(name).rows // 3)


@lru_cache(maxsize=1)
def split_of(name: str, rows: int, number: int) -> Split:
    """One random split, stratified by class, which depends on its name only; machines follow one another on it."""
    X, y = datasets.load(name)
    classifies = name in CLASSIFICATION
    train, test = train_test_split(
        np.arange(len(y)),
        train_size=training_rows(name, rows),
        stratify=y if classifies else None,
        random_state=seed_of("regret", name, rows, number),
    )
    test = test[:MOST_TESTED]
    dense = [np.asarray(part.toarray() if hasattr(part, "toarray") else part, float) for part in (X[train], X[test])]
    scaler = StandardScaler().fit(dense[0])
    targets = np.asarray(y)[train], np.asarray(y)[test]
    if not classifies:
        mean, spread = targets[0].mean(), targets[0].std()
        targets = (targets[0] - mean) / spread, (targets[1] - mean) / spread
    return Split(name, scaler.transform(dense[0]), targets[0], scaler.transform(dense[1]), targets[1])
