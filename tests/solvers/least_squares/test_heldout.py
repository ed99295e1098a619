"""Out-of-fold values of least squares are those of machines that were really retrained."""

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

from onefit.kernels import Gaussian, Laplacian, Linear, Matern, Polynomial

from ...oracles.problems import partition, points, row_weights, seeds, smooth_targets, two_seeds
from ..running import assert_same_as_retraining

N = 32
ROWS = np.arange(N)
ONE, PATH = [0.3], np.logspace(-6, 6, 16)


def bootstrap(seed):
    """Training rows drawn with replacement, tested on the rows that were not drawn."""
    rng = np.random.default_rng(seed)
    draws = [rng.integers(N, size=N) for _ in range(3)]
    return [(train, np.setdiff1d(ROWS, train)) for train in draws]


SPLITS = {
    "five folds": lambda seed: list(KFold(5, shuffle=True, random_state=seed).split(ROWS)),
    "two folds": lambda seed: list(KFold(2, shuffle=True, random_state=seed).split(ROWS)),
    "unequal folds": lambda seed: partition(seed, N, [1, 3, 8, 20]),
    "ten percent": lambda seed: list(ShuffleSplit(4, test_size=0.1, random_state=seed).split(ROWS)),
    "sixty percent": lambda seed: list(ShuffleSplit(4, test_size=0.6, random_state=seed).split(ROWS)),
    "unused rows": lambda seed: list(ShuffleSplit(4, test_size=0.2, train_size=0.5, random_state=seed).split(ROWS)),
    "repeated folds": lambda seed: list(RepeatedKFold(n_splits=4, n_repeats=2, random_state=seed).split(ROWS)),
    "time series": lambda seed: list(TimeSeriesSplit(4).split(ROWS)),
    "predefined": lambda seed: list(PredefinedSplit(np.random.default_rng(seed).integers(-1, 4, size=N)).split()),
    "leave one out": lambda seed: list(LeaveOneOut().split(ROWS)),
    "leave one out, shuffled": lambda seed: [list(LeaveOneOut().split(ROWS))[i] for i in _shuffled(seed)],
    "bootstrap": bootstrap,
    "tested rows were trained on": lambda seed: [(ROWS[:22], ROWS[15:]), (ROWS[8:], ROWS[:12])],
    "some rows tested twice": lambda seed: [(ROWS[:20], np.r_[31, 21, 21, 25]), (ROWS[28:0:-1], np.r_[29, 0, 29])],
    "one training row": lambda seed: [(ROWS[:1], ROWS[1:]), (ROWS[5:7], ROWS[20:])],
}


def _shuffled(seed):
    return np.random.default_rng(seed).permutation(N)


every_split = pytest.mark.parametrize("splits", SPLITS.values(), ids=SPLITS.keys())
biases = pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
penalties = pytest.mark.parametrize("scale_penalty", [False, True], ids=["sum", "mean"])
paths = pytest.mark.parametrize("ridges", [ONE, PATH], ids=["one ridge", "path"])


@two_seeds
@every_split
@biases
@penalties
@paths
def test_every_kind_of_split(seed, splits, bias, scale_penalty, ridges):
    X = points(seed, N)
    Y = smooth_targets(seed, X, 2)
    assert_same_as_retraining(X, Y, splits(seed), Gaussian(0.5), ridges, bias=bias, scale_penalty=scale_penalty)


@two_seeds
@every_split
@biases
@penalties
@pytest.mark.quick(10)
def test_weighted_rows(seed, splits, bias, scale_penalty):
    X = points(seed, N)
    Y = smooth_targets(seed, X)
    options = {"weights": row_weights(seed, N), "bias": bias, "scale_penalty": scale_penalty}
    assert_same_as_retraining(X, Y, splits(seed), Gaussian(0.5), PATH, **options)
    assert_same_as_retraining(X, Y, splits(seed), Gaussian(0.5), ONE, **options)


@two_seeds
@biases
@penalties
@paths
@pytest.mark.parametrize("name", ["five folds", "sixty percent", "unused rows", "leave one out", "bootstrap"])
def test_rows_of_weight_zero_are_predicted_but_not_trained_on(seed, bias, scale_penalty, ridges, name):
    X = points(seed, N)
    weights = row_weights(seed, N)
    weights[_shuffled(seed)[:9]] = 0.0
    options = {"weights": weights, "bias": bias, "scale_penalty": scale_penalty}
    assert_same_as_retraining(X, smooth_targets(seed, X), SPLITS[name](seed), Gaussian(0.5), ridges, **options)


@seeds
@biases
@penalties
@paths
def test_weights_that_differ_between_splits(seed, bias, scale_penalty, ridges):
    X = points(seed, N)
    splits = SPLITS["unequal folds"](seed)
    weights = [row_weights(seed + number, N) for number in range(len(splits))]
    weights[1][_shuffled(seed)[:5]] = 0.0
    options = {"weights": weights, "bias": bias, "scale_penalty": scale_penalty}
    assert_same_as_retraining(X, smooth_targets(seed, X, 3), splits, Gaussian(0.5), ridges, **options)


KERNELS = {
    "linear": Linear(),
    "quadratic": Polynomial(2, 0.5),
    "wide": Gaussian(1e-6),
    "medium": Gaussian(0.05),
    "narrow": Gaussian(30.0),
    "identity": Gaussian(1e9),
    "rough": Matern(1.0, 0.5),
    "constant": Gaussian(0.0),
    "zero": 0 * Gaussian(1.0),
    "sum": Linear() + 0.1 * Laplacian(1.0) * Polynomial(2, 1.0),
}


@two_seeds
@biases
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
@pytest.mark.parametrize("name", ["unequal folds", "leave one out"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.quick(8)
def test_every_kind_of_gram_matrix(seed, bias, kernel, name, weighted):
    X = points(seed, N)
    options = {"weights": row_weights(seed, N) if weighted else None, "bias": bias}
    for ridges in (ONE, PATH):
        assert_same_as_retraining(X, smooth_targets(seed, X), SPLITS[name](seed), kernel, ridges, **options)


@seeds
@biases
def test_groups_of_duplicated_rows(seed, bias):
    X = points(seed, N)
    X[:6] = X[10:16]
    X[20:23] = X[23]
    for kernel in (Gaussian(0.5), Gaussian(1e6)):
        splits = SPLITS["five folds"](seed)
        assert_same_as_retraining(X, smooth_targets(seed, X), splits, kernel, PATH, bias=bias)


@seeds
@biases
@pytest.mark.parametrize("n", [6, 9])
def test_leave_two_out(seed, bias, n):
    X = points(seed, n)
    splits = list(LeavePOut(2).split(X))
    assert_same_as_retraining(X, smooth_targets(seed, X, 2), splits, Gaussian(0.5), PATH, bias=bias)


@biases
@pytest.mark.parametrize("n", [2, 3])
def test_the_smallest_problems(bias, n):
    X = points(0, n)
    splits = list(LeaveOneOut().split(X))
    assert_same_as_retraining(X, smooth_targets(0, X), splits, Gaussian(0.5), PATH, bias=bias)


@seeds
@biases
def test_routes_are_chosen_by_the_number_of_ridges(seed, bias):
    """The ledger shows which factorisations served the splits."""
    X = points(seed, N)
    Y = smooth_targets(seed, X)
    folds = list(KFold(10, shuffle=True, random_state=seed).split(X))
    few = assert_same_as_retraining(X, Y, folds, Gaussian(0.5), [0.1, 1.0], bias=bias)
    assert (few["gram"], few["eigendecomposition"], few["cholesky"]) == (1, 0, 2)
    many = assert_same_as_retraining(X, Y, folds, Gaussian(0.5), PATH, bias=bias)
    assert (many["gram"], many["band form"], many["eigendecomposition"], many["cholesky"]) == (1, 1, 0, 0)
    smaller = assert_same_as_retraining(X, Y, SPLITS["sixty percent"](seed), Gaussian(0.5), PATH, bias=bias)
    assert (smaller["base"], smaller["band form"], smaller["cholesky"]) == (1, 0, 4)


@seeds
@biases
def test_larger_problems(seed, bias):
    X = points(seed, 150, 5)
    Y = smooth_targets(seed, X, 2)
    splits = partition(seed, 150, [10, 15, 25, 40, 60])
    assert_same_as_retraining(X, Y, splits, Gaussian(0.1), PATH[::3], bias=bias)
