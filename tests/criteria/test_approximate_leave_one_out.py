"""Newton steps from the full solution: dense formulas, and the series that they are the limits of."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import LeaveOneOut
from sklearn.svm import SVC, SVR

from onefit import L2SVC, criteria, cross_val_decision

from ..oracles import criteria as oracle
from ..oracles.problems import seeds, two_seeds
from ..oracles.support_vector import (
    gram,
    labels,
    smoothed_hinge_newton,
    smoothed_hinge_step,
    smoothed_sets,
    squared_hinge_newton,
)
from .problems import GRAMS, N, three_labels


def influence(K, f, g, w, gamma):
    """(infinitesimal jackknife, Newton step) of every row, for slopes g and curvatures w of the losses."""
    H = K @ np.linalg.inv(2 * gamma * np.eye(len(K)) + np.diag(w) @ K)
    h = np.diag(H)
    return f + h * g, f + h * g / (1 - w * h)


def by_series(model, K, y, order):
    return cross_val_decision(model, K, y, cv=LeaveOneOut(), method="bif", order=order)


@seeds
def test_the_series_of_least_squares_ends_in_the_newton_step(seed):
    K, y = GRAMS["narrow"](seed), np.random.default_rng(seed).normal(size=N)
    model = KernelRidge(alpha=0.4, kernel="precomputed")
    f = oracle.fitted(K, y[:, None], 0.4)[:, 0]
    jackknife, newton = influence(K, f, 2 * (f - y), np.full(N, 2.0), 0.4)
    np.testing.assert_allclose(by_series(model, K, y, 1), jackknife, atol=1e-12)
    np.testing.assert_allclose(by_series(model, K, y, np.inf), newton, atol=1e-12)
    np.testing.assert_allclose(newton, oracle.left_out(K, y[:, None], 0.4)[:, 0], atol=1e-12)
    assert criteria.ALO()(K, y, model) == pytest.approx(((newton - y) ** 2).mean(), rel=1e-9)


@seeds
@pytest.mark.parametrize("C", [0.3, 3.0])
def test_the_series_of_the_squared_hinge_loss_ends_in_the_newton_step(seed, C):
    K, X = gram("medium", seed, 30)
    y = labels(seed, X, 0.4)
    model = L2SVC(C=C, kernel="precomputed", fit_intercept=False)
    beta, _ = squared_hinge_newton(K, y, C, bias=False)
    f = K @ beta
    inside = y * f < 1
    jackknife, newton = influence(K, f, np.where(inside, 2 * (f - y), 0), np.where(inside, 2.0, 0), 1 / (2 * C))
    np.testing.assert_allclose(by_series(model, K, y, 1), jackknife, atol=1e-8)
    np.testing.assert_allclose(by_series(model, K, y, np.inf), newton, atol=1e-8)
    assert criteria.ALO()(K, y, model) == pytest.approx((y * newton < 0).mean())


@two_seeds
@pytest.mark.parametrize("h", [0.1, 0.5])
@pytest.mark.parametrize("C", [0.3, 3.0])
def test_newton_steps_of_the_smoothed_hinge_loss(seed, h, C):
    K, X = gram("medium", seed, 30)
    y = labels(seed, X, 0.4)
    beta, b = smoothed_hinge_newton(K, y, C, h)
    curved, straight = smoothed_sets(y, K @ beta + b, h)
    wrong = 0
    for i in range(30):
        rest = np.arange(30) != i
        if not (curved & rest).any():
            pytest.skip("the bias is not determined")
        step, step_b = smoothed_hinge_step(K, y, C, h, curved & rest, straight & rest)
        wrong += y[i] * (K[i] @ step + step_b) < 0
    assert criteria.ALO(h=h)(K, y, SVC(C=C, kernel="precomputed")) == pytest.approx(wrong / 30)


@two_seeds
def test_of_several_classes_and_regressions_it_is_the_loss_of_the_series(seed):
    K, y = GRAMS["narrow"](seed), three_labels(seed)
    model = SVC(C=2.0, kernel="precomputed", decision_function_shape="ovo")
    expected = criteria.BIF(order=np.inf)(K, y, model, cv=LeaveOneOut())
    assert criteria.ALO()(K, y, model) == pytest.approx(expected)
    target = np.random.default_rng(seed).normal(size=N)
    model = SVR(C=2.0, epsilon=0.2, kernel="precomputed")
    values = by_series(model, K, target, np.inf)
    assert criteria.ALO()(K, target, model) == pytest.approx(((values - target) ** 2).mean(), rel=1e-9)


def test_h_is_checked():
    with pytest.raises(ValueError, match="h must be"):
        criteria.ALO(h=-1.0)
