"""Base matrices are shared, Gram matrices are fresh, and wrong ones are refused."""

import numpy as np
import pytest
from scipy import sparse

from onefit.data import Folds, Problem
from onefit.kernels import Function, Gaussian, Laplacian, Linear, Matern, Polynomial, Precomputed, bases

from ..oracles.problems import partition, points, random_gram, random_symmetric, seeds

N = 30

KERNELS = {
    "gaussian": Gaussian(0.3),
    "one base twice": Gaussian(0.3) + 2 * Gaussian(1.0) * Matern(0.5, 2.5),
    "several bases": (Linear() + Laplacian(0.2)) * Polynomial(2, 0.5) + Gaussian(1.0),
    "callable": Function.of(lambda x, z: float(np.minimum(x, z).sum())),
}

kernels = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


def problem(X, **options):
    n = X.shape[0]
    return Problem(X, Folds.from_splits(partition(0, n, [10, 10, n - 20]), n), **options)


@seeds
@kernels
@pytest.mark.parametrize("keep_bases", [True, False])
def test_gram_matrices_and_blocks(seed, kernel, keep_bases):
    X = points(seed, N)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(N)[:7], rng.integers(N, size=9)  # columns repeat
    p = problem(X, keep_bases=keep_bases)
    K = kernel(X)
    for _ in range(2):
        np.testing.assert_allclose(p.gram(kernel), K, rtol=1e-12)
        np.testing.assert_allclose(p.gram(kernel, rows), K[np.ix_(rows, rows)], rtol=1e-12)
        np.testing.assert_allclose(p.gram(kernel, rows, columns), K[np.ix_(rows, columns)], rtol=1e-12)


@kernels
@pytest.mark.parametrize("n", [21, 63, 64, 65, 130])
def test_gram_matrices_are_their_mirror_images(kernel, n):
    """Half of the entries are computed, in strips."""
    X = points(n, n)
    K = problem(X).gram(kernel)
    np.testing.assert_allclose(K, kernel(X), rtol=1e-12)
    np.testing.assert_array_equal(K, K.T)


@kernels
def test_each_base_is_computed_once_however_often_it_is_read(kernel):
    p = problem(points(0, N))
    for _ in range(3):
        p.gram(kernel)
    p.gram(kernel, np.arange(5))
    assert p.ledger["base"] == len(kernel.bases)
    assert p.ledger["gram"] == 4


def test_kernels_of_different_width_share_their_base():
    p = problem(points(0, N))
    for gamma in (0.1, 1.0, 10.0):
        p.gram(Gaussian(gamma) + Matern(gamma))
    assert p.ledger["base"] == 1


def test_gram_matrices_may_be_overwritten():
    p = problem(points(0, N))
    first = p.gram(Gaussian(1.0))
    expected = first.copy()
    first[:] = -1.0
    p.gram(Gaussian(1.0), np.arange(4))[:] = -1.0
    np.testing.assert_array_equal(p.gram(Gaussian(1.0)), expected)


def test_released_bases_are_computed_again():
    p = problem(points(0, N))
    p.gram(Gaussian(1.0) + Linear())
    p.release(wanted=[bases.dot])
    p.gram(Linear())
    assert p.ledger["base"] == 2
    p.gram(Gaussian(1.0))
    assert p.ledger["base"] == 3
    p.release()
    p.gram(Linear())
    assert p.ledger["base"] == 4


@seeds
def test_smallest_off_diagonal(seed):
    X = points(seed, N)
    p = problem(X)
    D = bases.sqdist(X)
    assert p.smallest_off_diagonal(bases.sqdist) == D[~np.eye(N, dtype=bool)].min()
    X[4] = X[9]
    assert problem(X).smallest_off_diagonal(bases.sqdist) == 0.0


def test_sparse_rows():
    X = sparse.random(N, 6, density=0.5, format="csr", random_state=0)
    np.testing.assert_allclose(problem(X).gram(Gaussian(1.0)), Gaussian(1.0)(X.toarray()), rtol=1e-12)


@pytest.mark.parametrize("n", [30, 256, 300])
def test_rounding_asymmetry_of_a_precomputed_gram_matrix_is_averaged_away(n):
    K = random_gram(0, n)
    noisy = K + 1e-9 * np.abs(K).max() * np.random.default_rng(0).uniform(-0.4, 0.4, size=(n, n))
    before = noisy.copy()
    gram = problem(noisy).gram(Precomputed())
    np.testing.assert_array_equal(gram, gram.T)
    np.testing.assert_allclose(gram, (noisy + noisy.T) / 2, rtol=1e-15)
    np.testing.assert_array_equal(noisy, before)


@pytest.mark.parametrize("n", [30, 300])
@pytest.mark.parametrize("place", [(0, 1), (1, 0), (-1, 0), (0, -1), (-1, -2)])
def test_an_asymmetric_gram_matrix_is_refused(n, place):
    K = random_gram(0, n)
    K[place] += 1e-6 * np.abs(K).max()
    with pytest.raises(ValueError, match="must be symmetric"):
        problem(K).gram(Precomputed())


def test_a_gram_matrix_that_is_not_square_is_refused():
    with pytest.raises(ValueError, match=r"must be square, got shape \(30, 29\)"):
        problem(random_gram(0, N)[:, 1:]).gram(Precomputed())


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_gram_matrix_with_missing_values_is_refused(value):
    K = random_gram(0, N)
    K[3, 4] = K[4, 3] = value
    with pytest.raises(ValueError, match=r"NaN|nan|infin|finite"):
        problem(K).gram(Precomputed())


def test_an_antisymmetric_part_at_the_limit_is_measured_against_the_largest_entry():
    K = random_symmetric(0, N)
    K[0, 1] += 0.5e-8 * np.abs(K).max()
    problem(K).gram(Precomputed())
    K[0, 1] += 1e-8 * np.abs(K).max()
    with pytest.raises(ValueError, match="differ by up to"):
        problem(K).gram(Precomputed())
