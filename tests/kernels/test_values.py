"""Every kernel equals scikit-learn's, on dense and sparse data."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics import pairwise

from onefit.kernels import (
    AdditiveChi2,
    Chi2,
    Cosine,
    Function,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    Sigmoid,
)

from ..oracles.problems import points, seeds

SAME = {"rtol": 1e-12, "atol": 1e-12}

ON_ALL_DATA = {
    "linear": (Linear(), pairwise.linear_kernel),
    "cosine": (Cosine(), pairwise.cosine_similarity),
    "gaussian": (Gaussian(0.3), partial(pairwise.rbf_kernel, gamma=0.3)),
    "gaussian default": (Gaussian(), pairwise.rbf_kernel),
    "gaussian of width zero": (Gaussian(0.0), partial(pairwise.rbf_kernel, gamma=0.0)),
    "laplacian": (Laplacian(0.7), partial(pairwise.laplacian_kernel, gamma=0.7)),
    "laplacian default": (Laplacian(), pairwise.laplacian_kernel),
    "polynomial 1": (Polynomial(1, 0.5, 2.0), partial(pairwise.polynomial_kernel, degree=1, gamma=0.5, coef0=2.0)),
    "polynomial 0": (
        Polynomial(0, 0.5, 2.0),
        lambda X, Y=None: np.ones((X.shape[0], (X if Y is None else Y).shape[0])),
    ),
    "polynomial 5": (Polynomial(5, 0.1, -1.0), partial(pairwise.polynomial_kernel, degree=5, gamma=0.1, coef0=-1.0)),
    "polynomial default": (Polynomial(), pairwise.polynomial_kernel),
    "sigmoid": (Sigmoid(0.2, -0.3), partial(pairwise.sigmoid_kernel, gamma=0.2, coef0=-0.3)),
    "sigmoid default": (Sigmoid(), pairwise.sigmoid_kernel),
}

ON_POSITIVE_DATA = {
    "chi2": (Chi2(0.4), partial(pairwise.chi2_kernel, gamma=0.4)),
    "chi2 default": (Chi2(), pairwise.chi2_kernel),
    "additive chi2": (AdditiveChi2(), pairwise.additive_chi2_kernel),
    "fractional degree": (
        Polynomial(2.5, 0.5, 1.0),
        partial(pairwise.polynomial_kernel, degree=2.5, gamma=0.5, coef0=1.0),
    ),
}


def named(table):
    return pytest.mark.parametrize(("kernel", "oracle"), table.values(), ids=table.keys())


@seeds
@named(ON_ALL_DATA)
def test_dense_data(seed, kernel, oracle):
    X, Y = points(seed, 30, 5), points(seed + 100, 17, 5)
    np.testing.assert_allclose(kernel(X), oracle(X), **SAME)
    np.testing.assert_allclose(kernel(X, Y), oracle(X, Y), **SAME)


@seeds
@named(ON_ALL_DATA)
def test_sparse_data(seed, kernel, oracle):
    X = sparse.random(30, 6, density=0.4, format="csr", random_state=seed)
    Y = sparse.random(13, 6, density=0.4, format="csr", random_state=seed + 1)
    np.testing.assert_allclose(kernel(X), oracle(X.toarray()), **SAME)
    np.testing.assert_allclose(kernel(X, Y), oracle(X.toarray(), Y.toarray()), **SAME)
    np.testing.assert_allclose(kernel(X, Y.toarray()), oracle(X.toarray(), Y.toarray()), **SAME)
    np.testing.assert_allclose(kernel(X.toarray(), Y), oracle(X.toarray(), Y.toarray()), **SAME)


@seeds
@named(ON_POSITIVE_DATA)
def test_positive_data(seed, kernel, oracle):
    X, Y = np.abs(points(seed, 30, 5)), np.abs(points(seed + 100, 17, 5))
    X[3, 2] = 0.0
    np.testing.assert_allclose(kernel(X), oracle(X), **SAME)
    np.testing.assert_allclose(kernel(X, Y), oracle(X, Y), **SAME)


@seeds
@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, np.inf, 0.8, 3.3])
@pytest.mark.parametrize("length_scale", [0.3, 1.0, 4.0])
def test_matern(seed, nu, length_scale):
    X, Y = points(seed, 25), points(seed + 100, 12)
    kernel, oracle = Matern(length_scale, nu), gp.Matern(length_scale, nu=nu)
    np.testing.assert_allclose(kernel(X), oracle(X), **SAME)
    np.testing.assert_allclose(kernel(X, Y), oracle(X, Y), **SAME)


@pytest.mark.parametrize("nu", [10.0, 50.0, 100.0])
def test_matern_nears_the_gaussian_for_large_nu(nu):
    X = points(0, 20)
    X[1] = X[0] + 1e-7  # a close pair, as in real data
    np.testing.assert_allclose(Matern(1.0, nu)(X), gp.RBF(1.0)(X), atol=1.0 / nu)


@seeds
def test_a_callable_is_called_on_every_pair(seed):
    X, Y = points(seed, 9), points(seed + 100, 6)
    kernel = Function.of(_slow_kernel, {"power": 3})
    np.testing.assert_allclose(kernel(X), [[_slow_kernel(x, z, 3) for z in X] for x in X], **SAME)
    np.testing.assert_allclose(kernel(X, Y), [[_slow_kernel(x, z, 3) for z in Y] for x in X], **SAME)


def _slow_kernel(x, z, power=1):
    return float((1.0 + x @ z) ** power)


@seeds
def test_precomputed_returns_a_copy_of_the_gram_matrix(seed):
    K = pairwise.rbf_kernel(points(seed))
    values = Precomputed()(K)
    np.testing.assert_array_equal(values, K)
    assert not np.shares_memory(values, K)
    with pytest.raises(ValueError, match="precomputed"):
        Precomputed()(K, K)


@pytest.mark.parametrize("kernel", [Gaussian(0.5), Linear() + 2 * Matern(), Polynomial() * Cosine()])
def test_two_single_rows_give_a_number(kernel):
    X = points(0, 5)
    assert kernel(X[0], X[1]) == pytest.approx(kernel(X)[0, 1], rel=1e-12)
    np.testing.assert_allclose(pairwise.pairwise_kernels(X, metric=kernel), kernel(X), **SAME)


@seeds
@named({**ON_ALL_DATA, **ON_POSITIVE_DATA})
def test_gram_matrices_are_exactly_symmetric_and_data_are_left_alone(seed, kernel, oracle):
    X = np.abs(points(seed, 60, 7))
    before = X.copy()
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(X, before)


@named({**ON_ALL_DATA, **ON_POSITIVE_DATA})
def test_only_positive_semi_definite_kernels_call_themselves_positive(kernel, oracle):
    for seed in range(5):
        K = oracle(np.abs(points(seed, 25, 2)))
        if kernel.positive:
            eigenvalues = np.linalg.eigvalsh(K)
            assert eigenvalues[0] >= -1e-12 * abs(eigenvalues[-1])


@pytest.mark.parametrize("layout", ["F", "strided", "float32", "integer"])
def test_any_memory_layout(layout):
    X = np.round(points(0, 20, 4) * 4)
    given = {"F": np.asfortranarray(X), "strided": np.repeat(X, 2, axis=1)[:, ::2]}.get(layout)
    if given is None:
        given = X.astype(np.float32 if layout == "float32" else int)
    np.testing.assert_allclose(Gaussian(0.1)(given), Gaussian(0.1)(X), **SAME)
    np.testing.assert_allclose(Linear()(given), Linear()(X), **SAME)


@pytest.mark.parametrize("shape", [(1, 1), (3, 40_000), (40_000, 3), (0, 4), (4, 0)])
@pytest.mark.parametrize("degree", range(6))
def test_powers_of_matrices_of_any_shape(shape, degree):
    """Powers are computed a part at a time: of several rows, or of one that is longer than a part."""
    values = np.random.default_rng(0).normal(size=shape)
    expected = (0.5 * values + 2.0) ** degree
    Polynomial(degree, 0.5, 2.0).map(values)
    np.testing.assert_allclose(values, expected, **SAME)
