"""Scores of training rows: what their label promises holds for them too."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score
from sklearn.svm import SVC

from onefit import LSSVC
from tests.oracles.grid_search import both

GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 0.3]}


@pytest.fixture
def noisy():
    """100 rows, two overlapping classes, whose machines have several free support vectors."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(100, 4))
    return X, (X[:, 0] + 2 * rng.normal(size=100) > 0.5).astype(int)


def _tied_train_score(params, X, y):
    """Average precision on all rows in exact arithmetic, which gives free support vectors equal values."""
    values = SVC(**params, tol=1e-10).fit(X, y).decision_function(X)
    return average_precision_score(y, np.round(values, 6))


def test_rows_whose_train_scores_rounding_decides_are_not_exact(noisy):
    """Free support vectors have equal values, ±1, up to rounding, and average precision depends on which are equal."""
    X, y = noisy
    everything = [(np.arange(100), np.arange(100))]
    fast, _ = both(SVC(), GRID, X, y, cv=everything, scoring="average_precision", return_train_score=True)
    results = fast.cv_results_
    right = np.array([_tied_train_score(params, X, y) for params in results["params"]])
    wrong = np.abs(results["split0_train_score"] - right) > 1e-6
    assert wrong.any()
    assert (results["exactness"][wrong] == "approximate").all()
    assert all("train scores" in status for status in results["status"][wrong])


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "f1_macro"])
def test_ties_that_do_not_matter_are_no_reason(noisy, scoring):
    fast, slow = both(SVC(tol=1e-8), GRID, *noisy, cv=3, scoring=scoring, return_train_score=True)
    assert (fast.cv_results_["exactness"] == "exact").all()
    for split in range(3):
        key = f"split{split}_train_score"
        np.testing.assert_allclose(fast.cv_results_[key], slow.cv_results_[key], atol=1e-12)


def test_machines_without_ties_stay_exact(noisy):
    grid = {"alpha": [0.1, 1.0], "gamma": [1e-3, 0.1]}
    fast, slow = both(LSSVC(), grid, *noisy, cv=3, scoring="average_precision", return_train_score=True)
    assert (fast.cv_results_["exactness"] == "exact").all()
    np.testing.assert_allclose(fast.cv_results_["mean_train_score"], slow.cv_results_["mean_train_score"], atol=1e-12)
