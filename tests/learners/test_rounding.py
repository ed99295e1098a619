"""Penalties so large that rounding is seen: such values are not called exact."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, SVR

from onefit import L2SVC, KernelSearchCV
from onefit.learners.dual_solver import DualSolver
from onefit.learners.hinge import Hinge
from onefit.learners.squared_hinge import SquaredHinge

from ..oracles.problems import seeds


def rows(seed, n=200, d=4):
    """Two classes that no hyperplane separates: beyond some C the values are the same but for O(1 / C)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sign(X[:, 0] + 0.5 * rng.normal(size=n))


@seeds
@pytest.mark.parametrize("learner", [Hinge(), SquaredHinge()])
def test_the_digits_of_the_limit_are_lost_where_it_says_so(seed, learner):
    X, y = rows(seed)
    K = X @ X.T
    errors, limit = {}, None
    for C in 10.0 ** np.arange(6, 14):
        solver, dual = DualSolver(K), learner.dual(y, C, np.ones(len(y)))
        solution = solver.solve(dual, np.zeros(len(y)), warm=False)
        values = solution.u + solution.b
        limit = values if limit is None else limit
        errors[C] = np.abs(values - limit).max(), solver.is_rounded(dual, solution.beta)
    assert all(error < 1e-5 for error, rounded in errors.values() if not rounded)
    assert not errors[1e6][1]
    assert errors[1e13][1]
    assert errors[1e13][0] > 1e-3  # it matters


@pytest.mark.parametrize("machine", [SVC(kernel="linear"), L2SVC(kernel="linear"), SVR(kernel="linear")])
@pytest.mark.parametrize("step", [None, FunctionTransformer(), StandardScaler(with_std=False)])
def test_a_search_tells(machine, step):
    X, y = rows(0)
    estimator = machine if step is None else make_pipeline(step, machine)
    name = "C" if step is None else f"{type(machine).__name__.lower()}__C"
    found = KernelSearchCV(estimator, {name: [1e-6, 1.0, 1e6]}, cv=4, refit=False).fit(1e3 * X, y).cv_results_
    assert found["exactness"].tolist() == ["exact", "exact", "approximate"]
    assert found["status"][:2].tolist() == ["ok", "ok"]
    assert found["status"][2].startswith("rounding is seen")


def test_scaled_features_are_told_of_nothing():
    X, y = rows(0)
    pipeline = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    found = KernelSearchCV(pipeline, {"svc__C": [1e-3, 1.0, 1e4]}, cv=4, refit=False).fit(1e3 * X, y).cv_results_
    assert found["exactness"].tolist() == ["exact"] * 3
    assert found["status"].tolist() == ["ok"] * 3


@pytest.mark.parametrize("penalties", [[1.0, 1e9, 1e12]])
def test_separable_data_have_small_coefficients_whatever_the_penalty(penalties):
    X, _ = rows(1)
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += y
    found = KernelSearchCV(SVC(kernel="linear"), {"C": penalties}, cv=4, refit=False).fit(X, y).cv_results_
    assert found["exactness"].tolist() == ["exact"] * 3
