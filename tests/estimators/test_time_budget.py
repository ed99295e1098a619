"""Searches that end when their time is over."""

import time
import warnings

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR, NuSVR
from sklearn.utils.validation import check_is_fitted

from onefit import GridEdgeWarning, KernelSearchCV, TimeBudgetWarning, criteria, one_standard_error

WIDE = {"gamma": np.logspace(-3, 1, 31), "alpha": np.logspace(-4, 2, 5)}


def slow_error(model, X, y):
    time.sleep(2e-4)
    return -float(np.abs(model.predict(X) - y).mean())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_was_reached_is_what_a_full_search_finds(regression, n_jobs):
    X, y = regression
    search = KernelSearchCV(KernelRidge(kernel="rbf"), WIDE, cv=5, scoring=slow_error, time_budget=0.05, n_jobs=n_jobs)
    with pytest.warns(TimeBudgetWarning, match=r"budget of 0.05 s is used up: \d+ of 155 candidates were evaluated"):
        search.fit(X, y)
    full = KernelSearchCV(KernelRidge(kernel="rbf"), WIDE, cv=5, scoring="neg_mean_absolute_error").fit(X, y)
    results = search.cv_results_
    reached = results["status"] != "not reached"
    assert 0 < reached.sum() < 155
    assert results["params"] == full.cv_results_["params"]
    np.testing.assert_allclose(
        results["mean_test_score"][reached], full.cv_results_["mean_test_score"][reached], rtol=1e-12
    )
    assert np.isnan(results["mean_test_score"][~reached]).all()
    assert set(results["exactness"][~reached]) == {"not reached"}
    assert search.best_score_ == np.nanmax(results["mean_test_score"])
    assert (results["rank_test_score"][~reached] == results["rank_test_score"].max()).all()
    check_is_fitted(search)
    np.testing.assert_array_equal(search.predict(X), search.best_estimator_.predict(X))
    assert np.isfinite(search.oof_decision_).all()


def test_kernels_are_reached_from_coarse_to_fine(regression):
    search = KernelSearchCV(KernelRidge(kernel="rbf"), WIDE, cv=5, scoring=slow_error, time_budget=0.08)
    with pytest.warns(TimeBudgetWarning):
        search.fit(*regression)
    gammas = WIDE["gamma"].tolist()
    reached = [p["gamma"] for p, s in zip(search.cv_results_["params"], search.cv_results_["status"]) if s == "ok"]
    seen = sorted({gammas.index(gamma) for gamma in reached})
    assert 15 in seen
    if len(seen) >= 3:
        assert {7, 23} <= set(seen)


@pytest.mark.parametrize(
    ("estimator", "grid", "options"),
    [
        (KernelRidge(kernel="rbf"), WIDE, {}),
        (SVR(), {"gamma": [0.1, 1.0], "C": [1.0, 10.0], "epsilon": [0.01, 0.1, 0.2]}, {}),
        (SVR(), {"gamma": [0.1, 1.0, 2.0], "C": [1.0, 10.0]}, {"criterion": criteria.CV(certify=True, prune=True)}),
        (KernelRidge(kernel="rbf"), WIDE, {"criterion": "gcv"}),
        (KernelRidge(kernel="rbf"), WIDE, {"criterion": ["cv", "gcv"], "return_train_score": True}),
        (
            KernelRidge(kernel="rbf"),
            WIDE,
            {"scoring": ["r2", "neg_median_absolute_error"], "refit": "r2"},
        ),
        (KernelRidge(kernel="rbf"), WIDE, {"screen": ("ckta", 4)}),
        (KernelRidge(kernel="rbf"), WIDE, {"refit": one_standard_error}),
        (NuSVR(), {"nu": [0.2, 0.5, 0.8]}, {}),
        (KernelRidge(kernel="rbf"), "auto", {}),
    ],
    ids=["ridge", "tubes", "pruned", "criterion", "columns", "metrics", "screened", "one se", "retrained", "auto"],
)
@pytest.mark.filterwarnings("ignore::onefit.RetrainingWarning", "ignore::onefit.GridEdgeWarning")
def test_no_time_at_all_is_one_path_of_candidates(regression, estimator, grid, options):
    X, y = regression
    search = KernelSearchCV(estimator, grid, cv=3, time_budget=1e-9, **options)
    with pytest.warns(TimeBudgetWarning):
        search.fit(X, y)
    exactness = search.cv_results_["exactness"]
    reached = ~np.isin(exactness, ["not reached", "pruned"])
    params = [params for params, found in zip(search.cv_results_["params"], reached) if found]
    assert params
    assert len({(p.get("gamma"), p.get("epsilon"), p.get("nu")) for p in params}) == 1
    assert search.best_params_ in params
    assert search.best_estimator_.predict(X).shape == y.shape


def test_multi_class_machines_are_ended_too(three_classes):
    search = KernelSearchCV(SVC(), {"gamma": [0.1, 1.0, 10.0], "C": [0.1, 1.0]}, cv=3, time_budget=1e-9)
    with pytest.warns(TimeBudgetWarning, match="2 of 6 candidates"):
        search.fit(*three_classes)
    assert search.best_params_["gamma"] == 1.0


def test_candidates_that_fail_do_not_use_up_the_budget(regression):
    """The middle kernel has no score: another one has to."""
    X, y = regression
    calls = []

    def scorer(model, X, y):
        calls.append(1)
        return np.nan if len(calls) <= 3 * 2 else -float(np.abs(model.predict(X) - y).mean())

    search = KernelSearchCV(
        KernelRidge(kernel="rbf"), {"gamma": [0.1, 1.0, 10.0], "alpha": [0.1, 1.0]}, cv=3, scoring=scorer,
        time_budget=1e-9,
    )  # fmt: skip
    with pytest.warns(TimeBudgetWarning, match="4 of 6"), pytest.warns(match="non-finite"):
        search.fit(X, y)
    assert np.isfinite(search.best_score_)


def test_enough_time_changes_nothing(regression, recwarn):
    X, y = regression
    options = {"param_grid": {"gamma": [0.01, 0.1, 1.0], "alpha": [1e-3, 0.1, 10.0]}, "cv": 5}
    budgeted = KernelSearchCV(KernelRidge(kernel="rbf"), time_budget="10m", **options).fit(X, y)
    plain = KernelSearchCV(KernelRidge(kernel="rbf"), **options).fit(X, y)
    assert not [w for w in recwarn if issubclass(w.category, TimeBudgetWarning)]
    for key, column in plain.cv_results_.items():
        if "time" not in key and key != "seconds":
            np.testing.assert_array_equal(budgeted.cv_results_[key], column)


def test_the_edge_is_that_of_what_was_reached(regression):
    """A best value whose neighbours were not reached is not inside the grid."""
    X, y = regression
    grid = {"gamma": [1e-3, 1e-2, 0.1, 1.0, 10.0], "alpha": [0.1]}
    with warnings.catch_warnings():
        warnings.simplefilter("error", GridEdgeWarning)
        with pytest.warns(TimeBudgetWarning):
            KernelSearchCV(KernelRidge(kernel="rbf"), grid, cv=3, time_budget=1e-9).fit(X, y)


def test_rounds_that_were_not_begun_are_mentioned(regression):
    search = KernelSearchCV(KernelRidge(), "auto", cv=3, time_budget=1e-9)  # linear: one kernel, one path
    with pytest.warns(TimeBudgetWarning, match=r"(\d+) of \1 candidates were evaluated; another round of \d+ was not"):
        search.fit(*regression)
    assert set(search.cv_results_["round"]) == {0}
