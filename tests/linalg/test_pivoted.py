"""Matrices of low rank from a few columns, against what they have to leave."""

import numpy as np
import pytest

from onefit.linalg.pivoted import pivoted_cholesky, towards_eigenvectors

from ..oracles.problems import random_gram, seeds


@seeds
@pytest.mark.parametrize("rank", [0, 1, 7, 20, 50])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_rest_is_the_schur_complement_of_its_columns(seed, rank, kind):
    K = random_gram(seed, 30).astype(kind)
    G, rest = pivoted_cholesky(K, rank)
    exact = K.astype(np.float64)
    assert G.shape[0] <= min(rank, 30)
    left = exact - G.T @ G
    np.testing.assert_allclose(rest, np.diagonal(left), atol=1e-6 * exact.max())
    assert np.linalg.eigvalsh(left)[0] > -1e-6 * exact.max()
    taken = np.flatnonzero(np.abs(left).max(axis=0) <= 1e-6 * exact.max())  # its columns are gone
    assert len(taken) >= len(G)


def test_the_largest_diagonal_entries_come_first():
    G, rest = pivoted_cholesky(np.diag([1.0, 5.0, 3.0, 0.0]), 2)
    np.testing.assert_allclose(G, [[0, np.sqrt(5), 0, 0], [0, 0, np.sqrt(3), 0]])
    np.testing.assert_allclose(rest, [1, 0, 0, 0])


def test_it_ends_where_rounding_begins():
    X = np.random.default_rng(0).normal(size=(40, 3))
    G, rest = pivoted_cholesky(X @ X.T, 20)
    assert len(G) == 3
    np.testing.assert_allclose(G.T @ G, X @ X.T, atol=1e-12)
    assert rest.max() < 1e-12
    assert len(pivoted_cholesky(np.zeros((4, 4)), 2)[0]) == 0
    assert pivoted_cholesky(np.zeros((0, 0)), 2)[0].shape == (0, 0)


@seeds
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_few_large_eigenvalues_are_found(seed, kind):
    rng, K = np.random.default_rng(seed), 0.01 * random_gram(seed, 80)
    K /= np.abs(K).max()
    X = rng.normal(size=(80, 3))
    K += X @ X.T  # three eigenvalues of about 80
    G = towards_eigenvectors(K.astype(kind), pivoted_cholesky(K, 8)[0])
    values, vectors = np.linalg.eigh(K)
    np.testing.assert_allclose((G[:3] ** 2).sum(axis=1), values[:-4:-1], rtol=1e-3)
    for row, vector in zip(G[:3], vectors.T[::-1]):
        assert abs(row @ vector) > 0.999 * np.linalg.norm(row)
    left = K - G.T @ G
    assert np.linalg.eigvalsh(left)[0] > -1e-5 * values[-1]
    assert (np.diff((G**2).sum(axis=1)) <= 0).all()


def test_of_a_matrix_of_low_rank_all_is_found():
    X = np.random.default_rng(0).normal(size=(40, 3))
    for K in (X @ X.T, np.ones((40, 40)), 1e-60 * (X @ X.T), 1e60 * (X @ X.T)):
        G = towards_eigenvectors(K, pivoted_cholesky(K, 10)[0])
        assert len(G) <= 3
        np.testing.assert_allclose(G.T @ G, K, atol=1e-12 * np.abs(K).max())
