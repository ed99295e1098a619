"""A model with more landmarks than the search had."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onefit import L2SVC, LSSVC, LSSVR, GridEdgeWarning, KernelSearchCV, Landmarks, LandmarksWarning

pytestmark = [
    pytest.mark.filterwarnings("ignore", category=GridEdgeWarning),
    pytest.mark.filterwarnings("ignore", category=LandmarksWarning),
]


def rows(n=260, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)


def search_with(machine, X, y, **landmarks):
    penalty = "C" if isinstance(machine, L2SVC) else "alpha"
    grid = {"gamma": [0.1, 0.5], penalty: [0.01, 0.1, 1.0]}
    return KernelSearchCV(machine, grid, cv=4, approximation=Landmarks(20, random_state=0, **landmarks)).fit(X, y)


@pytest.mark.parametrize("method", ["pivoted", "kmeans", "uniform"])
@pytest.mark.parametrize("bias", [True, False])
def test_is_the_machine_in_the_span_of_its_landmarks(method, bias):
    """Minimise |y - K b - c|² + alpha |M^½ b|² over b and c, at the chosen width and ridge, as one system of rows."""
    X, y = rows()
    search = search_with(LSSVR(fit_intercept=bias), X, y, method=method, refit_landmarks=60)
    features = search.best_estimator_["features"]
    assert features.landmarks.shape == (60, 3)
    assert len(np.unique(features.landmarks, axis=0)) == 60
    assert features.kernel.gamma == search.best_params_["gamma"]
    K = np.column_stack([features.kernel(X, features.landmarks), np.full(len(y), float(bias))])
    values, vectors = np.linalg.eigh(features.kernel(features.landmarks))
    penalty = np.zeros((60, 61))
    penalty[:, :60] = np.sqrt(search.best_params_["alpha"] * np.maximum(values, 0))[:, None] * vectors.T
    b = np.linalg.lstsq(np.vstack([K, penalty]), np.append(y, np.zeros(60)), rcond=1e-15)[0]
    np.testing.assert_allclose(search.predict(X), K @ b, atol=1e-7)


def test_scores_are_those_of_the_search_and_the_model_is_closer_to_the_dense_one():
    X, y = rows(n=400)
    few, more = search_with(LSSVR(), X, y), search_with(LSSVR(), X, y, refit_landmarks=200)
    np.testing.assert_array_equal(few.cv_results_["mean_test_score"], more.cv_results_["mean_test_score"])
    assert few.best_params_ == more.best_params_
    dense = LSSVR(kernel="rbf", **few.best_params_).fit(X, y).predict(X)
    assert np.abs(more.predict(X) - dense).mean() < 0.5 * np.abs(few.predict(X) - dense).mean()


@pytest.mark.parametrize("machine", [LSSVC(), L2SVC()], ids=["LSSVC", "L2SVC"])
def test_classifiers_behind_transformers(machine):
    X, y = rows()
    model, labels = make_pipeline(StandardScaler(), machine), np.digitize(y, [-0.5, 0.5])
    name = type(machine).__name__.lower()
    more = Landmarks(20, random_state=0, refit_landmarks=80)
    search = KernelSearchCV(model, {f"{name}__gamma": [0.1, 0.5]}, approximation=more).fit(X, labels)
    best = search.best_estimator_
    assert best["features"].landmarks.shape == (80, 3)
    again = best.fit(X, labels).decision_function(X)
    np.testing.assert_allclose(search.best_estimator_.decision_function(X), again)
    fresh = KernelSearchCV(model, {f"{name}__gamma": [0.1, 0.5]}, approximation=more).fit(X, labels)
    np.testing.assert_allclose(fresh.decision_function(X), again, rtol=1e-5, atol=1e-6)


def test_more_landmarks_than_rows():
    X, y = rows(n=50)
    with pytest.warns(UserWarning, match="exceeds the 50 rows"):
        search = search_with(LSSVR(), X, y, refit_landmarks=90)
    assert len(search.best_estimator_["features"].landmarks) == 50


@pytest.mark.parametrize(
    ("landmarks", "match"),
    [
        (Landmarks(20, refit_landmarks=10), "at least n_landmarks=20, got 10"),
        (Landmarks(20, refit_landmarks=2.5), "refit_landmarks of Landmarks must be a positive whole number"),
        (Landmarks(method=np.ones((5, 3)), refit_landmarks=10), "refit_landmarks are drawn"),
    ],
)
def test_refuses(landmarks, match):
    X, y = rows(n=40)
    with pytest.raises(ValueError, match=match):
        KernelSearchCV(LSSVR(), {}, approximation=landmarks).fit(X, y)
