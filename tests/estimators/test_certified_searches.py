"""Certified and pruned searches against exact ones: the same labels, honest bounds, the same winner."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import accuracy_score, f1_score, make_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR

from onefit import L2SVC, LSSVC, EpsilonSVR, HingeSVC, KernelSearchCV, criteria, kernels
from tests.oracles.certified import (
    CERTIFIED,
    PRUNED,
    assert_as_good,
    assert_bounded,
    assert_same_labels,
    assert_same_oof,
    search,
    split_scores,
)

GRID = {"gamma": [0.01, 0.05, 0.3, 1.0, 3.0], "C": [0.05, 0.5, 20.0]}
SPLITS = [
    StratifiedKFold(5),
    KFold(7, shuffle=True, random_state=0),
    RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    ShuffleSplit(4, test_size=0.3, random_state=0),
    ShuffleSplit(3, test_size=0.2, train_size=0.4, random_state=0),
    [(np.arange(50), np.arange(50, 70)), (np.r_[20:80, 30:40], np.arange(19)), (np.arange(0, 80, 2), np.array([1]))],
]
REGRESSION = ["r2", "neg_mean_absolute_error", "neg_mean_squared_error", "neg_root_mean_squared_error"]
PROVED = [f"proved in round {k}" for k in range(3)]
OTHERS = ["proved later", "proved by solving"]

ids = {"ids": lambda value: type(value).__name__}
machines = pytest.mark.parametrize(
    "model",
    [SVC(), SVC(break_ties=True), HingeSVC(fit_intercept=False), L2SVC()],
    ids=["SVC", "break_ties", "HingeSVC", "L2SVC"],
)
regressors = pytest.mark.parametrize("model", [SVR(), EpsilonSVR(fit_intercept=False)], **ids)


def classes(k, n=80, seed=0):
    """n rows of k overlapping classes with names."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(k, size=n)
    centres = np.random.default_rng(5).normal(size=(k, 3))
    return rng.normal(size=(n, 3)) + 1.3 * centres[codes], np.array(["ant", "bee", "cat", "dog"])[codes]


def compared(model, grid, X, y, *, prune=True, **options):
    """Exact, certified and pruned search, after the comparisons that hold for all classifiers."""
    exact = search(criteria.CV(), model, grid, X, y, **options)
    assert set(exact.cv_results_["exactness"]) <= {"exact"}
    found = [exact]
    for criterion in (CERTIFIED, PRUNED)[: 1 + prune]:
        other = search(criterion, model, grid, X, y, **options)
        assert_same_labels(exact, other)
        assert_bounded(exact, other)
        assert_as_good(exact, other)
        assert_same_oof(exact, other)
        found.append(other)
    assert "pruned" not in found[1].cv_results_["exactness"]
    return found


@pytest.mark.parametrize("cv", SPLITS, **ids)
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.quick(4)
def test_every_kind_of_split(k, cv):
    grid = GRID if k == 2 else {"gamma": [0.05, 1.0], "C": [0.05, 20.0]}
    _, certified, pruned = compared(SVC(), grid, *classes(k), cv=cv)
    assert k == 3 or {"certified", "pruned"} <= {*certified.cv_results_["exactness"], *pruned.cv_results_["exactness"]}


@pytest.mark.parametrize("k", [2, 4])
@machines
@pytest.mark.quick(3)
def test_classes_and_machines(k, model):
    grid = {"gamma": [0.05, 0.3, 3.0], "C": [0.05, 0.5, 20.0]}
    _, certified, pruned = compared(model, grid, *classes(k, seed=1), cv=4)
    bounds = certified.cv_results_["error_bound"][certified.cv_results_["exactness"] == "certified"]
    if not getattr(model, "break_ties", False):
        np.testing.assert_allclose(bounds, 0.0, atol=1e-12)
    assert (pruned.cv_results_["error_bound"][pruned.cv_results_["exactness"] == "pruned"] >= 0).all()


@pytest.mark.parametrize("model", [SVC(), HingeSVC(fit_intercept=False), L2SVC()], **ids)
@pytest.mark.parametrize("class_weight", [None, "balanced", {"ant": 2.0, "bee": 0.5}])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.quick(3)
def test_weights(model, class_weight, weighted):
    X, y = classes(2 if weighted else 3, seed=2)
    params = {}
    if weighted:
        weights = np.random.default_rng(3).uniform(0.2, 2.0, size=len(y))
        weights[::9] = 0.0
        params = {"sample_weight": weights}
    # balanced classes with small C have no free coefficient: any bias of an interval is optimal, and no score is exact
    grid = {"gamma": [0.05, 1.0], "C": [2.0 if class_weight == "balanced" else 0.05, 20.0]}
    compared(model.set_params(class_weight=class_weight), grid, X, y, cv=4, fit_params=params)


def test_scores_of_really_retraining():
    """In every cell, with two classes, three, and weights."""
    for k, weighted in ((2, False), (3, False), (2, True)):
        X, y = classes(k, n=50, seed=4)
        weights = np.random.default_rng(0).uniform(0.3, 3.0, size=50) if weighted else None
        params = {"sample_weight": weights} if weighted else None
        cv = KFold(5, shuffle=True, random_state=0)
        grid = {"gamma": [0.1, 1.0], "C": [0.2, 20.0]}
        found = search(CERTIFIED, SVC(), grid, X, y, cv=cv, fit_params=params, refit=False)
        for candidate, scores in zip(found.cv_results_["params"], split_scores(found.cv_results_)):
            for (train, test), score in zip(cv.split(X), scores):
                model = SVC(tol=1e-10, **candidate)
                model.fit(X[train], y[train], None if weights is None else weights[train])
                right = model.predict(X[test]) == y[test]
                expected = np.average(right, weights=None if weights is None else weights[test])
                assert score == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("scoring", REGRESSION)
@pytest.mark.parametrize("tolerance", [0.0, 1e-3, 0.1])
@pytest.mark.quick(3)
def test_regression(regression, scoring, tolerance):
    X, y = regression
    grid = {"C": [0.01, 1.0, 10.0], "epsilon": [0.0, 0.2], "gamma": [1e-3, 0.03, 0.3, 2.0, 50.0]}
    options = {"scoring": scoring, "cv": KFold(5, shuffle=True, random_state=0)}
    exact = search(criteria.CV(), SVR(), grid, X, y, **options)
    certified = search(criteria.CV(certify=True, tolerance=tolerance), SVR(), grid, X, y, **options)
    pruned = search(criteria.CV(certify=True, prune=True, tolerance=tolerance), SVR(), grid, X, y, **options)
    for other in (certified, pruned):
        assert_bounded(exact, other, slack=1e-7)
        assert_as_good(exact, other, slack=1e-7)
        assert_same_oof(exact, other)
    assert "pruned" in pruned.cv_results_["exactness"]
    early = certified.cv_results_["exactness"] == "certified"
    assert early.any() or tolerance < 0.1
    bounds = certified.cv_results_["error_bound"][early]
    assert np.isfinite(bounds).all()
    if scoring == "neg_mean_absolute_error":  # no error is off by more than an interval, from end to end
        assert (bounds <= 2 * tolerance * y.std() * (1 + 1e-9)).all()


@pytest.mark.slow
@machines
@pytest.mark.parametrize("k", [2, 3])
def test_leave_one_out_of_classes(model, k):
    X, y = classes(k, n=24, seed=3)
    y[5] = "ant" if k == 2 else "eel"  # alone in its class: absent where it is tested
    compared(model, {"gamma": [0.1, 1.0], "C": [0.1, 10.0]}, X, y, cv=LeaveOneOut())


@pytest.mark.slow
@regressors
@pytest.mark.parametrize("scoring", REGRESSION)
def test_leave_one_out_of_a_regression(regression, model, scoring):
    X, y = regression[0][:30], regression[1][:30]
    grid = {"C": [0.1, 1.0, 30.0], "gamma": [0.03, 0.3, 2.0]}
    exact = search(criteria.CV(), model, grid, X, y, scoring=scoring, cv=LeaveOneOut())
    for criterion in (CERTIFIED, PRUNED):
        other = search(criterion, model, grid, X, y, scoring=scoring, cv=LeaveOneOut())
        assert_bounded(exact, other, slack=1e-7)
        assert_as_good(exact, other, slack=1e-7)


@regressors
@pytest.mark.parametrize("scoring", ["r2", "neg_mean_squared_error"])
def test_weighted_regression(regression, model, scoring):
    X, y = regression
    params = {"sample_weight": np.random.default_rng(3).uniform(0.0, 2.0, size=len(y))}
    grid = {"C": [0.1, 10.0], "gamma": [0.03, 0.3, 2.0]}
    options = {"scoring": scoring, "fit_params": params, "cv": 4}
    exact = search(criteria.CV(), model, grid, X, y, **options)
    for criterion in (CERTIFIED, PRUNED):
        other = search(criterion, model, grid, X, y, **options)
        assert_bounded(exact, other, slack=1e-7)
        assert_as_good(exact, other, slack=1e-7)


@pytest.mark.slow
def test_groups_pipelines_and_precomputed_kernels():
    X, y = classes(3, seed=6)
    compared(SVC(), GRID, X, y, cv=GroupKFold(5), fit_params={"groups": np.arange(len(y)) // 6})
    pipe = make_pipeline(StandardScaler(), SVC())
    compared(pipe, {f"svc__{name}": values for name, values in GRID.items()}, X, y, cv=3)
    compared(SVC(), {"gamma": ["scale", "auto", 0.3], "C": [0.1, 1.0]}, X, y, cv=3)
    for K in (kernels.Laplacian(0.3)(X), X @ X.T):
        compared(SVC(kernel="precomputed"), {"C": [0.1, 1.0, 10.0]}, K, y, cv=4)
    compared(SVC(kernel="poly", coef0=1.0, gamma=0.5), {"degree": [1, 2, 3], "C": [0.01, 1.0]}, X, y, cv=4)


@pytest.mark.slow
@pytest.mark.parametrize("model", [SVC(), L2SVC()], **ids)
def test_penalty_that_follows_the_rows(model):
    X, y = classes(2, seed=7)
    _, certified, _ = compared(model, GRID, X, y, cv=4, scale_penalty=True)
    plain = search(CERTIFIED, model, GRID, X, y, cv=4)
    assert (plain.cv_results_["mean_test_score"] != certified.cv_results_["mean_test_score"]).any()
    by_criterion = search(criteria.CV(certify=True, scale_penalty=True), model, GRID, X, y, cv=4)
    assert_same_labels(certified, by_criterion)


def test_folds_that_lack_classes():
    X, y = classes(3, seed=8)
    cats, rest = np.flatnonzero(y == "cat"), np.flatnonzero(y != "cat")
    half = (np.arange(0, 80, 2), np.arange(1, 80, 2))
    compared(SVC(), GRID, X, y, cv=[(rest, np.r_[cats[:5], rest[:5]]), half])
    compared(SVC(break_ties=True), GRID, X, y, cv=[(rest, np.r_[cats[:5], rest[:5]]), half])
    ants = np.flatnonzero(y == "ant")
    for error_score in (-1.0, np.nan):
        options = {"cv": [(ants, rest), half], "error_score": error_score}
        exact = search(criteria.CV(), SVC(), GRID, X, y, **options, refit=False)
        for criterion in (CERTIFIED, PRUNED):
            other = search(criterion, SVC(), GRID, X, y, **options, refit=False)
            assert other.cv_results_["exactness"].tolist() == exact.cv_results_["exactness"].tolist()
            np.testing.assert_array_equal(split_scores(other.cv_results_), split_scores(exact.cv_results_))


@pytest.mark.parametrize("criterion", [CERTIFIED, PRUNED], ids=["certified", "pruned"])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.quick(1)
def test_workers_do_not_matter(criterion, k):
    X, y = classes(k, seed=9)
    grid = {"gamma": np.logspace(-3, 1, 9), "C": [0.05, 5.0]}
    one = search(criterion, SVC(), grid, X, y, cv=3, refit=False).cv_results_
    two = search(criterion, SVC(), grid, X, y, cv=3, refit=False, n_jobs=2).cv_results_
    assert two["exactness"].tolist() == one["exactness"].tolist()
    for key in ("mean_test_score", "error_bound", "rank_test_score"):
        np.testing.assert_array_equal(two[key], one[key])
    np.testing.assert_array_equal(split_scores(two), split_scores(one))
    assert criterion is CERTIFIED or "pruned" in one["exactness"]


@pytest.mark.slow
def test_several_metrics():
    X, y = classes(3, seed=10)
    names = ["accuracy", "f1_macro", "balanced_accuracy"]
    options = {"scoring": names, "refit": "f1_macro", "cv": 4}
    exact = search(criteria.CV(), SVC(), GRID, X, y, **options)
    certified = search(CERTIFIED, SVC(), GRID, X, y, **options)
    assert "certified" in certified.cv_results_["exactness"]
    assert_same_labels(exact, certified, names)
    assert certified.best_index_ == exact.best_index_


@pytest.mark.parametrize("scoring", [["accuracy"], {"share": "accuracy"}])
def test_one_metric_by_name(scoring):
    (name,) = scoring
    X, y = classes(2, seed=11)
    options = {"scoring": scoring, "refit": name, "cv": 4}
    exact, pruned = (search(criterion, SVC(), GRID, X, y, **options) for criterion in (criteria.CV(), PRUNED))
    assert "pruned" in pruned.cv_results_["exactness"]
    assert_same_labels(exact, pruned, [name])
    means = exact.cv_results_[f"mean_test_{name}"]
    assert means[pruned.best_index_] == means.max()


@pytest.mark.slow
def test_scorers_of_labels():
    """Scorers that read labels are served, whatever they are made of."""
    X, y = classes(2, seed=0)

    def share(model, X, y):
        return float(np.mean(model.predict(X) == y))

    for scoring in (share, make_scorer(f1_score, pos_label="ant"), make_scorer(accuracy_score)):
        exact, certified = (search(c, SVC(), GRID, X, y, scoring=scoring, cv=4) for c in (criteria.CV(), CERTIFIED))
        assert "certified" in certified.cv_results_["exactness"]
        assert_same_labels(exact, certified)
    direct = [cross_val_score(SVC(tol=1e-10, **p), X, y, cv=4, scoring=share) for p in certified.cv_results_["params"]]
    np.testing.assert_allclose(split_scores(certified.cv_results_), direct, atol=1e-12)


def margin(model, X, y):
    return float(np.mean(model.decision_function(X)))


REFUSED = [
    (CERTIFIED, {"scoring": "roc_auc"}, "decision values"),
    (CERTIFIED, {"scoring": margin}, "decision values"),
    (CERTIFIED, {"scoring": ["accuracy", "average_precision"], "refit": False}, "average_precision"),
    (CERTIFIED, {"return_train_score": True}, "return_train_score"),
    (PRUNED, {"scoring": "f1_macro"}, "prune"),
    (PRUNED, {"scoring": ["accuracy", "f1_macro"], "refit": "accuracy"}, "prune"),
    (PRUNED, {"scoring": make_scorer(accuracy_score)}, "prune"),
    (PRUNED, {"refit": lambda results: 0}, "refit"),
]


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(("criterion", "options", "message"), REFUSED)
@pytest.mark.parametrize("model", [SVC(), L2SVC()], **ids)
def test_what_cannot_be_certified_is_refused_before_any_work(criterion, options, message, model):
    X, y = classes(2)
    with pytest.raises(ValueError, match=message):
        KernelSearchCV(model, GRID, criterion=criterion, **options).fit(X, y)


def test_regression_scores_without_a_bound_are_refused(regression):
    for scoring in ("neg_median_absolute_error", "neg_max_error", lambda model, X, y: 0.0):
        with pytest.raises(ValueError, match="certify"):
            KernelSearchCV(SVR(), {"C": [1.0]}, criterion=CERTIFIED, scoring=scoring).fit(*regression)


@pytest.mark.parametrize("wrong", [-1e-3, np.inf, np.nan, "0.1", None])
def test_bad_tolerances(wrong):
    with pytest.raises(ValueError, match="tolerance"):
        criteria.CV(certify=True, tolerance=wrong)


def test_a_fold_without_weight_has_no_score(regression):
    """The other folds do, whatever the machine."""
    X, y = regression
    weights = np.where(np.arange(80) < 20, 0.0, 1.0)
    for model, target in ((SVR(), y), (SVC(), np.where(y > 0, "up", "down"))):
        options = {"fit_params": {"sample_weight": weights}, "cv": KFold(4), "refit": False}
        exact = search(criteria.CV(), model, {"C": [0.1, 1.0]}, X, target, **options)
        for criterion in (CERTIFIED, PRUNED):
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                other = search(criterion, model, {"C": [0.1, 1.0]}, X, target, **options)
            assert set(other.cv_results_["exactness"]) <= {"exact", "certified"}
            mine, expected = split_scores(other.cv_results_), split_scores(exact.cv_results_)
            np.testing.assert_allclose(mine, expected, atol=2e-3)
            assert np.isnan(mine[:, 0]).all()


def test_ties_are_not_pruned():
    """Every candidate predicts the larger class everywhere: equal scores, whatever rounding makes of their sums."""
    rng = np.random.default_rng(0)
    for n in (45, 90, 110):
        X, y = rng.normal(size=(n, 2)), np.where(np.arange(n) % 3 == 0, "ant", "bee")
        grid = {"C": [1e-3, 1e-2], "gamma": [0.01, 0.02, 0.3, 1.0, 3.0, 10.0]}
        for cv in (KFold(3), KFold(7), ShuffleSplit(3, test_size=0.2, train_size=0.4, random_state=0)):
            pruned = search(PRUNED, SVC(), grid, X, y, cv=cv, refit=False).cv_results_
            assert np.ptp(pruned["mean_test_score"]) < 1e-12
            assert "pruned" not in pruned["exactness"]


def test_values_of_zero_but_for_rounding_are_not_claimed():
    """Rows that are all alike and balanced classes: the decision value is zero, and its sign nobody's to prove."""
    rng = np.random.default_rng(0)
    for seed in range(6):
        y = np.random.default_rng(seed).permutation(np.r_[np.zeros(14, dtype=int), np.ones(10, dtype=int)])
        options = {"fit_params": {"sample_weight": rng.uniform(0.2, 3.0, size=24)}, "refit": False}
        options["cv"] = ShuffleSplit(3, test_size=0.3, random_state=seed)
        model, grid = L2SVC(kernel="precomputed", class_weight="balanced"), {"C": [0.1, 20.0, 450.0]}
        for criterion in (criteria.CV(), CERTIFIED):
            found = search(criterion, model, grid, np.ones((24, 24)), y, **options)
            assert found.cv_results_["exactness"].tolist() == ["approximate"] * 3


def test_what_is_not_certified_cannot_be_pruned():
    with pytest.raises(ValueError, match="certify"):
        criteria.CV(prune=True)


def test_square_losses_are_as_exact_as_ever(regression):
    X, y = regression
    for model, grid, target, options in (
        (KernelRidge(kernel="rbf"), {"alpha": [0.1, 1.0], "gamma": [0.1, 1.0]}, y, {"return_train_score": True}),
        (LSSVC(), {"alpha": [0.1, 1.0], "gamma": [0.1, 1.0]}, np.where(y > 0, "up", "down"), {"scoring": "roc_auc"}),
    ):
        exact = search(criteria.CV(), model, grid, X, target, cv=4, **options)
        pruned = search(PRUNED, model, grid, X, target, cv=4, **options)
        assert set(pruned.cv_results_["exactness"]) == {"exact"}
        np.testing.assert_array_equal(split_scores(pruned.cv_results_), split_scores(exact.cv_results_))
        np.testing.assert_array_equal(pruned.cv_results_["error_bound"], exact.cv_results_["error_bound"])


def test_few_rounds_are_enough():
    """What certificates are for: most labels are proved before their fold is solved, most candidates are pruned."""
    X, y = classes(2, n=200, seed=13)
    grid = {"gamma": [0.001, 0.01, 0.1, 1.0], "C": [0.1, 1.0, 5.0]}
    ledger = search(CERTIFIED, SVC(), grid, X, y, cv=10).ledger_
    counts = {event: ledger[event] for event in (*PROVED, *OTHERS)}
    assert sum(counts.values()) == 12 * 200
    assert sum(counts[event] for event in PROVED) > 0.5 * 12 * 200
    pruned = search(PRUNED, SVC(), grid, X, y, cv=10)
    assert (pruned.cv_results_["exactness"] == "pruned").sum() >= 3
    assert sum(pruned.ledger_[event] for event in (*PROVED, *OTHERS)) < 12 * 200


def data(name):
    """Rows scaled to [-1, 1] and labels of a LIBSVM data set."""
    folder = os.environ.get("ONEFIT_DATA", Path(__file__).parents[2] / ".." / "shared" / "data")
    path = Path(folder) / "libsvm" / name
    if not path.exists():
        pytest.skip(f"no data set {name} in the folder that ONEFIT_DATA names")
    X, y = load_svmlight_file(str(path))
    return MinMaxScaler((-1, 1)).fit_transform(X.toarray()), y


TEN_FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["heart_scale", "sonar_scale"])
def test_real_data(name):
    X, y = data(name)
    grid = {"gamma": [2.0**-7, 2.0**-4, 0.5, 4.0], "C": [0.25, 4.0, 256.0]}
    _, certified, pruned = compared(SVC(), grid, X, y, cv=TEN_FOLDS)
    assert "certified" in certified.cv_results_["exactness"]
    assert "pruned" in pruned.cv_results_["exactness"] or name == "sonar_scale"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["heart_scale", "sonar_scale", "diabetes", "german.numer"])
def test_the_whole_grid_on_real_data(name):
    """Every cell is that of the exact search, and the winner ties."""
    X, y = data(name)
    grid = {"gamma": list(2.0 ** np.arange(-10, 11)), "C": list(2.0 ** np.arange(-4, 11, 2))}
    exact, certified, pruned = compared(SVC(), grid, X, y, cv=TEN_FOLDS)
    assert len(exact.cv_results_["params"]) == 21 * 8
    assert (certified.cv_results_["exactness"] == "certified").sum() > 20
    assert (pruned.cv_results_["exactness"] == "pruned").sum() > 20


@pytest.mark.parametrize(
    ("name", "C", "gamma"),  # the best of the whole grid
    [
        ("heart_scale", 4.0, 2.0**-8),
        ("sonar_scale", 16.0, 2.0**-3),
        ("diabetes", 64.0, 2.0**-6),
        ("german.numer", 4.0, 2.0**-5),
    ],
)
def test_two_rounds_prove_nine_labels_in_ten(name, C, gamma):
    X, y = data(name)
    ledger = search(CERTIFIED, SVC(), {"C": [C], "gamma": [gamma]}, X, y, cv=TEN_FOLDS, refit=False).ledger_
    counts = {event: ledger[event] for event in (*PROVED, *OTHERS)}
    assert sum(counts.values()) == len(y)
    assert sum(counts[event] for event in PROVED) >= 0.9 * len(y), counts
