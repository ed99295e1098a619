"""Choice of landmarks: nested, distinct, and where the kernel is."""

import numpy as np
import pytest
from scipy import sparse

from onefit.gram.landmarks import choose, middle_kernel, randomly_pivoted_cholesky, reservoir
from onefit.kernels import Gaussian, Linear, Polynomial


def residual(K, chosen):
    """The trace of what is left of K after the chosen rows."""
    part = K[:, chosen] @ np.linalg.pinv(K[np.ix_(chosen, chosen)], hermitian=True, rcond=1e-12) @ K[chosen]
    return np.trace(K - part)


@pytest.mark.parametrize("method", ["pivoted", "kmeans", "uniform"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_landmarks_are_different_rows_and_repeatable(method, container):
    X = container(np.random.default_rng(0).normal(size=(200, 3)))
    chosen = choose(method, X, Gaussian(0.5), 60, np.random.RandomState(1))
    assert len(set(chosen.tolist())) == 60
    assert chosen.min() >= 0
    assert chosen.max() < 200
    again = choose(method, X, Gaussian(0.5), 60, np.random.RandomState(1))
    np.testing.assert_array_equal(chosen, again)


def test_more_landmarks_than_rows_are_all_rows():
    X = np.random.default_rng(0).normal(size=(7, 2))
    assert sorted(choose("pivoted", X, Gaussian(1.0), 50, np.random.RandomState(0))) == list(range(7))


def test_pivots_are_drawn_where_the_kernel_is_left():
    """A cluster far from the others has a pivot among the first few, which uniform rows seldom have."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(990, 2)), 50 + rng.normal(size=(10, 2))])
    K = Gaussian(0.05)(X)
    pivoted, uniform = [], []
    for seed in range(5):
        state = np.random.RandomState(seed)
        pivoted.append(residual(K, choose("pivoted", X, Gaussian(0.05), 30, state)[:30]))
        uniform.append(residual(K, choose("uniform", X, Gaussian(0.05), 30, state)[:30]))
    assert np.median(pivoted) < 0.2 * np.median(uniform)
    first = choose("pivoted", X, Gaussian(0.05), 30, np.random.RandomState(0))[:15]
    assert (first >= 990).any()


def test_the_first_pivot_is_drawn_in_proportion_to_the_diagonal():
    d = np.array([1.0, 2.0, 7.0])
    K = np.diag(d)
    draws = [
        randomly_pivoted_cholesky(lambda i, j: K[np.ix_(i, j)].copy(), d, 1, np.random.RandomState(seed))[0]
        for seed in range(2000)
    ]
    np.testing.assert_allclose(np.bincount(draws) / 2000, d / d.sum(), atol=0.04)


@pytest.mark.slow
def test_the_second_pivot_is_drawn_in_proportion_to_the_residual():
    """Blocks with rejection draw as one by one: frequencies of ordered pairs are compared with their probabilities."""
    A = np.array([[2.0, 0.0], [1.9, 0.3], [0.0, 1.0]])
    K = A @ A.T
    expected = np.zeros((3, 3))
    for i in range(3):
        left = np.clip(np.diag(K) - K[:, i] ** 2 / K[i, i], 0, None)
        expected[i] = np.diag(K)[i] / np.trace(K) * left / left.sum()
    found, count = np.zeros((3, 3)), 4000
    for seed in range(count):
        i, j = randomly_pivoted_cholesky(
            lambda rows, columns: K[np.ix_(rows, columns)].copy(), np.diag(K).copy(), 2, np.random.RandomState(seed)
        )
        found[i, j] += 1 / count
    np.testing.assert_allclose(found, expected, atol=0.03)


def test_rows_fill_up_what_a_low_rank_leaves_open():
    X = np.random.default_rng(0).normal(size=(50, 2))
    chosen = choose("pivoted", X, Linear(), 20, np.random.RandomState(0))
    assert len(set(chosen.tolist())) == 20


def test_the_middle_kernel_is_neither_the_widest_nor_the_narrowest():
    X = np.random.default_rng(0).normal(size=(100, 4))
    kernels = [Gaussian(gamma) for gamma in (10.0, 1e-3, 0.1, 1.0, 0.01)]
    assert middle_kernel(kernels, X) == Gaussian(0.1)
    assert middle_kernel([Polynomial(2)], X) == Polynomial(2)


def test_the_reservoir_is_a_sample_of_rows():
    rows = reservoir(100_000, 100, np.random.RandomState(0))
    assert len(set(rows.tolist())) == len(rows) == 5000
    assert (np.diff(rows) > 0).all()
    assert len(reservoir(300, 1000, np.random.RandomState(0))) == 300
