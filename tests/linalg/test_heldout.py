"""Hold-out identities against training on the remaining rows."""

import numpy as np
import pytest

from onefit.linalg.band import BANDWIDTH, band_factor
from onefit.linalg.heldout import block_residuals, remaining_dual, single_residuals, solve_symmetric
from onefit.linalg.inverse import CholeskyFamily
from onefit.linalg.spectrum import decompose
from onefit.linalg.structure import low_rank_spectrum, without

from ..oracles.least_squares import predict, solve
from ..oracles.problems import random_gram, random_symmetric, seeds, smooth_targets, unit

N = 48
RIDGES = np.array([0.01, 1.0, 50.0])


def complete(K, null):
    return decompose(K.copy(), null)


def flat(K, null):
    spectrum = low_rank_spectrum(K)
    return spectrum if null is None else without(spectrum, null)


def tridiagonal(K, null):
    return band_factor(K.copy(), null)


def banded(K, null):
    return band_factor(K.copy(), null, BANDWIDTH)


FACTORS = {
    "spectrum": (complete, None),
    "cholesky": (CholeskyFamily, None),
    "low rank": (flat, 5),
    "tridiagonal": (tridiagonal, None),
    "band": (banded, None),
}
factors = pytest.mark.parametrize(("factor", "rank"), FACTORS.values(), ids=FACTORS.keys())
biases = pytest.mark.parametrize("bias", [False, True])


def problem(seed, rank, bias):
    K = random_gram(seed, N, rank) / N
    return K, smooth_targets(seed, K[:, :3], 2), unit(np.ones(N)) if bias else None


def fitted(factor, K, Y, null):
    """(inverse, its dual coefficients, its ridges) for every group of ridges."""
    for _, inverse in factor(K, null).inverses(RIDGES):
        yield inverse, inverse.apply(Y), inverse.ridges


@seeds
@factors
@biases
@pytest.mark.parametrize("size", [1, 5, 24, 40])
def test_block_residuals(seed, factor, rank, bias, size):
    K, Y, null = problem(seed, rank, bias)
    rows = np.sort(np.random.default_rng(seed).permutation(N)[:size])
    train = np.setdiff1d(np.arange(N), rows)
    for inverse, dual, ridges in fitted(factor, K, Y, null):
        residuals = block_residuals(inverse, dual, rows)
        for k, ridge in enumerate(ridges):
            expected = Y[rows] - predict(K, Y, train, rows, ridge, bias=bias)
            np.testing.assert_allclose(residuals[k], expected, atol=1e-9)


@seeds
@factors
@biases
def test_single_residuals(seed, factor, rank, bias):
    K, Y, null = problem(seed, rank, bias)
    for inverse, dual, ridges in fitted(factor, K, Y, null):
        residuals = single_residuals(inverse, dual)
        for k, ridge in enumerate(ridges):
            for i in range(0, N, 5):
                others = np.delete(np.arange(N), i)
                expected = Y[[i]] - predict(K, Y, others, [i], ridge, bias=bias)
                np.testing.assert_allclose(residuals[k, [i]], expected, atol=1e-9)


@seeds
@factors
@biases
def test_remaining_dual(seed, factor, rank, bias):
    K, Y, null = problem(seed, rank, bias)
    rows = np.sort(np.random.default_rng(seed).permutation(N)[:9])
    train = np.setdiff1d(np.arange(N), rows)
    for inverse, dual, ridges in fitted(factor, K, Y, null):
        before = dual.copy()
        remaining = remaining_dual(inverse, dual, rows, block_residuals(inverse, dual, rows))
        np.testing.assert_array_equal(dual, before)
        assert (remaining[:, rows] == 0).all()
        for k, ridge in enumerate(ridges):
            expected = solve(K[np.ix_(train, train)], Y[train], ridge, bias=bias)[0]
            np.testing.assert_allclose(remaining[k, train], expected, atol=1e-9 * np.abs(expected).max())


@seeds
@biases
def test_indefinite_matrices_hold_too(seed, bias):
    K = random_symmetric(seed, N)
    Y, null = smooth_targets(seed, K[:, :3], 2), unit(np.ones(N)) if bias else None
    rows = np.arange(0, N, 6)
    train = np.setdiff1d(np.arange(N), rows)
    for inverse, dual, ridges in fitted(complete, K, Y, null):
        residuals = block_residuals(inverse, dual, rows)
        for k, ridge in enumerate(ridges):
            expected = Y[rows] - predict(K, Y, train, rows, ridge, bias=bias)
            np.testing.assert_allclose(residuals[k], expected, rtol=1e-6, atol=1e-6)


@seeds
@pytest.mark.parametrize("make", [random_gram, random_symmetric])
@pytest.mark.parametrize("n", [1, 2, 17])
def test_solve_symmetric(seed, make, n):
    A = make(seed, n)
    before = A.copy()
    B = np.random.default_rng(seed).normal(size=(n, 3))
    np.testing.assert_allclose(A @ solve_symmetric(A, B), B, atol=1e-9)
    np.testing.assert_array_equal(A, before)


def test_solve_symmetric_on_negative_definite_and_bordered_matrices():
    B = np.ones((3, 1))
    np.testing.assert_allclose(solve_symmetric(-2.0 * np.eye(3), B), -0.5 * B)
    bordered = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    np.testing.assert_allclose(bordered @ solve_symmetric(bordered, B), B, atol=1e-14)
