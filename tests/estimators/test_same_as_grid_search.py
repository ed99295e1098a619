"""KernelSearchCV gives GridSearchCV's results table."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import make_scorer, max_error
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from onefit import LSSVC, LSSVR
from tests.oracles.grid_search import assert_same_search, both

GRID = {"gamma": [0.01, 0.1, 1.0], "alpha": [1e-3, 0.1, 10.0]}


@pytest.mark.parametrize(
    "cv",
    [
        None,
        3,
        KFold(7, shuffle=True, random_state=0),
        RepeatedKFold(n_splits=4, n_repeats=2, random_state=0),
        ShuffleSplit(5, test_size=0.3, random_state=0),
        ShuffleSplit(3, test_size=0.7, random_state=0),
        ShuffleSplit(3, test_size=0.2, train_size=0.3, random_state=0),
        TimeSeriesSplit(4),
        PredefinedSplit([-1] * 20 + [0] * 35 + [1] * 25),
        [(np.arange(50), np.arange(50, 80)), (np.r_[30:80, 30:40], np.arange(35))],
    ],
    ids=lambda cv: type(cv).__name__,
)
@pytest.mark.parametrize("estimator", [KernelRidge(kernel="rbf"), LSSVR()], ids=lambda e: type(e).__name__)
@pytest.mark.quick(8)
def test_every_kind_of_split(regression, estimator, cv):
    assert_same_search(*both(estimator, GRID, *regression, cv=cv, return_train_score=True))


@pytest.mark.parametrize(
    "grid",
    [
        [{"kernel": ["rbf"], "gamma": [0.1, 1.0], "alpha": [0.1, 1.0]}, {"kernel": ["poly"], "degree": [2, 3]}],
        {"kernel": ["laplacian", "sigmoid", "cosine", "linear"], "gamma": [0.05], "alpha": [1.0, 20.0]},
        {"alpha": [1.0]},
        {"coef0": [0.5, 1], "kernel": ["polynomial"], "gamma": [None, 0.2]},
        [{}],
    ],
    ids=["conditional", "kernels", "one", "polynomial", "empty"],
)
def test_every_kind_of_grid(regression, grid):
    assert_same_search(*both(KernelRidge(), grid, *regression, cv=4))


@pytest.mark.parametrize(
    ("scoring", "refit"),
    [
        ("r2", True),
        ("neg_mean_squared_error", False),
        ("neg_root_mean_squared_error", True),
        ("neg_mean_absolute_error", True),
        ("neg_median_absolute_error", True),
        (make_scorer(max_error, greater_is_better=False), True),
        (["r2", "neg_mean_absolute_error"], "r2"),
        ({"a": "r2", "b": make_scorer(max_error, greater_is_better=False)}, "b"),
        (["r2", "neg_mean_absolute_error"], False),
        (("r2", "explained_variance"), lambda results: 1),
        (lambda model, X, y: -np.abs(model.predict(X) - y).max(), True),
        (lambda model, X, y: {"worst": -np.abs(model.predict(X) - y).max(), "first": X[0, 0]}, "worst"),
    ],
)
@pytest.mark.quick(5)
def test_every_kind_of_scoring(regression, scoring, refit):
    kwargs = {"scoring": scoring, "refit": refit, "cv": 5, "return_train_score": True}
    assert_same_search(*both(KernelRidge(kernel="rbf"), GRID, *regression, **kwargs))


@pytest.mark.slow
@pytest.mark.parametrize("scoring", [None, "accuracy", "balanced_accuracy", "f1_macro"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"ant": 2.0, "bee": 0.5, "cat": 1.0}])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_classification_with_three_classes(three_classes, scoring, class_weight, fit_intercept):
    model = LSSVC(class_weight=class_weight, fit_intercept=fit_intercept)
    assert_same_search(*both(model, GRID, *three_classes, scoring=scoring, cv=4, return_train_score=True))


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "accuracy", "neg_hinge"])
def test_binary_classification(two_classes, scoring):
    X, y = two_classes
    y = (y == "bee").astype(int)
    if scoring == "neg_hinge":
        from sklearn.metrics import hinge_loss

        scoring = make_scorer(hinge_loss, greater_is_better=False, response_method="decision_function")
    assert_same_search(*both(LSSVC(), GRID, X, y, scoring=scoring, cv=5))


@pytest.mark.parametrize("estimator", [KernelRidge(kernel="rbf"), LSSVR()], ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.quick(2)
def test_sample_weights_in_fit_and_score(regression, estimator, zeros):
    X, y = regression
    weights = np.random.default_rng(0).uniform(0.1, 3, size=len(y))
    weights[::7] = 0.0 if zeros else 1.0
    fit_params = {"sample_weight": weights}
    assert_same_search(*both(estimator, GRID, X, y, fit_params, cv=5, return_train_score=True))


def test_groups(regression):
    X, y = regression
    groups = np.random.default_rng(0).integers(8, size=len(y))
    assert_same_search(*both(KernelRidge(kernel="rbf"), GRID, X, y, {"groups": groups}, cv=GroupKFold(4)))


def test_multi_output_with_a_ridge_for_each(regression):
    X, y = regression
    Y = np.column_stack([y, y**2, X[:, 2]])
    grid = {"gamma": [0.1, 1.0], "alpha": [0.1, 1.0, [0.1, 1.0, 5.0]]}
    fast, slow = both(KernelRidge(kernel="rbf"), grid, X, Y, cv=4)
    for split in range(4):
        key = f"split{split}_test_score"
        np.testing.assert_allclose(fast.cv_results_[key], slow.cv_results_[key], atol=1e-9)


def test_transformers_are_refitted_on_every_fold(three_classes):
    pipe = make_pipeline(StandardScaler(), SelectKBest(f_classif), PCA(), LSSVC())
    grid = {
        "selectkbest__k": [2, 3],
        "pca__whiten": [True, False],
        "lssvc__gamma": [0.1, 1.0],
        "lssvc__alpha": [0.1, 1.0],
    }
    assert_same_search(*both(pipe, grid, *three_classes, cv=4, return_train_score=True))


def test_pipeline_with_weights_of_its_last_step(regression):
    X, y = regression
    pipe = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf"))
    weights = np.random.default_rng(0).uniform(0.1, 3, size=len(y))
    grid = {"kernelridge__alpha": [0.1, 1.0], "standardscaler": ["passthrough", StandardScaler()]}
    assert_same_search(*both(pipe, grid, X, y, {"kernelridge__sample_weight": weights}, cv=4))


def test_sparse_input(regression):
    X, y = regression
    X = sparse.csr_matrix(np.where(np.abs(X) < 1, 0, X))
    assert_same_search(*both(KernelRidge(kernel="rbf"), GRID, X, y, cv=4))


def test_precomputed_kernel(regression):
    X, y = regression
    K = X @ X.T + 1.0
    assert_same_search(*both(KernelRidge(kernel="precomputed"), {"alpha": [0.1, 1, 10]}, K, y, cv=5))
    assert_same_search(*both(LSSVR(kernel="precomputed"), {"alpha": [0.1, 1, 10]}, K, y, cv=5))


@pytest.mark.parametrize("definite", [True, False])
def test_a_precomputed_kernel_of_many_rows_and_few_ridges(definite):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    K, y = X @ X.T + np.eye(150) * (0.0 if definite else -0.5), X[:, 0] + rng.normal(size=150)
    fast, slow = both(KernelRidge(kernel="precomputed"), {"alpha": [1.0, 10.0]}, K, y, cv=5)
    assert_same_search(fast, slow)
    assert (fast.ledger_["eigendecomposition"] == 0) == definite


def test_callable_kernel(regression):
    X, y = regression[0][:40], regression[1][:40]

    def kernel(a, b, power=1):
        return (1 + a @ b) ** power

    grid = {"alpha": [0.1, 1, 10], "kernel_params": [{"power": 1}, {"power": 2}]}
    fast, slow = both(KernelRidge(kernel=kernel), grid, X, y, cv=4)
    assert_same_search(fast, slow)
    assert fast.ledger_["base"] == 2


def test_data_frames(regression):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = regression
    columns = [f"f{i}" for i in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=columns, index=np.arange(len(y))[::-1])
    fast, slow = both(KernelRidge(kernel="rbf"), GRID, frame, pd.Series(y, index=frame.index), cv=4)
    assert_same_search(fast, slow)
    assert fast.feature_names_in_.tolist() == columns
    plain = both(make_pipeline(StandardScaler(), LSSVR()), {"lssvr__alpha": [0.1, 1]}, X, y, cv=4)[1]
    table = pl.DataFrame(X, schema=columns)
    polar = both(make_pipeline(StandardScaler(), LSSVR()), {"lssvr__alpha": [0.1, 1]}, table, pl.Series(y), cv=4)[0]
    np.testing.assert_allclose(polar.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])


def test_a_fold_without_one_of_three_classes(three_classes):
    X, y = three_classes
    order = np.argsort(y, kind="stable")
    splits = [(np.setdiff1d(np.arange(90), np.flatnonzero(y == "cat")), np.flatnonzero(y == "cat"))]
    splits += [(order[::2], order[1::2])]
    assert_same_search(*both(LSSVC(), GRID, X, y, cv=splits))


def test_a_fold_with_one_class_fails_as_in_scikit_learn(two_classes):
    X, y = two_classes
    ants = np.flatnonzero(y == "ant")
    splits = [(ants, np.flatnonzero(y == "bee")), *StratifiedKFold(3).split(X, y)]
    with pytest.warns(match="non-finite"), pytest.warns(match="fits failed out of a total"):
        fast, slow = both(LSSVC(), GRID, X, y, cv=splits)
    assert_same_search(fast, slow)
    with pytest.raises(ValueError, match="one class only"):
        both(LSSVC(), GRID, X, y, cv=splits, error_score="raise")
    with pytest.raises(ValueError, match="fits failed"):
        both(LSSVC(), GRID, X, y, cv=splits[:1])


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_workers_do_not_change_a_single_bit(regression, n_jobs):
    with threadpool_limits(1, "blas"):  # another number of BLAS threads may round differently
        one = both(KernelRidge(kernel="rbf"), GRID, *regression, cv=5)[0]
        many = both(KernelRidge(kernel="rbf"), GRID, *regression, cv=5, n_jobs=n_jobs)[0]
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], many.cv_results_["mean_test_score"])


@pytest.mark.parametrize("seed", range(12))
def test_random_problems(seed):
    """Well-conditioned random searches: equal columns, equal winners where the two best differ."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(20, 120)), int(rng.integers(1, 15))
    X, y = rng.normal(size=(n, d)), rng.normal(size=n)
    kernel = ["rbf", "laplacian", "poly", "linear"][seed % 4]
    grid = {"gamma": 10 ** rng.uniform(-2, 1, size=3), "alpha": 10 ** rng.uniform(-2, 3, size=4)}
    cv = KFold(int(rng.integers(2, 11)), shuffle=True, random_state=seed)
    fast, slow = both(KernelRidge(kernel=kernel), grid, X, y, cv=cv, scoring="neg_mean_squared_error")
    for split in range(fast.n_splits_):
        key = f"split{split}_test_score"
        np.testing.assert_allclose(fast.cv_results_[key], slow.cv_results_[key], rtol=1e-8, atol=1e-8)
    first, second = np.unique(slow.cv_results_["mean_test_score"])[::-1][:2]
    if first - second > 1e-8:
        assert fast.best_params_ == slow.best_params_
