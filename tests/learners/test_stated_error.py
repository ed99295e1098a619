"""The error that is stated with exact values bounds their distance to extended-precision arithmetic."""

import numpy as np
import pytest

from onefit.kernels import Gaussian, Linear

from ..oracles.extended import extended_predict
from ..oracles.problems import partition, points, row_weights, smooth_targets
from .running import heldout, workspace

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
