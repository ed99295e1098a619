"""Ridge systems from the band form, against dense solves."""

import numpy as np
import pytest

from onefit.linalg._band import reduce_to_band
from onefit.linalg.band import BANDWIDTH, BandForm
from onefit.linalg.factor import NotPositiveDefiniteError

from ..oracles.problems import random_gram, seeds


def matrix(seed, n):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    return A + A.T


@seeds
@pytest.mark.parametrize("n", [2, 5, BANDWIDTH - 1, BANDWIDTH, BANDWIDTH + 1, BANDWIDTH + 2, 100, 3 * BANDWIDTH + 1])
@pytest.mark.parametrize("width", [1, 3, BANDWIDTH])
def test_the_band_form_is_similar_to_the_matrix(seed, n, width):
    """Eigenvalues are kept, indefinite ones too, and the reflections, multiplied out, lead from one to the other."""
    K = matrix(seed, n)
    A = np.asfortranarray(K)
    reflections = reduce_to_band(A, width)
    band = np.tril(A) - np.tril(A, -width - 1)
    B = band + np.tril(band, -1).T
    Q = np.eye(n)
    for first, V, T in reflections:
        reflection = np.eye(n)
        reflection[first:, first:] -= V @ T @ V.T
        Q = Q @ reflection
    scale = np.abs(K).max() * n
    np.testing.assert_allclose(Q.T @ Q, np.eye(n), atol=1e-13 * n)
    np.testing.assert_allclose(Q @ B @ Q.T, K, atol=1e-14 * scale)


@seeds
@pytest.mark.parametrize("n", [1, 2, 20, BANDWIDTH + 1, 150])
@pytest.mark.parametrize("c", [1, 3])
def test_solutions_are_those_of_dense_solves(seed, n, c):
    K, ridges = random_gram(seed, n), np.array([1e-3, 0.1, 1.0, 30.0])
    before = K.copy()
    Y = np.random.default_rng(seed + 10).normal(size=(n, c))
    found = BandForm(K).solve(Y, ridges)
    np.testing.assert_array_equal(K, before)
    assert found.shape == (4, n, c)
    for solution, ridge in zip(found, ridges):
        expected = np.linalg.solve(K + ridge * np.eye(n), Y)
        np.testing.assert_allclose(solution, expected, atol=1e-12 * np.linalg.cond(K + ridge * np.eye(n)))


def test_columns_that_are_zero_already():
    K = np.diag(np.arange(1.0, 91.0))
    found = BandForm(K).solve(np.ones((90, 1)), np.array([0.5]))
    np.testing.assert_allclose(found[0, :, 0], 1.0 / (np.arange(1.0, 91.0) + 0.5), rtol=1e-14)


def test_an_indefinite_system_is_refused():
    with pytest.raises(NotPositiveDefiniteError):
        BandForm(matrix(0, 80)).solve(np.ones((80, 1)), np.array([0.1]))
