"""Running the learner on plain arrays."""

import numpy as np

from onefit.data import Folds, Problem, Targets
from onefit.gram import DenseGram
from onefit.kernels import Precomputed
from onefit.machines.contract import Series
from onefit.solvers.least_squares.learner import SquareLoss

from ..oracles.least_squares import assert_path_close, pool_leave_one_out, retrain, tolerances


def workspace(X, splits, kernel):
    """A DenseGram of its own for the rows and splits."""
    return DenseGram(Problem(X, Folds.from_splits(splits, len(X))), kernel.bound(X.shape[1]))


def heldout(gram, Y, ridges, *, weights=None, bias=False, order=None, **options):
    """Out-of-fold values; ``weights`` may be a list with one array per split; ``order`` is that of a series."""
    weights = tuple(weights) if isinstance(weights, list) else weights
    if order is not None:
        options["series"] = Series(order)
    return SquareLoss(bias).heldout(gram, Targets(Y, weights), np.asarray(ridges, dtype=float), **options)


def heldout_of_gram(K, Y, splits, ridges, **options):
    """Out-of-fold values for a precomputed Gram matrix."""
    return heldout(workspace(K, splits, Precomputed()), Y, ridges, **options)


class Reports:
    """Collects what ``on_train`` is told, into arrays (L, training rows, c).

    What is computed again is reported once more, with the whole path and NaN at the other penalties.
    """

    def __init__(self, splits, n_ridges, c):
        self.values = [np.full((n_ridges, len(train), c), np.nan) for train, _ in splits]
        self.last = [-1] * len(splits)

    def __call__(self, number, positions, values):
        if self.last[number] == len(self.values[number]) - 1:
            assert len(positions) == len(self.values[number])
            self.values[number] = np.where(np.isnan(values), self.values[number], values)
            return
        assert positions[0] == self.last[number] + 1, "every position once, in order"
        self.last[number] = positions[-1]
        self.values[number][positions] = values


def assert_same_as_retraining(X, Y, splits, kernel, ridges, *, weights=None, bias=False, scale_penalty=False):
    """Out-of-fold and training values of every split, and of every third ridge, are those of retrained machines."""
    K = kernel(X)
    largest_weight = 1.0 if weights is None else np.max(weights)
    smallest_share = min(len(train) for train, _ in splits) / len(K) if scale_penalty else 1.0
    tolerance = tolerances(K * largest_weight, Y, np.array(ridges[::3]) * smallest_share)
    tested, trained = retrain(K, Y, splits, ridges[::3], weights=weights, bias=bias, scale_penalty=scale_penalty)
    gram = workspace(X, splits, kernel)
    options = {"weights": weights, "bias": bias, "scale_penalty": scale_penalty}
    held = heldout(gram, Y, ridges, **options)
    if gram.problem.folds.leave_one_out:
        tested = [pool_leave_one_out(splits, tested)]
    assert held.exact
    assert not held.failed.any()
    assert len(held.test) == len(tested)
    for actual, expected in zip(held.test, tested):
        assert_path_close(actual[::3], expected, tolerance)
    reports = Reports(splits, len(ridges), Y.shape[1])
    again = heldout(workspace(X, splits, kernel), Y, ridges, on_train=reports, **options)
    for actual, expected in zip(again.test, tested):
        assert_path_close(actual[::3], expected, tolerance)
    assert reports.last == [len(ridges) - 1] * len(splits)
    for actual, expected in zip(reports.values, trained):
        assert_path_close(actual[::3], expected, tolerance)
    return gram.problem.ledger
