"""Factors without each of several blocks, against a factorisation of each."""

import numpy as np
import pytest

from onefit.linalg.leave_out import leave_out_factors


def blocks_of(M):
    return lambda rows, columns: np.ascontiguousarray(M[np.ix_(rows, columns)])


@pytest.mark.parametrize(("m", "t", "rest"), [(7, 3, 0), (40, 10, 3), (50, 5, 0), (30, 2, 5), (30, 1, 5), (12, 12, 0)])
@pytest.mark.parametrize("seed", range(3))
def test_every_factor_is_that_of_the_remaining_rows(m, t, rest, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, m))
    M = A @ A.T + np.eye(m)
    blocks = np.array_split(rng.permutation(m - rest), t)
    U = np.full((m + 2, m + 2), np.nan)
    found = 0
    for block, order in zip(blocks, leave_out_factors(blocks_of(M), m, blocks, U)):
        assert sorted(order) == sorted(set(range(m)) - set(block.tolist()))
        triangle = np.triu(U[: len(order), : len(order)])
        np.testing.assert_allclose(triangle.T @ triangle, M[np.ix_(order, order)], atol=1e-10)
        found += 1
    assert found == t


def test_blocks_may_be_empty():
    M = np.diag([1.0, 2.0, 3.0])
    blocks = [np.array([], dtype=np.intp), np.array([1], dtype=np.intp)]
    U = np.empty((3, 3))
    for block, order in zip(blocks, leave_out_factors(blocks_of(M), 3, blocks, U)):
        np.testing.assert_allclose(np.diagonal(U)[: len(order)] ** 2, np.diagonal(M)[order])
        assert len(order) == 3 - len(block)


def test_an_indefinite_matrix_has_no_factors():
    M = np.diag([1.0, -1.0, 1.0, 1.0])
    blocks = [np.array([i]) for i in range(4)]
    orders = list(leave_out_factors(blocks_of(M), 4, blocks, np.empty((4, 4))))
    assert [order is None for order in orders] == [True, False, True, True]
