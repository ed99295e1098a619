"""Ridge systems and inverses from the band form, against dense matrices."""

import numpy as np
import pytest

from onefit.linalg._band import form_q, multiply_by_q, reduce_to_band, substitute
from onefit.linalg.band import BANDWIDTH, BandForm, band_factor
from onefit.linalg.factor import NotPositiveDefiniteError

from ..oracles.problems import random_gram, seeds, unit

SIZES = [1, 2, 5, BANDWIDTH - 1, BANDWIDTH, BANDWIDTH + 1, BANDWIDTH + 2, 100, 3 * BANDWIDTH + 1]
widths = pytest.mark.parametrize("width", [1, 3, BANDWIDTH])


def matrix(seed, n):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    return A + A.T


@seeds
@pytest.mark.parametrize("n", SIZES)
@widths
def test_the_band_form_is_similar_to_the_matrix(seed, n, width):
    """Q B Qᵀ is the matrix, also an indefinite one, with Q as an array and as reflections."""
    K = matrix(seed, n)
    A = K.copy(order="F")
    tau = reduce_to_band(A, width)
    band = np.tril(A) - np.tril(A, -width - 1)
    B = band + np.tril(band, -1).T
    images, preimages = np.asfortranarray(np.eye(n)), np.asfortranarray(np.eye(n))
    multiply_by_q(A, tau, images, False)
    multiply_by_q(A, tau, preimages, True)
    form_q(A, tau)
    scale = np.abs(K).max() * n
    np.testing.assert_allclose(A.T @ A, np.eye(n), atol=1e-13 * n)
    np.testing.assert_allclose(A @ B @ A.T, K, atol=1e-14 * scale)
    np.testing.assert_allclose(images, A, atol=1e-13)
    np.testing.assert_allclose(preimages, A.T, atol=1e-13)


@seeds
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("columns", [0, 1, 7])
@pytest.mark.parametrize("width", [0, 1, 3, BANDWIDTH])
def test_substitution_solves_with_the_band(seed, n, columns, width):
    rng, width = np.random.default_rng(seed), min(width, n - 1)
    factor = np.asfortranarray(rng.normal(size=(width + 1, n)))
    factor[0] += 2 * width + 4
    L = sum(np.diag(factor[k, : n - k], -k) for k in range(width + 1))
    X = rng.normal(size=(n, columns))
    expected = np.linalg.solve(L, X)
    substitute(factor, X)
    np.testing.assert_allclose(X, expected, atol=1e-12)


@seeds
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("n", [2, 5, BANDWIDTH + 1, 100])
@widths
def test_inverses_are_those_of_dense_matrices(seed, n, width, bias):
    K, ridges = random_gram(seed, n), np.array([1e-3, 0.1, 30.0])
    null = unit(np.arange(1.0, n + 1)) if bias else None
    factor = band_factor(K.copy(), null, width)
    ((positions, inverse),) = factor.inverses(ridges)
    rows = np.arange(0, n, 2)
    B = np.random.default_rng(seed + 1).normal(size=(3, n, 2))
    applied, columns = inverse.apply(B), inverse.apply_columns(rows, B[:, rows])
    assert list(positions) == [0, 1, 2]
    for k, (ridge, block) in enumerate(zip(ridges, inverse.blocks(rows), strict=True)):
        G = np.linalg.inv(K + ridge * np.eye(n))
        if null is not None:
            G -= np.outer(G @ null, null @ G) / (null @ G @ null)
        close = {"atol": 1e-13 * np.linalg.cond(K + ridge * np.eye(n)) / ridge}
        np.testing.assert_allclose(block, G[np.ix_(rows, rows)], **close)
        np.testing.assert_allclose(inverse.diagonals()[k], np.diag(G), **close)
        np.testing.assert_allclose(applied[k], G @ B[k], **close)
        np.testing.assert_allclose(columns[k], G[:, rows] @ B[k, rows], **close)
        assert inverse.norms()[k] >= np.linalg.norm(G, 2) * (1 - 1e-9)
    solved = factor.solve(B[0], ridges)
    for k, ridge in enumerate(ridges):
        residual = K @ solved.dual[k] + ridge * solved.dual[k] - B[0]
        if null is not None:
            residual += np.outer(null, solved.bias[k])
            np.testing.assert_allclose(null @ solved.dual[k], 0.0, atol=1e-9)
        np.testing.assert_allclose(residual, 0.0, atol=1e-11 * n)


@seeds
@widths
@pytest.mark.parametrize("smallest", [1e-9, 1e-3, 1.0, 5.0])
def test_the_smallest_eigenvalue_is_bounded_within_a_factor_of_two(seed, width, smallest):
    Q = np.linalg.qr(matrix(seed, 60))[0]
    values = smallest + np.concatenate([[0.0], np.random.default_rng(seed).uniform(0, 10, 59)])
    K = (Q * values) @ Q.T
    found = band_factor((K + K.T) / 2, width=width).smallest
    assert 0.49 * smallest <= found <= 1.001 * smallest


def test_the_smallest_eigenvalue_of_a_singular_matrix_is_rounding():
    assert band_factor(random_gram(0, 60, 5)).smallest <= 1e-13


def test_ridges_below_rounding_are_refused():
    K = random_gram(0, 60, 5)
    factor = band_factor(K.copy())
    with pytest.raises(NotPositiveDefiniteError):
        factor.singular(np.array([1e-17 * np.linalg.norm(K), 1.0]))


@seeds
@pytest.mark.parametrize("n", [1, 2, 20, BANDWIDTH + 1, 150])
@pytest.mark.parametrize("c", [1, 3])
def test_solutions_are_those_of_dense_solves(seed, n, c):
    K, ridges = random_gram(seed, n), np.array([1e-3, 0.1, 1.0, 30.0])
    before = K.copy()
    Y = np.random.default_rng(seed + 10).normal(size=(n, c))
    found = BandForm(K).solve(Y, ridges)
    np.testing.assert_array_equal(K, before)
    assert found.shape == (4, n, c)
    for solution, ridge in zip(found, ridges):
        expected = np.linalg.solve(K + ridge * np.eye(n), Y)
        np.testing.assert_allclose(solution, expected, atol=1e-12 * np.linalg.cond(K + ridge * np.eye(n)))


def test_columns_that_are_zero_already():
    K = np.diag(np.arange(1.0, 91.0))
    found = BandForm(K).solve(np.ones((90, 1)), np.array([0.5]))
    np.testing.assert_allclose(found[0, :, 0], 1.0 / (np.arange(1.0, 91.0) + 0.5), rtol=1e-14)


def test_an_indefinite_system_is_refused():
    with pytest.raises(NotPositiveDefiniteError):
        BandForm(matrix(0, 80)).solve(np.ones((80, 1)), np.array([0.1]))
