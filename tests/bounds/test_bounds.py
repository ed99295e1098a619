"""Bounds hold on random problems where they are theorems, and are as vacuous as their docstrings say."""

import math

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from onefit import bounds, criteria

from ..oracles.influence import hat_matrix, perturbation, series
from ..oracles.least_squares import predict
from ..oracles.problems import partition, points, seeds


def changes(K, y, lam):
    """Largest change of any prediction when a row is left out; the ridge follows the number of rows."""
    n = len(K)
    everything = np.arange(n)
    full = predict(K, y[:, None], everything, everything, n * lam)
    worst = 0.0
    for i in range(n):
        rest = np.delete(everything, i)
        worst = max(worst, np.abs(predict(K, y[:, None], rest, everything, (n - 1) * lam) - full).max())
    return worst


@seeds
@pytest.mark.parametrize("lam", [1e-3, 0.03, 1.0])
@pytest.mark.parametrize("gamma", [0.05, 1.0])
def test_changes_of_kernel_ridge_regression(seed, lam, gamma):
    X = points(seed, 25)
    K, y = rbf_kernel(X, gamma=gamma), np.sign(X[:, 0])
    options = {"kappa": 1.0, "M": 1.0, "lam": lam, "n": 25}
    change, beta = changes(K, y, lam), criteria.kernel_stability(K)
    assert change <= bounds.krr_change(beta, **options)
    assert change <= bounds.krr_change_without_stability(**options)
    assert change <= bounds.sps_change(1.0, **options)
    assert bounds.krr_change_without_stability(**options) <= bounds.krr_change(beta, **options)


def test_explicit_constants():
    options = {"kappa": 2.0, "M": 3.0, "lam": 0.5, "n": 101}
    c1, c2 = 2.0 * 3.0 / 0.25, 2 * 2.0 * 3.0 / 0.5
    change = (c1 * 7.0 + c2) / 100
    gamma = change * (6 + 2 * 2.0 * 3.0 / 0.5)
    Q = 2 * 4 * 9 / 0.25 + 18
    assert bounds.krr_change(7.0, **options) == pytest.approx(change)
    assert bounds.krr_uniform_stability(7.0, **options) == pytest.approx(gamma)
    tail = math.sqrt(math.log(20) / 202)
    expected = 0.1 + 2 * gamma + (4 * 101 * gamma + Q) * tail
    assert bounds.krr_risk_bound(0.1, 7.0, **options, delta=0.05) == pytest.approx(expected)
    gamma = 2.0 * 3.0 * (7.0 + 1.0) / (0.25 * 100) * (6 + 2 * 2.0 * 3.0 / 0.5)
    expected = 0.1 + 2 * gamma + (4 * 101 * gamma + Q) * tail
    assert bounds.sps_risk_bound(0.1, 7.0, **options, delta=0.05) == pytest.approx(expected)
    gamma = 2**0.75 / (math.sqrt(2) * 0.5) * 7**0.25 * (1 + (7 / 8) ** 0.25)
    assert bounds.svm_change(7.0, kappa=2.0, lam=0.5) == pytest.approx(gamma)
    expected = 0.1 + math.sqrt((9 + 12 * 3 * 101 * gamma) / (202 * 0.05))
    assert bounds.svm_risk_bound(0.1, 7.0, kappa=2.0, lam=0.5, n=101, delta=0.05) == pytest.approx(expected)


@seeds
@pytest.mark.parametrize("ridge", [0.01, 1.0, 100.0])
@pytest.mark.filterwarnings("ignore:The spectral measure of degree")
def test_margins_are_at_least_what_the_spectral_measure_says(seed, ridge):
    X = points(seed, 30)
    K = rbf_kernel(X, gamma=0.3)
    y = np.where(np.random.default_rng(seed).random(30) < 0.4, 1.0, -1.0)
    margin = (y * (hat_matrix(K, ridge) @ y)).mean()
    measure = criteria.SM(degree=1, weighted=False)(K, y)
    assert margin >= bounds.margin_lower_bound(measure, K.sum(), ridge=ridge)


def test_the_paper_s_constant_of_that_bound_is_wrong():
    K, y, ridge = np.ones((2, 2)), np.ones(2), 10.0
    margin = (y * (hat_matrix(K, ridge) @ y)).mean()
    assert margin == pytest.approx(1 / 6)
    printed = 4.0 * ridge / (4.0 + ridge) * 0.5
    assert printed > margin >= bounds.margin_lower_bound(0.5, 4.0, ridge=ridge)


@pytest.mark.parametrize("n", [100, 1000, 100_000])
def test_the_bound_of_the_spectral_measure_is_vacuous(n):
    assert bounds.sm_risk_bound(1 / n, float(n), ridge=0.0, n=n, delta=0.05) > 1


def test_the_bound_of_the_spectral_measure_at_a_thousand_rows():
    assert bounds.sm_risk_bound(0.0, 1.0, ridge=1.0, n=1000, delta=0.05) == pytest.approx(4.18, abs=0.05)


def test_the_bound_of_kernel_stability_does_not_vanish():
    values = []
    for n in (50, 200, 800):
        beta = criteria.kernel_stability(rbf_kernel(points(0, n), gamma=0.3))
        values.append(bounds.krr_risk_bound(0.0, beta, kappa=1.0, M=1.0, lam=0.01, n=n, delta=0.05))
    assert values[-1] > 1
    assert values[-1] > 0.8 * values[0]


@seeds
@pytest.mark.parametrize("ridge", [0.3, 3.0])
@pytest.mark.parametrize("order", [1, 3, 8])
def test_error_of_the_series(seed, ridge, order):
    X = points(seed, 30)
    K, y = rbf_kernel(X, gamma=0.4), np.sin(X[:, :1])
    H = hat_matrix(K, ridge)
    s, U = np.linalg.eigh(H)
    root = (U * np.sqrt(np.maximum(s, 0))) @ U.T
    for _, test in partition(seed, 30, [6, 9, 15]):
        delta = perturbation(30, test, mean_loss=True)
        rho = np.abs(np.linalg.eigvals(H @ delta)).max()
        start = np.linalg.norm(root @ delta @ (y - H @ y))
        error = np.linalg.norm(series(H, y, test, order, True) - series(H, y, test, np.inf, True))
        largest = np.linalg.eigvalsh(K).max()
        assert error <= bounds.series_error(order, rho, largest=largest, ridge=ridge, start=start) * (1 + 1e-9)


def test_the_series_has_no_bound_where_it_diverges():
    assert bounds.series_error(5, 1.0, largest=1.0, ridge=1.0, start=1.0) == np.inf


def test_the_variance_of_cross_validation_is_an_identity():
    """Over all ways of drawing labels from two values, of a machine that predicts the mean of its training rows."""
    outcomes = np.array(np.meshgrid(*[[0.0, 1.0]] * 6, indexing="ij")).reshape(6, -1)
    folds = [(np.delete(np.arange(6), part), part) for part in np.array_split(np.arange(6), 3)]
    errors = np.array([((outcomes[test] - outcomes[train].mean(axis=0)) ** 2).mean(axis=0) for train, test in folds])
    covariance = np.cov(errors, bias=True)
    expected = bounds.cv_variance(3, covariance[0, 0], covariance[0, 1])
    assert errors.mean(axis=0).var() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.krr_change(1.0, kappa=0.0, M=1.0, lam=1.0, n=5), "kappa"),
        (lambda: bounds.krr_change(1.0, kappa=1.0, M=1.0, lam=1.0, n=1), "n must"),
        (lambda: bounds.svm_risk_bound(0.0, 1.0, kappa=1.0, lam=1.0, n=5, delta=1.0), "delta"),
        (lambda: bounds.sm_risk_bound(0.0, 1.0, ridge=1.0, n=5, delta=0.0), "delta"),
        (lambda: bounds.margin_lower_bound(0.1, 1.0, ridge=-1.0), "ridge"),
        (lambda: bounds.series_error(1, -1.0, largest=1.0, ridge=1.0, start=1.0), "negative"),
        (lambda: bounds.cv_variance(3, 1.0, 2.0), "covariance"),
    ],
)
def test_arguments_that_make_no_sense(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_every_bound_says_whether_it_is_informative():
    for name in bounds.__all__:
        text = getattr(bounds, name).__doc__
        assert any(word in text for word in ("nformative", "acuous", "Decays", "weak", "exact at any n")), name
