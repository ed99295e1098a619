"""Chunking: the path of all rows, from a working set of them."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from onefit import KernelSearchCV
from onefit.kernels import Gaussian, Polynomial
from onefit.solvers.svm.chunking import chunked_path
from onefit.solvers.svm.learner import EpsilonInsensitive, Hinge, SquaredHinge
from onefit.solvers.svm.solver import Solver

PENALTIES = np.array([1.0, 5.0, 50.0])
KERNELS = {"gaussian": Gaussian(0.1), "polynomial": Polynomial(2, gamma=0.1, coef0=1.0)}


def problem(machine, kernel, seed, n=600):
    """(K, problem for a penalty of one) with few support vectors and unequal weights."""
    rng = np.random.default_rng(seed)
    X, labels = make_blobs(n, 4, centers=[[0.0] * 4, [4.0] * 4], cluster_std=1.5, random_state=seed)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    weights = rng.uniform(0.5, 2.0, n)
    if machine == "regression":
        return KERNELS[kernel](X), EpsilonInsensitive(True, 0.5).dual(X[:, 0] + 0.1 * X[:, 1] ** 2, 1.0, weights)
    learner = Hinge(True) if machine == "hinge" else SquaredHinge(True)
    return KERNELS[kernel](X), learner.dual(np.where(labels == 1, 1.0, -1.0), 1.0, weights)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("machine", ["hinge", "squared hinge", "regression"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_path_of_all_rows(seed, machine, kernel):
    K, unit = problem(machine, kernel, seed)
    asked = []

    def entries(rows, columns):
        asked.append(len(rows) * len(columns))
        return K[np.ix_(rows, columns)]

    chunk = chunked_path(entries, unit, PENALTIES)
    assert chunk is not None
    assert sum(asked) < 0.7 * K.size
    expected = Solver(K).path(unit, PENALTIES)
    assert chunk.path.converged.all()
    np.testing.assert_allclose(
        chunk.path.images + chunk.path.biases[:, None], expected.images + expected.biases[:, None], atol=1e-7, rtol=0
    )
    np.testing.assert_allclose(chunk.path.images, chunk.path.betas @ K, atol=1e-9, rtol=0)
    assert (np.abs(chunk.path.gaps) < 1e-6).all()


def test_many_support_vectors_are_refused():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.choice([-1.0, 1.0], 300)
    K = Gaussian(0.2)(X)
    unit = Hinge(True).dual(y, 1.0, np.ones(300))
    assert chunked_path(lambda rows, columns: K[np.ix_(rows, columns)], unit, PENALTIES) is None


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_search_over_penalties_of_easy_classes(scaled, classes):
    """From 1,000 training rows on, with a kernel for each fold: scores of retraining, all exact."""
    centers = np.arange(classes)[:, None] * np.array([5.0, -5.0, 5.0, 5.0])
    X, y = make_blobs(1300 * classes // 2, 4, centers=centers, cluster_std=2.0, random_state=3)
    machine = make_pipeline(StandardScaler(), SVC(tol=1e-8)) if scaled else SVC(tol=1e-8)
    grid = {"svc__C" if scaled else "C": [0.5, 5.0, 50.0]}
    ours = KernelSearchCV(machine, grid, cv=5, return_train_score=True).fit(X, y)
    theirs = GridSearchCV(machine, grid, cv=5, return_train_score=True).fit(X, y)
    assert set(ours.cv_results_["exactness"]) == {"exact"}
    for name in ("mean_test_score", "mean_train_score"):
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-12)
    assert ours.ledger_["gram"] == 0 or not scaled  # a few blocks of entries only


def test_a_search_over_penalties_of_an_easy_regression():
    X = np.random.default_rng(0).uniform(-2, 2, (1300, 1))
    y = np.sin(2 * X[:, 0])
    machine, grid = SVR(epsilon=0.1, tol=1e-9), {"C": [1.0, 10.0]}
    ours, theirs = (search(machine, grid, cv=5).fit(X, y) for search in (KernelSearchCV, GridSearchCV))
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-6)
