"""Searches that cannot gain are trained by scikit-learn; all others are not."""

import warnings

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.datasets import load_iris, make_blobs
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, ShuffleSplit, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from onefit import L2SVC, KernelSearchCV, RetrainingWarning, criteria

METHOD = {True: {"method": "decision_function"}, False: {}}


def labels_of(machine, grid, X, y, **options):
    search = KernelSearchCV(machine, grid, cv=3, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # handing over is not worth a warning
        warnings.filterwarnings("ignore", message="The best parameters lie at the edge")
        search.fit(X, y)
    return set(search.cv_results_["exactness"]), search


def assert_same_as_grid_search(search, X, y):
    """Equal in every split, to the last bit where all candidates are retrained."""
    expected = GridSearchCV(search.estimator, search.param_grid, cv=3).fit(X, y)
    for name in ("split0_test_score", "split1_test_score", "split2_test_score", "mean_test_score", "rank_test_score"):
        np.testing.assert_array_equal(search.cv_results_[name], expected.cv_results_[name])
    assert search.best_params_ == expected.best_params_
    np.testing.assert_array_equal(search.predict(X), expected.predict(X))


def classes(count, n):
    return make_blobs(n, 8, centers=count, cluster_std=2.0, random_state=0)


def test_many_small_classes_with_few_penalties_are_handed_over():
    X, y = classes(12, 240)
    grid = {"C": [0.5, 5.0], "gamma": [0.01, 0.05]}
    labels, search = labels_of(SVC(), grid, X, y)
    assert labels == {"retrained"}
    assert_same_as_grid_search(search, X, y)
    assert search.oof_decision_.shape == (240, 12)  # trained when it is asked for


@pytest.mark.parametrize(
    ("count", "n", "grid", "label"),
    [
        (8, 100, {"gamma": [0.01, 0.1]}, "retrained"),
        (8, 300, {"gamma": [0.01, 0.1]}, "retrained"),
        (8, 300, {"gamma": [0.01, 0.1], "C": [1.0, 10.0]}, "exact"),
        (5, 300, {"gamma": [0.01, 0.1]}, "exact"),
    ],
)
def test_how_many_and_how_small(count, n, grid, label):
    assert labels_of(SVC(), grid, *classes(count, n))[0] == {label}


@pytest.mark.parametrize(
    ("count", "grid"),
    [(12, {"C": [0.1, 0.5, 5.0, 20.0], "gamma": [0.05]}), (4, {"C": [0.5, 5.0], "gamma": [0.01, 0.05]})],
)
def test_other_classes_are_not(count, grid):
    assert labels_of(SVC(), grid, *classes(count, 240))[0] == {"exact"}


@pytest.mark.parametrize(
    ("n", "grid", "label"),
    [
        (40, {"svc__C": [1.0]}, "retrained"),
        (40, {"svc__C": [1.0, 10.0]}, "exact"),
        (40, {"svc__gamma": [0.1, 1.0]}, "exact"),
        (400, {"svc__C": [1.0]}, "retrained"),
        (700, {"svc__gamma": [0.1, 1.0, 10.0]}, "retrained"),
        (700, {"svc__gamma": [0.1, 1.0], "svc__C": [1.0, 10.0]}, "exact"),
        (1300, {"svc__gamma": [0.1, 1.0], "svc__C": [1.0, 10.0]}, "retrained"),
        (1300, {"svc__C": [0.1, 1.0, 10.0]}, "exact"),
    ],
)
def test_candidates_whose_folds_share_nothing(n, grid, label):
    X, y = classes(2, n)
    labels, search = labels_of(make_pipeline(StandardScaler(), SVC()), grid, X, y)
    assert labels == {label}
    assert_same_as_grid_search(search, X, y)


@pytest.mark.parametrize(
    ("machine", "label"),
    [
        (SVC(gamma=0.1), "exact"),  # folds share the kernel
        (SVC(gamma="scale"), "retrained"),
        (KernelRidge(kernel="rbf"), "exact"),
        (make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")), "retrained"),
        (make_pipeline(StandardScaler(), SVR()), "retrained"),
    ],
    ids=str,
)
def test_a_single_candidate(machine, label):
    X, y = classes(2, 100)
    labels, search = labels_of(machine, {}, X, 1.0 * y)
    assert labels == {label}
    if label == "retrained":
        assert_same_as_grid_search(search, X, 1.0 * y)
        expected = cross_val_predict(machine, X, y, cv=3, **METHOD[is_classifier(machine)])
        np.testing.assert_array_equal(search.oof_decision_, expected)


@pytest.mark.parametrize(
    ("splits", "grid", "label"),
    [
        (1, {"C": [1.0, 10.0]}, "retrained"),
        (1, {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}, "exact"),
        (2, {"C": [1.0, 10.0]}, "exact"),  # two splits share the kernel
    ],
)
def test_few_splits(splits, grid, label):
    X, y = classes(2, 100)
    search = KernelSearchCV(SVC(gamma=0.1), grid, cv=ShuffleSplit(splits, random_state=0)).fit(X, y)
    assert set(search.cv_results_["exactness"]) == {label}


def test_a_single_candidate_with_several_pairs_of_classes():
    X, y = classes(3, 90)
    labels, search = labels_of(SVC(gamma=0.1), {"C": [1.0]}, X, y)
    assert labels == {"retrained"}
    assert_same_as_grid_search(search, X, y)
    assert labels_of(SVC(gamma=0.1), {"C": [1.0, 10.0]}, X, y)[0] == {"exact"}


@pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning")
@pytest.mark.parametrize("machine", [SVC(kernel="sigmoid"), SVR(kernel="sigmoid")], ids=str)
@pytest.mark.parametrize("scaled", [False, True])
def test_sigmoid_kernels_are_retrained_before_any_work(machine, scaled):
    X, y = classes(2, 100)
    prefix = f"{type(machine).__name__.lower()}__" if scaled else ""
    grid = {f"{prefix}C": [0.1, 1.0, 10.0]}
    search = KernelSearchCV(make_pipeline(StandardScaler(), machine) if scaled else machine, grid, cv=3)
    with pytest.warns(RetrainingWarning, match="Sigmoid.* is not positive semi-definite"):
        search.fit(X, 1.0 * y)
    assert set(search.cv_results_["exactness"]) == {"retrained"}
    assert search.ledger_["gram"] == 0
    assert_same_as_grid_search(search, X, 1.0 * y)


def test_sigmoid_kernels_of_least_squares_are_not():
    X, y = classes(2, 100)
    machine = KernelRidge(kernel="sigmoid", gamma=0.01)
    assert labels_of(machine, {"alpha": [100.0, 1000.0]}, X, 1.0 * y)[0] == {"exact"}


def test_what_is_handed_over_needs_no_memory_for_kernels():
    X, y = classes(2, 400)
    machine = make_pipeline(StandardScaler(), SVC())
    assert labels_of(machine, {"svc__C": [1.0]}, X, y, memory_budget="1MB")[0] == {"retrained"}
    with pytest.raises(ValueError, match="memory budget"):
        KernelSearchCV(machine, {"svc__C": [1.0, 10.0]}, memory_budget="1MB").fit(X, y)
    with pytest.raises(ValueError, match="memory_budget"):
        KernelSearchCV(machine, {"svc__C": [1.0]}, memory_budget="much").fit(X, y)


@pytest.mark.parametrize("cv", [3, 5])
def test_pairs_of_classes_in_a_row(cv):
    """Classes one after another: the rows of a pair are consecutive, and parts of K need no copy."""
    X, y = classes(4, 240)
    X, y = X[np.argsort(y)], np.sort(y)
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.05, 0.1]}
    search = KernelSearchCV(SVC(tol=1e-6), grid, cv=cv).fit(X, y)
    assert set(search.cv_results_["exactness"]) == {"exact"}
    expected = GridSearchCV(SVC(tol=1e-6), grid, cv=cv).fit(X, y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])


@pytest.mark.parametrize(("ridges", "label"), [([1.0], "retrained"), ([0.1, 1.0], "exact")])
def test_features_with_one_ridge_for_each_width(ridges, label):
    X, y = classes(2, 200)
    machine = make_pipeline(Nystroem(n_components=20, random_state=0), RidgeClassifier())
    grid = {"nystroem__gamma": [0.01, 0.1], "ridgeclassifier__alpha": ridges}
    labels, search = labels_of(machine, grid, X, y)
    assert labels == {label}
    expected = GridSearchCV(machine, grid, cv=3).fit(X, y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])


def test_what_retraining_cannot_do_is_not_handed_over():
    X, y = classes(2, 1000)
    machine = make_pipeline(StandardScaler(), SVC())
    assert labels_of(machine, {"svc__C": [1.0]}, X, y, scale_penalty=True)[0] == {"exact"}
    assert labels_of(machine, {"svc__C": [1.0]}, X, y, preprocessing="shared")[0] == {"approximate"}


def test_losses_of_several_classes_are_not_handed_over():
    X, y = load_iris(return_X_y=True)
    how = {"criterion": criteria.CV(loss="hinge"), "cv": 3}
    alone = KernelSearchCV(L2SVC(gamma=0.1), {"C": [1.0]}, **how).fit(X, y)
    together = KernelSearchCV(L2SVC(gamma=0.1), {"C": [1.0, 10.0, 100.0]}, **how).fit(X, y)
    assert alone.cv_results_["mean_test_score"][0] == pytest.approx(together.cv_results_["mean_test_score"][0])


def test_a_loss_of_pairs_is_the_same_from_trained_machines():
    X, y = load_iris(return_X_y=True)
    grid = {"C": [1.0, 10.0], "gamma": [0.1]}
    exact = KernelSearchCV(L2SVC(), grid, criterion=criteria.CV(loss="hinge"), cv=3).fit(X, y)
    scorer = exact.scorer_
    for k, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
        for number, params in enumerate(exact.cv_results_["params"]):
            trained = L2SVC(**params).fit(X[train], y[train])
            expected = exact.cv_results_[f"split{k}_test_score"][number]
            assert scorer(trained, X[test], y[test]) == pytest.approx(expected, rel=1e-6)


def test_labels_of_a_retrained_candidate_of_several_classes():
    X, y = load_iris(return_X_y=True)
    search = KernelSearchCV(SVC(), {"C": [1.0]}, cv=StratifiedKFold(3)).fit(X, y)
    assert search.cv_results_["exactness"][0] == "retrained"
    np.testing.assert_array_equal(search.oof_prediction_, cross_val_predict(SVC(), X, y, cv=StratifiedKFold(3)))
    two = KernelSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0]}).fit(X[:100], y[:100])
    assert not hasattr(two, "oof_prediction_")
    assert "fit" not in str(two.ledger_) or two.ledger_["fit"] == 5  # asking has trained nothing
