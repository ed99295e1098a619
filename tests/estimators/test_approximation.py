"""Searches with landmarks or random features: every split score is that of training on the same features."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from onefit import (
    L2SVC,
    LSSVC,
    LSSVR,
    GridEdgeWarning,
    KernelSearchCV,
    LandmarkFeatures,
    Landmarks,
    LandmarksWarning,
    LinearLSSVC,
    RandomFeatures,
    RandomFourierFeatures,
    criteria,
    kernels,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore", category=GridEdgeWarning),
    pytest.mark.filterwarnings("ignore", category=LandmarksWarning),
]

GAMMAS, ALPHAS = [0.02, 0.3, 2.0], [1e-3, 0.1, 3.0]
SPLITTERS = {
    "unequal folds": KFold(7, shuffle=True, random_state=0),
    "overlapping": ShuffleSplit(4, test_size=0.3, random_state=0),
    "repeated": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "one split": [(np.arange(150), np.arange(150, 233))],
    "rows twice": [(np.r_[0:100, 50:120], np.arange(100, 233)), (np.arange(80, 233), np.arange(80))],
}


def regression(n=233, seed=0, outputs=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 3.0, 0.5]
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=n) + 3
    return X, y if outputs is None else np.column_stack([y, X[:, 2] ** 2, -y])[:, :outputs]


def classes(n=233, k=3, seed=0):
    return make_classification(n, 4, n_informative=3, n_redundant=0, n_classes=k, random_state=seed, flip_y=0.1)


def split_scores(search):
    return np.array([search.cv_results_[f"split{i}_test_score"] for i in range(search.n_splits_)])


def trained(search, machine, X, y, *, cv, scoring=None, transformers=None):
    """GridSearchCV over the features of the search's own landmarks: {(gamma, alpha): split scores}."""
    landmarks = search.best_estimator_.named_steps["features"].landmarks
    table = {}
    for gamma in GAMMAS:
        features = LandmarkFeatures(landmarks, kernels.Gaussian(gamma), transformers)
        brute = GridSearchCV(Pipeline([("f", features), ("m", machine)]), {"m__alpha": ALPHAS}, cv=cv, scoring=scoring)
        brute.fit(X, y)
        for k, params in enumerate(brute.cv_results_["params"]):
            scores = [brute.cv_results_[f"split{i}_test_score"][k] for i in range(brute.n_splits_)]
            table[gamma, params["m__alpha"]] = np.array(scores)
    return table


def assert_same(search, table, prefix="", rtol=1e-8):
    found = split_scores(search)
    for k, params in enumerate(search.cv_results_["params"]):
        expected = table[params[f"{prefix}gamma"], params[f"{prefix}alpha"]]
        np.testing.assert_allclose(found[:, k], expected, rtol=rtol, atol=1e-9)


@pytest.mark.quick(6)
@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("scoring", [None, "neg_root_mean_squared_error", "neg_median_absolute_error"])
@pytest.mark.parametrize("machine", ["ridge", "bias"])
@pytest.mark.parametrize("method", ["pivoted", "kmeans", "uniform"])
def test_regression_is_that_of_training_on_every_fold(splitter, scoring, machine, method):
    X, y = regression()
    estimator = KernelRidge(kernel="rbf") if machine == "ridge" else LSSVR()
    cv = SPLITTERS[splitter]
    search = KernelSearchCV(
        estimator, {"gamma": GAMMAS, "alpha": ALPHAS}, cv=cv, scoring=scoring,
        approximation=Landmarks(40, method, random_state=1),
    ).fit(X, y)  # fmt: skip
    assert set(search.cv_results_["status"]) == {"exact given 40 landmarks"}
    assert set(search.cv_results_["exactness"]) == {"approximate"}
    brute = trained(search, Ridge(fit_intercept=machine == "bias"), X, y, cv=cv, scoring=scoring)
    assert_same(search, brute)


@pytest.mark.quick(5)
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 1: 0.5}])
@pytest.mark.parametrize("scoring", [None, "f1_macro", "ranks"])
@pytest.mark.parametrize("weighted", [False, True])
def test_classification_is_that_of_training_on_every_fold(k, class_weight, scoring, weighted):
    X, y = classes(k=k)
    if scoring == "ranks":
        scoring = "roc_auc" if k == 2 else "balanced_accuracy"
    weights = np.random.default_rng(0).uniform(0, 2, size=len(y)).round(1) if weighted else None
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    machine = LSSVC(class_weight=class_weight)
    search = KernelSearchCV(
        machine, {"gamma": GAMMAS, "alpha": ALPHAS}, cv=cv, scoring=scoring, approximation=Landmarks(40, random_state=0)
    ).fit(X, y, sample_weight=weights)
    if weighted:  # scores of GridSearchCV are weighted too: take the machine's own weights to a scorer without
        table = weighted_by_hand(search, X, y, weights, cv, class_weight, scoring)
    else:
        table = trained(search, LinearLSSVC(class_weight=class_weight), X, y, cv=cv, scoring=scoring)
    assert_same(search, table)


def weighted_by_hand(search, X, y, weights, cv, class_weight, scoring):
    from sklearn.metrics import get_scorer

    scorer = get_scorer(scoring or "accuracy")
    landmarks, table = search.best_estimator_.named_steps["features"].landmarks, {}
    for gamma in GAMMAS:
        for alpha in ALPHAS:
            scores = []
            for train, test in cv.split(X, y):
                features = LandmarkFeatures(landmarks, kernels.Gaussian(gamma))
                model = Pipeline([("f", features), ("m", LinearLSSVC(alpha, class_weight=class_weight))])
                model.fit(X[train], y[train], m__sample_weight=weights[train])
                scores.append(scorer(model, X[test], y[test], sample_weight=weights[test]))
            table[gamma, alpha] = np.array(scores)
    return table


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("outputs", [1, 3])
def test_several_targets_weights_and_a_penalty_for_each(outputs, weighted):
    X, Y = regression(outputs=outputs)
    weights = np.random.default_rng(0).uniform(0.1, 2, size=len(Y)) if weighted else None
    alphas = np.array([0.1, 1.0, 3.0])[:outputs]
    cv = KFold(5)
    search = KernelSearchCV(
        KernelRidge(kernel="rbf", alpha=alphas), {"gamma": GAMMAS}, cv=cv, approximation=Landmarks(30, random_state=0)
    ).fit(X, Y, sample_weight=weights)
    landmarks = search.best_estimator_.named_steps["features"].landmarks
    for k, gamma in enumerate(GAMMAS):
        for i, (train, test) in enumerate(cv.split(X)):
            features = LandmarkFeatures(landmarks, kernels.Gaussian(gamma)).fit(X)
            own = {} if weights is None else {"sample_weight": weights[train]}
            model = Ridge(alpha=alphas, fit_intercept=False).fit(features.transform(X[train]), Y[train], **own)
            scored = {} if weights is None else {"sample_weight": weights[test]}
            expected = model.score(features.transform(X[test]), Y[test], **scored)
            np.testing.assert_allclose(search.cv_results_[f"split{i}_test_score"][k], expected, rtol=1e-8)
    assert search.oof_decision_.shape == Y.shape


@pytest.mark.parametrize("preprocessing", ["per_fold", "shared"])
@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
def test_a_pipeline_learns_its_transformers_on_every_fold_or_once(preprocessing, scoring):
    X, y = regression()
    cv = KFold(5, shuffle=True, random_state=1)
    grid = {"lssvr__gamma": GAMMAS, "lssvr__alpha": ALPHAS}
    search = KernelSearchCV(
        make_pipeline(StandardScaler(), LSSVR()), grid, cv=cv, scoring=scoring, preprocessing=preprocessing,
        approximation=Landmarks(40, random_state=0),
    ).fit(X, y)  # fmt: skip
    if preprocessing == "per_fold":
        table = trained(search, Ridge(), X, y, cv=cv, scoring=scoring, transformers=StandardScaler())
    else:
        assert search.cv_results_["status"][0] == "exact given 40 landmarks; shared preprocessing"
        scaler = StandardScaler().fit(X)
        search.best_estimator_.named_steps["features"].landmarks = scaler.transform(
            search.best_estimator_.named_steps["features"].landmarks
        )
        table = trained(search, Ridge(), scaler.transform(X), y, cv=cv, scoring=scoring)
    assert_same(search, table, "lssvr__")


def test_all_rows_as_landmarks_give_the_dense_search():
    X, y = regression(n=120)
    grid = {"gamma": [0.3, 2.0], "alpha": ALPHAS}
    dense = KernelSearchCV(KernelRidge(kernel="rbf"), grid, cv=5).fit(X, y)
    search = KernelSearchCV(KernelRidge(kernel="rbf"), grid, cv=5, approximation=Landmarks(method=X)).fit(X, y)
    np.testing.assert_allclose(split_scores(search), split_scores(dense), rtol=1e-7)
    np.testing.assert_allclose(search.predict(X), dense.predict(X), rtol=1e-6)
    with pytest.warns(UserWarning, match="exceeds the 120 rows"):
        KernelSearchCV(KernelRidge(kernel="rbf"), grid, cv=5, approximation=Landmarks(500)).fit(X, y)


def test_the_machine_is_the_one_restricted_to_the_span_of_the_landmarks():
    """By its normal equations: minimise |y - K b - c|² + alpha bᵀ M b over b and c."""
    X, y = regression(n=150)
    landmarks, gamma, alpha = X[:20], 0.4, 0.2
    search = KernelSearchCV(
        LSSVR(alpha=alpha), {"gamma": [gamma]}, cv=3, approximation=Landmarks(method=landmarks)
    ).fit(X, y)
    kernel = kernels.Gaussian(gamma)
    A = np.column_stack([kernel(X, landmarks), np.ones(150)])
    penalty = np.zeros((21, 21))
    penalty[:20, :20] = alpha * kernel(landmarks)
    b = np.linalg.solve(A.T @ A + penalty, A.T @ y)
    np.testing.assert_allclose(search.predict(X), A @ b, rtol=1e-8)


@pytest.mark.parametrize("machine", [KernelRidge(kernel="rbf"), LSSVR(), LSSVC(), LSSVC(class_weight="balanced")])
@pytest.mark.parametrize("approximation", [Landmarks(40, random_state=0), RandomFeatures(60, random_state=0)])
@pytest.mark.parametrize("scaled", [False, True])
def test_the_delivered_pipeline_has_the_scores_of_the_chosen_row(machine, approximation, scaled):
    X, y = classes() if isinstance(machine, LSSVC) else regression()
    cv = StratifiedKFold(4) if isinstance(machine, LSSVC) else KFold(4)
    prefix = f"{type(machine).__name__.lower()}__" if scaled else ""
    model = make_pipeline(StandardScaler(), machine) if scaled else machine
    grid = {f"{prefix}gamma": GAMMAS, f"{prefix}alpha": ALPHAS}
    search = KernelSearchCV(model, grid, cv=cv, approximation=approximation).fit(X, y)
    best = search.best_estimator_
    assert isinstance(best, Pipeline)
    np.testing.assert_allclose(
        cross_val_score(clone(best), X, y, cv=cv), split_scores(search)[:, search.best_index_], rtol=1e-8
    )
    again = clone(best).fit(X, y)
    name = "decision_function" if isinstance(machine, LSSVC) else "predict"
    np.testing.assert_allclose(getattr(best, name)(X), getattr(again, name)(X), rtol=1e-7, atol=1e-9)
    loaded = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(loaded.predict(X), search.predict(X))
    assert {"features__kernel", "machine__alpha"} <= set(best.get_params())


@pytest.mark.parametrize("gamma", [0.5, "scale"], ids=["one width", "a width of each fold"])
@pytest.mark.parametrize("machine", [LSSVR, LSSVC, L2SVC])
def test_landmarks_close_to_each_other_have_the_features_that_were_scored(machine, gamma):
    """Whatever the penalties of other candidates are: a landmark next to another is a derivative of the kernel."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1))
    y = np.sin(5 * X[:, 0]) + rng.normal(size=200)
    y = y if machine is LSSVR else y > 0
    penalties = {"alpha": [1e-6, 500.0]} if machine is not L2SVC else {"C": [1e-5, 1e4]}
    search = KernelSearchCV(
        machine(gamma=gamma), penalties, cv=KFold(4), scoring="r2" if machine is LSSVR else "roc_auc",
        refit=lambda results: int(machine is not L2SVC),
        approximation=Landmarks(method=np.linspace(-0.1, 0.1, 9)[:, None]),
    ).fit(X, y)  # fmt: skip
    chosen = split_scores(search)[:, search.best_index_]
    scores = cross_val_score(clone(search.best_estimator_), X, y, cv=KFold(4), scoring=search.scoring)
    np.testing.assert_allclose(scores, chosen, rtol=1e-9)
    for train, test in KFold(4).split(X):
        model = clone(search.best_estimator_).fit(X[train], y[train])
        values = model.predict(X[test]) if machine is LSSVR else model.decision_function(X[test])
        np.testing.assert_allclose(search.oof_decision_[test], values, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("model", [KernelRidge(kernel="rbf", gamma=3e-4), LSSVR(gamma=3e-4)], ids=["ridge", "bias"])
def test_targets_far_from_zero_keep_their_digits(model):
    """With landmarks whose products would be whitened after summing if targets were around zero."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(2000, 6))
    y = 2000 + X[:, 0] + rng.normal(size=2000)
    search = KernelSearchCV(model, {"alpha": [1e-3]}, cv=KFold(4), approximation=Landmarks(method=X[:6])).fit(X, y)
    Z = LandmarkFeatures(X[:6], kernels.Gaussian(3e-4)).fit_transform(X)
    ridge = Ridge(alpha=1e-3, fit_intercept=isinstance(model, LSSVR), solver="svd")
    np.testing.assert_allclose(split_scores(search)[:, 0], cross_val_score(ridge, Z, y, cv=KFold(4)), rtol=1e-8)


def test_a_delivered_pipeline_is_saved_by_skops():
    skops = pytest.importorskip("skops.io")
    X, y = classes()
    search = KernelSearchCV(LSSVC(), {"gamma": GAMMAS}, cv=3, approximation=Landmarks(20, random_state=0)).fit(X, y)
    data = skops.dumps(search.best_estimator_)
    loaded = skops.loads(data, trusted=skops.get_untrusted_types(data=data))
    np.testing.assert_array_equal(loaded.decision_function(X), search.best_estimator_.decision_function(X))


def test_scaled_penalties_follow_the_number_of_training_rows():
    X, y = regression()
    cv = [(np.arange(100), np.arange(100, 233)), (np.arange(60, 233), np.arange(60))]
    search = KernelSearchCV(
        LSSVR(), {"gamma": [0.3], "alpha": [0.5]}, cv=cv, scale_penalty=True,
        approximation=Landmarks(30, random_state=0),
    ).fit(X, y)  # fmt: skip
    features = clone(search.best_estimator_.named_steps["features"]).fit(X)
    for i, (train, test) in enumerate(cv):
        model = Ridge(0.5 * len(train) / 233).fit(features.transform(X[train]), y[train])
        expected = model.score(features.transform(X[test]), y[test])
        np.testing.assert_allclose(search.cv_results_[f"split{i}_test_score"][0], expected, rtol=1e-9)


def test_out_of_fold_values_are_those_of_the_best_candidate():
    X, y = regression()
    cv = KFold(5)
    search = KernelSearchCV(LSSVR(), {"gamma": GAMMAS, "alpha": ALPHAS}, cv=cv, approximation=Landmarks(30)).fit(X, y)
    for train, test in cv.split(X):
        model = clone(search.best_estimator_).fit(X[train], y[train])
        np.testing.assert_allclose(search.oof_decision_[test], model.predict(X[test]), rtol=1e-7)


def test_the_curve_has_the_scores_of_fewer_landmarks():
    X, y = regression()
    cv = KFold(5)
    for scoring in (None, "neg_mean_absolute_error"):
        search = KernelSearchCV(
            LSSVR(), {"gamma": GAMMAS, "alpha": ALPHAS}, cv=cv, scoring=scoring,
            approximation=Landmarks(40, random_state=0),
        ).fit(X, y)  # fmt: skip
        curve = search.landmarks_curve_
        assert curve["n_landmarks"].tolist() == [5, 10, 20, 40]
        for m, score in zip(curve["n_landmarks"], curve["mean_test_score"]):
            fewer = clone(search.best_estimator_)
            fewer.set_params(features__landmarks=fewer.named_steps["features"].landmarks[:m])
            np.testing.assert_allclose(score, cross_val_score(fewer, X, y, cv=cv, scoring=scoring).mean(), rtol=1e-8)
        assert curve["mean_test_score"][-1] == search.best_score_


def test_a_curve_that_still_rises_is_a_warning():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(600, 1))
    y = np.sin(20 * X[:, 0])
    with pytest.warns(LandmarksWarning, match="more of them would probably help"):
        KernelSearchCV(LSSVR(gamma=30.0), {"alpha": [1e-3]}, approximation=Landmarks(16, random_state=0)).fit(X, y)


def test_memory_limits_how_many_folds_are_summed_at_a_time():
    X, y = regression()
    options = {"cv": KFold(6), "approximation": Landmarks(40, random_state=0)}
    grid = {"gamma": GAMMAS, "alpha": ALPHAS}
    for scoring in (None, "neg_mean_absolute_error"):
        wide = KernelSearchCV(LSSVR(), grid, scoring=scoring, **options).fit(X, y)
        tight = KernelSearchCV(LSSVR(), grid, scoring=scoring, memory_budget=320_000, **options).fit(X, y)
        np.testing.assert_allclose(split_scores(tight), split_scores(wide), rtol=1e-10)
        assert tight.ledger_["pass"] > wide.ledger_["pass"]
    with pytest.raises(ValueError, match="more than the memory budget"):
        KernelSearchCV(LSSVR(), grid, memory_budget=1000, error_score="raise", **options).fit(X, y)


def test_sparse_rows_memory_maps_workers_and_repetition_give_the_same_bits(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6)) * (rng.uniform(size=(300, 6)) < 0.4)
    y = X[:, 0] + np.sin(X[:, 1])
    np.save(tmp_path / "X.npy", X)
    grid = {"gamma": GAMMAS, "alpha": ALPHAS}

    def scores(rows, **options):
        return split_scores(
            KernelSearchCV(LSSVR(), grid, approximation=Landmarks(30, random_state=0), **options).fit(rows, y)
        )

    expected = scores(X)
    for rows in (sparse.csr_matrix(X), np.load(tmp_path / "X.npy", mmap_mode="r"), X):
        np.testing.assert_array_equal(scores(rows), expected)
    np.testing.assert_array_equal(scores(X, n_jobs=2), expected)


def test_groups_and_single_class_folds():
    X, y = classes(k=2)
    groups = np.arange(len(y)) % 5
    search = KernelSearchCV(LSSVC(), {"gamma": GAMMAS}, cv=GroupKFold(5), approximation=Landmarks(20)).fit(
        X, y, groups=groups
    )
    assert search.n_splits_ == 5
    order = np.argsort(y, kind="stable")
    one_class = [(order[:50], order[50:]), (order[50:], order[:50])]
    with pytest.warns(FitFailedWarning, match="one class only"):
        search = KernelSearchCV(LSSVC(), {"gamma": GAMMAS}, cv=one_class, approximation=Landmarks(20)).fit(X, y)
    assert np.isnan(search.cv_results_["split0_test_score"]).all()
    assert np.isfinite(search.cv_results_["split1_test_score"]).all()


def test_a_journal_resumes_a_search(tmp_path):
    X, y = regression()
    options = {"cv": 4, "journal": tmp_path / "j.sqlite", "approximation": Landmarks(30, random_state=3)}
    grid = {"gamma": GAMMAS, "alpha": ALPHAS}
    first = KernelSearchCV(LSSVR(), grid, **options).fit(X, y)
    second = KernelSearchCV(LSSVR(), grid, **options).fit(X, y)
    np.testing.assert_array_equal(split_scores(first), split_scores(second))
    assert second.ledger_["pass"] == 0
    np.testing.assert_array_equal(second.landmarks_curve_["mean_test_score"], first.landmarks_curve_["mean_test_score"])


@pytest.mark.parametrize(
    ("approximation", "estimator", "options", "match"),
    [
        ("landmarks", LSSVR(), {}, "approximation must be None, Landmarks"),
        (Landmarks(0), LSSVR(), {}, "n_landmarks of Landmarks must be a positive"),
        (Landmarks(10, "random"), LSSVR(), {}, "method of Landmarks must be one of"),
        (Landmarks(10, random_state="a"), LSSVR(), {}, "random_state of Landmarks"),
        (Landmarks(method=np.ones((5, 9))), LSSVR(), {}, "9 features"),
        (Landmarks(method=np.full((5, 3), np.nan)), LSSVR(), {}, "method of Landmarks contains NaN"),
        (RandomFeatures(7), LSSVR(), {}, "must be even"),
        (RandomFeatures(8), LSSVR(kernel="laplacian"), {"error_score": "raise"}, "Gaussian kernel"),
        (Landmarks(10), SVR(epsilon=0), {}, "epsilon must be positive"),
        (Landmarks(10), Ridge(), {}, "cannot stand for the kernel"),
        (Landmarks(10), LSSVR(kernel="precomputed"), {}, "precomputed"),
        (Landmarks(10), LSSVR(kernel="sigmoid", coef0=-3), {"error_score": "raise"}, "positive semi-definite"),
        (
            Landmarks(10, random_state=0),
            LSSVR(kernel="sigmoid", gamma=0.5, coef0=-1),
            {"error_score": "raise"},
            "positive semi-definite",
        ),
        (Landmarks(10), LSSVR(alpha=0), {}, "alpha must be positive"),
        (Landmarks(10), LSSVR(), {"cv": LeaveOneOut()}, "Leave-one-out"),
        (Landmarks(10), LSSVR(gamma="scale"), {"criterion": "gcv"}, "criteria read one set of features"),
        (Landmarks(10), LSSVR(), {"criterion": "gcv", "memory_budget": 9000, "error_score": "raise"}, "memory budget"),
        (Landmarks(10), LSSVR(), {"return_train_score": True}, "return_train_score"),
        (Landmarks(10), LSSVR(), {"journal": "x.sqlite"}, "needs an int as random_state"),
    ],
)
def test_what_makes_no_sense_is_refused(approximation, estimator, options, match):
    X, y = regression(n=40)
    X = X @ X.T if getattr(estimator, "kernel", None) == "precomputed" else X
    with pytest.raises(ValueError, match=match):
        KernelSearchCV(estimator, {}, approximation=approximation, **options).fit(X, y)


def test_landmarks_of_a_frame_have_its_columns():
    pandas = pytest.importorskip("pandas")
    X, y = regression(n=60)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    search = KernelSearchCV(LSSVR(gamma=0.3), {}, approximation=Landmarks(method=frame[:20]))
    by_array = KernelSearchCV(LSSVR(gamma=0.3), {}, approximation=Landmarks(method=X[:20]))
    np.testing.assert_array_equal(split_scores(search.fit(frame, y)), split_scores(by_array.fit(X, y)))
    with pytest.raises(ValueError, match=r"the columns \['b', 'a', 'c'\], but X has \['a', 'b', 'c'\]"):
        search.set_params(approximation=Landmarks(method=frame[:20][["b", "a", "c"]])).fit(frame, y)


def test_random_features_converge_to_the_kernel():
    X, y = regression(n=150)
    grid = {"gamma": [0.1, 0.3], "alpha": [0.1, 1.0]}
    dense = KernelSearchCV(LSSVR(), grid, cv=4).fit(X, y)
    search = KernelSearchCV(LSSVR(), grid, cv=4, approximation=RandomFeatures(600, random_state=0)).fit(X, y)
    np.testing.assert_allclose(split_scores(search), split_scores(dense), atol=0.05)
    assert isinstance(search.best_estimator_.named_steps["features"], RandomFourierFeatures)
    assert not hasattr(search, "landmarks_curve_")


@pytest.mark.parametrize("criterion", ["gcv", "loo", "lml", "ckta", "kta", "rks", "sps", "er", "pep", "fsm"])
def test_criteria_are_those_of_the_features(criterion):
    """By the criterion itself on the n x n product of the features."""
    X, y = classes(n=150, k=2)
    machine = LSSVC(fit_intercept=False) if criterion == "lml" else LSSVC()
    grid = {"gamma": [0.05, 0.3], "alpha": [0.1, 1.0]}
    options = {"cv": 3, "approximation": Landmarks(30, random_state=0)}
    search = KernelSearchCV(machine, grid, criterion=criterion, **options).fit(X, y)
    landmarks = search.best_estimator_.named_steps["features"].landmarks
    for params, value in zip(search.cv_results_["params"], search.cv_results_[f"criterion_{criterion}"]):
        Z = LandmarkFeatures(landmarks, kernels.Gaussian(params["gamma"])).fit_transform(X)
        dense = clone(machine).set_params(kernel="precomputed", alpha=params["alpha"])
        expected = criteria.resolve(criterion)(Z @ Z.T, y, dense)
        np.testing.assert_allclose(value, expected, rtol=1e-6, atol=1e-9)
    both = KernelSearchCV(machine, grid, criterion=["cv", criterion], **options).fit(X, y)
    name = f"criterion_{criterion}"
    np.testing.assert_allclose(both.cv_results_[name], search.cv_results_[name], rtol=1e-9)
    assert both.cv_results_["status"][0].startswith("exact given 30 landmarks")
