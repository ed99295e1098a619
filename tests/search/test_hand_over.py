"""Searches that cannot gain are trained by scikit-learn; all others are not."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from onefit import KernelSearchCV


def labels_of(machine, grid, X, y, **options):
    search = KernelSearchCV(machine, grid, cv=3, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # handing over is not worth a warning
        warnings.filterwarnings("ignore", message="The best parameters lie at the edge")
        search.fit(X, y)
    return set(search.cv_results_["exactness"]), search


def classes(count, n):
    return make_blobs(n, 8, centers=count, cluster_std=2.0, random_state=0)


def test_many_small_classes_with_few_penalties_are_handed_over():
    X, y = classes(12, 240)
    grid = {"C": [0.5, 5.0], "gamma": [0.01, 0.05]}
    labels, search = labels_of(SVC(), grid, X, y)
    assert labels == {"retrained"}
    expected = GridSearchCV(SVC(), grid, cv=3).fit(X, y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])
    assert search.best_params_ == expected.best_params_
    np.testing.assert_array_equal(search.predict(X), expected.predict(X))
    assert search.oof_decision_.shape == (240, 12)  # trained when it is asked for


@pytest.mark.parametrize(
    ("count", "grid"),
    [(12, {"C": [0.1, 0.5, 5.0, 20.0], "gamma": [0.05]}), (4, {"C": [0.5, 5.0], "gamma": [0.01, 0.05]})],
)
def test_other_classes_are_not(count, grid):
    assert labels_of(SVC(), grid, *classes(count, 240))[0] == {"exact"}


@pytest.mark.parametrize(("n", "label"), [(1000, "retrained"), (300, "exact")])
def test_one_candidate_whose_folds_share_nothing(n, label):
    X, y = classes(2, n)
    assert labels_of(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0]}, X, y)[0] == {label}
    assert labels_of(SVC(gamma=0.1), {"C": [1.0]}, X, y)[0] == {"exact"}  # folds share a kernel


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
