"""L2SVC and KernelLogisticRegression on landmarks, against the dual solvers with a linear kernel on their features."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from onefit import (
    L2SVC,
    GridEdgeWarning,
    KernelLogisticRegression,
    KernelSearchCV,
    LandmarkFeatures,
    Landmarks,
    LinearL2SVC,
    LinearLogisticRegression,
    kernels,
)

pytestmark = pytest.mark.filterwarnings("ignore", category=GridEdgeWarning)

GAMMAS, CS = [0.05, 0.6], [0.03, 1.0, 30.0]
MACHINES = {"l2svc": L2SVC, "logistic": KernelLogisticRegression}


def classes(n=240, k=2, seed=0):
    return make_classification(
        n, 4, n_informative=3, n_redundant=0, n_classes=k, random_state=seed, flip_y=0.1, n_clusters_per_class=1
    )


def decision_recorder(values):
    """A scorer that records decision values, candidate by candidate."""

    def record(model, X, y):
        values.append(model.decision_function(X))
        return 0.0

    return record


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("splitter", [StratifiedKFold(4), ShuffleSplit(3, test_size=0.3, random_state=0)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_decision_values_are_those_of_training_on_every_fold(name, k, class_weight, splitter, weighted):
    X, y = classes(k=k)
    weights = np.random.default_rng(0).uniform(0, 2, size=len(y)).round(1) if weighted else None
    found = []
    search = KernelSearchCV(
        MACHINES[name](class_weight=class_weight), {"gamma": GAMMAS, "C": CS}, cv=splitter,
        scoring=decision_recorder(found), approximation=Landmarks(30, random_state=0),
    )  # fmt: skip
    with np.errstate(all="raise", under="ignore"):
        search.fit(X, y, **({} if weights is None else {"sample_weight": weights}))
    landmarks = search.best_estimator_.named_steps["features"].landmarks
    splits = list(splitter.split(X, y))
    largest = 0.0
    for g, gamma in enumerate(GAMMAS):
        for i, (train, test) in enumerate(splits):
            features = LandmarkFeatures(landmarks, kernels.Gaussian(gamma)).fit(X)
            for c, C in enumerate(CS):
                machine = MACHINES[name](C=C, kernel="linear", class_weight=class_weight)
                own = None if weights is None else weights[train]
                machine.fit(features.transform(X[train]), y[train], sample_weight=own)
                expected = machine.decision_function(features.transform(X[test]))
                value = found[(g * len(splits) + i) * len(CS) + c]
                largest = max(largest, np.abs(value - expected).max() / np.abs(expected).max())
    assert largest < 1e-6
    assert (search.cv_results_["error_bound"] < 1e-8).all()


@pytest.mark.parametrize("name", MACHINES)
def test_all_rows_as_landmarks_give_the_dense_search(name):
    X, y = classes(n=120)
    grid = {"gamma": [0.6, 2.0], "C": CS}
    cv = StratifiedKFold(4)
    dense = KernelSearchCV(MACHINES[name](), grid, cv=cv, scoring="roc_auc").fit(X, y)
    search = KernelSearchCV(MACHINES[name](), grid, cv=cv, scoring="roc_auc", approximation=Landmarks(method=X))
    search.fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], dense.cv_results_["mean_test_score"], atol=1e-9)
    np.testing.assert_allclose(search.decision_function(X), dense.decision_function(X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("scaled", [False, True])
def test_the_delivered_pipeline_has_the_scores_of_the_chosen_row(name, k, scaled):
    X, y = classes(k=k)
    machine = MACHINES[name]()
    prefix = f"{type(machine).__name__.lower()}__" if scaled else ""
    model = make_pipeline(StandardScaler(), machine) if scaled else machine
    grid = {f"{prefix}gamma": GAMMAS, f"{prefix}C": CS}
    cv = KFold(3, shuffle=True, random_state=0)
    search = KernelSearchCV(
        model, grid, cv=cv, scoring="balanced_accuracy", approximation=Landmarks(30, random_state=0)
    )
    search.fit(X, y)
    best = search.best_estimator_
    expected = [search.cv_results_[f"split{i}_test_score"][search.best_index_] for i in range(3)]
    np.testing.assert_allclose(cross_val_score(clone(best), X, y, cv=cv, scoring="balanced_accuracy"), expected)
    again = clone(best).fit(X, y)
    np.testing.assert_allclose(again.decision_function(X), best.decision_function(X), rtol=1e-6, atol=1e-8)
    assert search.oof_decision_.shape[0] == len(y)
    if name == "logistic":
        np.testing.assert_allclose(best.predict_proba(X).sum(axis=1), 1.0)


def test_probabilities_are_scored_without_training():
    X, y = classes()
    cv = StratifiedKFold(3)
    search = KernelSearchCV(
        KernelLogisticRegression(), {"gamma": GAMMAS, "C": CS}, cv=cv, scoring="neg_log_loss",
        approximation=Landmarks(30, random_state=0),
    ).fit(X, y)  # fmt: skip
    scorer, best = get_scorer("neg_log_loss"), search.best_estimator_
    expected = np.mean([scorer(clone(best).fit(X[a], y[a]), X[b], y[b]) for a, b in cv.split(X, y)])
    np.testing.assert_allclose(search.best_score_, expected, rtol=1e-8)


@pytest.mark.parametrize("machine", [LinearL2SVC, LinearLogisticRegression])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_linear_machines_are_those_of_a_linear_kernel(machine, bias, C):
    X, y = classes(k=3)
    dual = {LinearL2SVC: L2SVC, LinearLogisticRegression: KernelLogisticRegression}[machine]
    expected = dual(C=C, kernel="linear", fit_intercept=bias).fit(X, y)
    found = machine(C=C, fit_intercept=bias).fit(X, y)
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))


def test_scaled_penalties_follow_the_number_of_training_rows():
    X, y = classes()
    cv = [(np.arange(100), np.arange(100, 240)), (np.arange(60, 240), np.arange(60))]
    found = []
    search = KernelSearchCV(
        L2SVC(), {"gamma": [0.6], "C": [0.5]}, cv=cv, scale_penalty=True, scoring=decision_recorder(found),
        approximation=Landmarks(30, random_state=0),
    ).fit(X, y)  # fmt: skip
    features = clone(search.best_estimator_.named_steps["features"]).fit(X)
    for value, (train, test) in zip(found, cv):
        machine = LinearL2SVC(0.5 * 240 / len(train)).fit(features.transform(X[train]), y[train])
        np.testing.assert_allclose(value, machine.decision_function(features.transform(X[test])), rtol=1e-7)


@pytest.mark.parametrize("gamma", [0.002, 1.0], ids=["whitened rows", "whitened sums"])
@pytest.mark.parametrize("model", [L2SVC(), KernelLogisticRegression(), SVC()], ids=lambda model: type(model).__name__)
@pytest.mark.quick(3)
def test_many_rows_are_summed_before_they_are_whitened(gamma, model):
    """Narrow kernels have sums of kernel entries whitened, wide ones every row: both are training on every fold."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.4 * rng.normal(size=2500) > 0.2, "a", "b")
    search = KernelSearchCV(model, {"gamma": [gamma], "C": [0.3, 30.0]}, cv=3, approximation=Landmarks(25, X[:25]))
    search.fit(X, y)
    values = cross_val_predict(clone(search.best_estimator_), X, y, cv=3, method="decision_function")
    np.testing.assert_allclose(search.oof_decision_, values, atol=1e-6 * np.abs(values).max())


@pytest.mark.quick(2)
@pytest.mark.parametrize(("n", "gamma", "C"), [(600, 1.0, 1e5), (600, 0.3, 1e5), (1000, 1.0, 1e4), (1500, 2.0, 1e4)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_large_penalties_of_logistic_regression_converge(n, gamma, C, seed):
    """From far away, where the curvature at the start says nothing: against scikit-learn on the same features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n) > 0
    approximation, cv = Landmarks(method=X[:60]), KFold(5)
    search = KernelSearchCV(
        KernelLogisticRegression(gamma=gamma), {"C": [C / 25, C]}, cv=cv, approximation=approximation
    )
    search.fit(X, y)
    assert max(search.cv_results_["error_bound"]) < 1e-8
    Z = LandmarkFeatures(X[:60], kernels.Gaussian(gamma)).fit_transform(X)
    for train, test in cv.split(X):
        brute = LogisticRegression(C=search.best_params_["C"], solver="newton-cholesky", tol=1e-10, max_iter=1000)
        expected = brute.fit(Z[train], y[train]).decision_function(Z[test])
        np.testing.assert_allclose(search.oof_decision_[test], expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
