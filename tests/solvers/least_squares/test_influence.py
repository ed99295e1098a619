"""The influence-function series against dense matrix powers, and its error bound against retraining."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit

from onefit.kernels import Gaussian, Linear, Sigmoid

from ...oracles.decimals import series_values
from ...oracles.influence import hat_matrix, series
from ...oracles.least_squares import pool_leave_one_out, retrain
from ...oracles.problems import partition, points, row_weights, seeds, smooth_targets, two_seeds
from ..running import heldout, workspace

N = 30
RIDGES = np.array([0.02, 0.5, 10.0])

SPLITS = {
    "five folds": lambda seed: list(KFold(5, shuffle=True, random_state=seed).split(np.arange(N))),
    "unequal folds": lambda seed: partition(seed, N, [1, 4, 11, 14]),
    "a fold above half": lambda seed: partition(seed, N, [18, 12]),
    "unused rows": lambda seed: list(
        ShuffleSplit(3, test_size=0.2, train_size=0.5, random_state=seed).split(np.arange(N))
    ),
    "leave one out": lambda seed: list(LeaveOneOut().split(np.arange(N))),
}

every_split = pytest.mark.parametrize("splits", SPLITS.values(), ids=SPLITS.keys())
biases = pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
penalties = pytest.mark.parametrize("scale_penalty", [False, True], ids=["sum", "mean"])
weightings = pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])


def dense_series(K, Y, splits, order, weights, bias, mean_loss):
    """Out-of-fold values of every split, from the literal formula."""
    hats = [hat_matrix(K, ridge, weights, bias) for ridge in RIDGES]
    parts = []
    for train, test in splits:
        removed = np.setdiff1d(np.arange(N), train)
        parts.append(np.array([series(H, Y, removed, order, mean_loss)[test] for H in hats]))
    return [pool_leave_one_out(splits, parts)] if len(splits) == N else parts


@two_seeds
@every_split
@biases
@penalties
@weightings
@pytest.mark.parametrize("order", [1, 2, 5, 20])
def test_series_equals_matrix_powers(seed, splits, bias, scale_penalty, weighted, order):
    X, splits = points(seed, N), splits(seed)
    Y, weights = smooth_targets(seed, X, 2), row_weights(seed, N) if weighted else None
    expected = dense_series(Gaussian(0.3)(X), Y, splits, order, weights, bias, scale_penalty)
    options = {"weights": weights, "bias": bias, "scale_penalty": scale_penalty, "order": order}
    held = heldout(workspace(X, splits, Gaussian(0.3)), Y, RIDGES, **options)
    assert not held.exact
    for actual, wanted in zip(held.test, expected, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=0, atol=1e-10 * max(1.0, np.abs(wanted).max()))


@seeds
@every_split
@biases
@penalties
@weightings
def test_the_whole_series_is_retraining(seed, splits, bias, scale_penalty, weighted):
    X, splits = points(seed, N), splits(seed)
    Y, weights, K = smooth_targets(seed, X), row_weights(seed, N) if weighted else None, Gaussian(0.3)(X)
    options = {"weights": weights, "bias": bias, "scale_penalty": scale_penalty}
    summed = dense_series(K, Y, splits, np.inf, weights, bias, scale_penalty)
    tested, _ = retrain(K, Y, splits, RIDGES, **options)
    tested = [pool_leave_one_out(splits, tested)] if len(splits) == N else tested
    held = heldout(workspace(X, splits, Gaussian(0.3)), Y, RIDGES, order=np.inf, **options)
    assert held.exact
    for actual, by_series, by_training in zip(held.test, summed, tested, strict=True):
        np.testing.assert_allclose(by_series, by_training, atol=1e-8)
        np.testing.assert_allclose(actual, by_training, atol=1e-8)


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(1e-6), Gaussian(1e9), Gaussian(3.0)], ids=str)
@biases
@penalties
@pytest.mark.parametrize("order", [1, 5])
def test_series_of_structured_gram_matrices(kernel, bias, scale_penalty, order):
    X, splits = points(0, N), SPLITS["unequal folds"](0)
    Y = smooth_targets(0, X)
    expected = dense_series(kernel(X), Y, splits, order, None, bias, scale_penalty)
    held = heldout(workspace(X, splits, kernel), Y, RIDGES, bias=bias, scale_penalty=scale_penalty, order=order)
    for actual, wanted in zip(held.test, expected, strict=True):
        np.testing.assert_allclose(actual, wanted, atol=1e-9)


@biases
@penalties
@weightings
@pytest.mark.parametrize("name", ["five folds", "unequal folds", "a fold above half", "leave one out"])
def test_the_stated_bound_is_never_violated(bias, scale_penalty, weighted, name):
    """10 random problems for each of 32 cases: kernel width, order and ridges are drawn too."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, splits = points(seed, N, 1 + seed % 4), SPLITS[name](seed)
        Y, weights = smooth_targets(seed, X), row_weights(seed, N) if weighted else None
        kernel, order = Gaussian(10 ** rng.uniform(-2, 1)), int(rng.integers(1, 12))
        options = {"weights": weights, "bias": bias, "scale_penalty": scale_penalty}
        ridges = np.sort(10 ** rng.uniform(-3, 2, size=4))
        tested, _ = retrain(kernel(X), Y, splits, ridges, **options)
        tested = [pool_leave_one_out(splits, tested)] if len(splits) == N else tested
        held = heldout(workspace(X, splits, kernel), Y, ridges, order=order, **options)
        error = np.max([np.abs(a - b).max(axis=(1, 2)) for a, b in zip(held.test, tested)], axis=0)
        assert (error <= held.error + 1e-9).all()


@seeds
@biases
@pytest.mark.parametrize("name", ["five folds", "unequal folds", "leave one out", "a fold above half"])
def test_the_bound_is_finite_and_shrinks_for_a_sum_of_losses(seed, bias, name):
    X, splits = points(seed, N), SPLITS[name](seed)
    Y = smooth_targets(seed, X)
    bounds = [
        heldout(workspace(X, splits, Gaussian(0.3)), Y, RIDGES, bias=bias, order=order).error
        for order in (1, 5, 25, 125)
    ]
    assert np.isfinite(bounds).all()
    assert (np.diff(bounds, axis=0) <= 0).all()
    assert bounds[-1][-1] < 1e-6


@seeds
@pytest.mark.parametrize("name", ["five folds", "unequal folds", "leave one out"])
def test_the_bound_is_finite_and_shrinks_for_a_mean_of_losses_without_bias(seed, name):
    X, splits = points(seed, N), SPLITS[name](seed)
    Y = smooth_targets(seed, X)
    bounds = [
        heldout(workspace(X, splits, Gaussian(0.3)), Y, RIDGES, scale_penalty=True, order=order).error
        for order in (1, 5, 25, 125)
    ]
    assert np.isfinite(bounds).all()
    assert (np.diff(bounds, axis=0) <= 0).all()


@seeds
@biases
def test_a_diverging_series_has_no_finite_bound(seed, bias):
    """A fold above half of the data, a tiny penalty on the mean loss: the terms grow."""
    X, splits = points(seed, N), partition(seed, N, [24, 6])
    Y, ridges = smooth_targets(seed, X), np.array([1e-6])
    gram = workspace(X, splits, Gaussian(0.3))
    early, late = (heldout(gram, Y, ridges, bias=bias, scale_penalty=True, order=order) for order in (5, 60))
    assert np.abs(late.test[0]).max() > 1e6 * np.abs(early.test[0]).max()
    assert late.error.tolist() == [np.inf]


@seeds
@penalties
def test_indefinite_kernels_state_no_finite_bound_where_the_series_may_diverge(seed, scale_penalty):
    X, splits = points(seed, N), SPLITS["unequal folds"](seed)
    kernel = Sigmoid(0.5, -0.5)
    Y, ridges = smooth_targets(seed, X), np.array([0.37])
    tested, _ = retrain(kernel(X), Y, splits, ridges, scale_penalty=scale_penalty)
    held = heldout(workspace(X, splits, kernel), Y, ridges, scale_penalty=scale_penalty, order=5)
    error = max(np.abs(a - b).max() for a, b in zip(held.test, tested))
    assert error <= held.error[0]


@seeds
@biases
def test_training_values_of_a_series_are_those_of_its_own_coefficients(seed, bias):
    """Order 200 has converged: what on_train is told are the values of the retrained machine."""
    X, splits = points(seed, N), SPLITS["five folds"](seed)
    Y, ridges = smooth_targets(seed, X), np.array([3.0, 10.0])
    _, trained = retrain(Gaussian(0.3)(X), Y, splits, ridges, bias=bias)
    told = {}
    heldout(
        workspace(X, splits, Gaussian(0.3)),
        Y,
        ridges,
        bias=bias,
        order=200,
        on_train=lambda number, positions, values: told.update({number: values}),
    )
    for number, expected in enumerate(trained):
        np.testing.assert_allclose(told[number], expected, atol=1e-8)


@pytest.mark.parametrize("ridge", [3.0, 300.0])
@pytest.mark.parametrize("order", [1, 5, 25])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("alone", [False, True])
def test_values_below_the_rounding_of_the_targets(ridge, order, weighted, bias, alone):
    """A narrow kernel and a large ridge: the series tells the sign of a value that y - residual would lose."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), rng.permutation(np.repeat([-1.0, 1.0], 6))
    weights = rng.uniform(0.5, 2.0, 12) if weighted else None
    splits = list((LeaveOneOut() if alone else KFold(4)).split(X))
    held = heldout(
        workspace(X, splits, Gaussian(60.0)), y[:, None], np.array([ridge]), order=order, weights=weights, bias=bias
    )
    found = [held.test[0][0, test, 0] for _, test in splits] if alone else [part[0, :, 0] for part in held.test]
    K = workspace(X, splits, Gaussian(60.0)).dense()
    for (_, test), values in zip(splits, found, strict=True):
        expected = series_values(K, y, ridge, test, order, weights, bias)
        np.testing.assert_allclose(values, expected, rtol=1e-3, atol=1e-15 if bias else 0)
