"""Squared distances keep their digits where the usual formula loses them."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from onefit.kernels.bases import sqdist

from ..oracles.distances import exact_squared_distances, largest_relative_error
from ..oracles.problems import points, seeds


@seeds
@pytest.mark.parametrize("offset", [0.0, 1.0, 1e4, 1e8])
@pytest.mark.parametrize("d", [1, 5])
def test_offset_data(seed, offset, d):
    X, Y = points(seed, 25, d) + offset, points(seed + 100, 18, d) + offset
    assert largest_relative_error(sqdist(X), exact_squared_distances(X)) < 1e-9
    assert largest_relative_error(sqdist(X, Y), exact_squared_distances(X, Y)) < 1e-9


@seeds
@pytest.mark.parametrize("spread", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize("d", [1, 5])
def test_a_cluster_far_from_an_outlier(seed, spread, d):
    X = spread * points(seed, 25, d)
    X[7] = 1e6
    assert largest_relative_error(sqdist(X), exact_squared_distances(X)) < 1e-9


@seeds
def test_two_clusters_and_a_test_set_far_from_the_training_set(seed):
    X, Y = points(seed, 20), points(seed + 100, 15) + 1e5
    X[10:] += 1e5
    assert largest_relative_error(sqdist(X, Y), exact_squared_distances(X, Y)) < 1e-9


@seeds
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_nearly_duplicated_points(seed, scale):
    X = scale * points(seed, 20)
    X[10:] = X[:10] * (1 + 1e-9)
    assert largest_relative_error(sqdist(X), exact_squared_distances(X)) < 1e-9


@seeds
@pytest.mark.parametrize("offset", [0.0, 3.0, 1e8])
def test_diagonal_duplicates_sign_and_symmetry_are_exact(seed, offset):
    X = points(seed, 120, 4) + offset
    X[60:80] = X[:20]
    D = sqdist(X)
    assert (D.diagonal() == 0).all()
    assert (D[np.arange(20), np.arange(60, 80)] == 0).all()
    assert (D >= 0).all()
    np.testing.assert_array_equal(D, D.T)
    assert (sqdist(X, X.copy()).diagonal() == 0).all()


@seeds
@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_data(seed, offset, kind):
    X = sparse.random(25, 8, density=0.3, random_state=seed).toarray()
    X[X != 0] += offset
    Y = X[::2] + (np.arange(8) == 3)
    X[20:] = X[:5]
    assert largest_relative_error(sqdist(kind(X)), exact_squared_distances(X)) < 1e-9
    assert largest_relative_error(sqdist(kind(X), kind(Y)), exact_squared_distances(X, Y)) < 1e-9
    D = sqdist(kind(X))
    assert (D.diagonal() == 0).all()
    assert (D >= 0).all()
    np.testing.assert_array_equal(D, D.T)


def test_matrices_larger_than_a_block_of_memory():
    X = points(0, 1200, 3) + 1e4
    X[600:] = X[:600]
    D = sqdist(X)
    np.testing.assert_allclose(D, cdist(X, X, "sqeuclidean"), rtol=1e-9)
    np.testing.assert_allclose(sqdist(X[:700], X), D[:700], rtol=1e-9)
    assert (D[np.arange(600), np.arange(600, 1200)] == 0).all()


def test_one_row_and_identical_rows():
    np.testing.assert_array_equal(sqdist(np.array([[3.0, 4.0]])), [[0.0]])
    np.testing.assert_array_equal(sqdist(np.full((6, 2), 0.1)), np.zeros((6, 6)))


def test_wide_data_with_many_close_pairs_take_little_memory():
    """All pairs are close here (an outlier is far from the rest): only a few may be recomputed at once."""
    X = points(0, 150, 1000)  # 1.2 MB
    X[0] = 1e4
    sqdist(X[:2])
    tracemalloc.start()
    sqdist(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64e6
