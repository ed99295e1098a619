"""One Gram matrix and one factorisation, or none where the kernel is the identity."""

import numpy as np
import pytest

from onefit.data import Folds, Problem
from onefit.gram import DenseGram
from onefit.kernels import Gaussian, Laplacian, Linear, Matern, Precomputed
from onefit.linalg.factor import EPS
from onefit.linalg.inverse import CholeskyFamily
from onefit.linalg.spectrum import Spectrum

from ..oracles.problems import partition, points, random_symmetric, row_weights, seeds, unit
from ..oracles.spectra import dense_inverse, dense_matrix, norm, projector

N = 60


def dense(X, kernel):
    return DenseGram(Problem(X, Folds.from_splits(partition(0, len(X), [20, 20, len(X) - 40]), len(X))), kernel)


def scaled_gram(K, weights):
    S = np.eye(len(K)) if weights is None else np.diag(np.sqrt(weights))
    return S @ K @ S


@seeds
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", [Gaussian(0.5), Gaussian(1e-7), Linear(), Gaussian(1e4), Laplacian(1.0)])
def test_factors_give_the_inverse_of_the_scaled_gram_matrix(seed, bias, weighted, kernel):
    X = points(seed, N)
    weights = row_weights(seed, N) if weighted else None
    K = scaled_gram(kernel(X), weights)
    null = unit(np.ones(N) if weights is None else np.sqrt(weights)) if bias else None
    for route in ("spectrum", "inverse"):
        factor = dense(X, kernel).factor(weights, bias, route)
        for positions, inverse in factor.inverses(np.array([0.1, 2.0])):
            for place, ridge in enumerate(np.array([0.1, 2.0])[positions]):
                G = dense_inverse(K, ridge, null)
                np.testing.assert_allclose(inverse.apply(np.eye(N))[place], G, atol=1e-10 * np.abs(G).max())


def test_gram_and_factor_are_computed_once():
    gram = dense(points(0, N), Gaussian(0.5))
    first = gram.factor(None, False, "spectrum")
    assert gram.factor(None, False, "spectrum") is first
    assert (gram.problem.ledger["gram"], gram.problem.ledger["eigendecomposition"]) == (1, 1)


def test_factors_and_entries_are_right_in_any_order():
    """A factorisation takes the matrix; who asks afterwards has it computed again."""
    X, weights = points(0, N), row_weights(0, N)
    K, gram = Gaussian(0.5)(X), dense(X, Gaussian(0.5))
    for case in ((None, False), (None, True), (weights, True)):
        np.testing.assert_array_equal(gram.dense(), K)
        P = projector(unit(np.ones(N) if case[0] is None else np.sqrt(weights)), N) if case[1] else np.eye(N)
        expected = P @ scaled_gram(K, case[0]) @ P
        np.testing.assert_allclose(dense_matrix(gram.factor(*case, "spectrum"), N), expected, atol=1e-12)
        np.testing.assert_allclose(gram.times(np.ones((N, 1)))[:, 0], K.sum(axis=1), rtol=1e-12)
    assert gram.problem.ledger["eigendecomposition"] == 3


def test_other_folds_share_the_matrix_and_never_see_it_overwritten():
    X = points(0, N)
    gram = dense(X, Gaussian(0.5))
    K = gram.dense().copy()
    other = gram.with_folds(Folds(N, ()))
    assert other.dense() is gram.dense()
    other.factor(None, False, "spectrum")
    np.testing.assert_array_equal(gram.dense(), K)
    assert len(gram.problem.folds) == 3


def test_a_spectrum_after_an_inverse_takes_its_matrix():
    X = points(0, N)
    gram = dense(X, Gaussian(0.5))
    assert isinstance(gram.factor(None, True, "inverse"), CholeskyFamily)
    spectrum = gram.factor(None, True, "spectrum")
    P = projector(unit(np.ones(N)), N)
    np.testing.assert_allclose(dense_matrix(spectrum, N), P @ Gaussian(0.5)(X) @ P, atol=1e-12)
    assert gram.problem.ledger["gram"] == 1


def test_a_structured_factor_serves_both_routes():
    gram = dense(points(0, N), Linear())
    inverse_route = gram.factor(None, False, "inverse")
    assert isinstance(inverse_route, Spectrum)
    gram.factor(None, False, "spectrum")
    assert gram.problem.ledger["gram"] == 1


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kernel", [Gaussian(1e8), 3 * Laplacian(1e6), Matern(1e-6, 2.5) + 2 * Gaussian(1e9)])
def test_a_very_narrow_kernel_is_recognised_without_a_gram_matrix(kernel, bias):
    X = points(0, N)
    gram = dense(X, kernel)
    spectrum = gram.factor(None, bias, "spectrum")
    K = kernel(X)
    P = projector(spectrum.null, N)
    assert norm(dense_matrix(spectrum, N) - P @ K @ P) <= spectrum.error + 50 * EPS * norm(K)
    assert gram.problem.ledger["gram"] == 0
    assert gram.problem.ledger["eigendecomposition"] == 0


def test_one_close_pair_makes_a_narrow_kernel_more_than_the_identity():
    X = points(0, N)
    X[7] = X[3] + 1e-5
    gram = dense(X, Gaussian(1e8))
    K = Gaussian(1e8)(X)
    assert K[3, 7] > 0.01
    np.testing.assert_allclose(dense_matrix(gram.factor(None, False, "spectrum"), N), K, atol=1e-13)
    assert gram.problem.ledger["eigendecomposition"] == 0


def test_a_kernel_times_zero_is_the_zero_matrix():
    gram = dense(points(0, N), 0 * Gaussian(1.0))
    np.testing.assert_array_equal(dense_matrix(gram.factor(None, False, "spectrum"), N), np.zeros((N, N)))


@seeds
def test_an_indefinite_precomputed_matrix_keeps_its_negative_eigenvalues(seed):
    K = random_symmetric(seed, N)
    spectrum = dense(K, Precomputed()).factor(None, False, "spectrum")
    np.testing.assert_allclose(dense_matrix(spectrum, N), K, atol=1e-12)
    assert spectrum.smallest == pytest.approx(np.linalg.eigvalsh(K)[0])
