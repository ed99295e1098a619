"""Random splitters, with the groups they need."""

from __future__ import annotations

from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

LARGEST_LEAVE_ONE_OUT = 40
"""Rows that are left out one by one, at most: GridSearchCV trains once for each."""


def draw(rng, n, classifier):
    """(cv, groups or None)."""
    seed = int(rng.integers(1000))
    kinds = [
        "KFold",
        "ShuffleSplit",
        "RepeatedKFold",
        "GroupKFold",
        "PredefinedSplit",
        "TimeSeriesSplit",
        "list",
        "int",
    ]
    kinds += ["StratifiedKFold"] * 3 * classifier + ["LeaveOneOut"] * (n <= LARGEST_LEAVE_ONE_OUT)
    kind = rng.choice(kinds)
    if kind == "GroupKFold":
        return GroupKFold(3), rng.integers(0, 7, size=n)
    cv = int(rng.integers(2, 6))
    if kind == "KFold":
        shuffle = bool(rng.random() < 0.7)
        cv = KFold(int(rng.integers(2, 8)), shuffle=shuffle, random_state=seed if shuffle else None)
    elif kind == "ShuffleSplit":
        cv = ShuffleSplit(3, test_size=float(rng.choice([0.2, 0.3, 0.6])), random_state=seed)
    elif kind == "RepeatedKFold":
        cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=seed)
    elif kind == "PredefinedSplit":
        cv = PredefinedSplit(rng.integers(-1, 3, size=n))
    elif kind == "TimeSeriesSplit":
        cv = TimeSeriesSplit(3)
    elif kind == "StratifiedKFold":
        cv = StratifiedKFold(int(rng.integers(2, 5)), shuffle=True, random_state=seed)
    elif kind == "LeaveOneOut":
        cv = LeaveOneOut()
    elif kind == "list":
        rows = rng.permutation(n)
        cv = [(rows[: n // 2], rows[n // 2 :]), (rows[n // 4 :], rows[: n // 3])]
    return cv, None


def tests_single_rows(cv):
    """Whether every test set is a single row, on which some scores are not defined."""
    return isinstance(cv, LeaveOneOut)
