"""The model that is delivered is the one that was scored."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from onefit import L2SVC, KernelSearchCV, RefitWarning, calibrated
from onefit.estimators import delivery


def chosen_scores(search):
    """Scores of the best candidate on every split."""
    results = search.cv_results_
    return np.array([results[f"split{i}_test_score"][search.best_index_] for i in range(search.n_splits_)])


def quietly(search, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return search.fit(X, y)


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


def test_a_bias_that_the_data_leave_open_is_the_one_of_the_solver(cancer):
    """With balanced classes and small C all coefficients are at bounds, and LIBSVM's bias is at an interval's end."""
    model = make_pipeline(StandardScaler(), SVC(class_weight="balanced"))
    grid = {"svc__C": [1e-4, 1e-3, 1e-2], "svc__gamma": [0.03, 0.1, 0.3]}
    search = quietly(KernelSearchCV(model, grid, cv=5), *cancer)
    expected = GridSearchCV(model, grid, cv=5).fit(*cancer)
    assert search.best_params_ == expected.best_params_
    assert search.best_score_ == pytest.approx(expected.best_score_, abs=1e-12)
    assert search.score(*cancer) == expected.score(*cancer)
    assert search.cv_results_["exactness"][search.best_index_] == "retrained"
    others = np.delete(np.arange(9), search.best_index_)
    assert set(search.cv_results_["exactness"][others]) <= {"approximate", "retrained"}
    assert all("bias is not determined" in status for status in search.cv_results_["status"])


@pytest.mark.parametrize("gamma", [1e-6, 1e-4])
def test_values_far_below_tol_are_delivered(cancer, gamma):
    """Decision values that spread over less than LIBSVM's tol: with that tol it does not train at all."""
    X, y = StandardScaler().fit_transform(cancer[0]), cancer[1]
    search = quietly(KernelSearchCV(SVC(), {"C": [0.01], "gamma": [gamma]}, cv=5, scoring="roc_auc"), X, y)
    assert np.ptp(search.oof_decision_) < 0.5
    assert search.cv_results_["exactness"][0] == "exact"
    mine = cross_val_score(clone(search.best_estimator_), X, y, cv=5, scoring="roc_auc")
    np.testing.assert_allclose(mine, chosen_scores(search), atol=1e-6)


def test_delivered_values_are_those_of_the_exact_solution(regression):
    X, y = regression
    search = quietly(KernelSearchCV(SVR(), {"C": [1.0, 10.0], "gamma": [0.1, 1.0]}, cv=4), X, y)
    precise = SVR(**search.best_params_, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(search.predict(X), precise.predict(X), atol=1e-7)
    assert search.best_estimator_.tol < 1e-7


def test_a_tol_that_is_searched_over_stays(two_classes):
    search = quietly(KernelSearchCV(SVC(), {"C": [1.0], "tol": [1e-2, 1e-4]}, cv=3), *two_classes)
    assert search.best_estimator_.tol == search.best_params_["tol"]


def test_a_loose_tol_of_our_own_machine_is_tightened(two_classes):
    search = quietly(KernelSearchCV(L2SVC(tol=0.5), {"C": [0.1, 10.0]}, cv=3), *two_classes)
    precise = L2SVC(**search.best_params_).fit(*two_classes)
    X = two_classes[0]
    np.testing.assert_allclose(search.decision_function(X), precise.decision_function(X), atol=1e-8)


def test_a_limit_of_iterations_is_honoured_by_retraining(two_classes):
    search = quietly(KernelSearchCV(L2SVC(max_iter=3), {"C": [0.1, 10.0]}, cv=3), *two_classes)
    assert set(search.cv_results_["exactness"]) == {"retrained"}


def test_a_remaining_difference_is_told(two_classes):
    """A polynomial kernel of large values: LIBSVM keeps them in single precision."""
    X, y = two_classes
    search = KernelSearchCV(SVC(kernel="poly", degree=3, coef0=1.0), {"C": [100.0], "gamma": [1.0]}, cv=3)
    with pytest.warns(RefitWarning, match="differ by up to"):
        search.fit(X, y)


def test_a_model_that_is_another_one_is_scored_as_it_is_trained(two_classes, monkeypatch):
    """Where LIBSVM cannot come near the exact solution, its own scores count."""
    X, y = two_classes
    monkeypatch.setattr(delivery, "REJECTED_DIFFERENCE", 1e-14)
    grid = {"C": [0.1, 1.0], "gamma": [0.1, 1.0]}
    search, expected = quietly(KernelSearchCV(SVC(), grid, cv=3), X, y), GridSearchCV(SVC(), grid, cv=3).fit(X, y)
    assert search.cv_results_["exactness"][search.best_index_] == "retrained"
    assert search.best_score_ == pytest.approx(expected.best_score_, abs=1e-12)
    assert search.best_estimator_.tol == SVC().tol


def test_a_callable_refit_chooses_among_scores_that_are_determined(cancer):
    model = make_pipeline(StandardScaler(), SVC(class_weight="balanced", gamma=0.1))
    search = KernelSearchCV(model, {"svc__C": [1e-4, 1e-3]}, cv=KFold(3), refit=lambda results: 1)
    quietly(search, *cancer)
    assert search.best_index_ == 1
    mine = cross_val_score(clone(search.best_estimator_), *cancer, cv=KFold(3))
    np.testing.assert_allclose(mine, chosen_scores(search), atol=1e-12)


def test_ranks_beyond_the_error_bound_are_not_called_exact(cancer):
    """A kernel that is constant but for 1e-13: the values differ by rounding only."""
    X, y = StandardScaler().fit_transform(cancer[0]), cancer[1]
    search = KernelSearchCV(SVC(), {"C": [1e-3], "gamma": [1e-15]}, cv=5, scoring=["roc_auc", "accuracy"], refit=False)
    results = quietly(search, X, y).cv_results_
    assert results["exactness"].tolist() == ["approximate"]
    assert "digits" in results["status"][0]


def test_equal_rows_of_different_classes_are_no_doubt():
    """Ties between identical rows are no matter of rounding: their score is exact."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(40, 2)), 2, axis=0)
    y = rng.integers(2, size=80)
    folds = KFold(4)
    search = KernelSearchCV(SVC(), {"C": [1.0], "gamma": [1.0]}, cv=folds, scoring="roc_auc", refit=False)
    results = quietly(search, X, y).cv_results_
    expected = cross_val_score(SVC(C=1.0, gamma=1.0, tol=1e-10), X, y, cv=folds, scoring="roc_auc")
    assert results["exactness"].tolist() == ["exact"]
    np.testing.assert_allclose([results[f"split{i}_test_score"][0] for i in range(4)], expected, atol=1e-12)


def test_an_open_bias_shows_in_scores_that_are_continuous_in_the_values(cancer):
    """A scorer of one's own that is neither blind to shifts nor to anything but labels."""

    def mean_distance(model, X, y):
        return np.abs(model.decision_function(X)).mean()

    model = make_pipeline(StandardScaler(), SVC(class_weight="balanced", gamma=0.1))
    search = KernelSearchCV(model, {"svc__C": [1e-4, 1.0]}, cv=3, scoring=mean_distance, refit=False)
    results = quietly(search, *cancer).cv_results_
    expected = quietly(GridSearchCV(model.set_params(svc__tol=1e-8), search.param_grid, cv=3, scoring=mean_distance),
                       *cancer).cv_results_  # fmt: skip
    same = np.abs(results["mean_test_score"] - expected["mean_test_score"]) < 1e-6
    assert not same[0] or results["exactness"][0] == "retrained"
    assert results["exactness"][0] != "exact"
    assert results["exactness"][1] == "exact"
    assert same[1]


def test_confirmation_includes_train_scores(cancer):
    model = make_pipeline(StandardScaler(), SVC(class_weight="balanced", gamma=0.1))
    options = {"cv": 3, "return_train_score": True}
    results = quietly(KernelSearchCV(model, {"svc__C": [1e-3]}, **options), *cancer).cv_results_
    expected = quietly(GridSearchCV(model, {"svc__C": [1e-3]}, **options), *cancer).cv_results_
    for kind in ("test", "train"):
        np.testing.assert_allclose(results[f"mean_{kind}_score"], expected[f"mean_{kind}_score"], atol=1e-12)


def test_an_open_bias_is_noticed_where_preprocessing_is_shared(cancer):
    """Equal weights of equal classes: shared preprocessing leaves the bias as open as that of each fold does."""
    X, y = cancer
    rows = np.concatenate([np.flatnonzero(y == 0)[:200], np.flatnonzero(y == 1)[:200]])
    model = make_pipeline(StandardScaler(), SVC(gamma=0.1))
    search = KernelSearchCV(model, {"svc__C": [1e-4, 1e-3]}, cv=5, preprocessing="shared")
    results = quietly(search, X[rows], y[rows]).cv_results_
    assert results["exactness"][search.best_index_] in ("exact", "retrained")
    other = 1 - search.best_index_
    assert "bias is not determined" in results["status"][other]


def test_a_criterion_that_is_no_score_is_not_mixed_with_scores(two_classes, monkeypatch):
    monkeypatch.setattr(delivery, "REJECTED_DIFFERENCE", 1e-14)
    search = KernelSearchCV(SVC(), {"C": [0.1, 1.0], "gamma": [0.1, 1.0]}, criterion="sm", cv=3)
    assert "retrained" not in quietly(search, *two_classes).cv_results_["exactness"]


@pytest.mark.parametrize("C", [1e-4, 1.0])
def test_probabilities_are_calibrated_on_values_of_the_delivered_model(cancer, C):
    """Also where its bias is LIBSVM's choice."""
    model = make_pipeline(StandardScaler(), SVC(class_weight="balanced", gamma=0.03))
    search = quietly(KernelSearchCV(model, {"svc__C": [C]}, cv=5), *cancer)
    retrained = cross_val_predict(clone(search.best_estimator_), *cancer, cv=5, method="decision_function")
    np.testing.assert_allclose(search.oof_decision_, retrained, atol=1e-5)
    mine = quietly_calibrated(search).decision_function(cancer[0])
    np.testing.assert_array_equal(mine, search.best_estimator_.decision_function(cancer[0]))


def quietly_calibrated(search):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return calibrated(search)
