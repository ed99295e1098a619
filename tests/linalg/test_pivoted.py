"""Matrices of low rank from a few columns, against what they have to leave."""

import numpy as np
import pytest

from onefit.linalg.pivoted import pivoted_cholesky

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
