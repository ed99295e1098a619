"""Questions to a Gram matrix, whatever it is kept as, against whole matrices."""

import gc
import weakref

import numpy as np
import pytest

from onefit._exceptions import NotUnderstoodError
from onefit.data import Folds, Problem
from onefit.gram import DenseGram, FeatureGram, contract
from onefit.kernels import Gaussian, Precomputed

from ..oracles.problems import points, random_symmetric, row_weights, seeds, unit
from ..oracles.spectra import dense_inverse

N = 17


@pytest.fixture(params=[1, 50, 1 << 18])
def block(request, monkeypatch):
    """Blocks of one row, of a few, and of all rows."""
    monkeypatch.setattr(contract, "_BLOCK", request.param)


def given(K):
    return DenseGram(Problem(K, Folds(len(K), ())), Precomputed())


def features(seed, m):
    Z = np.random.default_rng(seed).normal(size=(N, m))
    return FeatureGram(Z), Z @ Z.T


REPRESENTATIONS = {
    "dense": lambda seed: (given(K := random_symmetric(seed, N)), K),
    "few features": lambda seed: features(seed, 4),
    "as many features as rows": lambda seed: features(seed, N),
    "more features than rows": lambda seed: features(seed, N + 5),
}
every = pytest.mark.parametrize("kept", REPRESENTATIONS)


@seeds
@every
@pytest.mark.usefixtures("block")
def test_sums_of_rows(kept, seed):
    one, K = REPRESENTATIONS[kept](seed)
    np.testing.assert_allclose(one.sums, K.sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(one.squares, (K**2).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(one.smallest, K.min(axis=1), atol=1e-13)
    np.testing.assert_allclose(one.largest, K.max(axis=1), atol=1e-13)
    np.testing.assert_allclose(one.diagonal, np.diag(K), atol=1e-13)
    assert one.absolute_sum == pytest.approx(np.abs(K).sum(), rel=1e-13)
    B = np.random.default_rng(seed).normal(size=(N, 3))
    np.testing.assert_allclose(one.times(B), K @ B, atol=1e-12)
    rows, columns = np.array([3, 1, 16]), np.arange(2, 9)
    np.testing.assert_allclose(one.block(rows, columns), K[np.ix_(rows, columns)], atol=1e-13)
    np.testing.assert_allclose(one.part(rows).times(np.eye(3)), K[np.ix_(rows, rows)], atol=1e-12)


@seeds
@every
@pytest.mark.usefixtures("block")
def test_centred_sums(kept, seed):
    one, K = REPRESENTATIONS[kept](seed)
    Y, C = np.random.default_rng(seed).normal(size=(N, 2)), np.eye(N) - 1 / N
    squares, forms = one.centred(Y)
    assert squares == pytest.approx(np.linalg.norm(C @ K @ C) ** 2, rel=1e-10)
    np.testing.assert_allclose(forms, np.diag(Y.T @ C @ K @ C @ Y), rtol=1e-9, atol=1e-12)


def test_digits_of_a_nearly_constant_matrix_survive_centring():
    K, Y = random_symmetric(0, N) + 1e6, np.random.default_rng(0).normal(size=(N, 2))
    C = np.eye(N) - 1 / N
    squares, forms = given(K).centred(Y)
    assert squares == pytest.approx(np.linalg.norm(C @ random_symmetric(0, N) @ C) ** 2, rel=1e-8)
    np.testing.assert_allclose(forms, np.diag(Y.T @ C @ random_symmetric(0, N) @ C @ Y), rtol=1e-7)


@seeds
@every
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_factors_solve_and_invert(kept, seed, bias, weighted):
    one, K = REPRESENTATIONS[kept](seed)
    weights = row_weights(seed, N) if weighted else None
    scale = np.ones(N) if weights is None else np.sqrt(weights)
    K, null = K * np.outer(scale, scale), unit(scale) if bias else None
    ridges, Y = np.array([0.3, 20.0]), np.random.default_rng(seed).normal(size=(N, 2))
    factor = one.factor(weights, bias, "spectrum")
    ((_, inverse),) = factor.inverses(ridges)
    solved = factor.solve(Y, ridges)
    for k, ridge in enumerate(ridges):
        G = dense_inverse(K, ridge, null)
        tolerance = 1e-9 * np.abs(G).max()
        np.testing.assert_allclose(inverse.apply(np.eye(N))[k], G, atol=tolerance)
        np.testing.assert_allclose(solved.dual[k], G @ Y, atol=10 * tolerance)
        if bias:
            rest = Y - (K + ridge * np.eye(N)) @ solved.dual[k]
            np.testing.assert_allclose(rest, np.outer(null, solved.bias[k]), atol=1e-9 * np.abs(Y).max())


def test_features_never_form_the_matrix():
    with pytest.raises(NotUnderstoodError, match="never formed"):
        features(0, 3)[0].dense()


def test_sums_are_kept_when_a_factorisation_takes_the_matrix():
    one = DenseGram(Problem(points(0, 30), Folds(30, ())), Gaussian(0.5))
    sums = one.sums
    one.factor(None, False, "spectrum")
    assert one.sums is sums
    assert one.problem.ledger["gram"] == 1


def test_a_given_matrix_is_read_where_it_is():
    K = random_symmetric(0, 12)
    one = DenseGram(Problem(K, Folds(12, ())), Precomputed())
    np.testing.assert_allclose(one.sums, K.sum(axis=1), atol=1e-13)
    assert one.problem.ledger["gram"] == 0


def test_gram_matrices_are_freed_without_the_garbage_collector():
    gc.disable()
    try:
        one = DenseGram(Problem(points(0, 10), Folds(10, ())), Gaussian(0.5))
        _ = one.sums
        seen = weakref.ref(one)
        del one
        assert seen() is None
    finally:
        gc.enable()
