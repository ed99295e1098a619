"""Splits: what is refused, and what they allow."""

import numpy as np
import pytest
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    LeavePOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)

from onefit.data import Folds

from ..oracles.problems import partition, seeds

N = 20
GOOD = (np.arange(10, 20), np.arange(10))

WRONG = {
    "empty test": (np.arange(10), [], "test set of split 1 is empty"),
    "empty training": ([], np.arange(10), "training set of split 1 is empty"),
    "empty test mask": (np.arange(10), np.zeros(N, dtype=bool), "test set of split 1 is empty"),
    "empty training mask": (np.zeros(N, dtype=bool), np.arange(10), "training set of split 1 is empty"),
    "test too large": (np.arange(10), [3, N], "test set of split 1 has row numbers outside 0 … 19"),
    "training too large": ([3, N + 5], [1], "training set of split 1 has row numbers outside 0 … 19"),
    "too negative": ([0, 1], [-N - 1], "test set of split 1 has row numbers outside"),
    "short mask": (np.ones(N - 1, dtype=bool), [1], "training mask of split 1 has 19 entries for 20 rows"),
    "long mask": (np.arange(10), np.ones(N + 1, dtype=bool), "test mask of split 1 has 21 entries for 20 rows"),
    "not whole numbers": ([0.5, 1.5], [1], "training set of split 1 must be a list of row numbers or a mask"),
    "two dimensions": ([[0, 1], [2, 3]], [4], "training set of split 1 must be a list"),
    "text": (["a", "b"], [4], "training set of split 1 must be a list"),
}


@pytest.mark.parametrize(("train", "test", "message"), WRONG.values(), ids=WRONG.keys())
def test_impossible_splits_are_refused_by_number(train, test, message):
    with pytest.raises(ValueError, match=message):
        Folds.from_splits([GOOD, (train, test)], N)


def test_no_splits_at_all_are_refused():
    with pytest.raises(ValueError, match="No splits"):
        Folds.from_splits(iter([]), N)


def test_masks_lists_and_negative_rows_mean_the_same_rows():
    mask = np.arange(N) < 6
    folds = [
        Folds.from_splits([given], N).folds[0]
        for given in [
            (~mask, mask),
            (list(range(6, N)), list(range(6))),
            (np.arange(6 - N, 0), np.arange(-N, 6 - N)),
            (np.arange(6, N, dtype=np.uint8), np.arange(6, dtype=np.uint64)),
        ]
    ]
    for fold in folds:
        np.testing.assert_array_equal(fold.train, np.arange(6, N))
        np.testing.assert_array_equal(fold.test, np.arange(6))
        np.testing.assert_array_equal(fold.removed, np.arange(6))


SPLITTERS = {
    "k-fold": (KFold(6, shuffle=True, random_state=0), True, False),
    "repeated": (RepeatedKFold(n_splits=4, n_repeats=3, random_state=0), True, False),
    "shuffle": (ShuffleSplit(5, test_size=0.6, random_state=0), True, False),
    "shuffle with unused rows": (ShuffleSplit(5, test_size=0.2, train_size=0.5, random_state=0), True, False),
    "time series": (TimeSeriesSplit(4), True, False),
    "predefined": (PredefinedSplit(np.arange(N) % 4 - 1), True, False),
    "leave one out": (LeaveOneOut(), True, True),
    "leave two out": (LeavePOut(2), True, False),
}


@pytest.mark.parametrize(("splitter", "removable", "leave_one_out"), SPLITTERS.values(), ids=SPLITTERS.keys())
def test_what_splitters_allow(splitter, removable, leave_one_out):
    splits = list(splitter.split(np.zeros((N, 1))))
    folds = Folds.from_splits(splits, N)
    assert len(folds) == len(splits)
    assert folds.removable is removable
    assert folds.leave_one_out is leave_one_out
    assert list(folds.training_sizes) == [len(train) for train, _ in splits]
    for fold, (train, test) in zip(folds, splits):
        np.testing.assert_array_equal(fold.removed, np.setdiff1d(np.arange(N), train))
        np.testing.assert_array_equal(fold.removed[fold.test_in_removed], test)


@seeds
def test_tested_rows_are_found_among_the_removed_in_their_own_order(seed):
    for train, test in partition(seed, N, [7, 1, 12]):
        shuffled = np.concatenate([test[::-1], test[:1]])  # a row may be tested twice
        fold = Folds.from_splits([(train, shuffled)], N).folds[0]
        np.testing.assert_array_equal(fold.removed[fold.test_in_removed], shuffled)


def test_splits_that_the_identities_cannot_serve():
    rows = np.arange(N)
    duplicated = Folds.from_splits([(np.r_[rows[:10], rows[:10]], rows[10:])], N)
    overlapping = Folds.from_splits([(rows[:15], rows[10:])], N)
    for folds in (duplicated, overlapping):
        assert not folds.removable
        assert not folds.leave_one_out
    assert duplicated.training_sizes == (10,)
    assert overlapping.training_sizes == (15,)
    assert Folds.from_splits([(np.array([3, 1, 2]), np.array([7]))], N).removable


def test_leave_one_out_must_leave_out_every_row_once():
    splits = list(LeaveOneOut().split(np.zeros(N)))
    assert Folds.from_splits(splits[::-1], N).leave_one_out
    assert not Folds.from_splits(splits[:-1], N).leave_one_out
    assert not Folds.from_splits([*splits[:-1], splits[0]], N).leave_one_out
    smaller = [(train[:-1], test) for train, test in splits]
    assert not Folds.from_splits(smaller, N).leave_one_out
