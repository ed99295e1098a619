"""Leave-one-out labels of narrow kernels, whose held-out values are far below the rounding of the targets."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import LeaveOneOut
from sklearn.preprocessing import StandardScaler

from onefit import LSSVC, LSSVR, KernelSearchCV, criteria

from ..oracles.problems import two_seeds

pytestmark = pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning")
N = 32
GAMMAS = (1.0, 10.0, 30.0, 100.0, 1e3, 1e4)
gammas = pytest.mark.parametrize("gamma", GAMMAS)
biases = pytest.mark.parametrize("bias", [False, True])


def data(seed, classes=2):
    """Classes of clearly different sizes: with equal ones a bias leaves ties, which rounding decides."""
    rng = np.random.default_rng(seed)
    X = StandardScaler().fit_transform(rng.normal(size=(N, 4)))
    score = X[:, 0] + 0.5 * rng.normal(size=N)
    return X, np.digitize(score, np.quantile(score, np.cumsum(np.arange(1, classes)) * 2 / (classes * (classes + 1))))


def retrained(K, y, model):
    """The predictions of n fits."""
    predicted = np.empty_like(y)
    for train, test in LeaveOneOut().split(K):
        predicted[test] = clone(model).fit(K[np.ix_(train, train)], y[train]).predict(K[np.ix_(test, train)])
    return predicted


@gammas
@biases
@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("weight", [None, {0: 5.0, 1: 0.2}])
@pytest.mark.quick(8)
def test_labels_are_those_of_n_fits(gamma, bias, classes, weight):
    X, y = data(classes, classes)
    K = rbf_kernel(X, gamma=gamma)
    model = LSSVC(0.1, kernel="precomputed", fit_intercept=bias, class_weight=weight)
    expected = (retrained(K, y, model) != y).mean()
    assert criteria.LOO()(K, y, model) == pytest.approx(expected, abs=1e-12)
    assert criteria.ALO()(K, y, model) == pytest.approx(expected, abs=1e-12)
    assert criteria.CV()(K, y, model, cv=LeaveOneOut()) == pytest.approx(expected, abs=1e-12)


@gammas
@biases
@pytest.mark.quick(4)
def test_the_scaled_ridge_too(gamma, bias):
    X, y = data(0, 3)
    K = rbf_kernel(X, gamma=gamma)
    model, scaled = (LSSVC(ridge, kernel="precomputed", fit_intercept=bias) for ridge in (0.5, 0.5 * (N - 1) / N))
    expected = (retrained(K, y, scaled) != y).mean()
    assert criteria.LOO(scale_penalty=True)(K, y, model) == pytest.approx(expected, abs=1e-12)


@gammas
@pytest.mark.parametrize("model", [KernelRidge(alpha=0.1), LSSVR(0.1), LSSVR(0.1, fit_intercept=False)])
@pytest.mark.quick(6)
def test_squared_errors_are_those_of_n_fits(gamma, model):
    X, _ = data(0)
    y, K = np.sin(X[:, 0]) + 3.0, rbf_kernel(X, gamma=gamma)
    model = clone(model).set_params(kernel="precomputed")
    expected = ((retrained(K, y, model) - y) ** 2).mean()
    assert criteria.LOO()(K, y, model) == pytest.approx(expected, rel=1e-9)
    assert criteria.ALO()(K, y, model) == pytest.approx(expected, rel=1e-9)


@gammas
@biases
@pytest.mark.quick(4)
def test_a_class_of_one_row_is_never_predicted_for_it(gamma, bias):
    X, y = data(0, 3)
    y[np.argmin(X[:, 1])] = 7
    K, model = rbf_kernel(X, gamma=gamma), LSSVC(0.1, kernel="precomputed", fit_intercept=bias)
    assert criteria.LOO()(K, y, model) == pytest.approx((retrained(K, y, model) != y).mean(), abs=1e-12)


def test_the_only_row_of_one_of_two_classes_cannot_be_left_out():
    X, _ = data(0)
    y = (np.arange(N) == 3).astype(int)
    with pytest.raises(ValueError, match="one class only"):
        criteria.LOO()(rbf_kernel(X), y, LSSVC(kernel="precomputed"))


@two_seeds
def test_an_indefinite_matrix_with_small_entries(seed):
    _, y = data(seed)
    rng = np.random.default_rng(seed)
    noise = 1e-14 * rng.normal(size=(N, N))
    K = np.diag(np.where(rng.uniform(size=N) < 0.5, -2.0, 1.0)) + noise + noise.T
    model = LSSVC(0.5, kernel="precomputed", fit_intercept=False)
    expected = (retrained(K, y, model) != y).mean()
    assert criteria.LOO()(K, y, model) == pytest.approx(expected, abs=1e-12)
    assert 0 < expected < 1


def test_a_row_that_cannot_be_left_out_is_an_error():
    """Without its first row K + alpha I is singular, with it it is not: its inverse has a zero on the diagonal."""
    K, y = np.diag([1.0, -1.0, 2.0, 3.0]), np.array([0, 1, 0, 1])
    K[0, 1] = K[1, 0] = 1.0
    with pytest.raises(ValueError, match="singular"):
        criteria.LOO()(K, y, LSSVC(1.0, kernel="precomputed", fit_intercept=False))


@biases
@pytest.mark.parametrize("alphas", [[0.1], [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0]])
def test_a_search_by_leave_one_out_is_the_search_over_leave_one_out_folds(bias, alphas):
    X, y = data(0, 3)
    grid = {"gamma": GAMMAS, "alpha": alphas}
    model = LSSVC(fit_intercept=bias)
    by_criterion = KernelSearchCV(model, grid, criterion=["loo", "gcv", "alo"], refit=False).fit(X, y)
    by_folds = KernelSearchCV(model, grid, cv=LeaveOneOut(), refit=False).fit(X, y)
    expected = 1 - by_folds.cv_results_["mean_test_score"]
    np.testing.assert_allclose(by_criterion.cv_results_["criterion_loo"], expected, atol=1e-12)
    np.testing.assert_allclose(by_criterion.cv_results_["criterion_alo"], expected, atol=1e-12)


def test_criteria_share_one_factorisation():
    X, y = data(0, 3)
    for alphas, event in (([0.1], "cholesky"), ([1e-3, 1e-2, 0.1, 1.0, 10.0], "band form")):
        grid = {"gamma": [0.5], "alpha": alphas}
        search = KernelSearchCV(LSSVC(), grid, criterion=["gcv", "loo", "alo", "br"], refit=False).fit(X, y)
        assert search.ledger_[event] == 1
