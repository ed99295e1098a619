"""Kernel logistic regression: solutions, out-of-fold values and the influence-function series against oracles."""

import numpy as np
import pytest

from onefit.data import Folds, Problem, Targets
from onefit.gram import DenseGram
from onefit.kernels import Precomputed
from onefit.machines.contract import Series
from onefit.solvers.logistic.learner import Logistic
from onefit.solvers.logistic.newton import solve

from ...oracles.logistic import minimiser, taylor_terms
from ...oracles.support_vector import gaussian

N = 36
PENALTIES = np.array([0.02, 1.0, 50.0])


def problem(seed, n=N, gamma=0.4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return gaussian(X, gamma), np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0), rng


def heldout(K, y, folds, weights=None, penalties=PENALTIES, bias=True, **options):
    gram = DenseGram(Problem(K, folds), Precomputed())
    return Logistic(bias).heldout(gram, Targets(y[:, None], weights), penalties, **options)


def splits(kind, n, rng):
    """Folds of unequal sizes, one row each, or resampled with repetitions."""
    rows = np.arange(n)
    if kind == "left out":
        parts = [[i] for i in rows]
    elif kind == "resampled":
        drawn = [rng.choice(n, n) for _ in range(3)]
        return Folds.from_splits([(train, np.setdiff1d(rows, train)) for train in drawn], n)
    else:
        ends = {"two": [n // 3], "unequal": [2, 5, 9, 14, 20, 27, 30, 33]}[kind]
        parts = np.split(rng.permutation(n), ends)
    return Folds.from_splits([(np.setdiff1d(rows, part), np.array(part)) for part in parts], n)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [1e-4, 1.0, 300.0])
def test_solutions_minimise_the_objective(bias, weighted, C):
    K, y, rng = problem(0)
    u = C * (rng.integers(0, 3, N) * rng.uniform(0.5, 2.0, N) if weighted else np.ones(N))
    found = solve(K, y, u, bias)
    expected = minimiser(K, y, u, bias)
    assert found.converged
    np.testing.assert_allclose(found.f, expected, rtol=0, atol=1e-8 * np.abs(expected).max())
    assert np.abs(found.a - u * y / (1 + np.exp(y * found.f))).max() <= 1e-12 * max(u)


@pytest.mark.parametrize("kind", ["two", "unequal", "left out", "resampled"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("weights", [None, "rows", "folds"])
@pytest.mark.parametrize("scale_penalty", [False, True])
def test_values_are_those_of_retraining(kind, bias, weights, scale_penalty):
    K, y, rng = problem(1)
    folds = splits(kind, N, rng)
    given = {None: None, "rows": rng.uniform(0.2, 2.0, N), "folds": tuple(rng.uniform(0.5, 2.0, (len(folds), N)))}[
        weights
    ]
    held = heldout(K, y, folds, given, bias=bias, scale_penalty=scale_penalty)
    assert held.exact
    assert not held.failed.any()
    checked = range(len(folds)) if len(folds) < N else range(0, N, 7)
    for number in checked:
        fold = folds.folds[number]
        w = 1.0 if weights is None else given if weights == "rows" else given[number]
        u = fold.counts * w * (N / len(fold.train) if scale_penalty else 1.0)
        for k, C in enumerate(PENALTIES):
            expected = minimiser(K, y, C * u, bias)
            found = held.test[0][k, fold.test, 0] if kind == "left out" else held.test[number][k, :, 0]
            difference = np.abs(found - expected[fold.test]).max()
            assert difference <= 1e-8 * np.abs(expected).max()
            own = solve(K, y, C * u, bias).f
            assert np.abs(found - own[fold.test]).max() <= min(1e-9 * np.abs(own).max(), 2 * held.error[k] + 1e-13)


def test_training_rows_are_reported():
    K, y, rng = problem(2)
    folds, reported = splits("unequal", N, rng), {}
    heldout(K, y, folds, on_train=lambda number, positions, values: reported.update({number: values}))
    for number, fold in enumerate(folds):
        expected = solve(K, y, PENALTIES[2] * fold.counts, True).f[fold.train]
        np.testing.assert_allclose(reported[number][2, :, 0], expected, atol=1e-8)


def test_a_split_with_one_class_has_no_values():
    K, y, _ = problem(3)
    rows = np.arange(N)
    folds = Folds.from_splits([(rows[y > 0], rows[y < 0]), (rows[5:], rows[:5])], N)
    held = heldout(K, y, folds)
    assert np.isnan(held.test[0]).all()
    assert np.isfinite(held.test[1]).all()


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("scale_penalty", [False, True])
@pytest.mark.quick(4)
def test_the_series_is_that_of_the_path_from_all_rows_to_the_split(order, bias, scale_penalty):
    n, C = 7, 3.0
    K, _, rng = problem(4, n)
    y = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0])
    weights = rng.uniform(0.5, 1.5, n)
    folds = Folds.from_splits([(np.arange(2, n), np.arange(2)), (np.arange(4), np.arange(4, n))], n)
    options = {"scale_penalty": scale_penalty, "series": Series(order)}
    held = heldout(K, y, folds, weights, np.array([C]), bias, **options)
    assert not held.exact
    for number, fold in enumerate(folds):
        v = C * weights * fold.counts * (n / len(fold.train) if scale_penalty else 1.0)
        expected = taylor_terms(K, y, C * weights, v, bias, order).sum(axis=0)
        np.testing.assert_allclose(held.test[number][0, :, 0], expected[fold.test], rtol=1e-9, atol=1e-11)


def test_the_series_converges_to_retraining_and_its_sum_is_that():
    K, y, rng = problem(5)
    folds = splits("unequal", N, rng)
    exact = heldout(K, y, folds, penalties=np.array([0.5]))
    summed = heldout(K, y, folds, penalties=np.array([0.5]), series=Series(np.inf))
    errors = []
    for order in (1, 4, 16):
        found = heldout(K, y, folds, penalties=np.array([0.5]), series=Series(order))
        errors.append(max(np.abs(a - b).max() for a, b in zip(found.test, exact.test)))
    assert errors[0] > 20 * errors[1] > 400 * errors[2]
    assert all(np.array_equal(a, b) for a, b in zip(summed.test, exact.test))
    assert summed.exact


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("scale_penalty", [False, True])
def test_a_frozen_series_is_one_newton_step(bias, scale_penalty):
    K, y, rng = problem(6)
    folds, C = splits("unequal", N, rng), 2.0
    options = {"bias": bias, "scale_penalty": scale_penalty}
    held = heldout(K, y, folds, penalties=np.array([C]), series=Series(np.inf, frozen=True), **options)
    f = solve(K, y, np.full(N, C), bias).f
    p = 1 / (1 + np.exp(-f))
    for number, fold in enumerate(folds):
        u = C * fold.counts * (N / len(fold.train) if scale_penalty else 1.0)
        D = np.diag(u * p * (1 - p))
        system = np.block([[np.eye(N) + D @ K, D @ np.ones((N, 1))], [np.ones((1, N)), np.zeros((1, 1))]])
        right = np.append(u * ((y + 1) / 2 - p) + D @ f, 0.0)
        if not bias:
            system[N, :], system[:, N], system[N, N] = 0.0, 0.0, 1.0
        z = np.linalg.solve(system, right)
        np.testing.assert_allclose(held.test[number][0, :, 0], (K @ z[:N] + z[N])[fold.test], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kernel", ["zero", "constant", "identity", "duplicates"])
@pytest.mark.parametrize("bias", [False, True])
def test_degenerate_kernels(kernel, bias):
    K, y, rng = problem(7)
    K = {
        "zero": 0 * K,
        "constant": np.ones_like(K),
        "identity": np.eye(N),
        "duplicates": K[:, np.arange(N) // 2][np.arange(N) // 2],
    }[kernel]
    folds = splits("unequal", N, rng)
    held = heldout(K, y, folds, bias=bias)
    assert not held.failed.any()
    for number, fold in enumerate(folds):
        for k, C in enumerate(PENALTIES):
            found, u = held.test[number][k, :, 0], C * fold.counts
            if kernel == "zero" or (kernel == "constant" and bias) or kernel == "identity":
                share = fold.counts @ (y > 0) / fold.counts.sum()
                if bias and kernel != "identity":
                    np.testing.assert_allclose(found, np.log(share / (1 - share)), rtol=1e-9)
                elif not bias:
                    np.testing.assert_allclose(found, 0.0, atol=1e-12)
            else:
                expected = minimiser(K, y, u, bias)
                np.testing.assert_allclose(found, expected[fold.test], atol=1e-7 * np.abs(expected).max())


def test_separable_rows_with_a_large_penalty():
    X = np.linspace(-1, 1, 20)[:, None]
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    K = X @ X.T
    folds = Folds.from_splits([(np.delete(np.arange(20), [i, 19 - i]), np.array([i, 19 - i])) for i in range(9)], 20)
    held = heldout(K, y, folds, penalties=np.array([1.0, 1e3, 1e6]))
    assert not held.failed.any()
    for number, fold in enumerate(folds):
        w = held.test[number][:, 1, 0] / X[fold.test[1]]  # by symmetry there is no bias
        for C, slope in zip([1.0, 1e3, 1e6], w):
            x = X[fold.train, 0]
            margin = np.abs(x) * slope
            assert slope == pytest.approx(C * (np.abs(x) / (1 + np.exp(margin))).sum(), rel=1e-6)


def test_fitted_values():
    K, y, rng = problem(8)
    weights = rng.uniform(0.5, 2.0, N)
    gram = DenseGram(Problem(K, Folds(N, ())), Precomputed())
    found = Logistic().fitted(gram, Targets(y[:, None], weights), PENALTIES)
    for values, C in zip(found, PENALTIES):
        expected = minimiser(K, y, C * weights, True)
        np.testing.assert_allclose(values[:, 0], expected, atol=1e-8 * np.abs(expected).max())
