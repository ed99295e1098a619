"""L2SVC against a primal solver, and as an estimator."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning

from onefit import L2SVC, kernels


def primal_minimum(K, y, C, weights, bias):
    """Values of the minimiser of 1/2 a'Ka + C sum w max(0, 1 - y f)^2, f = K a + b, by Newton steps on (a, b)."""
    n = len(y)
    a, b = np.zeros(n), 0.0
    for _ in range(200):
        f = K @ a + b
        on = (y * f < 1).astype(float) * weights
        # stationarity: a = 2 C on (y - f), sum a = 0 with a bias
        D = 2 * C * on
        A = np.block([[np.eye(n) + D[:, None] * K, D[:, None]], [np.ones((1, n)), np.zeros((1, 1))]])
        right = np.r_[D * y, 0.0]
        if not bias:
            A, right = A[:n, :n], right[:n]
        solution = np.linalg.lstsq(A, right)[0]
        new_a, new_b = solution[:n], solution[n] if bias else 0.0

        def objective(t, a=a, b=b, new_a=new_a, new_b=new_b):
            at, bt = a + t * (new_a - a), b + t * (new_b - b)
            slack = np.maximum(0, 1 - y * (K @ at + bt))
            return 0.5 * at @ K @ at + C * weights @ slack**2

        t = minimize_scalar(objective, bounds=(0, 1), method="bounded", options={"xatol": 1e-12}).x
        if objective(1.0) <= objective(t):
            t = 1.0
        moved = max(np.abs(K @ (new_a - a)).max(), abs(new_b - b))
        a, b = a + t * (new_a - a), b + t * (new_b - b)
        if moved < 1e-12:
            break
    return K @ a + b


@pytest.mark.parametrize("C", [1e-2, 1.0, 100.0])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_minimises_its_objective(two_classes, C, bias, weighted):
    X, y = two_classes
    signs = np.where(y == "bee", 1.0, -1.0)
    weights = np.random.default_rng(0).uniform(0.3, 2.0, len(y)) if weighted else np.ones(len(y))
    model = L2SVC(C=C, gamma=0.4, fit_intercept=bias).fit(X, y, sample_weight=weights if weighted else None)
    expected = primal_minimum(kernels.Gaussian(0.4)(X), signs, C, weights, bias)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-7)
    assert (model.dual_gap_ >= 0).all()
    assert (model.dual_gap_ < 1e-8).all()


def test_three_classes_vote(three_classes):
    X, y = three_classes
    model = L2SVC(C=5.0).fit(X, y)
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.decision_function(X).shape == (90, 3)
    assert model.score(X, y) > 0.7
    for k, (first, second) in enumerate([("ant", "bee"), ("ant", "cat"), ("bee", "cat")]):
        rows = np.isin(y, [first, second])
        gamma = 1 / (X.shape[1] * X.var())
        pair = L2SVC(C=5.0, gamma=gamma).fit(X[rows], y[rows])
        K = kernels.Gaussian(gamma)(X, X[model.support_])
        np.testing.assert_allclose(
            K @ model.dual_coef_[k] + model.intercept_[k], pair.decision_function(X), atol=1e-8, rtol=0
        )


def test_precomputed_equals_named(three_classes):
    X, y = three_classes
    K = kernels.Gaussian(0.3)(X)
    named, given = L2SVC(gamma=0.3).fit(X, y), L2SVC(kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(given.decision_function(K), named.decision_function(X), atol=1e-9)


def test_a_limit_that_is_met_warns(three_classes):
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        L2SVC(C=100.0, gamma=5.0, max_iter=1).fit(*three_classes)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0.0}, "C must be"),
        ({"C": np.inf}, "C must be"),
        ({"tol": 0.0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"gamma": "wide"}, "gamma must be"),
        ({"kernel": "sigmoid", "gamma": 5.0, "coef0": -2.0}, "positive semi-definite"),
        ({"class_weight": "x"}, "class_weight"),
    ],
)
def test_bad_parameters(two_classes, params, message):
    with pytest.raises(ValueError, match=message):
        L2SVC(**params).fit(*two_classes)
