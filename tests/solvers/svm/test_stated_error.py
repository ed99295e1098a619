"""The error that is stated with exact values bounds their distance to extended-precision arithmetic."""

import numpy as np
import pytest

from onefit.data import Targets
from onefit.kernels import Gaussian, Linear
from onefit.solvers.least_squares.learner import SquareLoss

from ...oracles.extended import extended_predict, extended_solve
from ...oracles.problems import partition, points, row_weights, smooth_targets
from ..running import heldout, workspace

N = 24
PATHS = {"short path": np.logspace(-10, 2, 4), "long path": np.logspace(-10, 2, 9)}
FLOOR = 100 * np.finfo(float).eps  # of the largest value: no bound need be smaller than this

KERNELS = {
    "medium": (Gaussian(0.5), 0.0),
    "very wide": (Gaussian(1e-4), 0.0),
    "linear, far from the origin": (Linear(), 100.0),
}


def weights_of(kind, seed):
    if kind == "eight decades":
        return 10 ** np.random.default_rng(seed).uniform(-4, 4, N)
    return row_weights(seed, N) if kind == "moderate" else None


@pytest.mark.parametrize(("kernel", "offset"), KERNELS.values(), ids=KERNELS.keys())
@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
@pytest.mark.parametrize("kind", ["no weights", "moderate", "eight decades"])
@pytest.mark.parametrize("scale_penalty", [False, True], ids=["sum", "mean"])
@pytest.mark.parametrize("ridges", PATHS.values(), ids=PATHS.keys())
def test_stated_error_is_never_exceeded(kernel, offset, bias, kind, scale_penalty, ridges):
    for seed in range(2):
        X = points(seed, N) + offset
        Y, K, weights = smooth_targets(seed, X), kernel(X), weights_of(kind, seed)
        splits = partition(seed, N, [1, 4, 7, 12])
        options = {"weights": weights, "bias": bias, "scale_penalty": scale_penalty}
        held = heldout(workspace(X, splits, kernel), Y, ridges, **options)
        assert held.failed.mean() < 0.5
        for number, (train, test) in enumerate(splits):
            share = len(train) / N if scale_penalty else 1.0
            for k in np.flatnonzero(~held.failed):
                ridge = ridges[k] * share
                exact = extended_predict(K, Y, train, test, ridge, weights, bias)
                error = float(np.abs(held.test[number][k] - exact).max())
                largest = max(float(np.abs(exact).max()), np.abs(Y).max())
                assert error <= held.error[k] + FLOOR * largest, f"{error:.3g} > {held.error[k]:.3g} at {ridge:.3g}"


def extended_regression(X, Y, train, test, weights, bias):
    """Weighted least squares in the columns of X, from their differences to the mean if there is a bias."""
    w = np.ones(len(X), dtype=np.longdouble) if weights is None else weights.astype(np.longdouble)
    w, X, Y = w[train, None], X.astype(np.longdouble), Y.astype(np.longdouble)
    centre = (w * X[train]).sum(axis=0) / w.sum() if bias else 0
    mean = (w * Y[train]).sum(axis=0) / w.sum() if bias else 0
    A, B = X - centre, Y[train] - mean
    return A[test] @ extended_solve(A[train].T @ (w * A[train]), A[train].T @ (w * B)) + mean


@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
@pytest.mark.parametrize("kind", ["no weights", "moderate"])
@pytest.mark.parametrize("offset", [0, 100, 10_000, 1_000_000])
def test_stated_error_of_least_squares_solutions(bias, kind, offset):
    """Whole numbers: K is singular and has no rounding itself."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.integers(-5, 6, size=(N, 6)) + float(offset)
        Y, weights, splits = rng.normal(size=(N, 1)), weights_of(kind, seed), partition(seed, N, [1, 4, 7, 12])
        gram, ridges = workspace(X, splits, Linear()), np.array([0.0, 1e-300])
        held = SquareLoss(bias, minimum_norm=True).heldout(gram, Targets(Y, weights), ridges)
        assert held.least_squares.all()
        for (train, test), part in zip(splits, held.test, strict=True):
            exact = extended_regression(X, Y, train, test, weights, bias)
            largest = max(float(np.abs(exact).max()), np.abs(Y).max())
            error = np.abs(part - exact).max(axis=(1, 2))
            assert (error <= held.error + FLOOR * largest).all(), f"{error} > {held.error}"
