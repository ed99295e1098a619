"""Cases in which a shortcut would silently give another answer than GridSearchCV."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler, TargetEncoder
from sklearn.svm import SVC

from onefit import LSSVC, LSSVR, KernelSearchCV, RetrainingWarning, cross_val_decision, one_standard_error
from tests.oracles.grid_search import assert_same_search, both

ALPHAS = {"alpha": [0.1, 1.0, 10.0]}
NARROW = {"gamma": np.logspace(-2, 4, 7), "alpha": [0.01, 1.0, 1e14]}


@pytest.mark.slow
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
@pytest.mark.parametrize("cv", [5, LeaveOneOut(), StratifiedKFold(12)], ids=str)
def test_held_out_labels_do_not_leak_through_rounding(fit_intercept, scoring, cv):
    """Labels are independent of X, and most kernels are so narrow that held-out values are below rounding."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 10)), np.repeat([0, 1], 30)
    if isinstance(cv, LeaveOneOut) and scoring == "roc_auc":
        decisions = [
            [cross_val_decision(LSSVC(a, gamma=g, fit_intercept=fit_intercept), X, y, cv=cv, method=method)
             for method in ("exact", "retrain")]
            for a in NARROW["alpha"] for g in NARROW["gamma"]
        ]  # fmt: skip
        for exact, retrained in decisions:
            np.testing.assert_array_equal(np.sign(exact), np.sign(retrained))
        return
    fast, slow = both(LSSVC(fit_intercept=fit_intercept), NARROW, X, y, cv=cv, scoring=scoring)
    # the bias is zero here but for rounding, which scikit-learn has as well: it decides a few signs
    tolerance = 0.05 if fit_intercept else 1e-12
    means = [search.cv_results_["mean_test_score"] for search in (fast, slow)]
    np.testing.assert_allclose(*means, atol=tolerance)


def test_rows_without_any_neighbour():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.repeat([0, 1], 20)
    X[::4] = 0.0  # no value under a linear kernel without a bias
    fast, slow = both(LSSVC(kernel="linear", fit_intercept=False), ALPHAS, X, y, cv=5)
    assert_same_search(fast, slow)


def test_a_pipeline_with_a_single_split(regression):
    pipe = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf"))
    grid = {"kernelridge__alpha": [0.1, 1.0]}
    assert_same_search(*both(pipe, grid, *regression, cv=ShuffleSplit(1, random_state=0)))


def test_inputs_whose_width_differs_by_fold():
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{i}" for i in rng.integers(80, size=6)) for _ in range(60)]
    pipe = make_pipeline(TfidfVectorizer(), KernelRidge(kernel="rbf"))
    assert_same_search(*both(pipe, {"kernelridge__alpha": [0.1, 1.0]}, texts, rng.normal(size=60), cv=3))


@pytest.mark.parametrize(
    "scoring",
    [
        lambda model, X, y: -np.mean((model.predict(X + 0.5) - y) ** 2),
        lambda model, X, y: r2_score(y, model.predict(X)) - 0.1 * getattr(model, "alpha", 0.0),
        lambda model, X, y: r2_score(y, model.predict(X)) - 0.1 * model.get_params()["alpha"],
    ],
    ids=["other rows", "attribute", "parameters"],
)
def test_scorers_that_look_further(regression, scoring):
    with pytest.warns(RetrainingWarning, match="needs"):
        assert_same_search(*both(KernelRidge(kernel="rbf"), ALPHAS, *regression, cv=3, scoring=scoring))


def test_scorers_get_the_data_as_given(regression):
    pd = pytest.importorskip("pandas")
    X, y = regression
    series = lambda model, X, y: -(y - model.predict(X)).abs().mean() - X["a"].mean()  # noqa: E731
    frame = pd.DataFrame(X, columns=list("abcd"))
    assert_same_search(*both(KernelRidge(kernel="rbf"), ALPHAS, frame, pd.Series(y), cv=3, scoring=series))
    width = lambda model, X, y: float(X.shape[1])  # noqa: E731
    assert_same_search(*both(KernelRidge(kernel="precomputed"), ALPHAS, X @ X.T, y, cv=3, scoring=width))


def test_shared_preprocessing_never_sees_labels():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 300)), rng.integers(2, size=60)
    for step in (SelectKBest(k=5), make_pipeline(SelectKBest(k=5))):
        search = KernelSearchCV(make_pipeline(step, LSSVC()), {"lssvc__alpha": [1.0]}, preprocessing="shared")
        with pytest.raises(ValueError, match="cannot be fitted without y"):
            search.fit(X, y)


def test_train_scores_behind_a_transformer_that_treats_training_rows_differently(regression):
    X, y = regression
    pipe = make_pipeline(TargetEncoder(random_state=0), KernelRidge(kernel="rbf"))
    with pytest.warns(RetrainingWarning, match="fit_transform differs"):
        fast, slow = both(pipe, {"kernelridge__alpha": [0.1, 1.0]}, X.round(), y, cv=3, return_train_score=True)
    assert_same_search(fast, slow)
    assert_same_search(*both(pipe, {"kernelridge__alpha": [0.1, 1.0]}, X.round(), y, cv=3))


def test_classes_derived_from_pipeline_are_retrained(regression):
    class Odd(Pipeline):
        def fit(self, X, y=None, **params):
            return super().fit(X, y * 0, **params)

    pipe = Odd([("scale", StandardScaler()), ("model", KernelRidge())])
    with pytest.warns(RetrainingWarning, match="derived from Pipeline"):
        assert_same_search(*both(pipe, {"model__alpha": [0.1, 1.0]}, *regression, cv=3))


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (make_pipeline(PCA(), KernelRidge()), {"pca__n_components": [2, 40]}),
        (KernelRidge(gamma=1.0), {"kernel": ["rbf", "chi2"]}),
        (KernelRidge(kernel="poly", gamma=1.0, coef0=0.0), {"degree": [2, 2.5]}),
    ],
    ids=["transformer", "kernel", "values that are not finite"],
)
@pytest.mark.filterwarnings("ignore:invalid value encountered in power")
def test_one_failing_candidate_does_not_end_the_search(regression, estimator, grid):
    with pytest.warns(match="fits failed"), pytest.warns(match="non-finite"):
        fast, slow = both(estimator, grid, *regression, cv=3)
    assert_same_search(fast, slow)
    assert fast.cv_results_["exactness"].tolist() == ["exact", "failed"]
    with pytest.raises(ValueError):
        KernelSearchCV(estimator, grid, cv=3, error_score="raise").fit(*regression)


def test_a_singular_candidate_is_not_scored_before_it_is_retrained(regression):
    kwargs = {"cv": 3, "scoring": "neg_max_error", "error_score": "raise"}
    with pytest.warns(RetrainingWarning, match="singular"):
        fast, slow = both(KernelRidge(), {"alpha": [0.0, 1.0]}, *regression, **kwargs)
    np.testing.assert_allclose(fast.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"])


def test_a_callable_with_several_metrics_and_a_failing_split(two_classes):
    X, y = two_classes
    ants = np.flatnonzero(y == "ant")
    splits = [(ants, np.flatnonzero(y == "bee")), *StratifiedKFold(3).split(X, y)]
    scoring = lambda model, X, y: {"right": float((model.predict(X) == y).mean()), "rows": len(y)}  # noqa: E731
    kwargs = {"cv": splits, "scoring": scoring, "refit": "right", "error_score": 0.0, "return_train_score": True}
    with pytest.warns(match="fits failed"):
        assert_same_search(*both(LSSVC(), ALPHAS, X, y, **kwargs))


@pytest.mark.filterwarnings("ignore::onefit.RetrainingWarning")
def test_out_of_fold_values_never_cost_a_finished_search(two_classes, three_classes):
    X, y = two_classes
    ants = np.flatnonzero(y == "ant")
    splits = [(ants, np.flatnonzero(y == "bee")), *StratifiedKFold(3).split(X, y)]
    with pytest.warns(match="fits failed"):
        fast, slow = both(LogisticRegression(), {"C": [0.1, 1.0]}, X, y, cv=splits, error_score=0.0)
    assert_same_search(fast, slow)
    X, y = three_classes
    cats = np.flatnonzero(y == "cat")
    splits = [(np.flatnonzero(y != "cat"), cats), *StratifiedKFold(3).split(X, y)]
    model = SVC(decision_function_shape="ovo")
    assert_same_search(*both(model, {"C": [0.1, 1.0]}, X, y, cv=splits))


def test_no_gram_matrix_no_budget(regression):
    X, y = regression
    with pytest.warns(RetrainingWarning):
        search = KernelSearchCV(Ridge(), ALPHAS, cv=3, memory_budget=1000).fit(X, y)
    assert search.best_index_ >= 0


def test_transformers_are_fitted_only_when_their_turn_comes(regression):
    """Names and data are refused first, and at most one setting's copies of the data are kept."""
    X, y = regression
    fitted = []

    def watched(X):
        fitted.append(len(X))
        return X

    pipe = make_pipeline(FunctionTransformer(watched), KernelRidge())
    with pytest.raises(ValueError, match="Invalid parameter 'alfa'"):
        KernelSearchCV(pipe, [{}, {"kernelridge__alfa": [1.0]}], cv=3).fit(X, y)
    with pytest.raises(ValueError, match="rows would fit"):
        KernelSearchCV(pipe, {"kernelridge__alpha": [1.0, 10.0]}, cv=3, memory_budget=1000).fit(X, y)
    assert not fitted


@pytest.mark.filterwarnings("ignore::onefit.GridEdgeWarning")
def test_weights_of_every_kind(regression):
    pl = pytest.importorskip("polars")
    X, y = regression
    weights = np.random.default_rng(0).uniform(0.1, 1, size=len(y))
    expected = KernelSearchCV(KernelRidge(kernel="rbf"), ALPHAS, cv=3).fit(X, y, sample_weight=weights)
    for same in (pl.Series(weights), weights.tolist()):
        search = KernelSearchCV(KernelRidge(kernel="rbf"), ALPHAS, cv=3).fit(X, y, sample_weight=same)
        np.testing.assert_array_equal(search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])


def test_one_weight_for_all_rows(regression):
    """KernelRidge takes a number; scikit-learn's scorers do not, so every score is the error score."""
    kwargs = {"cv": 3, "error_score": -1.0, "scoring": "neg_mean_squared_error"}
    with pytest.warns(match="Scoring failed"):
        assert_same_search(*both(KernelRidge(kernel="rbf"), ALPHAS, *regression, {"sample_weight": 2.0}, **kwargs))


def test_splitters_that_insist_on_groups(regression):
    class Strict:
        def get_n_splits(self, X, y, groups):
            return 2

        def split(self, X, y, groups):
            half = len(X) // 2
            return [(np.arange(half), np.arange(half, len(X))), (np.arange(half, len(X)), np.arange(half))]

    assert_same_search(*both(KernelRidge(kernel="rbf"), ALPHAS, *regression, cv=Strict()))


def test_the_table_survives_a_failing_refit(regression):
    X, y = regression
    search = KernelSearchCV(KernelRidge(kernel="rbf"), ALPHAS, cv=LeaveOneOut(), refit=one_standard_error)
    search.set_params(scoring="neg_mean_squared_error")
    with pytest.raises(ValueError, match="two splits or more"):
        search.fit(X, y)
    assert len(search.cv_results_["params"]) == 3
    assert not any(name.startswith("best_") for name in vars(search))


@pytest.mark.filterwarnings("ignore::onefit.RetrainingWarning")
@pytest.mark.parametrize("folds", [KFold(4), ShuffleSplit(3, test_size=0.2, train_size=0.3, random_state=0)], ids=str)
def test_penalties_follow_the_training_rows_of_what_is_retrained(regression, folds):
    X, y = regression
    search = KernelSearchCV(Ridge(), ALPHAS, cv=folds, scale_penalty=True, return_train_score=True).fit(X, y)
    assert set(search.cv_results_["exactness"]) == {"retrained"}
    for candidate, alpha in enumerate(ALPHAS["alpha"]):
        for number, (train, test) in enumerate(folds.split(X)):
            model = Ridge(alpha=alpha * len(train) / len(y)).fit(X[train], y[train])
            for rows, kind in ((test, "test"), (train, "train")):
                score = search.cv_results_[f"split{number}_{kind}_score"][candidate]
                np.testing.assert_allclose(score, model.score(X[rows], y[rows]), rtol=1e-12)


def test_there_must_be_a_penalty_to_scale(regression):
    with pytest.raises(ValueError, match="needs an estimator with alpha or C"):
        KernelSearchCV(LinearRegression(), {"positive": [False]}, scale_penalty=True).fit(*regression)


def test_singular_weighted_least_squares_is_weighted():
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(30, 2)), rng.normal(size=30), rng.uniform(0.1, 2, size=30)
    weights[:3] = 0.0
    with pytest.warns(match="singular"):
        model = LSSVR(alpha=0.0, kernel="linear").fit(X, y, sample_weight=weights)
    design = np.column_stack([X, np.ones(30)]) * np.sqrt(weights)[:, None]
    coefficients = np.linalg.lstsq(design, y * np.sqrt(weights))[0]
    np.testing.assert_allclose(model.predict(X), np.column_stack([X, np.ones(30)]) @ coefficients, atol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("behind_a_scaler", [True, False])
@pytest.mark.parametrize("machine", [LSSVC, LSSVR])
@pytest.mark.quick(2)
def test_singular_candidates_are_solved_as_their_estimator_does(regression, fit_intercept, behind_a_scaler, machine):
    X, y = regression
    X = np.vstack([X, X])
    y = np.r_[y, y + 0.1 * X[: len(y), 0]]
    if machine is LSSVC:
        y = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    estimator = machine(kernel="rbf", gamma=0.5, fit_intercept=fit_intercept)
    grid = {"alpha": [0.0, 1e-200, 1.0]}
    if behind_a_scaler:
        estimator = make_pipeline(StandardScaler(), estimator)
        grid = {f"{machine.__name__.lower()}__alpha": grid["alpha"]}
    with pytest.warns(match="The system is singular"):  # GridSearchCV's, and that of the best model
        fast, slow = both(estimator, grid, X, y, cv=KFold(4, shuffle=True, random_state=0), return_train_score=True)
    assert fast.cv_results_["exactness"].tolist() == ["approximate", "approximate", "exact"]  # the rank is rounding's
    assert ["least-squares" in status for status in fast.cv_results_["status"]] == [True, True, False]
    for kind in ("test", "train"):
        columns = [search.cv_results_[f"mean_{kind}_score"] for search in (fast, slow)]
        np.testing.assert_allclose(*columns, atol=1e-8)


@pytest.mark.filterwarnings("ignore:.*rows are never tested")
def test_the_penalty_follows_all_rows_behind_transformers_too(regression):
    X, y = regression
    pipe = make_pipeline(FunctionTransformer(), LSSVR())
    cv = ShuffleSplit(1, test_size=0.2, train_size=0.5, random_state=0)
    values = [cross_val_decision(model, X, y, cv=cv, scale_penalty=True) for model in (pipe, LSSVR())]
    np.testing.assert_allclose(*values, atol=1e-10)
    retrained = cross_val_decision(pipe, X, y, cv=cv, scale_penalty=True, method="retrain")
    np.testing.assert_allclose(values[0], retrained, atol=1e-10)
