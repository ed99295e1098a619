"""Training along a path of ridges against one dense solve per ridge."""

import numpy as np
import pytest

from onefit.kernels import Gaussian, Linear, Sigmoid
from onefit.resources import Ledger
from onefit.solvers.least_squares.training import fit_path

from ...oracles.least_squares import EPS, solve
from ...oracles.problems import points, row_weights, seeds, smooth_targets

N = 40
FEW, MANY = np.array([0.01, 3.0]), np.logspace(-3, 3, 30)

KERNELS = {
    "medium": Gaussian(0.3),
    "wide": Gaussian(1e-7),
    "identity": Gaussian(1e9),
    "linear": Linear(),
    "zero": 0 * Linear(),
    "indefinite": Sigmoid(0.1, -0.2),
}

kernels = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
biases = pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
paths = pytest.mark.parametrize("ridges", [FEW, MANY], ids=["few", "many"])


def weights_of(seed, kind):
    if kind == "none":
        return None
    weights = row_weights(seed, N)
    if kind == "zeros":
        weights[np.random.default_rng(seed).permutation(N)[:10]] = 0.0
    return weights


@seeds
@kernels
@biases
@paths
@pytest.mark.parametrize("kind", ["none", "positive", "zeros"])
def test_coefficients_intercepts_and_predictions(seed, kernel, bias, ridges, kind):
    X, weights = points(seed, N), weights_of(seed, kind)
    Y, K = smooth_targets(seed, X, 2), kernel(X)
    new = kernel(points(seed + 50, 15), X)
    path = fit_path(K.copy(), Y, ridges, weights=weights, bias=bias, positive=kernel.positive)
    pivots = _smallest_pivots(K, ridges, weights)
    assert not path.singular.any()
    for k, ridge in enumerate(ridges):
        if pivots[k] < 1e-4:
            continue  # an eigenvalue of the indefinite kernel cancels this ridge
        dual, intercept = solve(K, Y, ridge, weights, bias)
        tolerance = 1e-9 + 1000 * EPS * np.linalg.norm(K) / pivots[k]
        np.testing.assert_allclose(path.dual[k], dual, rtol=0, atol=tolerance * max(1.0, np.abs(dual).max()))
        np.testing.assert_allclose(path.intercept[k], intercept, rtol=0, atol=tolerance * max(1.0, np.abs(dual).max()))
        expected = new @ dual + intercept
        np.testing.assert_allclose(
            path.predict(new)[k], expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max())
        )


def _smallest_pivots(K, ridges, weights):
    kept = np.ones(N, dtype=bool) if weights is None else weights > 0
    scale = np.ones(N) if weights is None else np.sqrt(weights)
    eigenvalues = np.linalg.eigvalsh((K * scale * scale[:, None])[np.ix_(kept, kept)])
    return np.abs(eigenvalues + np.asarray(ridges)[:, None]).min(axis=1)


@seeds
@biases
def test_coefficients_sum_to_zero_with_a_bias_and_vanish_at_weight_zero(seed, bias):
    X, weights = points(seed, N), weights_of(seed, "zeros")
    path = fit_path(Gaussian(0.3)(X), smooth_targets(seed, X), MANY, weights=weights, bias=bias)
    assert (path.dual[:, weights == 0] == 0).all()
    if bias:
        np.testing.assert_allclose(path.dual.sum(axis=1), 0.0, atol=1e-9)
    else:
        assert (path.intercept == 0).all()


@seeds
@biases
def test_a_whole_weight_is_a_repeated_row(seed, bias):
    X = points(seed, N)
    Y, times = smooth_targets(seed, X), np.random.default_rng(seed).integers(1, 4, size=N)
    rows = np.repeat(np.arange(N), times)
    weighted = fit_path(Gaussian(0.3)(X), Y, MANY, weights=times.astype(float), bias=bias)
    repeated = fit_path(Gaussian(0.3)(X[rows]), Y[rows], MANY, bias=bias)
    new = points(seed + 50, 12)
    np.testing.assert_allclose(
        weighted.predict(Gaussian(0.3)(new, X)), repeated.predict(Gaussian(0.3)(new, X[rows])), atol=1e-7
    )


@seeds
def test_a_constant_target_is_its_own_intercept(seed):
    X = points(seed, N)
    path = fit_path(Gaussian(0.3)(X), np.full((N, 1), 7.0), MANY, bias=True, weights=row_weights(seed, N))
    np.testing.assert_allclose(path.intercept, 7.0, rtol=1e-9)
    np.testing.assert_allclose(path.dual, 0.0, atol=1e-8)


@biases
@pytest.mark.parametrize("n_ridges", [1, 30])
def test_no_ridge_with_a_singular_matrix_is_flagged(bias, n_ridges):
    ridges = np.r_[0.0, np.logspace(-2, 2, n_ridges - 1)]
    for seed in range(12):
        X = points(seed, N)
        X[1] = X[0]
        path = fit_path(Gaussian(1.0)(X), smooth_targets(seed, X), ridges, bias=bias, positive=True)
        assert path.singular[0]
        assert not path.singular[1:].any()


def test_nothing_to_train_on_is_refused():
    with pytest.raises(ValueError, match="All sample weights are zero"):
        fit_path(np.eye(3), np.ones((3, 1)), FEW, weights=np.zeros(3))


def test_few_ridges_are_solved_by_cholesky_and_many_by_one_band_form():
    X = points(0, N)
    for ridges, expected in ((FEW, 2), (MANY, 1)):
        ledger = Ledger()
        fit_path(Gaussian(0.3)(X), smooth_targets(0, X), ridges, ledger=ledger, positive=True)
        assert (ledger["cholesky"], ledger["eigendecomposition"]) == (expected, 0)
