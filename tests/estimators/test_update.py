"""Rows that are added to a search: the results of a fit to all rows with the same landmarks and folds."""

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, PredefinedSplit, RepeatedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onefit import (
    L2SVC,
    LSSVC,
    LSSVR,
    GridEdgeWarning,
    JournalError,
    KernelSearchCV,
    Landmarks,
    LandmarksWarning,
    RandomFeatures,
    criteria,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore", category=GridEdgeWarning),
    pytest.mark.filterwarnings("ignore", category=LandmarksWarning),
]

GRID = {"gamma": [0.05, 0.4, 3.0], "alpha": [1e-2, 1.0, 30.0]}
SQUARED = {"criterion": criteria.CV(loss="squared")}


def problem(seed, n=420, classes=0, outputs=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    f = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.normal(size=n)
    if classes:
        return X, np.array(["blue", "green", "red"])[np.digitize(f, np.quantile(f, np.arange(1, classes) / classes))]
    return X, f if outputs is None else np.column_stack([f, X[:, 2] ** 2, -f])[:, :outputs]


def dealt(folds, old, n):
    """The splits of n rows of which the first ``old`` have the given splits, and the others their turn."""
    number = np.empty(n, dtype=int)
    for k, (_, test) in enumerate(folds):
        number[test] = k
    number[old:] = np.arange(old, n) % len(folds)
    return PredefinedSplit(number)


def assert_same_search(found, expected):
    # sums of n entries of a kernel of at most one are known to n roundings, and solutions to these over the ridge
    ridge = min(params["alpha"] for params in expected.cv_results_["params"])
    rtol = max(1e-10, 10 * 420 * np.finfo(float).eps / ridge)
    for i in range(expected.n_splits_):
        column = f"split{i}_test_score"
        np.testing.assert_allclose(found.cv_results_[column], expected.cv_results_[column], rtol=rtol)
    assert found.best_params_ == expected.best_params_
    np.testing.assert_allclose(
        found.landmarks_curve_["mean_test_score"], expected.landmarks_curve_["mean_test_score"], rtol=rtol
    )


CASES = {
    "ridge": (KernelRidge(kernel="rbf"), {}, {}),
    "bias": (LSSVR(), {}, {}),
    "error": (LSSVR(), {}, {"scoring": "neg_root_mean_squared_error"}),
    "two metrics": (LSSVR(), {}, {"scoring": ["r2", "neg_mean_squared_error"], "refit": "r2"}),
    "scaled": (LSSVR(), {}, {"scale_penalty": True}),
    "two outputs": (KernelRidge(kernel="rbf"), {"outputs": 2}, {}),
    "two classes": (LSSVC(), {"classes": 2}, SQUARED),
    "three classes": (LSSVC(), {"classes": 3}, SQUARED),
    "auto": (LSSVR(), {}, {"param_grid": "auto"}),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.quick(5)
def test_an_updated_search_is_one_fitted_to_all_rows(tmp_path, name):
    model, kind, options = CASES[name]
    X, y = problem(1, **kind)
    landmarks, cv, old = Landmarks(method=X[:40]), KFold(4, shuffle=True, random_state=0), 300
    options = {"param_grid": GRID, "approximation": landmarks, "cv": cv, **options}
    search = KernelSearchCV(model, journal=tmp_path / "j.sqlite", **options).fit(X[:old], y[:old])
    for first, last in ((300, 302), (302, 419), (419, 420)):  # fewer rows than folds, many, one
        assert search.update(X[first:last], y[first:last]) is search
        options["cv"] = dealt(list(cv.split(X[:old])), old, last)
        if options["param_grid"] == "auto":  # the candidates that there are
            options["param_grid"] = [{k: [v] for k, v in params.items()} for params in search.cv_results_["params"]]
        if "scoring" in options and isinstance(options["scoring"], list):
            continue
        assert_same_search(search, KernelSearchCV(model, **options).fit(X[:last], y[:last]))
    whole = KernelSearchCV(model, **options).fit(X, y)
    decide = "decision_function" if kind.get("classes") else "predict"
    np.testing.assert_allclose(getattr(search, decide)(X), getattr(whole, decide)(X), rtol=1e-7, atol=1e-9)
    assert search.best_index_ == whole.best_index_
    assert not hasattr(search, "oof_decision_")


def test_weights_and_random_features(tmp_path):
    X, y = problem(2)
    w = np.random.default_rng(0).uniform(0.2, 3.0, size=len(y))
    options = {"param_grid": GRID, "approximation": RandomFeatures(60, random_state=1)}
    search = KernelSearchCV(LSSVR(), journal=tmp_path / "j.sqlite", cv=3, **options)
    search.fit(X[:300], y[:300], sample_weight=w[:300]).update(X[300:], y[300:], sample_weight=w[300:])
    splits = dealt(list(KFold(3).split(X[:300])), 300, 420)
    whole = KernelSearchCV(LSSVR(), cv=splits, **options).fit(X, y, sample_weight=w)
    for i in range(3):
        column = f"split{i}_test_score"
        np.testing.assert_allclose(search.cv_results_[column], whole.cv_results_[column], rtol=1e-10)
    np.testing.assert_allclose(search.predict(X), whole.predict(X), rtol=1e-8)


def test_rows_of_all_kinds_and_a_pickled_search(tmp_path):
    X, y = problem(3)
    np.save(tmp_path / "new.npy", X[300:])
    options = {"approximation": Landmarks(40, random_state=0), "cv": 4, "journal": tmp_path / "j.sqlite"}
    search = KernelSearchCV(LSSVR(), GRID, **options).fit(X[:300], y[:300])
    assert search.update(X[300:], y[300:]).ledger_["pass"] == 3
    again = KernelSearchCV(LSSVR(), GRID, **{**options, "journal": tmp_path / "k.sqlite"}).fit(X[:300], y[:300])
    again = pickle.loads(pickle.dumps(again))
    again.update(np.load(tmp_path / "new.npy", mmap_mode="r"), list(y[300:]))
    np.testing.assert_array_equal(again.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"])


def test_an_update_that_is_repeated_costs_nothing(tmp_path):
    X, y = problem(4)
    options = {"approximation": Landmarks(40, random_state=0), "cv": 4, "journal": tmp_path / "j.sqlite"}
    first = KernelSearchCV(LSSVR(), GRID, **options).fit(X[:300], y[:300]).update(X[300:], y[300:])
    again = KernelSearchCV(LSSVR(), GRID, **options).fit(X[:300], y[:300]).update(X[300:], y[300:])
    assert again.ledger_["pass"] == 0
    np.testing.assert_array_equal(again.cv_results_["mean_test_score"], first.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(again.predict(X), first.predict(X))
    other = KernelSearchCV(LSSVR(), GRID, **options).fit(X[:300], y[:300])
    with pytest.raises(JournalError, match="has no sums of kernel 0/0/0 any more"):
        other.update(X[310:], y[310:])
    np.testing.assert_array_equal(other.predict(X[:5]), other.best_estimator_.predict(X[:5]))  # it is still fitted


LABELS = {"classes": 2}
REFUSED = {
    "unfitted": ({}, {}, "fit", NotFittedError),
    "no journal": ({"journal": None}, {}, "has journal=None", ValueError),
    "dense": ({"approximation": None}, {}, "has approximation=None", ValueError),
    "other machine": (
        {"estimator": L2SVC(), "param_grid": {"gamma": [1.0]}}, LABELS, "classification needs the rows", ValueError,
    ),
    "transformers": (
        {"estimator": make_pipeline(StandardScaler(), LSSVR()), "param_grid": {"lssvr__gamma": [1.0]}},
        {}, r"StandardScaler.* is learned from the rows", ValueError,
    ),
    "scale": ({"param_grid": {"gamma": ["scale"]}}, {}, "follows the data", ValueError),
    "balanced": (
        {"estimator": LSSVC(class_weight="balanced"), **SQUARED, "preprocessing": "per_fold"}, LABELS,
        'class_weight="balanced" follows the rows', ValueError,
    ),
    "accuracy": ({"estimator": LSSVC()}, LABELS, "scoring score needs predictions for all rows", ValueError),
    "median": ({"scoring": "neg_median_absolute_error"}, {}, "needs predictions for all rows", ValueError),
    "criterion": ({"criterion": ["cv", "gcv"]}, {}, "criterion gcv reads all rows", ValueError),
    "more landmarks": (
        {"approximation": Landmarks(20, random_state=0, refit_landmarks=40)}, {}, "refit_landmarks draws", ValueError,
    ),
    "overlapping": ({"cv": RepeatedKFold(n_splits=3, n_repeats=2)}, {}, "do not test every row once", ValueError),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_searches_that_cannot_be_updated_say_why(tmp_path, name):
    options, kind, message, error = REFUSED[name]
    X, y = problem(5, **kind)
    options = {"journal": tmp_path / "j.sqlite", "approximation": Landmarks(20, random_state=0), "cv": 3, **options}
    options = {"estimator": LSSVR(), "param_grid": {"gamma": [0.3], "alpha": [1.0]}, **options}
    search = KernelSearchCV(**options)
    if error is not NotFittedError:
        search.fit(X, y)
    with pytest.raises(error, match=message):
        search.update(X, y)


def test_rows_that_do_not_fit_are_refused(tmp_path):
    X, y = problem(6, classes=2)
    options = {"journal": tmp_path / "j.sqlite", "approximation": Landmarks(20, random_state=0), **SQUARED}
    search = KernelSearchCV(LSSVC(), {"gamma": [0.3], "alpha": [1.0]}, cv=3, **options).fit(X, y)
    before = search.predict(X)
    gap = X.copy()
    gap[3, 1] = np.nan
    wrong = {
        "the rows that were seen have 3 features": (X[:, :2], y),
        r"classes that were not seen before: \['red'\]": (X, np.where(X[:, 0] > 0, "red", y)),
        "inconsistent numbers of samples": (X, y[:-1]),
        "gives its rows only once": (iter(X), y),
        "Input X contains NaN": (gap, y),
        "no columns": (X, np.column_stack([y, y])),
    }
    for message, rows in wrong.items():
        with pytest.raises(ValueError, match=message):
            search.update(*rows)
    with pytest.raises(ValueError, match="with sample_weight, unlike fit"):
        search.update(X, y, sample_weight=np.ones(len(y)))
    np.testing.assert_array_equal(search.predict(X), before)


def test_columns_with_other_names_are_refused(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = problem(7)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    options = {"journal": tmp_path / "j.sqlite", "approximation": Landmarks(20, random_state=0)}
    search = KernelSearchCV(LSSVR(), {"gamma": [0.3]}, **options).fit(frame, y)
    with pytest.raises(ValueError, match=r"X has the columns \['a', 'c', 'b'\]"):
        search.update(frame[["a", "c", "b"]], y)
    assert search.update(frame, y).best_params_ == {"gamma": 0.3}
