"""Random problems and seeds that the tests share."""

import numpy as np
import pytest

seeds = pytest.mark.parametrize("seed", [0, 1, 2])
two_seeds = pytest.mark.parametrize("seed", [3, 4])  # for large tables of cases


def points(seed, n=40, d=3):
    """n standard normal rows."""
    return np.random.default_rng(seed).normal(size=(n, d))


def smooth_targets(seed, X, c=1):
    """c columns of a smooth function of X with a little noise, away from zero."""
    rng = np.random.default_rng(seed + 1000)
    return np.sin(X @ rng.normal(size=(X.shape[1], c))) + 0.1 * rng.normal(size=(len(X), c)) + 0.5


def row_weights(seed, n):
    """Positive weights that differ by a factor of up to 25."""
    return np.random.default_rng(seed + 2000).uniform(0.2, 5.0, size=n)


def random_gram(seed, n, rank=None):
    """A positive semi-definite matrix of the given rank, with eigenvalues of order n."""
    A = np.random.default_rng(seed).normal(size=(n, rank or 2 * n))
    return A @ A.T


def random_symmetric(seed, n):
    """An indefinite symmetric matrix."""
    A = np.random.default_rng(seed).normal(size=(n, n))
    return (A + A.T) / 2


def unit(vector):
    """The vector at length one."""
    return vector / np.linalg.norm(vector)


def partition(seed, n, sizes):
    """Splits of n shuffled rows that test blocks of the given sizes and train on all other rows."""
    order = np.random.default_rng(seed).permutation(n)
    assert sum(sizes) == n
    tests = np.split(order, np.cumsum(sizes)[:-1])
    return [(np.setdiff1d(np.arange(n), test), test) for test in tests]
