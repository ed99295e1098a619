"""Inverses from a spectrum and by Cholesky are those of the dense matrix."""

import numpy as np
import pytest

from onefit.linalg.inverse import CholeskyFamily, NotPositiveDefiniteError, invert
from onefit.linalg.spectrum import decompose
from onefit.linalg.structure import component_spectrum, low_rank_spectrum, without

from ..oracles.problems import random_gram, random_symmetric, row_weights, seeds, unit
from ..oracles.spectra import dense_inverse
from .test_structure import grouped_gram

N = 80
RIDGES = np.array([1e-3, 0.5, 30.0])

MATRICES = {
    "complete": lambda seed: random_gram(seed, N),
    "groups": grouped_gram,
    "low rank": lambda seed: random_gram(seed, N, rank=6),
    "zero": lambda seed: np.zeros((N, N)),
    "ones": lambda seed: np.ones((N, N)),
}


def nothing(seed):
    return None


def constant(seed):
    return unit(np.ones(N))


def weighted(seed):
    return unit(np.sqrt(row_weights(seed, N)))


def spectral(K, null):
    spectrum = component_spectrum(K) or low_rank_spectrum(K)
    if spectrum is None:
        return decompose(K.copy(), null)
    return spectrum if null is None else without(spectrum, null)


def by_cholesky(K, null):
    return CholeskyFamily(K, null)


def pairs_of(family, K, null):
    """(inverse, position in it, dense inverse) for every ridge."""
    for positions, inverse in family(K, null).inverses(RIDGES):
        np.testing.assert_array_equal(inverse.ridges, RIDGES[positions])
        for place, position in enumerate(positions):
            yield inverse, place, dense_inverse(K, RIDGES[position], null)


every_case = [
    seeds,
    pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES.keys()),
    pytest.mark.parametrize("family", [spectral, by_cholesky]),
    pytest.mark.parametrize("null", [nothing, constant, weighted]),
]


def for_every_case(test):
    for mark in every_case:
        test = mark(test)
    return test


def assert_same(actual, expected, G):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9 * np.abs(G).max())


@for_every_case
def test_apply(seed, matrix, family, null):
    B = np.random.default_rng(seed).normal(size=(N, 3))
    for inverse, place, G in pairs_of(family, matrix(seed), null(seed)):
        assert_same(inverse.apply(B)[place], G @ B, G)
        stacked = np.stack([B * (k + 1) for k in range(len(inverse.ridges))])
        assert_same(inverse.apply(stacked)[place], G @ stacked[place], G)


@for_every_case
def test_apply_columns(seed, matrix, family, null):
    rng = np.random.default_rng(seed)
    rows = rng.permutation(N)[:11]
    for inverse, place, G in pairs_of(family, matrix(seed), null(seed)):
        B = rng.normal(size=(len(inverse.ridges), 11, 2))
        assert_same(inverse.apply_columns(rows, B)[place], G[:, rows] @ B[place], G)


@for_every_case
def test_diagonals_and_blocks(seed, matrix, family, null):
    rows = np.random.default_rng(seed).permutation(N)[:13]
    for inverse, place, G in pairs_of(family, matrix(seed), null(seed)):
        assert_same(inverse.diagonals()[place], G.diagonal(), G)
        assert_same(list(inverse.blocks(rows))[place], G[np.ix_(rows, rows)], G)


@seeds
@pytest.mark.parametrize("null", [nothing, constant])
def test_a_spectrum_also_inverts_indefinite_matrices(seed, null):
    K = random_symmetric(seed, N)
    B, rows = np.eye(N), np.arange(0, N, 7)
    for inverse, place, G in pairs_of(lambda K, v: decompose(K.copy(), v), K, null(seed)):
        assert_same(inverse.apply(B)[place], G, G)
        assert_same(list(inverse.blocks(rows))[place], G[np.ix_(rows, rows)], G)


@seeds
def test_inverse_annihilates_null(seed):
    v = weighted(seed)
    for family in (spectral, by_cholesky):
        for inverse, place, G in pairs_of(family, random_gram(seed, N), v):
            assert_same(inverse.apply(v[:, None])[place], 0.0, G)


@seeds
@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 300])
def test_cholesky_leaves_k_alone_at_any_block_size(seed, n):
    K = random_gram(seed, n)
    before = K.copy()
    inverse = invert(K, 2.0)
    np.testing.assert_array_equal(K, before)
    np.testing.assert_array_equal(inverse.matrix, inverse.matrix.T)
    np.testing.assert_allclose(inverse.matrix @ (K + 2.0 * np.eye(n)), np.eye(n), atol=1e-8)


@pytest.mark.parametrize("n", [300, 800])
@pytest.mark.parametrize("family", [lambda K, v: decompose(K.copy(), v), by_cholesky], ids=["spectral", "by_cholesky"])
def test_matrices_larger_than_a_block_of_memory(family, n):
    K, v = random_gram(0, n) / n, unit(np.sqrt(row_weights(0, n)))
    G = dense_inverse(K, 0.5, v)
    _, inverse = next(family(K, v).inverses(np.array([0.5])))
    assert_same(inverse.apply(np.eye(n))[0], G, G)
    assert_same(inverse.diagonals()[0], G.diagonal(), G)


def test_cholesky_refuses_what_is_not_positive_definite():
    with pytest.raises(NotPositiveDefiniteError, match=r"K \+ 1\.0 I"):
        invert(-2.0 * np.eye(4), 1.0)
    with pytest.raises(NotPositiveDefiniteError):
        invert(np.zeros((4, 4)), 0.0)


@seeds
def test_small_ridges_keep_their_digits_with_a_complete_spectrum(seed):
    """Eigenvalues over 10 decades and a ridge below all: the blocks are as good as eps cond allows."""
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(30, 30)))[0]
    values = np.logspace(0, -10, 30)
    ridge = 1e-11
    inverse = next(decompose((Q * values) @ Q.T).inverses(np.array([ridge])))[1]
    expected = (Q * (1.0 / (values + ridge))) @ Q.T
    error = np.abs(inverse.apply(np.eye(30))[0] - expected).max() / np.abs(expected).max()
    assert error < 100 * np.finfo(float).eps * 1.0 / (values[-1] + ridge)
