"""Spectra that cost next to nothing: identity, small components, low rank."""

import itertools

import numpy as np
import pytest

from onefit.kernels import Gaussian, Linear, Polynomial
from onefit.linalg.spectrum import EPS, Spectrum, decompose
from onefit.linalg.structure import component_spectrum, identity_spectrum, low_rank_spectrum, structured, without

from ..oracles.problems import points, random_gram, random_symmetric, row_weights, seeds, unit
from ..oracles.spectra import dense_matrix, norm, projector


def grouped_gram(seed, n=80, sizes=(4, 2, 3)):
    """Ones on the diagonal, a few small groups of close points at random places, noise below rounding."""
    rng = np.random.default_rng(seed)
    K = np.eye(n)
    order = rng.permutation(n)
    for group in np.split(order[: sum(sizes)], np.cumsum(sizes)[:-1]):
        K[np.ix_(group, group)] = Gaussian(1.0)(rng.normal(size=(len(group), 2)))
    noise = np.triu(rng.uniform(-0.9, 0.9, size=(n, n)) * EPS, 1)
    return K + noise + noise.T


def assert_reproduces(spectrum, K):
    """The spectrum is that of K up to its stated error and the rounding of a few operations."""
    P = projector(spectrum.null, len(K))
    difference = norm(dense_matrix(spectrum, len(K)) - P @ K @ P)
    assert difference <= spectrum.error + 50 * EPS * max(norm(K), np.abs(K).max(initial=0.0))
    U = spectrum.vectors
    np.testing.assert_allclose(U.T @ U, np.eye(U.shape[1]), atol=1e-13)


@seeds
def test_groups_of_close_points(seed):
    K = grouped_gram(seed)
    spectrum = component_spectrum(K)
    assert spectrum.vectors.shape == (80, 9)
    assert spectrum.flat == 1.0
    assert_reproduces(spectrum, K)


def test_groups_in_a_matrix_larger_than_a_block_of_memory():
    K = grouped_gram(0, n=900, sizes=(5, 20, 2))
    spectrum = component_spectrum(K)
    assert spectrum.vectors.shape == (900, 27)
    assert_reproduces(spectrum, K)


@seeds
def test_a_chain_of_points_is_one_component(seed):
    n, chain = 80, np.random.default_rng(seed).permutation(80)[:6]
    K = 2.0 * np.eye(n)
    for i, j in itertools.pairwise(chain):
        K[i, j] = K[j, i] = 0.5
    spectrum = component_spectrum(K)
    assert spectrum.vectors.shape == (n, 6)
    assert_reproduces(spectrum, K)


@pytest.mark.parametrize("value", [0.0, 1.0, 3.5, -2.0])
def test_a_multiple_of_the_identity_has_no_vectors(value):
    K = value * np.eye(20)
    for spectrum in (component_spectrum(K), identity_spectrum(20, value, 0.0)):
        assert spectrum.vectors.shape == (20, 0)
        np.testing.assert_array_equal(dense_matrix(spectrum, 20), K)


def test_components_do_not_apply():
    assert component_spectrum(np.ones((40, 40))) is None
    assert component_spectrum(random_gram(0, 40)) is None
    assert component_spectrum(np.diag(np.arange(1.0, 41.0))) is None
    assert component_spectrum(grouped_gram(0, n=80, sizes=(3,) * 14)) is None
    assert component_spectrum(np.eye(40) + 1e-10) is None


LOW_RANK = {
    "linear": lambda X: Linear()(X),
    "linear, far from the origin": lambda X: Linear()(X + 1e4),
    "quadratic": lambda X: Polynomial(2, 1.0)(X),
    "wide Gaussian": lambda X: Gaussian(1e-8)(X),
    "ones": lambda X: np.ones((len(X), len(X))),
    "tiny": lambda X: 1e-200 * Linear()(X),
    "large": lambda X: 1e150 * Linear()(X),
    "one row much longer": lambda X: Linear()(X * np.where(np.arange(len(X)) == 3, 1e6, 1.0)[:, None]),
}


@seeds
@pytest.mark.parametrize("gram", LOW_RANK.values(), ids=LOW_RANK.keys())
def test_low_rank(seed, gram):
    K = gram(points(seed, 120, 3))
    spectrum = low_rank_spectrum(K.copy())
    assert spectrum.vectors.shape[1] <= 15
    assert spectrum.flat == 0.0
    assert_reproduces(spectrum, K)


def test_a_zero_matrix_has_rank_zero():
    spectrum = low_rank_spectrum(np.zeros((30, 30)))
    assert spectrum.vectors.shape == (30, 0)
    assert_reproduces(spectrum, np.zeros((30, 30)))


@seeds
def test_low_rank_does_not_apply(seed):
    assert low_rank_spectrum(random_gram(seed, 100)) is None
    assert low_rank_spectrum(random_gram(seed, 100, rank=13)) is None
    assert low_rank_spectrum(np.eye(100)) is None
    assert low_rank_spectrum(random_gram(seed, 300, rank=38)) is None


@seeds
def test_a_rank_above_the_probe_is_found_where_the_spectrum_decays(seed):
    A = np.random.default_rng(seed).normal(size=(400, 40)) * np.logspace(0, -6.5, 40)
    K = A @ A.T
    spectrum = low_rank_spectrum(K.copy())
    assert spectrum.vectors.shape[1] > 32
    assert_reproduces(spectrum, K)


STRUCTURED = {
    "groups": lambda seed: component_spectrum(grouped_gram(seed)),
    "identity": lambda seed: identity_spectrum(80, 1.5, 0.0),
    "zero": lambda seed: identity_spectrum(80, 0.0, 0.0),
    "low rank": lambda seed: low_rank_spectrum(random_gram(seed, 80, rank=6)),
    "ones": lambda seed: low_rank_spectrum(np.ones((80, 80))),
}


@seeds
@pytest.mark.parametrize("found", STRUCTURED.values(), ids=STRUCTURED.keys())
@pytest.mark.parametrize("weighted", [False, True])
def test_without_equals_decompose_on_the_complement(seed, found, weighted):
    spectrum = found(seed)
    v = unit(np.sqrt(row_weights(seed, 80)) if weighted else np.ones(80))
    K = dense_matrix(spectrum, 80)
    projected = without(spectrum, v)
    complete = decompose(K.copy(), v)
    scale = max(norm(K), 1e-300)
    np.testing.assert_allclose(dense_matrix(projected, 80), dense_matrix(complete, 80), atol=50 * EPS * scale)
    np.testing.assert_allclose(projected.coupling, complete.coupling, atol=50 * EPS * scale)
    np.testing.assert_allclose(projected.vectors.T @ v, 0.0, atol=1e-13)
    assert projected.error == spectrum.error


def test_a_complete_spectrum_cannot_be_projected_afterwards():
    with pytest.raises(ValueError, match="flat remainder"):
        without(decompose(random_gram(0, 10)), unit(np.ones(10)))


@seeds
def test_structured_looks_for_low_rank_only_where_k_is_positive(seed):
    K = random_gram(seed, 80, rank=4)
    assert structured(K, None, positive=False) is None
    assert_reproduces(structured(K, unit(np.ones(80)), positive=True), K)
    assert structured(random_symmetric(seed, 80), None, positive=False) is None
    assert isinstance(structured(np.eye(80), None, positive=False), Spectrum)


@seeds
@pytest.mark.parametrize("gamma", [1e-6, 1e-5, 1e-4])
def test_the_stated_error_of_wide_gaussians_is_at_rounding_level(seed, gamma):
    K = Gaussian(gamma)(points(seed, 150, 2))
    spectrum = structured(K, None, positive=True)
    assert spectrum.error <= 10 * 150 * EPS
    assert_reproduces(spectrum, K)
