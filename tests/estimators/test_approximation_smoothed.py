"""SVC and SVR on landmarks: exact for the smoothed loss, near the dual solvers of the loss itself, with a bound."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.svm import SVC, SVR

from onefit import (
    EpsilonSVR,
    GridEdgeWarning,
    HingeSVC,
    KernelSearchCV,
    LandmarkFeatures,
    Landmarks,
    LinearEpsilonSVR,
    LinearHingeSVC,
    kernels,
)

pytestmark = pytest.mark.filterwarnings("ignore", category=GridEdgeWarning)

GRID = {"gamma": [0.05, 0.6], "C": [0.03, 1.0, 30.0]}


def classes(n=240, k=2, seed=0):
    return make_classification(
        n, 4, n_informative=3, n_redundant=0, n_classes=k, random_state=seed, flip_y=0.1, n_clusters_per_class=1
    )


def numbers(n=240, seed=0):
    X, y = make_regression(n, 4, noise=10.0, random_state=seed)
    return X, np.tanh(y / y.std())


def smoothed(excess, h):
    return np.where(excess > h, excess, np.where(excess < -h, 0.0, (excess + h) ** 2 / (4 * h)))


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_no_other_coefficients_have_a_smaller_objective(C, kind):
    """Against a general minimiser of the objective as it is written, started at the solution and at zero."""
    X, y = classes() if kind == "classes" else numbers()
    if kind == "classes":
        model, sign = LinearHingeSVC(C).fit(X, y), np.where(y == 1, 1.0, -1.0)
        found = np.append(model.coef_[0], model.intercept_[0])

        def objective(p):
            return 0.5 * p[:-1] @ p[:-1] + C * smoothed(1 - sign * (X @ p[:-1] + p[-1]), 0.01).sum()

    else:
        model = LinearEpsilonSVR(C, epsilon=0.2).fit(X, y)
        found = np.append(model.coef_, model.intercept_)

        def objective(p):
            return 0.5 * p[:-1] @ p[:-1] + C * smoothed(np.abs(y - X @ p[:-1] - p[-1]) - 0.2, 0.002).sum()

    for start in (found, np.zeros(5)):
        other = minimize(objective, start, method="BFGS", options={"gtol": 1e-9})
        assert objective(found) <= other.fun * (1 + 1e-9)


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    "machine", [SVC(), HingeSVC(), SVC(class_weight="balanced"), SVR(), EpsilonSVR(epsilon=0.05)], ids=str
)
@pytest.mark.parametrize("k", [2, 3])
def test_the_delivered_pipeline_has_the_scores_of_the_chosen_row(machine, k):
    regression = isinstance(machine, SVR | EpsilonSVR)
    X, y = numbers() if regression else classes(k=k)
    cv = KFold(4) if regression else StratifiedKFold(4)
    search = KernelSearchCV(machine, GRID, cv=cv, approximation=Landmarks(30, random_state=0)).fit(X, y)
    assert "smoothed over" in search.cv_results_["status"][0]
    assert not any("converged" in status for status in search.cv_results_["status"])
    chosen = [search.cv_results_[f"split{i}_test_score"][search.best_index_] for i in range(4)]
    np.testing.assert_allclose(cross_val_score(clone(search.best_estimator_), X, y, cv=cv), chosen, rtol=1e-6)
    again = clone(search.best_estimator_).fit(X, y)
    name = "predict" if regression else "decision_function"
    np.testing.assert_allclose(getattr(again, name)(X), getattr(search.best_estimator_, name)(X), rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_values_are_near_those_of_the_loss_with_kinks(kind):
    """On every fold values are within some hundredths of their spread, and coefficients within the bound."""
    X, y = classes() if kind == "classes" else numbers()
    own, name = (HingeSVC, "decision_function") if kind == "classes" else (EpsilonSVR, "predict")
    values, cv = [], KFold(4, shuffle=True, random_state=0)

    def record(model, rows, target):
        values.append(getattr(model, name)(rows))
        return 0.0

    search = KernelSearchCV(own(), GRID, cv=cv, scoring=record, approximation=Landmarks(30, random_state=0)).fit(X, y)
    landmarks = search.best_estimator_.named_steps["features"].landmarks
    bounds = {(p["gamma"], p["C"]): b for p, b in zip(search.cv_results_["params"], search.cv_results_["error_bound"])}
    found = iter(values)
    for gamma in GRID["gamma"]:
        Z = LandmarkFeatures(landmarks, kernels.Gaussian(gamma)).fit_transform(X)
        for train, test in cv.split(X):
            for C in GRID["C"]:
                exact = own(C=C, kernel="linear").fit(Z[train], y[train])
                expected, value = getattr(exact, name)(Z[test]), next(found)
                assert np.abs(value - expected).max() < 0.05 * max(1.0, np.ptp(expected))
                # differences of values of two rows do not depend on the constant: |(z - z')'(b - b*)| <= |z - z'| bound
                moved = np.abs((value - expected)[1:] - (value - expected)[:-1])
                assert (moved <= np.linalg.norm(np.diff(Z[test], axis=0), axis=1) * bounds[gamma, C] + 1e-7).all()


@pytest.mark.parametrize("seed", range(4))
def test_constants_without_a_row_near_the_margin_are_in_the_middle_of_their_interval(seed):
    """Also along a path of C, where solutions start from those before. Oracle: the dual solver on the features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = np.sin(2 * X[:, 0]) + 0.4 * rng.normal(size=60) > 0
    search = KernelSearchCV(
        SVC(gamma=0.3, class_weight="balanced"), {"C": [1e-4, 1e-3]}, cv=KFold(4), refit=lambda results: 1,
        approximation=Landmarks(method=X[:10]),
    ).fit(X, y)  # fmt: skip
    scores = cross_val_score(clone(search.best_estimator_), X, y, cv=KFold(4))
    np.testing.assert_array_equal([search.cv_results_[f"split{i}_test_score"][1] for i in range(4)], scores)
    Z = LandmarkFeatures(X[:10], kernels.Gaussian(0.3)).fit_transform(X)
    dual = HingeSVC(C=1e-3, kernel="linear", class_weight="balanced")
    for train, test in KFold(4).split(X):
        expected = dual.fit(Z[train], y[train]).decision_function(Z[test])
        np.testing.assert_allclose(search.oof_decision_[test], expected, atol=1e-8)


def test_classes_without_balance_and_large_penalties_converge():
    """Few rows of one class leave the constant without curvature for long; C spans eight powers of ten."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=300) > 1.8).astype(int)
    grid = {"gamma": [0.05, 3.0], "C": [1e-4, 1.0, 1e4]}
    search = KernelSearchCV(
        SVC(), grid, cv=StratifiedKFold(3), scoring="roc_auc", approximation=Landmarks(40, random_state=0)
    ).fit(X, y)
    assert not any("converged" in status for status in search.cv_results_["status"])
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
