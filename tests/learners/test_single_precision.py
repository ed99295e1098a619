"""Gram matrices kept in single precision: the same solver, on the rounded matrix."""

import numpy as np
import pytest
from sklearn.svm import SVC, SVR

from onefit import L2SVC, KernelSearchCV, kernels
from onefit.learners.dual_solver import DualSolver, indefiniteness
from onefit.learners.epsilon_insensitive import EpsilonInsensitive
from onefit.learners.hinge import Hinge
from onefit.learners.squared_hinge import SquaredHinge
from onefit.linalg.product import product


def data(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("columns", [None, 3])
def test_products_are_in_double_precision(columns):
    rng = np.random.default_rng(0)
    K = rng.normal(size=(600, 600)).astype(np.float32)
    B = rng.normal(size=600 if columns is None else (600, columns))
    np.testing.assert_allclose(product(K, B), K.astype(np.float64) @ B, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("learner", [Hinge(), SquaredHinge(), EpsilonInsensitive(epsilon=0.1)], ids=lambda m: m.name)
@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_solution_is_that_of_the_rounded_matrix(learner, n, C):
    X, f = data(n)
    y = f if isinstance(learner, EpsilonInsensitive) else np.sign(f)
    K = kernels.Gaussian(0.2)(X).astype(np.float32)
    double = K.astype(np.float64)
    dual, zeros = learner.dual(y, C, np.ones(n)), np.zeros(n)
    single = DualSolver(K).solve(dual, zeros, zeros, warm=False)
    expected = DualSolver(double, indefiniteness(double)).solve(dual, zeros, zeros, warm=False)
    assert single.converged
    np.testing.assert_allclose(single.u + single.b, expected.u + expected.b, atol=1e-6)


@pytest.mark.parametrize("model", [SVC(), L2SVC(), SVR()], ids=lambda m: type(m).__name__)
@pytest.mark.slow
def test_searches_agree_to_single_precision_and_are_labelled(model):
    X, f = data(260)
    y = f if isinstance(model, SVR) else np.digitize(f, [-0.5, 0.5])
    grid = {"gamma": [0.05, 0.5], "C": [0.1, 3.0]}
    double = KernelSearchCV(model, grid, cv=5).fit(X, y)
    single = KernelSearchCV(model, grid, cv=5, gram_dtype="float32").fit(X, y)
    assert set(single.cv_results_["exactness"]) == {"approximate"}
    assert (single.cv_results_["error_bound"] > double.cv_results_["error_bound"]).all()
    np.testing.assert_allclose(single.cv_results_["mean_test_score"], double.cv_results_["mean_test_score"], atol=1e-5)
    assert single.best_params_ == double.best_params_


def test_other_types_are_refused():
    X, f = data(20)
    with pytest.raises(ValueError, match="gram_dtype"):
        KernelSearchCV(SVR(), {"C": [1.0]}, gram_dtype="float16").fit(X, f)
