"""Complete spectra, with and without a direction projected out."""

import numpy as np
import pytest

from onefit.kernels import Gaussian
from onefit.linalg.spectrum import EPS, Spectrum, decompose

from ..oracles.problems import points, random_gram, random_symmetric, row_weights, seeds, unit
from ..oracles.spectra import dense_matrix, norm, projector

N = 40

MATRICES = {
    "full rank": lambda seed: random_gram(seed, N),
    "rank 5": lambda seed: random_gram(seed, N, rank=5),
    "indefinite": lambda seed: random_symmetric(seed, N),
    "zero": lambda seed: np.zeros((N, N)),
    "ones": lambda seed: np.ones((N, N)),
    "identity": lambda seed: np.eye(N),
    "twenty decades": lambda seed: np.diag(np.logspace(-10, 10, N)),
    "one large direction": lambda seed: random_gram(seed, N) + 1e6 * np.ones((N, N)),
}

NULLS = {
    "no null": lambda seed: None,
    "constant": lambda seed: unit(np.ones(N)),
    "negative constant": lambda seed: -unit(np.ones(N)),
    "weighted": lambda seed: unit(np.sqrt(row_weights(seed, N))),
    "first axis": lambda seed: np.eye(N)[0],
    "last axis": lambda seed: np.eye(N)[-1],
}

matrices = pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES.keys())
nulls = pytest.mark.parametrize("null", NULLS.values(), ids=NULLS.keys())


@seeds
@matrices
@nulls
def test_decompose_reproduces_the_projected_matrix(seed, matrix, null):
    K, v = matrix(seed), null(seed)
    spectrum = decompose(K.copy(), v)
    P = projector(v, N)
    size = norm(K)
    assert len(spectrum.values) == N - (v is not None)
    np.testing.assert_allclose(dense_matrix(spectrum, N), P @ K @ P, atol=50 * EPS * size, rtol=0)
    if v is not None:
        np.testing.assert_allclose(spectrum.coupling, K @ v, atol=50 * EPS * size, rtol=0)
        np.testing.assert_array_equal(spectrum.null, v)


@seeds
@matrices
@nulls
def test_vectors_are_orthonormal_and_orthogonal_to_null(seed, matrix, null):
    v = null(seed)
    U = decompose(matrix(seed), v).vectors
    np.testing.assert_allclose(U.T @ U, np.eye(U.shape[1]), atol=100 * EPS)
    if v is not None:
        np.testing.assert_allclose(v @ U, 0.0, atol=100 * EPS)
    assert U.flags.c_contiguous


@seeds
@nulls
def test_rounding_below_zero_is_removed_and_real_negative_eigenvalues_stay(seed, null):
    v = null(seed)
    assert decompose(random_gram(seed, N, rank=5), v).values.min() >= 0
    indefinite = random_symmetric(seed, N)
    P = projector(v, N)
    smallest = decompose(indefinite.copy(), v).values.min()
    assert smallest == pytest.approx(np.linalg.eigvalsh(P @ indefinite @ P)[0], rel=1e-10)
    assert decompose(indefinite, v, positive=True).values.min() == 0.0


@seeds
@pytest.mark.parametrize("gamma", [1e-6, 1e-4, 1e-2])
def test_rounding_is_measured_against_the_matrix_before_the_projection(seed, gamma):
    """A wide Gaussian is nearly constant: on the complement of the constant little more than rounding is left."""
    K = Gaussian(gamma)(points(seed, N))
    assert decompose(K, unit(np.ones(N))).smallest >= 0


def test_any_memory_layout_gives_the_same_spectrum():
    K = random_gram(0, N)
    v = unit(np.ones(N))
    padded = np.zeros((N, 2 * N))
    padded[:, ::2] = K
    expected = decompose(K.copy(), v).values
    np.testing.assert_allclose(decompose(np.asfortranarray(K), v).values, expected, rtol=1e-10)
    np.testing.assert_allclose(decompose(padded[:, ::2], v).values, expected, rtol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_matrices(n):
    K = random_gram(0, n)
    np.testing.assert_allclose(dense_matrix(decompose(K.copy()), n), K, atol=1e-12)
    v = unit(np.arange(1.0, n + 1))
    P = projector(v, n)
    np.testing.assert_allclose(dense_matrix(decompose(K.copy(), v), n), P @ K @ P, atol=1e-12)


def test_norm_and_smallest_see_the_flat_remainder():
    U = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 2)))[0]
    assert Spectrum(np.array([3.0, -1.0]), U).norm == 3.0
    assert Spectrum(np.array([3.0, -1.0]), U).smallest == -1.0
    assert Spectrum(np.array([3.0, 1.0]), U, flat=5.0).norm == 5.0
    assert Spectrum(np.array([3.0, 1.0]), U, flat=0.5).smallest == 0.5
    assert Spectrum(np.array([3.0, -4.0]), U).norm == 4.0
    assert Spectrum(np.empty(0), U[:, :0], flat=2.0).norm == Spectrum(np.empty(0), U[:, :0], flat=2.0).smallest == 2.0
