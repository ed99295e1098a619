"""A Cholesky factor that follows a set of indices, compared with factorising anew."""

import numpy as np
import pytest

from onefit.native import factor, twins

from ..oracles.problems import random_gram, seeds

pytestmark = pytest.mark.slow  # the inside of the engine, whose values tests/public checks

sizes = pytest.mark.parametrize("m", [1, 2, 7, 60])


def factorised(seed, m, spare=3):
    """(definite matrix, array with its factor in the leading block and rubbish elsewhere)."""
    M = random_gram(seed, m + spare) / m + np.eye(m + spare)
    U = np.full((m + spare, m + spare), 1e6)
    U[:m, :m] = np.where(np.tri(m, k=-1, dtype=bool), -1e6, np.linalg.cholesky(M[:m, :m]).T)
    return M, U


def assert_factor(U, M):
    """``UᵀU = M``, reading the upper triangle only."""
    upper = np.triu(U[: len(M), : len(M)])
    np.testing.assert_allclose(upper.T @ upper, M, atol=1e-10)
    assert (np.diagonal(upper) > 0).all()


@seeds
@sizes
@pytest.mark.parametrize("name", ["solve_transposed", "solve_upper"])
def test_solves_are_those_of_numpy_and_of_the_twin(seed, m, name):
    _, U = factorised(seed, m)
    right = np.random.default_rng(seed).normal(size=m + 2)
    upper = np.triu(U[:m, :m])
    expected = np.linalg.solve(upper.T if name == "solve_transposed" else upper, right[:m])
    for module in (factor, twins):
        x = right.copy()
        getattr(module, name)(U, m, x)
        np.testing.assert_allclose(x[:m], expected, atol=1e-10)
        np.testing.assert_array_equal(x[m:], right[m:])


def grow(module, U, M, old, new, smallest=1e-12):
    """Take the indices ``new`` into the factor of the indices ``old``."""
    columns = np.full((len(old) + len(new), len(new) + 1), 5.0)  # more room than needed
    columns[:, : len(new)] = M[np.ix_([*old, *new], new)]
    module.append(U, len(old), columns, np.diagonal(M)[new].copy(), len(new), smallest)


@seeds
@sizes
@pytest.mark.parametrize("count", [1, 2, 5])
def test_append_takes_in_some_indices(seed, m, count):
    M, U = factorised(seed, m, spare=7)
    for module in (factor, twins):
        V = U.copy()
        grow(module, V, M, range(m), np.arange(m, m + count))
        assert_factor(V, M[: m + count, : m + count])
        np.testing.assert_array_equal(V[:m, :m], U[:m, :m])
        np.testing.assert_array_equal(V[m + count :], U[m + count :])
        np.testing.assert_array_equal(V[:, m + count :], U[:, m + count :])


@pytest.mark.parametrize("module", [factor, twins])
def test_append_to_nothing(module):
    U = np.full((3, 3), 9.0)
    grow(module, U, np.array([[4.0, 2.0], [2.0, 10.0]]), [], [0, 1])
    np.testing.assert_allclose(np.triu(U), [[2.0, 1.0, 9.0], [0.0, 3.0, 9.0], [0.0, 0.0, 9.0]])


@seeds
@pytest.mark.parametrize("module", [factor, twins])
def test_a_pivot_is_never_smaller_than_the_smallest(seed, module):
    """The same index twice leaves a pivot of zero, or less by rounding."""
    M, U = factorised(seed, 20)
    grow(module, U, M, range(20), [4], smallest=1e-6)
    assert U[20, 20] == pytest.approx(1e-3, rel=1e-12)
    np.testing.assert_allclose(np.triu(U[:20, :20]).T @ U[:20, 20], M[:20, 4], atol=1e-10)


@seeds
@sizes
@pytest.mark.parametrize("where", [0.0, 0.5, 1.0])
def test_remove_leaves_out_one_index(seed, m, where):
    M, U = factorised(seed, m)
    p = int(where * (m - 1))
    kept = np.delete(np.arange(m), p)
    rights = np.random.default_rng(seed).normal(size=(2, m))
    solved = np.linalg.solve(np.linalg.cholesky(M[:m, :m]), rights.T).T
    expected = np.linalg.solve(np.linalg.cholesky(M[np.ix_(kept, kept)]), rights[:, kept].T).T
    for module in (factor, twins):
        V, x, y = U.copy(), solved[0].copy(), solved[1].copy()
        module.remove(V, m, p, x, y)
        assert_factor(V, M[np.ix_(kept, kept)])
        np.testing.assert_allclose([x[: m - 1], y[: m - 1]], expected, atol=1e-10)
        np.testing.assert_array_equal(V[m:], U[m:])
        np.testing.assert_array_equal(V[:, m:], U[:, m:])


@seeds
@pytest.mark.parametrize("module", [factor, twins])
def test_many_changes_in_a_row(seed, module):
    """A random walk of a set of indices: its factor stays that of the set."""
    rng = np.random.default_rng(seed)
    n = 30
    M, U = random_gram(seed, n) / n + np.eye(n), np.full((n, n), np.nan)
    members, most = [], 0
    for _ in range(150):
        outside = np.setdiff1d(np.arange(n), members)
        if members and (len(outside) == 0 or rng.uniform() < 0.65):
            p = int(rng.integers(len(members)))
            module.remove(U, len(members), p, np.zeros(n), np.zeros(n))
            del members[p]
        else:
            new = rng.choice(outside, size=min(len(outside), int(rng.integers(1, 4))), replace=False)
            grow(module, U, M, members, new)
            members += new.tolist()
        assert_factor(U, M[np.ix_(members, members)])
        most = max(most, len(members))
    assert most > 10


@seeds
@pytest.mark.parametrize("m", [0, 1, 5, 12])
def test_gather_writes_the_upper_triangle(seed, m):
    rng = np.random.default_rng(seed)
    K, ridge, F = random_gram(seed, 12), rng.uniform(size=12), rng.permutation(12)
    expected = np.array([[K[i, j] + 0.7 + (ridge[i] if i == j else 0.0) for j in F[:m]] for i in F[:m]])
    for module in (factor, twins):
        U = np.full((12, 12), 3.0)
        module.gather(K, F, m, 0.7, ridge, U)
        for a in range(12):
            for b in range(12):
                assert U[a, b] == pytest.approx(expected[a, b] if a <= b < m else 3.0, abs=1e-12)
