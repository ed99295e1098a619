"""Nystroem and RBFSampler before a linear machine: GridSearchCV's answer, with features computed once for each fold."""

import warnings

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, LinearSVR

from onefit import KernelSearchCV, Landmarks, RetrainingWarning, cross_val_decision

RIDGES = [1e-4, 1e-2, 1.0, 30.0]


def regression(n=130, targets=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = 50.0 + np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)
    return X, y if targets == 1 else np.column_stack([y, X[:, 3] - y])


def classification(n=150, classes=3, seed=0):
    X, y = regression(n, seed=seed)
    return X, np.array(["a", "b", "c", "d"])[np.digitize(y - 50, np.linspace(-0.7, 0.7, classes - 1))]


def pipeline(final, features=None):
    features = Nystroem(gamma=0.3, n_components=30, random_state=3) if features is None else features
    return Pipeline([("scale", StandardScaler()), ("features", features), ("final", final)])


def fit_both(model, grid, X, y, params=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        searches = [cls(model, grid, **options).fit(X, y, **(params or {})) for cls in (GridSearchCV, KernelSearchCV)]
    return searches


def assert_same(expected, found, exactness="exact", rel=1e-8):
    columns = [name for name in expected.cv_results_ if name.startswith("split")]
    assert columns
    for name in columns:
        np.testing.assert_allclose(found.cv_results_[name], expected.cv_results_[name], rtol=rel, atol=rel)
    assert set(found.cv_results_["exactness"]) == {exactness}
    assert found.best_params_ == expected.best_params_


GRID = {"features__gamma": [0.05, 0.5], "final__alpha": RIDGES}


@pytest.mark.parametrize("features", [Nystroem, RBFSampler])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
def test_ridge_scores_as_in_grid_search(features, intercept, targets, scoring):
    X, y = regression(targets=targets)
    model = pipeline(Ridge(fit_intercept=intercept), features(n_components=25, random_state=0))
    assert_same(*fit_both(model, GRID, X, y, scoring=scoring, cv=KFold(4)))


SPLITTERS = [
    KFold(4, shuffle=True, random_state=0),
    ShuffleSplit(3, test_size=0.3, random_state=0),
    RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
]


@pytest.mark.parametrize("cv", SPLITTERS, ids=lambda cv: type(cv).__name__)
@pytest.mark.parametrize("weighted", [False, True])
def test_any_splitter_and_weights(cv, weighted):
    X, y = regression()
    weights = np.random.default_rng(1).uniform(0, 3, len(y))
    weights[::7] = 0.0
    params = {"final__sample_weight": weights} if weighted else {}
    found = fit_both(pipeline(Ridge()), GRID, X, y, params, cv=cv, return_train_score=True)
    assert_same(*found)
    for name in (name for name in found[0].cv_results_ if "train_score" in name):
        np.testing.assert_allclose(found[1].cv_results_[name], found[0].cv_results_[name], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "cosine"])
def test_kernels_of_nystroem_and_their_parameters(kernel):
    X, y = regression()
    grid = {"features__kernel": [kernel], "features__n_components": [10, 40], "final__alpha": RIDGES}
    degree = {"degree": 2} if kernel == "poly" else {}
    assert_same(*fit_both(pipeline(Ridge(), Nystroem(random_state=0, **degree)), grid, X, y))


def test_one_ridge_for_each_target():
    X, y = regression(targets=2)
    grid = {"final__alpha": [np.array([0.1, 10.0]), np.array([1.0, 1e-3]), 2.0]}
    assert_same(*fit_both(pipeline(Ridge()), grid, X, y))


@pytest.mark.parametrize("count", [119, 120, 400])
@pytest.mark.parametrize("train", [False, True])
def test_as_many_features_as_rows(count, train):
    X, y = regression(150)
    model = pipeline(Ridge(), RBFSampler(n_components=count, random_state=0))
    assert_same(*fit_both(model, GRID, X, y, cv=5, return_train_score=train))


def test_identical_rows_and_a_constant_target():
    X, y = regression(60)
    assert_same(*fit_both(pipeline(Ridge()), GRID, np.repeat(X, 2, axis=0), np.repeat(y, 2)))
    assert_same(*fit_both(pipeline(Ridge()), GRID, X, np.full(60, 3.0), scoring="neg_mean_squared_error"))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"a": 3.0, "b": 0.5}])
@pytest.mark.parametrize("weighted", [False, True])
def test_ridge_classifier(classes, class_weight, weighted):
    X, y = classification(classes=classes)
    params = {"final__sample_weight": np.random.default_rng(1).uniform(0.1, 3, len(y))} if weighted else {}
    assert_same(*fit_both(pipeline(RidgeClassifier(class_weight=class_weight)), GRID, X, y, params))


def test_ranks_of_decision_values():
    X, y = classification(classes=2)
    grid = {**GRID, "final__fit_intercept": [True, False]}
    assert_same(*fit_both(pipeline(RidgeClassifier()), grid, X, y, scoring=["roc_auc", "accuracy"], refit="roc_auc"))


def test_folds_without_a_class():
    X, y = classification(classes=3)
    order = np.argsort(y)
    assert_same(*fit_both(pipeline(RidgeClassifier()), GRID, X[order], y[order], cv=KFold(3)))


def test_leave_one_out():
    X, y = regression(24)
    model = pipeline(Ridge(), Nystroem(n_components=6, random_state=0))
    options = {"cv": LeaveOneOut(), "scoring": "neg_mean_squared_error"}
    expected, found = fit_both(model, {"final__alpha": RIDGES}, X, y, **options)
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"], rtol=1e-8)
    assert set(found.cv_results_["exactness"]) == {"exact"}


def test_delivers_the_pipeline_itself_and_its_out_of_fold_values():
    X, y = regression()
    expected, found = fit_both(pipeline(Ridge()), GRID, X, y, cv=4)
    assert isinstance(found.best_estimator_, Pipeline)
    assert [type(step) for _, step in found.best_estimator_.steps] == [StandardScaler, Nystroem, Ridge]
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    values = cross_val_predict(expected.best_estimator_, X, y, cv=4)
    np.testing.assert_allclose(found.oof_decision_, values, rtol=1e-8)
    np.testing.assert_allclose(cross_val_decision(expected.best_estimator_, X, y, cv=4), values, rtol=1e-8)


@pytest.fixture
def computed(monkeypatch):
    """How many times features of a Nystroem were learned."""
    count = []
    fit = Nystroem.fit

    def counting(self, X, y=None):
        count.append(len(X))
        return fit(self, X, y)

    monkeypatch.setattr(Nystroem, "fit", counting)
    return count


@pytest.mark.parametrize("final", [Ridge(), LinearSVR(random_state=0)], ids=lambda final: type(final).__name__)
def test_features_are_computed_once_for_each_fold(computed, final):
    X, y = regression()
    name = "alpha" if isinstance(final, Ridge) else "C"
    grid = {"features__gamma": [0.05, 0.5], f"final__{name}": RIDGES}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        KernelSearchCV(pipeline(final), grid, cv=4).fit(X, y)
    assert len(computed) == 2 * 4 + 1  # widths, folds, and the refit


@pytest.mark.parametrize(
    ("final", "name"),
    [(LinearSVC(random_state=0), "C"), (LogisticRegression(), "C"), (RidgeClassifier(solver="lsqr"), "alpha")],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_other_linear_machines_train_on_shared_features(final, name, n_jobs):
    X, y = classification()
    grid = {"features__gamma": [0.05, 0.5], f"final__{name}": [0.1, 1.0]}
    options = {"cv": StratifiedKFold(3), "return_train_score": True, "n_jobs": n_jobs}
    params = {"final__sample_weight": np.random.default_rng(0).uniform(0.5, 2, len(y))}
    with parallel_config(backend="threading"):
        found = fit_both(pipeline(final), grid, X, y, params, **options)
    assert_same(*found, exactness="retrained", rel=0)
    with pytest.warns(RetrainingWarning, match=type(final).__name__):
        KernelSearchCV(pipeline(final), grid).fit(X, y)


def test_scorers_that_look_into_the_pipeline_see_it():
    X, y = regression()

    def scorer(model, X, y):
        assert isinstance(model, Pipeline)
        return -model.named_steps["features"].n_components - mean_absolute_error(y, model.predict(X))

    grid = {"final__C": [0.1, 1.0]}
    assert_same(*fit_both(pipeline(LinearSVR(random_state=0)), grid, X, y, scoring=scorer), "retrained", rel=0)
    assert_same(*fit_both(pipeline(Ridge()), {"final__alpha": RIDGES}, X, y, scoring=scorer), "retrained", rel=0)


def test_failing_features_fail_as_in_grid_search():
    X, y = regression()
    grid = {"features__gamma": [-1.0, 0.5], "final__alpha": [0.1, 1.0]}
    expected, found = fit_both(pipeline(Ridge()), grid, X, y)
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])
    assert list(found.cv_results_["exactness"]) == ["failed", "failed", "exact", "exact"]
    raising = KernelSearchCV(pipeline(Ridge()), {"features__gamma": [-1.0]}, error_score="raise")
    with pytest.raises(ValueError, match="gamma"):
        raising.fit(X, y)


def test_without_a_seed_every_candidate_is_trained():
    X, y = regression()
    model = pipeline(Ridge(), Nystroem(n_components=20))
    with pytest.warns(RetrainingWarning, match="random_state=None draws other features for every candidate"):
        search = KernelSearchCV(model, {"final__alpha": RIDGES}).fit(X, y)
    assert set(search.cv_results_["exactness"]) == {"retrained"}


def test_a_generator_as_seed_is_copied_for_every_candidate():
    X, y = regression()
    model = pipeline(Ridge(), Nystroem(n_components=20, random_state=np.random.RandomState(5)))
    assert_same(*fit_both(model, {"final__alpha": RIDGES}, X, y))


@pytest.mark.parametrize(
    "final", [Ridge(alpha=0.0), Ridge(positive=True), Ridge(solver="sag", random_state=0)], ids=["0", "positive", "sag"]
)
def test_other_ridges_are_trained_by_scikit_learn(final):
    X, y = regression()
    found = fit_both(pipeline(final), {"features__gamma": [0.1, 0.5], "final__fit_intercept": [True, False]}, X, y)
    assert_same(*found, exactness="retrained", rel=0)


def test_several_labels_and_rows_without_weight_are_trained_by_scikit_learn():
    X, Y = make_multilabel_classification(120, n_features=5, n_classes=3, random_state=0)
    assert_same(*fit_both(pipeline(RidgeClassifier()), {"final__alpha": RIDGES}, X, Y), "retrained", rel=0)
    X, y = classification()
    params = {"final__sample_weight": np.where(y == "b", 0.0, 1.0)}
    assert_same(*fit_both(pipeline(RidgeClassifier()), {"final__alpha": RIDGES}, X, y, params), "retrained", rel=0)


def test_a_kernel_machine_behind_features_is_still_one():
    X, y = classification(classes=2)
    assert_same(*fit_both(pipeline(SVC(kernel="linear", tol=1e-8)), {"final__C": [0.1, 1.0]}, X, y))


def test_both_kinds_of_machines_in_one_search():
    X, y = classification(classes=2)
    grid = [
        {"final": [RidgeClassifier()], "final__alpha": RIDGES},
        {"final": [SVC(kernel="linear", tol=1e-8)], "final__C": [0.1, 1.0]},
        {
            "features": [PolynomialCountSketch(n_components=20, random_state=0)], "final": [RidgeClassifier()],
            "final__alpha": [0.1, 1.0],
        },
    ]  # fmt: skip
    assert_same(*fit_both(pipeline(RidgeClassifier()), grid, X, y))


def test_shared_features_of_all_rows():
    X, y = regression()
    search = KernelSearchCV(pipeline(Ridge()), GRID, cv=4, preprocessing="shared").fit(X, y)
    model = clone(pipeline(Ridge()))
    Z = model[:2].set_params(features__gamma=0.05).fit_transform(X)
    expected = GridSearchCV(Ridge(), {"alpha": RIDGES}, cv=4).fit(Z, y)
    for name in (f"split{i}_test_score" for i in range(4)):
        np.testing.assert_allclose(search.cv_results_[name][:4], expected.cv_results_[name], rtol=1e-8)
    assert set(search.cv_results_["exactness"]) == {"approximate"}
    assert set(search.cv_results_["status"]) == {"shared preprocessing"}


def test_criteria_read_the_features():
    X, y = regression()
    search = KernelSearchCV(pipeline(Ridge()), GRID, cv=4, criterion=["cv", "gcv", "ckta"]).fit(X, y)
    Z = pipeline(Ridge())[:2].set_params(features__gamma=0.05).fit_transform(X)
    Zc, yc = Z - Z.mean(axis=0), y - y.mean()
    H = 1 / len(y) + Zc @ np.linalg.solve(Zc.T @ Zc + RIDGES[2] * np.eye(Z.shape[1]), Zc.T)
    residuals = y - H @ y
    gcv = np.mean(residuals**2) / np.mean(1 - np.diag(H)) ** 2
    ckta = yc @ Zc @ Zc.T @ yc / (np.linalg.norm(Zc.T @ Zc) * (yc @ yc))
    assert search.cv_results_["criterion_gcv"][2] == pytest.approx(gcv, rel=1e-8)
    assert search.cv_results_["criterion_ckta"][2] == pytest.approx(ckta, rel=1e-8)


def test_resumes_from_a_journal(tmp_path, computed):
    X, y = regression()
    first = KernelSearchCV(pipeline(Ridge()), GRID, cv=4, journal=tmp_path / "j").fit(X, y)
    spent = len(computed)
    again = KernelSearchCV(pipeline(Ridge()), GRID, cv=4, journal=tmp_path / "j").fit(X, y)
    assert len(computed) - spent <= 1 + 4  # the refit, and out-of-fold values of the best
    np.testing.assert_array_equal(again.cv_results_["mean_test_score"], first.cv_results_["mean_test_score"])


def test_landmarks_stand_for_kernels_and_not_for_features():
    X, y = regression()
    with pytest.raises(ValueError, match="Ridge has no fast path"):
        KernelSearchCV(pipeline(Ridge()), GRID, approximation=Landmarks(10)).fit(X, y)


def test_scale_penalty():
    X, y = regression(120)
    scaled = KernelSearchCV(pipeline(Ridge()), {"final__alpha": [1.0]}, cv=4, scale_penalty=True).fit(X, y)
    plain = KernelSearchCV(pipeline(Ridge()), {"final__alpha": [0.75]}, cv=4).fit(X, y)
    np.testing.assert_allclose(scaled.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-12)
