"""Singular ridges, rounding, and which factorisation is chosen."""

import numpy as np
import pytest

from onefit.kernels import Gaussian
from onefit.linalg.cost import cheapest_route
from onefit.linalg.factor import EPS, unit_bias
from onefit.linalg.inverse import CholeskyFamily
from onefit.linalg.spectrum import decompose
from onefit.linalg.structure import identity_spectrum, low_rank_spectrum

from ..oracles.problems import points, random_gram, random_symmetric, seeds


@seeds
def test_smallest_pivots(seed):
    ridges = np.array([0.0, 0.3, 4.0])
    for K in (random_gram(seed, 20), random_symmetric(seed, 20)):
        expected = [np.abs(np.linalg.eigvalsh(K) + ridge).min() for ridge in ridges]
        np.testing.assert_allclose(decompose(K.copy()).smallest_pivots(ridges), expected, rtol=1e-9)
    np.testing.assert_array_equal(identity_spectrum(5, 2.0, 0.0).smallest_pivots(ridges), 2.0 + ridges)
    low = low_rank_spectrum(random_gram(seed, 40, rank=2))
    np.testing.assert_array_equal(low.smallest_pivots(ridges), ridges)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("nullity", [1, 2, 10])
def test_a_singular_matrix_is_recognised_whatever_way_its_zero_eigenvalues_round(seed, nullity):
    X = points(seed, 40)
    X[:nullity] = X[20 : 20 + nullity]
    assert decompose(Gaussian(1.0)(X)).singular(np.array([0.0, 1.0])).tolist() == [True, False]


def test_a_ridge_that_cancels_an_eigenvalue_is_singular():
    ridges = np.array([0.0, 3.0, 3.1])
    assert decompose(np.diag([-3.0, 1.0, 2.0])).singular(ridges).tolist() == [False, True, False]
    assert identity_spectrum(4, -3.0, 0.0).singular(ridges).tolist() == [False, True, False]


@seeds
def test_rounding_grows_as_the_ridge_falls(seed):
    K = random_gram(seed, 20, rank=10)
    ridges = np.array([1e-6, 1e-3, 1.0])
    for factor in (decompose(K.copy()), CholeskyFamily(K)):
        size = factor.rounding(ridges)
        assert (np.diff(size) < 0).all()
        assert (size >= 10 * EPS * np.linalg.norm(K, 2) / ridges * 0.99).all()


def test_a_zero_pivot_has_infinite_rounding():
    assert decompose(np.diag([1.0, 0.0])).rounding(np.array([0.0])).tolist() == [np.inf]


@seeds
def test_unit_bias(seed):
    scale = np.random.default_rng(seed).uniform(0.5, 2.0, size=9)
    np.testing.assert_allclose(unit_bias(9, None), np.full(9, 1 / 3), rtol=1e-15)
    np.testing.assert_allclose(unit_bias(9, scale) * np.linalg.norm(scale), scale, rtol=1e-15)


def route(n, sizes, ridges, *, leave_one_out=False, positive=True):
    return cheapest_route(n, sizes, ridges, leave_one_out=leave_one_out, positive=positive)


def test_one_ridge_is_cheapest_by_cholesky_and_many_by_a_band_form():
    for sizes, leave_one_out in (([900] * 10, False), ([999] * 1000, True)):
        assert route(1000, sizes, 1, leave_one_out=leave_one_out) == "inverse"
        assert route(1000, sizes, 100, leave_one_out=leave_one_out) == "band"


def test_without_compiled_loops_many_ridges_are_cheapest_by_a_spectrum(monkeypatch):
    monkeypatch.setattr("onefit.linalg.cost.AVAILABLE", False)
    assert route(1000, [900] * 10, 100) == "spectrum"


def test_an_inverse_is_never_chosen_where_k_may_be_indefinite():
    for ridges in (1, 2, 5, 100):
        for sizes in ([900] * 10, [500] * 2, [999] * 1000):
            assert route(1000, sizes, ridges, positive=False) in ("spectrum", "per_fold")


def test_small_training_sets_are_factorised_one_by_one():
    assert route(1000, [500, 500], 15) == "per_fold"
    assert route(1000, [100] * 3, 15) == "per_fold"
    assert route(1000, [100] * 3, 15, positive=False) == "per_fold"
    assert route(1000, [900] * 10, 15) != "per_fold"


def test_a_longer_path_never_turns_from_a_band_form_to_an_inverse():
    routes = [route(500, [450] * 10, ridges) for ridges in range(1, 60)]
    change = routes.index("band")
    assert set(routes[:change]) == {"inverse"}
    assert set(routes[change:]) == {"band"}


@seeds
@pytest.mark.parametrize("bias", [False, True])
def test_errors_of_solutions_are_those_of_the_condition_not_of_the_ridge(seed, bias):
    """K is of norm 1e12, which leaves a small ridge no digit, but has no eigenvalue below 1e11."""
    n, ridges = 90, np.array([0.1, 1.0, 10.0, 100.0])
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    K = (Q * np.linspace(1e11, 1e12, n)) @ Q.T
    K = (K + K.T) / 2
    Y = np.random.default_rng(seed + 1).normal(size=(n, 1))
    null = unit_bias(n, None) if bias else None
    solved = CholeskyFamily(K, null).solve(Y, ridges)
    assert (solved.error < 1e-10).all()
    border = np.ones((n, 1)) / np.sqrt(n)
    for k, ridge in enumerate(ridges):
        system = K + ridge * np.eye(n)
        if bias:
            system = np.block([[system, border], [border.T, np.zeros((1, 1))]])
        expected = np.linalg.solve(system, np.vstack([Y, np.zeros((len(system) - n, 1))]))[:n]
        values = K @ np.column_stack([solved.dual[k], expected])
        assert np.abs(values[:, 0] - values[:, 1]).max() <= solved.error[k] * np.abs(values).max()


def test_errors_of_solutions_grow_where_the_ridge_alone_makes_a_matrix_regular():
    K = random_gram(0, 90, 5)
    ridges = 1e-12 * np.linalg.norm(K) * np.array([1.0, 10.0, 100.0, 1e9])
    error = CholeskyFamily(K).solve(np.ones((90, 1)), ridges).error
    assert (error >= 0.99 * 10 * EPS * np.linalg.norm(K) / ridges).all()
