"""Products with more bits than doubles have, and iterative refinement, against rational and fixed-point arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from onefit.linalg.factor import unit_bias
from onefit.linalg.heldout import HeldOutSolver
from onefit.linalg.inverse import invert
from onefit.linalg.refinement import LARGEST_CONDITION, DirectSolver, refine
from onefit.linalg.sliced_product import add_exactly, sliced_product
from onefit.linalg.spectrum import decompose

from ..oracles import fixed_point
from ..oracles.problems import partition, seeds

N = 24


def rational_product(K, high, low):
    def entry(row, a, b):
        return float(sum(Fraction(k) * (Fraction(x) + Fraction(y)) for k, x, y in zip(row, a, b, strict=True)))

    return np.array([[entry(row, a, b) for a, b in zip(high.T, low.T, strict=True)] for row in K])


@seeds
@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_products_whose_terms_cancel(seed, size):
    """Terms of 1e14 that add up to one: doubles have two digits of it, slices all."""
    rng = np.random.default_rng(seed)
    K = rng.standard_normal((5, N))
    K[:, 1::2] = -K[:, ::2]
    high = np.repeat(rng.standard_normal((N // 2, 3)) * 1e14, 2, axis=0)
    high[::2] += rng.standard_normal((N // 2, 3))
    low = high * 1e-17 * rng.uniform(-1, 1, high.shape)
    K, expected = K * size, rational_product(K * size, high, low)
    np.testing.assert_allclose(sliced_product(K, high, low), expected, rtol=1e-11)


def test_products_with_nothing():
    np.testing.assert_array_equal(sliced_product(np.zeros((2, 3)), np.ones((3, 1)), np.zeros((3, 1))), np.zeros((2, 1)))
    np.testing.assert_array_equal(sliced_product(np.ones((2, 3)), np.zeros((3, 1)), np.zeros((3, 1))), np.zeros((2, 1)))


@seeds
def test_sums_keep_what_is_rounded_off(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal(50), rng.standard_normal(50) * 1e-9
    high, low = add_exactly(a, np.zeros(50), b)
    assert all(
        Fraction(h) + Fraction(e) == Fraction(x) + Fraction(y) for h, e, x, y in zip(high, low, a, b, strict=True)
    )


def ill_conditioned(seed, decades=12):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((N, N)))[0]
    K = (Q * 10.0 ** rng.uniform(-decades, 0, N)) @ Q.T
    return (K + K.T) / 2, rng.standard_normal((N, 2))


@seeds
@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
@pytest.mark.parametrize("weighted", [False, True], ids=["no weights", "ten decades"])
def test_a_factorisation_of_its_own(seed, bias, weighted):
    K, Y = ill_conditioned(seed)
    weights = 10 ** np.random.default_rng(seed).uniform(-5, 5, N) if weighted else np.ones(N)
    train, test = np.arange(18), np.arange(18, N)
    diagonal, ridge = 1e-11 / weights[train], 1e-11
    solver = DirectSolver(K[np.ix_(train, train)], diagonal, bias)
    assert solver.condition < LARGEST_CONDITION
    rows = K[:, train]
    found = refine(rows, Y[train], np.tile(diagonal[:, None], 2), np.ones((18, 2), dtype=bool), solver, bias)
    exact = fixed_point.predict(fixed_point.fixed(K), Y, train, test, ridge, weights, bias)
    assert found.settled.all()
    assert np.abs(found.values[test] - exact).max() <= found.error.max() <= 1e-9 * np.abs(exact).max()


@seeds
@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
@pytest.mark.parametrize("route", ["spectrum", "inverse"])
def test_all_splits_by_the_identities(seed, bias, route):
    K, Y = ill_conditioned(seed, decades=8)
    weights = 10 ** np.random.default_rng(seed).uniform(-1, 1, N)
    scale, ridges = np.sqrt(weights), np.array([1e-9, 1e-3] if route == "spectrum" else [1e-9])
    scaled, null = K * np.outer(scale, scale), unit_bias(N, scale) if bias else None
    if route == "spectrum":
        ((_, inverse),) = decompose(scaled, null).inverses(ridges)
    else:
        inverse = invert(scaled, 1e-9, null)
    splits = partition(seed, N, [1, 4, 7, 12])
    solver = HeldOutSolver(inverse, [np.setdiff1d(np.arange(N), train) for train, _ in splits], scale, K, bias)
    columns = np.tile(Y, len(ridges) * len(splits))
    found = refine(K, columns, solver.diagonals(2), solver.kept_columns(2), solver, bias)
    assert found.settled.all()
    values = found.values.reshape(N, len(ridges), len(splits), 2)
    F = fixed_point.fixed(K)
    for k, ridge in enumerate(ridges):
        for split, (train, test) in enumerate(splits):
            exact = fixed_point.predict(F, Y, train, test, ridge, weights, bias)
            assert np.abs(values[test, k, split] - exact).max() <= 1e-9 * np.abs(exact).max()


def test_what_cannot_be_known_does_not_settle_or_has_no_condition():
    """One direction of K + ridge I is far below the rounding of the others."""
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((N, N)))[0]
    K = (Q * np.r_[np.ones(N - 1), 0.0]) @ Q.T
    solver = DirectSolver((K + K.T) / 2, np.full(N, 1e-25), False)
    assert solver.condition > LARGEST_CONDITION


def test_a_matrix_that_is_not_definite():
    K, Y = ill_conditioned(0, decades=3)
    K = K - 0.01 * np.eye(N)
    solver = DirectSolver(K, np.full(N, 1e-3), True)
    found = refine(K, Y, np.full((N, 2), 1e-3), np.ones((N, 2), dtype=bool), solver, True)
    everything = np.arange(N)
    exact = fixed_point.predict(fixed_point.fixed(K), Y, everything, everything, 1e-3, bias=True)
    assert found.settled.all()
    np.testing.assert_allclose(found.values, exact, rtol=1e-9, atol=1e-9)
