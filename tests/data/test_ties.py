"""Groups of identical rows."""

import numpy as np
import pytest
from scipy import sparse

from onefit.data.ties import identical_rows, interchangeable_rows, repeat_first

from ..oracles.problems import seeds


def by_comparison(X):
    """The first identical row of each, by comparing all pairs."""
    return np.array([np.flatnonzero((row == X).all(axis=1))[0] for row in X])


@seeds
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_first_identical_row(seed, order):
    X = np.random.default_rng(seed).integers(-1, 2, (60, 3)) * 0.1
    X = np.array(X * np.where(np.arange(60) % 2, 1.0, -1.0)[:, None], order=order)  # with zeros of both signs
    assert np.signbit(X[X == 0]).any()
    np.testing.assert_array_equal(identical_rows(X), by_comparison(X))


@seeds
def test_wide_rows_that_differ_in_one_column(seed):
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(5, 200)), 6, axis=0)
    X[np.arange(30), rng.integers(0, 200, 30)] += np.arange(30) % 3  # a third of the copies is left as it was
    np.testing.assert_array_equal(identical_rows(X), by_comparison(X))
    assert 5 < len(np.unique(identical_rows(X))) < 30
    X[:, 7] = np.arange(30)
    assert identical_rows(X) is None


@seeds
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_sparse_rows(seed, kind):
    X = np.random.default_rng(seed).integers(0, 2, (40, 4)) * 1.5
    np.testing.assert_array_equal(identical_rows(kind(X)), by_comparison(X))


def test_sparse_rows_that_are_stored_in_different_ways():
    data, indices = [1.0, 2.0, 2.0, 1.0, 0.5, 0.5, 2.0, -0.0, 1.0, 2.0], [0, 1, 1, 0, 0, 0, 1, 2, 0, 1]
    X = sparse.csr_array((data, indices, [0, 2, 4, 7, 10, 10]), shape=(5, 3))
    np.testing.assert_array_equal(X.toarray()[:4], np.tile([1.0, 2.0, 0.0], (4, 1)))
    assert identical_rows(X).tolist() == [0, 0, 0, 0, 4]
    assert X.nnz == 10  # it was not changed


def test_rows_that_all_differ_and_no_rows_at_all():
    assert identical_rows(np.arange(12.0).reshape(6, 2)) is None
    assert identical_rows(sparse.eye_array(5, format="csr")) is None
    assert identical_rows(np.empty((0, 3))) is None


def test_rows_without_columns_are_identical():
    assert identical_rows(np.empty((3, 0))).tolist() == [0, 0, 0]


def test_values_are_repeated_in_place_along_an_axis():
    values = np.arange(12.0).reshape(2, 3, 2)
    repeat_first(values, np.array([7, 2, 7]), axis=1)
    np.testing.assert_array_equal(values[:, 2], values[:, 0])
    np.testing.assert_array_equal(values[:, 1], [[2, 3], [8, 9]])
    before = values.copy()
    for first in (None, np.array([1, 0, 2])):
        repeat_first(values, first, axis=1)
        np.testing.assert_array_equal(values, before)


def test_leaving_out_rows_with_other_targets_or_weights_is_something_else():
    first, Y = np.array([0, 0, 0, 0, 4]), np.array([[1.0], [1.0], [-1.0], [1.0], [1.0]])
    groups = interchangeable_rows(first, Y, np.array([1.0, 1.0, 1.0, 2.0, 1.0]))
    assert [(groups == group).sum() for group in groups] == [2, 2, 1, 1, 1]
    groups = interchangeable_rows(first, Y, None)
    assert [(groups == group).sum() for group in groups] == [3, 3, 1, 3, 1]
    assert interchangeable_rows(None, Y, None) is None
