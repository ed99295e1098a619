"""Indefinite Gram matrices, no ridge at all, and systems without a unique solution."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneOut

from onefit.kernels import Gaussian, Linear, Precomputed, Sigmoid

from ...oracles.least_squares import EPS, assert_path_close, pool_leave_one_out, retrain
from ...oracles.problems import partition, points, random_symmetric, row_weights, seeds, smooth_targets
from ..running import heldout, heldout_of_gram, workspace

N = 36
PATH = np.logspace(-6, 6, 10)
biases = pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])


def smallest_pivot(K, splits, ridge, bias):
    """The smallest absolute eigenvalue of any system that is solved: of the training rows, and of all rows."""
    smallest = np.inf
    for train in [train for train, _ in splits] + [np.arange(len(K))]:
        m = len(train)
        system = np.zeros((m + bias, m + bias))
        system[:m, :m] = K[np.ix_(train, train)] + ridge * np.eye(m)
        system[m:, :m] = 1.0
        system[:m, m:] = 1.0
        smallest = min(smallest, np.abs(np.linalg.eigvalsh(system)).min())
    return smallest


def assert_indefinite_same_as_retraining(K, Y, splits, gram, ridges, bias):
    pivots = np.array([smallest_pivot(K, splits, ridge, bias) for ridge in ridges])
    ridges, pivots = ridges[pivots >= 1e-4], pivots[pivots >= 1e-4]
    assert len(ridges) >= 5
    tested, _ = retrain(K, Y, splits, ridges, bias=bias)
    held = heldout(gram, Y, ridges, bias=bias)
    if gram.problem.folds.leave_one_out:
        tested = [pool_leave_one_out(splits, tested)]
    assert not held.failed.any()
    for actual, expected in zip(held.test, tested):
        largest = np.maximum(np.abs(expected).max(axis=(1, 2)), np.abs(Y).max())
        assert_path_close(actual, expected, (1e-8 + 10 * EPS * np.linalg.norm(K, 2) / pivots) * largest)


SPLITS = {
    "five folds": lambda seed: list(KFold(5, shuffle=True, random_state=seed).split(np.arange(N))),
    "unequal folds": lambda seed: partition(seed, N, [1, 5, 10, 20]),
    "leave one out": lambda seed: list(LeaveOneOut().split(np.arange(N))),
}
every_split = pytest.mark.parametrize("splits", SPLITS.values(), ids=SPLITS.keys())


@seeds
@biases
@every_split
def test_sigmoid_kernel(seed, bias, splits):
    X, kernel = points(seed, N), Sigmoid(0.5, -0.5)
    K, Y = kernel(X), smooth_targets(seed, X, 2)
    assert np.linalg.eigvalsh(K)[0] < -1e-3
    assert_indefinite_same_as_retraining(K, Y, splits(seed), workspace(X, splits(seed), kernel), PATH, bias)


@seeds
@biases
@every_split
def test_any_symmetric_matrix(seed, bias, splits):
    K = random_symmetric(seed, N)
    Y = smooth_targets(seed, K[:, :3])
    assert_indefinite_same_as_retraining(K, Y, splits(seed), workspace(K, splits(seed), Precomputed()), PATH, bias)


@seeds
@biases
@every_split
@pytest.mark.parametrize("others", [[], list(np.logspace(-3, 3, 20))], ids=["alone", "on a path"])
def test_no_ridge_with_a_regular_gram_matrix(seed, bias, splits, others):
    X = points(seed, N)
    kernel = Gaussian(3.0)
    K, Y, ridges = kernel(X), smooth_targets(seed, X, 2), np.array([0.0, *others])
    tolerance = (1e-8 + 100 * EPS * np.linalg.cond(K)) * np.abs(Y).max()
    tested, _ = retrain(K, Y, splits(seed), ridges, bias=bias)
    held = heldout(workspace(X, splits(seed), kernel), Y, ridges, bias=bias)
    if len(splits(seed)) == N:
        tested = [pool_leave_one_out(splits(seed), tested)]
    assert not held.failed.any()
    for actual, expected in zip(held.test, tested):
        assert_path_close(actual, expected, tolerance)


SINGULAR = {
    "low rank": Linear(),
    "zero": 0 * Gaussian(1.0),
    "constant": Gaussian(0.0),
    "one duplicated row": Gaussian(1.0),
}
lengths = pytest.mark.parametrize("n_ridges", [1, 20], ids=["alone", "on a path"])


def path_from(first, n_ridges):
    return np.r_[first, np.logspace(-2, 2, n_ridges - 1)]


def with_a_duplicate(seed):
    X = points(seed, N)
    X[1] = X[0]
    return X


def assert_only_the_first_ridge_is_flagged(held):
    assert held.failed[0]
    assert not held.failed[1:].any()
    for part in held.test:
        assert np.isfinite(part[1:]).all()


@biases
@lengths
@pytest.mark.parametrize("kernel", SINGULAR.values(), ids=SINGULAR.keys())
def test_no_ridge_with_a_singular_gram_matrix_is_flagged(bias, n_ridges, kernel):
    splits = [(np.arange(N - 8), np.arange(N - 8, N)), (np.arange(4, N), np.arange(4))]
    for seed in range(12):
        X = with_a_duplicate(seed)
        gram = workspace(X, splits, kernel)
        held = heldout(gram, smooth_targets(seed, X), path_from(0.0, n_ridges), bias=bias)
        assert_only_the_first_ridge_is_flagged(held)


@biases
@lengths
@pytest.mark.parametrize("kernel", SINGULAR.values(), ids=SINGULAR.keys())
def test_no_ridge_with_a_singular_training_set_is_flagged_fold_by_fold(bias, n_ridges, kernel):
    halves = [(np.arange(N // 2), np.arange(N // 2, N)), (np.arange(N // 2, N), np.arange(N // 2))]
    for seed in range(12):
        X, weights = with_a_duplicate(seed), row_weights(seed, N)
        weights[2] = 0.0  # rows of weight zero: every split is trained by itself
        gram = workspace(X, halves, kernel)
        held = heldout(gram, smooth_targets(seed, X), path_from(0.0, n_ridges), weights=weights, bias=bias)
        assert_only_the_first_ridge_is_flagged(held)


@lengths
@pytest.mark.parametrize("constant", [1.0, 0.1, 1e5 / 3])
def test_a_constant_gram_matrix_leaves_nothing_to_a_machine_with_a_bias(n_ridges, constant):
    """The bias takes the constant: what remains is singular without a ridge, whatever is known of the kernel."""
    splits = [(np.arange(N - 8), np.arange(N - 8, N)), (np.arange(4, N), np.arange(4))]
    Y, weights = smooth_targets(0, points(0, N)), row_weights(0, N)
    K = np.full((N, N), constant)
    held = heldout_of_gram(K, Y, splits, path_from(0.0, n_ridges), bias=True, weights=weights)
    assert_only_the_first_ridge_is_flagged(held)


@biases
@lengths
@pytest.mark.parametrize("ridge", [1e-300, 1e-30])
def test_a_ridge_far_below_rounding_is_flagged_whatever_the_route(bias, n_ridges, ridge):
    for seed in range(12):
        X = with_a_duplicate(seed)
        splits = list(KFold(5, shuffle=True, random_state=seed).split(X))
        gram = workspace(X, splits, Gaussian(1.0))
        held = heldout(gram, smooth_targets(seed, X), path_from(ridge, n_ridges), bias=bias)
        assert_only_the_first_ridge_is_flagged(held)


def test_a_regular_matrix_with_a_singular_training_block_is_flagged():
    """K is indefinite and regular, but the first two rows are alike: training on them has no unique solution."""
    K = np.array([[1.0, 1.0, 0.5], [1.0, 1.0, -0.3], [0.5, -0.3, 2.0]])
    splits = [(np.array([0, 1]), np.array([2])), (np.array([0, 2]), np.array([1]))]
    held = heldout_of_gram(K, np.array([[1.0], [2.0], [3.0]]), splits, [0.0, 1.0])
    assert held.failed.tolist() == [True, False]


def test_the_same_matrix_left_out_one_by_one_is_flagged_too():
    K = np.array([[1.0, 1.0, 0.5], [1.0, 1.0, -0.3], [0.5, -0.3, 2.0]])
    splits = list(LeaveOneOut().split(K))
    held = heldout_of_gram(K, np.array([[1.0], [2.0], [3.0]]), splits, [0.0, 1.0])
    assert held.failed.tolist() == [True, False]


@seeds
@biases
def test_the_data_are_left_alone(seed, bias):
    K = random_symmetric(seed, N)
    Y, weights, ridges = smooth_targets(seed, K[:, :3]), row_weights(seed, N), np.logspace(0, 2, 12)
    before = [array.copy() for array in (K, Y, weights, ridges)]
    heldout_of_gram(K, Y, SPLITS["unequal folds"](seed), ridges, weights=weights, bias=bias)
    for array, copy in zip((K, Y, weights, ridges), before):
        np.testing.assert_array_equal(array, copy)
