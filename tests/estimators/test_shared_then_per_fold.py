"""preprocessing="shared_then_per_fold": a search on shared views whose best candidates are judged on every fold."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from onefit import KernelSearchCV

GRID = {"svc__gamma": np.logspace(-3, 1, 5), "svc__C": np.logspace(-1, 2, 4)}
RIDGES = {"kernelridge__gamma": np.logspace(-3, 0, 4), "kernelridge__alpha": np.logspace(-3, 1, 5)}
SEARCHES = {
    "classes": (make_pipeline(StandardScaler(), PCA(2), SVC()), GRID, "three_classes"),
    "balanced": (make_pipeline(SVC(class_weight="balanced")), GRID, "three_classes"),
    "regression": (make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")), RIDGES, "regression"),
}


@pytest.fixture(params=SEARCHES)
def searched(request):
    """(search, GridSearchCV on the same candidates)."""
    estimator, grid, name = SEARCHES[request.param]
    X, y = request.getfixturevalue(name)
    mine = KernelSearchCV(estimator, grid, cv=4, preprocessing="shared_then_per_fold").fit(X, y)
    return mine, GridSearchCV(estimator, grid, cv=4).fit(X, y)


def test_the_best_and_all_within_a_standard_error_are_exact(searched):
    mine, theirs = (search.cv_results_ for search in searched)
    exact = mine["exactness"] == "exact"
    assert exact[searched[0].best_index_]
    assert 1 <= exact.sum() < len(exact)
    for k in range(4):
        split = f"split{k}_test_score"
        np.testing.assert_allclose(mine[split][exact], theirs[split][exact], atol=1e-6)
    assert set(mine["exactness"][~exact]) == {"approximate"}


def test_no_candidate_that_was_not_judged_looks_better(searched):
    results = searched[0].cv_results_
    exact = results["exactness"] == "exact"
    assert results["mean_test_score"][~exact].max() <= results["mean_test_score"][exact].max()
    assert searched[0].best_score_ == results["mean_test_score"].max()


def test_out_of_fold_values_are_those_of_every_fold(regression):
    estimator, grid, _ = SEARCHES["regression"]
    search = KernelSearchCV(estimator, grid, cv=4, preprocessing="shared_then_per_fold").fit(*regression)
    expected = cross_val_predict(clone(estimator).set_params(**search.best_params_), *regression, cv=4)
    np.testing.assert_allclose(search.oof_decision_, expected, rtol=1e-8, atol=1e-8)


def test_transformers_that_need_y_are_refused(three_classes):
    search = KernelSearchCV(make_pipeline(SelectKBest(k=1), SVC()), GRID, preprocessing="shared_then_per_fold")
    with pytest.raises(ValueError, match="cannot be fitted without y"):
        search.fit(*three_classes)


@pytest.mark.parametrize("scoring", [["r2", "neg_mean_squared_error"], ["neg_mean_squared_error", "r2"]])
def test_the_metric_that_decides_tells_who_is_judged(regression, scoring):
    estimator, grid, _ = SEARCHES["regression"]
    options = {"cv": 4, "preprocessing": "shared_then_per_fold"}
    one = KernelSearchCV(estimator, grid, scoring="r2", **options).fit(*regression)
    several = KernelSearchCV(estimator, grid, scoring=scoring, refit="r2", **options).fit(*regression)
    np.testing.assert_array_equal(several.cv_results_["exactness"], one.cv_results_["exactness"])


def test_a_time_budget_that_is_over_keeps_the_shared_scores(three_classes):
    estimator, grid, _ = SEARCHES["classes"]
    search = KernelSearchCV(estimator, grid, cv=4, preprocessing="shared_then_per_fold", time_budget=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(*three_classes)
    assert np.isfinite(search.best_score_)
