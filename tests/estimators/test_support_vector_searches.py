"""KernelSearchCV around support vector machines gives GridSearchCV's results, and labels what it cannot do itself."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from onefit import L2SVC, EpsilonSVR, HingeSVC, KernelSearchCV, RetrainingWarning, criteria, cross_val_decision, kernels
from tests.oracles.grid_search import assert_same_search, both

GRID = {"gamma": ["scale", "auto", 0.05, 1.0], "C": [0.05, 1.0, 30.0]}
SINGLE = 1e-5  # LIBSVM keeps its kernel in single precision
PRECISE = {"tol": 1e-9}

SPLITS = [
    None,
    KFold(7, shuffle=True, random_state=0),
    StratifiedKFold(3),
    RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    ShuffleSplit(4, test_size=0.3, random_state=0),
    ShuffleSplit(3, test_size=0.2, train_size=0.4, random_state=0),
    [(np.arange(50), np.arange(50, 70)), (np.r_[20:80, 30:40], np.arange(35))],
]

classifiers = pytest.mark.parametrize(
    "model",
    [SVC(**PRECISE), pytest.param(HingeSVC(), marks=pytest.mark.slow), HingeSVC(fit_intercept=False), L2SVC()],
    ids=str,
)
regressors = pytest.mark.parametrize(
    "model",
    [SVR(**PRECISE), pytest.param(EpsilonSVR(), marks=pytest.mark.slow), EpsilonSVR(fit_intercept=False)],
    ids=str,
)


@pytest.mark.parametrize("cv", SPLITS, ids=lambda cv: type(cv).__name__)
@classifiers
@pytest.mark.quick(4)
def test_classification_on_every_kind_of_split(three_classes, model, cv):
    fast, slow = both(model, GRID, *three_classes, cv=cv, return_train_score=True)
    assert_same_search(fast, slow)
    assert set(fast.cv_results_["exactness"]) == {"exact"}
    assert (fast.cv_results_["error_bound"] < 1e-3).all()


@pytest.mark.parametrize(
    "cv", [cv for cv in SPLITS if not isinstance(cv, StratifiedKFold)], ids=lambda c: type(c).__name__
)
@regressors
@pytest.mark.quick(3)
def test_regression_on_every_kind_of_split(regression, model, cv):
    grid = {"C": [0.1, 10.0], "epsilon": [0.0, 0.1, 1.0], "gamma": ["scale", 0.3]}
    fast, slow = both(model, grid, *regression, cv=cv, return_train_score=True)
    assert_same_search(fast, slow, SINGLE if isinstance(model, SVR) else 1e-7)
    assert set(fast.cv_results_["exactness"]) == {"exact"}


@pytest.mark.parametrize("scoring", ["f1_macro", "balanced_accuracy", ["accuracy", "recall_weighted"]])
@pytest.mark.quick(1)
def test_scorers(three_classes, scoring):
    refit = "accuracy" if isinstance(scoring, list) else True
    assert_same_search(*both(SVC(**PRECISE), GRID, *three_classes, scoring=scoring, refit=refit))


@pytest.mark.filterwarnings("ignore")
def test_a_scorer_of_probabilities_fails_as_in_scikit_learn(three_classes):
    search = KernelSearchCV(SVC(), GRID, scoring="roc_auc_ovr", error_score="raise")
    with pytest.raises(AttributeError, match="predict_proba"):
        search.fit(*three_classes)


def test_ranking_scorers_of_two_classes(two_classes):
    assert_same_search(*both(SVC(**PRECISE), GRID, *two_classes, scoring=["roc_auc", "average_precision"], refit=False))


@classifiers
@pytest.mark.parametrize("class_weight", [None, "balanced", {"ant": 2.0, "bee": 0.5, "cat": 1.0}])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.quick(2)
def test_weights(three_classes, model, class_weight, weighted):
    X, y = three_classes
    params = {}
    if weighted:
        weights = np.random.default_rng(3).uniform(0.2, 2.0, size=len(y))
        weights[::9] = 0.0
        params = {"sample_weight": weights}
    model = clone(model).set_params(class_weight=class_weight)
    assert_same_search(*both(model, GRID, X, y, fit_params=params))


@regressors
def test_weighted_regression(regression, model):
    X, y = regression
    weights = np.random.default_rng(3).uniform(0.0, 2.0, size=len(y))
    grid = {"C": [0.1, 10.0], "gamma": [0.1]}
    assert_same_search(*both(model, grid, X, y, fit_params={"sample_weight": weights}), SINGLE)


@pytest.mark.slow
def test_pipeline_sparse_rows_and_groups(three_classes):
    X, y = three_classes
    pipe = make_pipeline(StandardScaler(), SVC(**PRECISE))
    assert_same_search(*both(pipe, {f"svc__{name}": values for name, values in GRID.items()}, X, y))
    assert_same_search(*both(SVC(**PRECISE), GRID, sparse.csr_matrix(X), y, cv=4))
    groups = np.arange(len(y)) // 6
    assert_same_search(*both(SVC(**PRECISE), GRID, X, y, cv=GroupKFold(5), fit_params={"groups": groups}))


def test_every_named_kernel(three_classes):
    grid = {"kernel": ["linear", "poly", "rbf"], "C": [0.1, 5.0], "coef0": [0.0, 1.0], "degree": [2, 3]}
    fast, slow = both(SVC(**PRECISE), grid, *three_classes, cv=4)
    assert_same_search(fast, slow)
    assert set(fast.cv_results_["exactness"]) == {"exact"}


def test_kernel_objects_and_precomputed(two_classes):
    X, y = two_classes
    K = kernels.Gaussian(0.3)(X).astype(np.float32).astype(np.float64)
    assert_same_search(*both(SVC(kernel="precomputed", **PRECISE), {"C": [0.1, 1.0, 10.0]}, K, y, cv=5))
    named = KernelSearchCV(SVC(kernel="rbf", gamma=0.3), {"C": [0.1, 1.0]}).fit(X, y)
    as_object = KernelSearchCV(SVC(kernel=kernels.Gaussian(0.3)), {"C": [0.1, 1.0]}).fit(X, y)
    np.testing.assert_array_equal(named.oof_decision_, as_object.oof_decision_)


def test_what_is_retrained_says_so(two_classes):
    X, y = two_classes
    for model, reason in [
        (SVC(kernel="sigmoid", gamma=1.0, coef0=-1.0), "semi-definite"),
        (SVC(max_iter=50), "max_iter"),
        (SVC(kernel=lambda A, B: A @ B.T), "callable"),
    ]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fast, slow = both(model, {"C": [0.1, 1.0]}, X, y, cv=3)
        assert any(
            isinstance(w.message, RetrainingWarning) or issubclass(w.category, RetrainingWarning) for w in caught
        )
        assert_same_search(fast, slow)
        assert set(fast.cv_results_["exactness"]) == {"retrained"}
        assert all(reason in status for status in fast.cv_results_["status"])


@pytest.mark.parametrize(
    "grid", [{"C": [0.0, -1.0]}, {"C": ["x"]}, {"gamma": [-0.1]}, {"gamma": ["scales"]}, {"kernel": ["x"]}]
)
def test_nothing_but_bad_parameters_is_an_error(two_classes, grid):
    with pytest.raises(ValueError, match=f"{next(iter(grid))}"):
        KernelSearchCV(SVC(), grid).fit(*two_classes)
    with pytest.raises(ValueError, match="epsilon"):
        KernelSearchCV(SVR(), {"epsilon": [-1.0]}).fit(two_classes[0], np.arange(float(len(two_classes[1]))))


@pytest.mark.parametrize("model", [SVC(), HingeSVC(fit_intercept=False), L2SVC(gamma=0.1)])
def test_the_series_is_labelled_approximate(two_classes, model):
    X, y = two_classes
    search = KernelSearchCV(model, {"C": [0.1, 1.0]}, criterion=criteria.BIF(order=np.inf), cv=5, scoring="roc_auc")
    search.fit(X, y)
    assert set(search.cv_results_["exactness"]) == {"approximate"}
    values = cross_val_decision(search.best_estimator_, X, y, method="bif", order=np.inf, cv=5)
    np.testing.assert_allclose(search.oof_decision_, values, atol=1e-9)


def test_smoothing_wider_than_the_tube_is_refused(two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match="epsilon"):
        cross_val_decision(SVR(epsilon=0.1), X, np.arange(float(len(y))), method="bif", h=0.2)


@pytest.mark.parametrize(("shape", "break_ties"), [("ovr", False), ("ovr", True), ("ovo", False)])  # all that SVC takes
def test_out_of_fold_values_are_those_of_retraining(three_classes, shape, break_ties):
    X, y = three_classes
    model = SVC(C=2.0, gamma=0.3, tol=1e-10, decision_function_shape=shape, break_ties=break_ties)
    cv = StratifiedKFold(4)
    expected = cross_val_predict(model, X, y, cv=cv, method="decision_function")
    np.testing.assert_allclose(cross_val_decision(model, X, y, cv=cv), expected, atol=SINGLE)
    search = KernelSearchCV(model, {"C": [2.0, 1e-6]}, cv=cv).fit(X, y)
    assert search.best_params_ == {"C": 2.0}
    assert set(search.cv_results_["exactness"]) == {"exact"}
    np.testing.assert_allclose(search.oof_decision_, expected, atol=SINGLE)
    assert search.oof_prediction_.tolist() == cross_val_predict(model, X, y, cv=cv).tolist()


def test_a_fold_that_lacks_a_class(three_classes):
    X, y = three_classes
    cats, rest = np.flatnonzero(y == "cat"), np.flatnonzero(y != "cat")
    splits = [(rest, np.r_[cats[:5], rest[:5]]), (np.arange(0, 90, 2), np.arange(1, 90, 2))]
    assert_same_search(*both(SVC(**PRECISE), GRID, X, y, cv=splits, return_train_score=True))
    twice = KernelSearchCV(SVC(), {"C": [1.0]}, cv=[splits[0], splits[0], splits[1]]).fit(X, y)
    assert np.isfinite(twice.oof_decision_[cats[:5]]).all()  # the smallest number for "cat", twice
    ants = np.flatnonzero(y == "ant")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fast, slow = both(SVC(**PRECISE), GRID, X, y, cv=[(ants, rest), splits[1]], error_score=-1.0)
    np.testing.assert_array_equal(fast.cv_results_["split0_test_score"], -1.0)
    np.testing.assert_array_equal(fast.cv_results_["split1_test_score"], slow.cv_results_["split1_test_score"])


@pytest.mark.slow
def test_leave_one_out(three_classes):
    X, y = three_classes
    X, y = X[:40], y[:40]
    fast, slow = both(SVC(**PRECISE), GRID, X, y, cv=LeaveOneOut())
    np.testing.assert_allclose(fast.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"], atol=1e-12)


def test_workers_and_order_do_not_matter(three_classes):
    X, y = three_classes
    one = KernelSearchCV(SVC(), GRID, cv=4).fit(X, y)
    two = KernelSearchCV(SVC(), GRID, cv=4, n_jobs=2).fit(X, y)
    back = KernelSearchCV(SVC(), {name: values[::-1] for name, values in GRID.items()}, cv=4).fit(X, y)
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], back.cv_results_["mean_test_score"][::-1])


@pytest.mark.parametrize(
    "model",
    [SVC(C=3.0, gamma=0.2, tol=1e-10), HingeSVC(C=3.0, gamma=0.2), L2SVC(C=3.0, gamma=0.2)],
    ids=lambda m: type(m).__name__,
)
def test_penalty_that_follows_the_rows(two_classes, model):
    X, y = two_classes
    cv = KFold(4)
    values = cross_val_decision(model, X, y, cv=cv, scale_penalty=True)
    for train, test in cv.split(X):
        scaled = type(model)(**{**model.get_params(), "C": 3.0 * len(X) / len(train)}).fit(X[train], y[train])
        np.testing.assert_allclose(values[test], scaled.decision_function(X[test]), atol=SINGLE)


def test_shared_preprocessing_is_labelled(two_classes):
    X, y = two_classes
    search = KernelSearchCV(SVC(), {"C": [0.1, 1.0]}, preprocessing="shared").fit(X, y)
    assert set(search.cv_results_["exactness"]) == {"approximate"}
    fixed = KernelSearchCV(SVC(gamma=1 / (X.shape[1] * X.var())), {"C": [0.1, 1.0]}).fit(X, y)
    np.testing.assert_array_equal(search.oof_decision_, fixed.oof_decision_)


def test_criterion_on_a_gram_matrix(three_classes):
    X, y = three_classes
    K = kernels.Gaussian(0.3)(X)
    model = SVC(kernel="precomputed", C=2.0, tol=1e-9)
    wrong = cross_val_predict(model, K, y, cv=StratifiedKFold(4)) != y
    assert criteria.CV()(K, y, model, cv=StratifiedKFold(4)) == pytest.approx(wrong.mean(), abs=1e-12)
    assert criteria.CV()(K, y, model, cv=LeaveOneOut()) == pytest.approx(
        (cross_val_predict(model, K, y, cv=LeaveOneOut()) != y).mean(), abs=1e-12
    )


@pytest.mark.filterwarnings("ignore")
def test_a_regression_with_two_targets_is_scikit_learns_error(regression):
    X, y = regression
    search = KernelSearchCV(SVR(), {"C": [1.0]})
    with pytest.raises(ValueError, match="fits failed"):
        search.fit(X, np.column_stack([y, y]))


def test_classes_in_order_and_many_folds():
    """The rows of a pair of classes are consecutive then, and a part of K is a view of it."""
    X, y = load_iris(return_X_y=True)
    grid, cv = {"C": [0.1, 10.0], "gamma": [0.1, 1.0]}, StratifiedKFold(25)
    mine = KernelSearchCV(SVC(), grid, cv=cv).fit(X, y).cv_results_
    theirs = GridSearchCV(SVC(tol=1e-9), grid, cv=cv).fit(X, y).cv_results_
    assert set(mine["exactness"]) == {"exact"}
    np.testing.assert_allclose(mine["mean_test_score"], theirs["mean_test_score"], atol=1e-12)
