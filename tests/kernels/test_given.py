"""Kernels whose Gram matrix is given."""

import copy

import numpy as np
import pytest

from onefit.kernels import Gaussian, Given, Linear, WeightedSum

from ..oracles.problems import points


def test_entries_are_those_of_the_matrix():
    K = Gaussian(0.5)(points(0, 8))
    kernel = Given(K)
    np.testing.assert_array_equal(kernel(np.arange(8)[:, None]), K)
    np.testing.assert_array_equal(kernel(np.array([[1], [3]]), np.array([[0], [7], [7]])), K[[1, 3]][:, [0, 7, 7]])
    both = WeightedSum([kernel, Given(2.0 * K)], [0.5, 0.25])
    np.testing.assert_allclose(both(np.arange(8)[:, None]), K)


def test_equal_matrices_are_equal_kernels_and_copies_share_them():
    K = Linear()(points(0, 5))
    assert Given(K) == Given(K.copy())
    assert hash(Given(K)) == hash(Given(K))
    assert Given(K) != Given(K + 1.0)
    kernel = Given(K)
    assert copy.deepcopy(kernel).matrix is kernel.matrix
    K[0, 0] = 100.0  # the kernel has its own
    assert kernel(np.array([[0]]))[0, 0] != 100.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Given(np.ones((2, 3))), "square"),
        (lambda: Given([[1.0, 2.0], [0.0, 1.0]]), "symmetric"),
        (lambda: Given([[np.nan]]), "finite"),
        (lambda: Given(np.eye(2))(np.array([[2]])), "2 rows"),
        (lambda: Given(np.eye(2))(np.array([[-1]])), "2 rows"),
        (lambda: Given(np.eye(2))(np.array([[0.5]])), "numbers"),
        (lambda: Given(np.eye(2))(np.array([[0, 1]])), "one column"),
    ],
)
def test_what_makes_no_sense_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
