"""Cholesky factorisation in a given order: against NumPy's, and pivots by solving with all rows before each."""

import numpy as np
import pytest

from onefit.linalg.ordered_cholesky import ordered_cholesky


def gaussian(seed, m, gamma):
    X = np.random.default_rng(seed).normal(size=(m, 3))
    return np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))


@pytest.mark.parametrize("m", [1, 5, 64, 65, 150])
@pytest.mark.parametrize("seed", range(3))
def test_all_rows_of_a_definite_matrix_are_kept(m, seed):
    K = gaussian(seed, m, 3.0) + 1e-3 * np.eye(m)
    factor = ordered_cholesky(K, 1e-14)
    assert factor.kept.tolist() == list(range(m))
    np.testing.assert_allclose(factor.lower, np.linalg.cholesky(K), atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_row_is_kept_if_it_is_far_from_the_span_of_those_before(seed):
    K, negligible = gaussian(seed, 150, 0.3), 1e-4
    factor = ordered_cholesky(K, negligible)
    kept = []
    for j in range(len(K)):
        before = K[np.ix_(kept, kept)]
        pivot = K[j, j] - K[j, kept] @ np.linalg.solve(before, K[kept, j]) if kept else K[j, j]
        assert (pivot > negligible) == (j in factor.kept)
        if j in factor.kept:
            kept.append(j)
    assert 5 < len(kept) < 150
    np.testing.assert_allclose(factor.lower @ factor.lower.T, K[np.ix_(kept, kept)], atol=1e-12)
    np.testing.assert_array_equal(np.triu(factor.lower, 1), 0.0)


def test_repeated_rows_are_left_out_and_leading_blocks_are_nested():
    K = gaussian(0, 40, 3.0)
    twice = np.tile(K, (2, 2))
    factor = ordered_cholesky(twice, 1e-12)
    assert factor.kept.tolist() == list(range(40))
    part = ordered_cholesky(twice[:17, :17], 1e-12)
    np.testing.assert_allclose(part.lower, factor.lower[:17, :17], atol=1e-13)


def test_a_matrix_that_is_not_positive_semi_definite_is_refused():
    with pytest.raises(ValueError, match="positive semi-definite"):
        ordered_cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]), 1e-12)
