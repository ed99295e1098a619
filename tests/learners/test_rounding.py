"""Penalties so large that rounding is seen: such values are not called exact."""

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, SVR

from onefit import L2SVC, KernelSearchCV
from onefit.core import Folds, Problem, Targets, Workspace
from onefit.criteria import CV
from onefit.kernels import Gaussian
from onefit.learners.dual_solver import DualSolver
from onefit.learners.exact_run import Run
from onefit.learners.hinge import Hinge
from onefit.learners.squared_hinge import SquaredHinge
from onefit.search.referee import Referee

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
    for C in 10.0 ** np.arange(6, 13.5, 0.5):
        solver, dual = DualSolver(K), learner.dual(y, C, np.ones(len(y)))
        solution = solver.solve(dual, np.zeros(len(y)), warm=False)
        values = solution.u + solution.b
        limit = values if limit is None else limit
        errors[C] = np.abs(values - limit).max(), solver.is_rounded(dual, solution.beta)
    assert all(error < 5e-6 for error, rounded in errors.values() if not rounded)
    assert not errors[1e6][1]
    assert errors[1e13][1]
    assert errors[1e13][0] > 1e-3  # it matters


def kept(monkeypatch):
    """The solutions that searches keep from now on: (penalty, split) -> (solution, problem, solver)."""
    found, keep = {}, Run._keep

    def spy(self, k, column, number, solution, dual, problem):
        found[k, number] = solution, dual, problem.solver
        keep(self, k, column, number, solution, dual, problem)

    monkeypatch.setattr(Run, "_keep", spy)
    return found


@seeds
@pytest.mark.parametrize(
    ("machine", "scale", "offset"),
    [
        (SVC(kernel="linear"), 30, 0),
        (SVC(kernel="linear"), 1, 100),
        (SVC(kernel="poly", coef0=1.0), 1, 0),
        (SVR(kernel="linear"), 30, 0),
        (SVR(kernel="linear"), 1, 100),
        (L2SVC(kernel="linear"), 30, 0),
    ],
)
def test_what_a_search_calls_exact_has_the_digits_of_a_cold_solution(seed, machine, scale, offset, monkeypatch):
    """Started near their solutions, folds are within rounding before all digits are found."""
    X, y = rows(seed, n=300)
    found, penalties = kept(monkeypatch), [1.0, 1e2, 1e4, 3e4]
    search = KernelSearchCV(machine, {"C": penalties}, cv=KFold(5), refit=False)
    results = search.fit(scale * X + offset, y).cv_results_
    exact = np.flatnonzero(results["exactness"] == "exact")
    assert len(exact) >= 1
    for (k, _), (solution, dual, solver) in found.items():
        if k in exact:
            cold = DualSolver(solver.K).solve(dual, np.zeros(len(y)), warm=False)
            values, expected = solution.u + solution.b, cold.u + cold.b
            assert np.abs(values - expected).max() < 1e-5 * max(1.0, np.abs(expected).max())


def test_one_split_is_enough_and_larger_penalties_repeat_it(monkeypatch):
    X, _ = rows(1)
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += y
    answers = iter([False, True])
    monkeypatch.setattr(DualSolver, "is_rounded", lambda self, dual, beta: next(answers, False))
    found = KernelSearchCV(SVC(kernel="linear"), {"C": [1e5, 1e6]}, cv=4, refit=False).fit(X, y)
    assert found.ledger_["fold solution"] == 4  # nothing is felt of the bounds: the second is the first
    assert found.cv_results_["exactness"].tolist() == ["approximate"] * 2


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("separable", [False, True])
def test_rounded_values_prove_nothing(rounded, separable, monkeypatch):
    X, y = rows(1)
    if separable:  # nothing is felt of the bounds: larger penalties repeat the first
        y = np.where(X[:, 0] > 0, 1.0, -1.0)
        X[:, 0] += y
    told, settle = [], Referee.settle
    monkeypatch.setattr(DualSolver, "is_rounded", lambda self, dual, beta: rounded)
    monkeypatch.setattr(Referee, "settle", lambda self, k, *args: told.append(k) or settle(self, k, *args))
    certified = CV(certify=True, prune=True)
    KernelSearchCV(SVC(kernel="linear"), {"C": [1e5, 1e6]}, cv=4, refit=False, criterion=certified).fit(X, y)
    assert (told == []) if rounded else (set(told) == {0, 1})


def test_a_criterion_tells_too():
    X, y = rows(0)
    search = KernelSearchCV(SVC(kernel="linear"), {"C": [1.0, 1e8]}, cv=4, refit=False, criterion="cvks")
    status = search.fit(1e2 * X, y).cv_results_["status"]
    assert status[0] == "ok"
    assert status[1].startswith("rounding is seen")


@pytest.mark.parametrize("machine", [SVC(kernel="linear"), L2SVC(kernel="linear"), SVR(kernel="linear")])
@pytest.mark.parametrize("step", [None, FunctionTransformer(), StandardScaler(with_std=False)])
def test_a_search_tells(machine, step):
    X, y = rows(0)
    estimator = machine if step is None else make_pipeline(step, machine)
    name = "C" if step is None else f"{type(machine).__name__.lower()}__C"
    found = KernelSearchCV(estimator, {name: [1e-6, 1e-3, 1e6]}, cv=4, refit=False).fit(1e3 * X, y).cv_results_
    assert found["exactness"].tolist() == ["exact", "exact", "approximate"]
    assert found["status"][:2].tolist() == ["ok", "ok"]
    assert found["status"][2].startswith("rounding is seen")


def test_scaled_features_are_told_of_nothing():
    X, y = rows(0)
    pipeline = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    found = KernelSearchCV(pipeline, {"svc__C": [1e-3, 1.0, 1e4]}, cv=4, refit=False).fit(1e3 * X, y).cv_results_
    assert found["exactness"].tolist() == ["exact"] * 3
    assert found["status"].tolist() == ["ok"] * 3


def test_separable_data_have_small_coefficients_whatever_the_penalty():
    X, _ = rows(1)
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += y
    found = KernelSearchCV(SVC(kernel="linear"), {"C": [1.0, 1e9, 1e12]}, cv=4, refit=False).fit(X, y).cv_results_
    assert found["exactness"].tolist() == ["exact"] * 3


def test_the_error_of_a_tiny_kernel_in_single_precision_is_known():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.sign(X[:, 0] + 0.3 * X[:, 1] * X[:, 2])
    ws = Workspace(Problem(X, Folds.from_splits(KFold(3).split(X), 60)), Gaussian(0.1) * 1e-40, single=True)
    held = SquaredHinge().heldout(ws, Targets(y[:, None]), np.array([1e40]))
    assert not held.exact
    assert 0 < held.error[0] < np.inf
