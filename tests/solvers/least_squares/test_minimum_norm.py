"""Least-squares solutions of minimum norm of singular systems, against ``numpy.linalg.lstsq`` on every training set."""

import numpy as np
import pytest
from scipy.linalg import null_space
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit

from onefit.data import Targets
from onefit.kernels import Gaussian, Linear, Polynomial, Precomputed
from onefit.machines.contract import Series
from onefit.solvers.least_squares.learner import SquareLoss
from onefit.solvers.least_squares.training import fit_path

from ...oracles.problems import points, random_symmetric, row_weights, seeds, smooth_targets
from ..running import workspace

N = 36
biases = pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
weightings = pytest.mark.parametrize("kind", ["none", "positive", "zeros"])
RIDGES = np.array([0.0, 1e-300, 0.1, 3.0])

KERNELS = {"linear": Linear(), "zero": 0 * Linear(), "quadratic": Polynomial(2), "duplicates": Gaussian(1.0)}
kernels = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


def rows(seed):
    X = points(seed, N)
    X[N // 2 :] = X[: N // 2]  # every row twice, so that nearly every training set has two of the same
    return X


def weights_of(seed, kind):
    if kind == "none":
        return None
    weights = row_weights(seed, N)
    if kind == "zeros":
        weights[::7] = 0.0
    return weights


def least_squares(K, Y, ridge, weights, bias):
    """(dual, intercept) in coordinates scaled by the weights' roots, on the complement of the bias direction."""
    used = np.arange(len(K)) if weights is None else np.flatnonzero(weights)
    scale = np.ones(len(used)) if weights is None else np.sqrt(weights[used])
    A = K[np.ix_(used, used)] * np.outer(scale, scale)
    basis = null_space(scale[None]) if bias else np.eye(len(used))
    system = basis.T @ (A + ridge * np.eye(len(used))) @ basis
    scaled = basis @ np.linalg.lstsq(system, basis.T @ (Y[used] * scale[:, None]))[0]
    dual = np.zeros_like(Y)
    dual[used] = scaled * scale[:, None]
    if not bias:
        return dual, np.zeros(Y.shape[1])
    residuals = Y[used] * scale[:, None] - A @ scaled - ridge * scaled
    return dual, scale @ residuals / (scale @ scale)


def train_and_test(K, Y, splits, ridges, weights, bias, scale_penalty=False):
    """Values of the tested rows and of the training rows of every split, arrays (ridges, rows, columns)."""
    tested, trained = [], []
    for train, test in splits:
        share = len(train) / len(K) if scale_penalty else 1.0
        own = None if weights is None else weights[train]
        solutions = [least_squares(K[np.ix_(train, train)], Y[train], share * r, own, bias) for r in ridges]
        for parts, which in ((tested, test), (trained, train)):
            parts.append(np.array([K[np.ix_(which, train)] @ dual + b for dual, b in solutions]))
    return tested, trained


@seeds
@biases
@kernels
@weightings
def test_a_path_with_singular_systems(seed, bias, kernel, kind):
    X, weights = rows(seed), weights_of(seed, kind)
    K, Y = kernel(X), smooth_targets(seed, X, 2)
    path = fit_path(K.copy(), Y, RIDGES, weights=weights, bias=bias, positive=True, minimum_norm=True)
    assert path.singular.tolist() == [True, K.any(), False, False]
    for k, ridge in enumerate(RIDGES):
        dual, intercept = least_squares(K, Y, ridge, weights, bias)
        np.testing.assert_allclose(path.dual[k], dual, rtol=0, atol=1e-7 * max(1.0, np.abs(dual).max()))
        np.testing.assert_allclose(path.intercept[k], intercept, rtol=0, atol=1e-7 * max(1.0, np.abs(Y).max()))


def test_a_ridge_that_cancels_an_eigenvalue():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    K, Y = (Q * [-3.0, -1.0, 0.5, 1, 2, 3, 4, 5]) @ Q.T, rng.normal(size=(8, 1))
    K = (K + K.T) / 2
    ridge = -float(np.linalg.eigvalsh(K)[1])  # 1, up to the rounding of K
    path = fit_path(K.copy(), Y, np.array([ridge]), minimum_norm=True)
    assert path.singular.tolist() == [True]
    np.testing.assert_allclose(path.dual[0], least_squares(K, Y, ridge, None, False)[0], atol=1e-12)


@pytest.mark.parametrize("constant", [1.0, 3 * 3.7**2, 1e5 / 3])
@weightings
def test_a_constant_gram_matrix_leaves_the_mean_to_a_machine_with_a_bias(constant, kind):
    """What the projection leaves of K is rounding of K, and not to be divided by."""
    Y, weights = smooth_targets(0, points(0, N), 2), weights_of(0, kind)
    K = np.full((N, N), constant)
    path = fit_path(K.copy(), Y, RIDGES[:2], weights=weights, bias=True, positive=True, minimum_norm=True)
    assert path.singular.all()
    mean = np.average(Y, axis=0, weights=weights)
    np.testing.assert_allclose(path.predict(K), np.broadcast_to(mean, (2, *Y.shape)), atol=1e-12)


@biases
@pytest.mark.parametrize("exponent", [100, 200, 300])
def test_entries_whose_squares_overflow(bias, exponent):
    K = random_symmetric(0, N)
    Y = smooth_targets(0, K[:, :3], 2)
    path = fit_path(K * 10.0**exponent, Y, np.array([0.0]), bias=bias, minimum_norm=True)
    dual, intercept = least_squares(K, Y, 0.0, None, bias)
    np.testing.assert_allclose(path.dual[0] * 10.0**exponent, dual, atol=1e-9)
    np.testing.assert_allclose(path.intercept[0], intercept, atol=1e-9)


SPLITS = {
    "five folds": KFold(5, shuffle=True, random_state=0),
    "unequal folds": KFold(7),
    "random subsets": ShuffleSplit(3, test_size=0.3, train_size=0.5, random_state=0),
    "leave one out": LeaveOneOut(),
}


@seeds
@biases
@kernels
@weightings
@pytest.mark.parametrize("cv", SPLITS.values(), ids=SPLITS.keys())
@pytest.mark.parametrize("scale_penalty", [False, True])
def test_held_out_values(seed, bias, kernel, kind, cv, scale_penalty):
    X, weights = rows(seed), weights_of(seed, kind)
    K, Y, splits = kernel(X), smooth_targets(seed, X, 2), list(cv.split(X))
    tested, trained = train_and_test(K, Y, splits, RIDGES, weights, bias, scale_penalty)
    last = {}
    held = SquareLoss(bias, minimum_norm=True).heldout(
        workspace(X, splits, kernel), Targets(Y, weights), RIDGES, scale_penalty=scale_penalty,
        on_train=lambda number, positions, values: last.setdefault(number, []).append((positions, values)),
    )  # fmt: skip
    assert held.exact
    assert not held.failed.any()
    assert held.least_squares.tolist() == [True, K.any(), False, False]
    size = 1e-7 * max(np.abs(Y).max(), *(np.abs(part).max() for part in tested))
    if isinstance(cv, LeaveOneOut):
        tested = [np.concatenate(tested, axis=1)]
    for actual, expected in zip(held.test, tested, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=0, atol=size)
    for number, expected in enumerate(trained):
        told = np.full(expected.shape, np.nan)
        for positions, values in last[number]:
            known = np.isfinite(values)
            told[positions] = np.where(known, values, told[positions])
        np.testing.assert_allclose(told, expected, rtol=0, atol=size)


@biases
def test_beside_a_finite_series(bias):
    """The series has no terms for a singular system: its values are those of training."""
    X = rows(0)
    K, Y, splits = Linear()(X), smooth_targets(0, X, 1), list(KFold(5).split(X))
    learner = SquareLoss(bias, minimum_norm=True)
    plain = SquareLoss(bias).heldout(workspace(X, splits, Linear()), Targets(Y), RIDGES[2:], series=Series(2))
    held = learner.heldout(workspace(X, splits, Linear()), Targets(Y), RIDGES, series=Series(2))
    tested, _ = train_and_test(K, Y, splits, RIDGES, None, bias)
    for actual, expected, series in zip(held.test, tested, plain.test, strict=True):
        np.testing.assert_allclose(actual[:2], expected[:2], atol=1e-9)
        np.testing.assert_allclose(actual[2:], series, atol=1e-9)


def test_a_regular_matrix_with_a_singular_training_block():
    K = np.array([[1.0, 1.0, 0.5], [1.0, 1.0, -0.3], [0.5, -0.3, 2.0]])
    splits = [(np.array([0, 1]), np.array([2])), (np.array([0, 2]), np.array([1]))]
    Y = np.array([[1.0], [2.0], [3.0]])
    gram = workspace(K, splits, Precomputed())
    held = SquareLoss(minimum_norm=True).heldout(gram, Targets(Y), np.array([0.0, 1.0]))
    assert held.least_squares.tolist() == [True, False]
    tested, _ = train_and_test(K, Y, splits, [0.0, 1.0], None, False)
    for actual, expected in zip(held.test, tested, strict=True):
        np.testing.assert_allclose(actual, expected, atol=1e-12)


@seeds
def test_a_ridge_that_cancels_an_eigenvalue_at_the_share_of_one_split(seed):
    """With ``scale_penalty`` the system of all rows is singular at 14/16 of the ridge, not at 12/16."""
    K = random_symmetric(seed, 16)
    K[0] = K[:, 0] = 0.0
    K[0, 0] = -14.0
    Y, ridges = smooth_targets(seed, K[:, :3], 1), np.array([16.0, 100.0])
    splits = [(np.arange(12), np.arange(12, 16)), (np.arange(2, 16), np.arange(2))]
    gram = workspace(K, splits, Precomputed())
    held = SquareLoss(minimum_norm=True).heldout(gram, Targets(Y), ridges, scale_penalty=True)
    tested, _ = train_and_test(K, Y, splits, ridges, None, False, scale_penalty=True)
    for actual, expected in zip(held.test, tested, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-8, atol=1e-8)


def test_a_singular_matrix_with_regular_training_sets():
    """More columns than training rows, but fewer than rows: no split is solved by least squares."""
    X = np.random.default_rng(0).normal(size=(20, 18))
    K, Y, splits = Linear()(X), smooth_targets(0, X, 1), list(KFold(5).split(X))
    held = SquareLoss(minimum_norm=True).heldout(workspace(X, splits, Linear()), Targets(Y), np.array([0.0, 1.0, 2.0]))
    assert held.least_squares.tolist() == [False, False, False]
    tested, _ = train_and_test(K, Y, splits, [0.0, 1.0, 2.0], None, False)
    for actual, expected in zip(held.test, tested, strict=True):
        np.testing.assert_allclose(actual, expected, atol=1e-9)


def test_all_singular_ridges_of_a_split_share_one_decomposition():
    X = np.random.default_rng(0).normal(size=(300, 40))
    X[150:] = X[:150]
    splits = list(KFold(5).split(X))
    gram = workspace(X, splits, Gaussian(0.01))
    ridges = np.r_[0.0, np.logspace(-300, -20, 12)]
    SquareLoss(minimum_norm=True).heldout(gram, Targets(smooth_targets(0, X, 1)), ridges)
    assert gram.problem.ledger.counts["eigendecomposition"] <= 1 + len(splits)
