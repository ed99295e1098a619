"""Machines inside of wrappers: GridSearchCV's answer by the fast path, and the model that is delivered."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import MinMaxScaler, PowerTransformer, QuantileTransformer, StandardScaler
from sklearn.svm import SVC, SVR

import onefit
from onefit import (
    LSSVC,
    LSSVR,
    EpsilonSVR,
    HingeSVC,
    KernelLogisticRegression,
    KernelSearchCV,
    RandomFeatures,
    RetrainingWarning,
    cross_val_decision,
)

from .wrapped import (
    CLASSIFIERS,
    REGRESSORS,
    TOLERANCE,
    assert_delivered,
    assert_same,
    both,
    grid_of,
    name_of,
    problem,
    quiet,
    tolerance_of,
)

WRAPPERS = {
    "nested": lambda m: (
        Pipeline([("one", StandardScaler()), ("inner", Pipeline([("two", MinMaxScaler((-2, 2))), ("m", m)]))]),
        "inner__m__",
    ),
    "union": lambda m: (
        Pipeline([("both", FeatureUnion([("a", StandardScaler()), ("b", MinMaxScaler())])), ("m", m)]),
        "m__",
    ),
    "columns": lambda m: (Pipeline([("some", ColumnTransformer([("a", StandardScaler(), [0, 2])])), ("m", m)]), "m__"),
}
OF_CLASSES = {
    "one vs rest": lambda m: (OneVsRestClassifier(m), "estimator__"),
    "one vs rest behind a scaler": lambda m: (
        Pipeline([("scale", StandardScaler()), ("rest", OneVsRestClassifier(m))]),
        "rest__estimator__",
    ),
    "one vs rest around a scaler": lambda m: (
        OneVsRestClassifier(Pipeline([("scale", StandardScaler()), ("m", m)])),
        "estimator__m__",
    ),
}
OF_TARGETS = {
    "standard": lambda m: (TransformedTargetRegressor(m, transformer=StandardScaler()), "regressor__"),
    "function": lambda m: (TransformedTargetRegressor(m, func=np.log1p, inverse_func=np.expm1), "regressor__"),
    "identity": lambda m: (TransformedTargetRegressor(m), "regressor__"),
    "around a scaler": lambda m: (
        TransformedTargetRegressor(
            Pipeline([("best", SelectKBest(f_regression, k=3)), ("m", m)]), transformer=PowerTransformer()
        ),
        "regressor__m__",
    ),
    "behind a scaler": lambda m: (
        Pipeline(
            [
                ("best", SelectKBest(f_regression, k=3)),
                ("target", TransformedTargetRegressor(m, transformer=QuantileTransformer(n_quantiles=9))),
            ]
        ),
        "target__regressor__",
    ),
}
OF_OUTPUTS = {
    "each output": lambda m: (MultiOutputRegressor(m), "estimator__"),
    "each output around a scaler": lambda m: (
        MultiOutputRegressor(Pipeline([("scale", StandardScaler()), ("m", m)])),
        "estimator__m__",
    ),
    "each transformed output": lambda m: (
        TransformedTargetRegressor(MultiOutputRegressor(m), transformer=StandardScaler()),
        "regressor__estimator__",
    ),
}
SPLITTERS = {
    "folds": KFold(4, shuffle=True, random_state=0),
    "shuffled": ShuffleSplit(3, test_size=0.3, random_state=0),
    "repeated": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
}


@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("scoring", [None, "balanced_accuracy", "f1_macro"])
@pytest.mark.parametrize("wrapper", [*WRAPPERS, *OF_CLASSES])
@pytest.mark.parametrize("machine", CLASSIFIERS, ids=name_of)
@pytest.mark.quick(9)
def test_classifiers(machine, wrapper, scoring, splitter):
    X, y = problem(machine)
    estimator, prefix = (WRAPPERS | OF_CLASSES)[wrapper](machine)
    cv = SPLITTERS[splitter]
    slow, fast = both(estimator, grid_of(machine, prefix), X, y, cv=cv, scoring=scoring)
    assert_same(slow, fast, exactly=True)
    assert_delivered(fast, X, y, cv, scoring)


@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error", "neg_median_absolute_error"])
@pytest.mark.parametrize("wrapper", [*WRAPPERS, *OF_TARGETS])
@pytest.mark.parametrize("machine", REGRESSORS, ids=name_of)
@pytest.mark.quick(10)
def test_regressors(machine, wrapper, scoring, splitter):
    X, y = problem(machine)
    estimator, prefix = (WRAPPERS | OF_TARGETS)[wrapper](machine)
    cv = SPLITTERS[splitter]
    slow, fast = both(estimator, grid_of(machine, prefix), X, y, cv=cv, scoring=scoring)
    assert_same(slow, fast, tolerance=tolerance_of(machine))
    assert_delivered(fast, X, y, cv, scoring, tolerance=tolerance_of(machine))


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
@pytest.mark.parametrize("wrapper", OF_OUTPUTS)
@pytest.mark.parametrize("machine", REGRESSORS, ids=name_of)
@pytest.mark.quick(4)
def test_several_outputs(machine, wrapper, scoring):
    X, Y = problem(machine, outputs=2)
    estimator, prefix = OF_OUTPUTS[wrapper](machine)
    slow, fast = both(estimator, grid_of(machine, prefix), X, Y, cv=4, scoring=scoring)
    assert_same(slow, fast, tolerance=tolerance_of(machine))
    assert_delivered(fast, X, Y, 4, scoring, tolerance=tolerance_of(machine))
    assert fast.oof_decision_.shape == Y.shape


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "average_precision"])
@pytest.mark.parametrize("wrapper", OF_CLASSES)
@pytest.mark.parametrize("machine", CLASSIFIERS, ids=name_of)
@pytest.mark.quick(4)
def test_two_classes_against_each_other(machine, wrapper, scoring):
    X, y = problem(machine)
    y = (y != "ant").astype(int)
    hinge = isinstance(machine, SVC | HingeSVC)  # balanced, its bias is often open, and LIBSVM's is any
    estimator, prefix = OF_CLASSES[wrapper](clone(machine).set_params(class_weight=None if hinge else "balanced"))
    slow, fast = both(estimator, grid_of(machine, prefix), X, y, cv=4, scoring=scoring)
    assert_same(slow, fast, exactly=True)
    assert fast.oof_decision_.shape == y.shape


def test_probabilities_of_one_vs_rest():
    X, y = problem(LSSVC())
    estimator = OneVsRestClassifier(KernelLogisticRegression())
    grid = grid_of(KernelLogisticRegression(), "estimator__")
    assert_same(*both(estimator, grid, X, y, cv=4, scoring="neg_log_loss"))


WEIGHTED = {
    "nested": (WRAPPERS["nested"], "inner__m__sample_weight", 1),
    "standard": (OF_TARGETS["standard"], "sample_weight", 1),
    "function": (OF_TARGETS["function"], "sample_weight", 1),
    "around a scaler": (OF_TARGETS["around a scaler"], "m__sample_weight", 1),
    "behind a scaler": (OF_TARGETS["behind a scaler"], "target__sample_weight", 1),
    "each output": (OF_OUTPUTS["each output"], "sample_weight", 2),
    "each output around a scaler": (OF_OUTPUTS["each output around a scaler"], "m__sample_weight", 2),
}


@pytest.mark.parametrize("wrapper", WEIGHTED)
@pytest.mark.parametrize("machine", REGRESSORS, ids=name_of)
@pytest.mark.quick(5)
def test_weights(machine, wrapper):
    make, name, outputs = WEIGHTED[wrapper]
    X, y = problem(machine, outputs)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, len(X))
    estimator, prefix = make(machine)
    # sample_weight of the search itself is also that of its score
    slow, fast = both(estimator, grid_of(machine, prefix), X, y, fit_params={name: weights}, cv=4)
    assert_same(slow, fast)


@pytest.mark.parametrize("wrapper", ["standard", "function", "around a scaler"])
@pytest.mark.parametrize("machine", REGRESSORS[1:], ids=name_of)  # squares show LIBSVM's single precision
@pytest.mark.quick(3)
def test_train_scores_and_leaving_one_out(machine, wrapper):
    X, y = problem(machine)
    estimator, prefix = OF_TARGETS[wrapper](machine)
    options = {"cv": 3, "scoring": "neg_mean_squared_error", "return_train_score": True}
    slow, fast = both(estimator, grid_of(machine, prefix), X, y, **options)
    assert_same(slow, fast)
    np.testing.assert_allclose(fast.cv_results_["mean_train_score"], slow.cv_results_["mean_train_score"], rtol=1e-6)
    slow, fast = both(estimator, grid_of(machine, prefix), X[:25], y[:25], cv=LeaveOneOut(), scoring=options["scoring"])
    np.testing.assert_allclose(fast.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"], rtol=1e-6)


@pytest.mark.parametrize("machine", [KernelRidge(kernel="rbf"), LSSVR(), EpsilonSVR()], ids=name_of)
def test_out_of_fold_predictions_are_on_the_original_scale(machine):
    X, y = problem(machine)
    for make in OF_TARGETS.values():
        estimator, prefix = make(clone(machine).set_params(gamma=0.1))
        exact = cross_val_decision(estimator, X, y, cv=4)
        np.testing.assert_allclose(exact, cross_val_decision(estimator, X, y, cv=4, method="retrain"), rtol=1e-6)
        search = quiet(KernelSearchCV(estimator, {f"{prefix}gamma": [0.1, 1e3]}, cv=4).fit, X, y)
        assert search.best_params_ == {f"{prefix}gamma": 0.1}
        np.testing.assert_array_equal(search.oof_decision_, exact)


@pytest.mark.parametrize("wrapper", OF_CLASSES)
def test_out_of_fold_decisions_of_classes(wrapper):
    X, y = problem(LSSVC())
    estimator, _ = OF_CLASSES[wrapper](HingeSVC(gamma=0.1))
    exact = cross_val_decision(estimator, X, y, cv=4)
    np.testing.assert_allclose(exact, cross_val_decision(estimator, X, y, cv=4, method="retrain"), atol=1e-7)


@pytest.mark.parametrize("workers", [1, 2])
def test_parameters_of_wrappers_are_searched_too(workers):
    """Transformers of the target as candidates; tasks in threads share them."""
    X, y = problem(SVR())
    estimator = TransformedTargetRegressor(Pipeline([("scale", StandardScaler()), ("m", EpsilonSVR())]))
    grid = {
        "transformer": [None, StandardScaler(), PowerTransformer()],
        "regressor__scale": [StandardScaler(), "passthrough"],
        **grid_of(EpsilonSVR(), "regressor__m__"),
    }
    slow, fast = both(estimator, grid, X, y, cv=4, n_jobs=workers)
    for key in (key for key in slow.cv_results_ if key.startswith("split")):
        np.testing.assert_allclose(fast.cv_results_[key], slow.cv_results_[key], atol=TOLERANCE)


def test_predictions_that_overflow_fail_to_be_scored_as_in_grid_search():
    X, y = problem(SVR())
    estimator = TransformedTargetRegressor(KernelRidge(kernel="linear"), func=np.log, inverse_func=_far_exp)
    slow, fast = (
        quiet(kind(estimator, {"regressor__alpha": [1e-3, 1.0]}, cv=3, scoring="r2", error_score=-7.0).fit, X, y)
        for kind in (GridSearchCV, KernelSearchCV)
    )
    assert (slow.cv_results_["mean_test_score"] == -7.0).all()
    np.testing.assert_array_equal(fast.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"])


def _far_exp(values):
    return np.where(np.isfinite(values), np.exp(np.abs(values) * 1e4), values)


class Hidden(KernelRidge):
    """Anything, as far as the fast path knows."""


def columns_of_labels(y):
    return np.column_stack([y == "ant", y == "bee"]).astype(int)


RETRAINED = {
    "unknown regressor": (lambda: TransformedTargetRegressor(Hidden(kernel="rbf")), 1, "Hidden"),
    "default regressor": (lambda: TransformedTargetRegressor(), 1, "LinearRegression"),
    "transformers on both sides": (
        lambda: Pipeline([("a", StandardScaler()), ("t", OF_TARGETS["around a scaler"](SVR())[0])]),
        1,
        "both outside and inside",
    ),
    "transformed twice": (
        lambda: TransformedTargetRegressor(TransformedTargetRegressor(SVR())),
        1,
        "inside of another wrapper",
    ),
    "supervised transformers": (
        lambda: MultiOutputRegressor(Pipeline([("best", SelectKBest(f_regression, k=1)), ("m", SVR())])),
        2,
        "learn from the target",
    ),
    "one dimension": (lambda: MultiOutputRegressor(TransformedTargetRegressor(SVR())), 2, "inside of another wrapper"),
    "weights of classes": (
        lambda: OneVsRestClassifier(SVC(class_weight="balanced")),
        "classes",
        "balances each class against the rest",
    ),
    "supervised transformers of classes": (
        lambda: OneVsRestClassifier(Pipeline([("best", SelectKBest(f_classif, k=3)), ("m", SVC())])),
        "classes",
        "learn from the target",
    ),
}


@pytest.mark.parametrize("case", RETRAINED)
def test_what_is_not_supported_is_retrained_and_says_why(case):
    make, outputs, reason = RETRAINED[case]
    X, y = problem(SVC()) if outputs == "classes" else problem(SVR(), outputs)
    grid = {"estimator__m__C": [1.0, 10.0]} if case.startswith("supervised") else {}  # a single one is handed over
    slow = GridSearchCV(make(), grid, cv=3).fit(X, y)
    with pytest.warns(RetrainingWarning, match=reason):
        fast = KernelSearchCV(make(), grid, cv=3).fit(X, y)
    assert set(fast.cv_results_["exactness"]) == {"retrained"}
    assert fast.best_score_ == slow.best_score_


def test_several_labels_of_a_row_are_retrained():
    X, y = problem(SVC())
    Y = columns_of_labels(y)
    slow = GridSearchCV(OneVsRestClassifier(SVC()), {"estimator__C": [1.0, 10.0]}, cv=3).fit(X, Y)
    with pytest.warns(RetrainingWarning, match="several labels"):
        fast = KernelSearchCV(OneVsRestClassifier(SVC()), {"estimator__C": [1.0, 10.0]}, cv=3).fit(X, Y)
    np.testing.assert_array_equal(fast.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"])


def test_a_split_of_one_class_is_predicted_as_a_constant():
    X, y = problem(SVC())
    y = np.sort(np.where(y == "cat", "bee", y))
    cv = [(np.arange(10), np.arange(10, 60)), (np.arange(5, 60), np.arange(5))]
    options = {"cv": cv, "scoring": "accuracy"}
    grid = {"estimator__C": [1.0]}
    slow = quiet(GridSearchCV(OneVsRestClassifier(SVC()), grid, **options).fit, X, y)
    fast = quiet(KernelSearchCV(OneVsRestClassifier(SVC()), grid, **options).fit, X, y)
    assert fast.cv_results_["split0_test_score"][0] == slow.cv_results_["split0_test_score"][0]


def test_other_options_of_a_search(tmp_path):
    """Reports, journals, pickles, shared preprocessing, penalties that follow the rows, approximations, criteria."""
    X, y = problem(SVR())
    estimator = TransformedTargetRegressor(
        Pipeline([("scale", StandardScaler()), ("m", EpsilonSVR())]), transformer=StandardScaler()
    )
    grid = grid_of(EpsilonSVR(), "regressor__m__")
    plain = KernelSearchCV(estimator, grid, cv=4).fit(X, y)
    for _ in range(2):
        kept = KernelSearchCV(estimator, grid, cv=4, journal=tmp_path / "journal.sqlite").fit(X, y)
        np.testing.assert_array_equal(kept.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(plain)).predict(X), plain.predict(X))
    onefit.report.write(plain, tmp_path / "report.html", X=X, y=y)
    assert "regressor__m__gamma" in (tmp_path / "report.html").read_text()
    shared = KernelSearchCV(estimator, grid, cv=4, preprocessing="shared").fit(X, y)
    assert set(shared.cv_results_["exactness"]) == {"approximate"}
    np.testing.assert_allclose(shared.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], atol=0.1)
    scaled = KernelSearchCV(estimator, grid, cv=4, scale_penalty=True).fit(X, y)
    params = {**scaled.best_params_, "regressor__m__C": scaled.best_params_["regressor__m__C"] * 4 / 3}
    own = cross_val_score(clone(estimator).set_params(**params), X, y, cv=4)
    assert scaled.best_score_ == pytest.approx(own.mean(), abs=TOLERANCE)
    with pytest.raises(ValueError, match="TransformedTargetRegressor is cross-validated only"):
        KernelSearchCV(estimator, grid, approximation=RandomFeatures(50, random_state=0)).fit(X, y)
    with pytest.raises(ValueError, match="TransformedTargetRegressor is cross-validated only"):
        KernelSearchCV(estimator, grid, criterion="lml").fit(X, y)


def test_metadata_routing_reaches_the_machine():
    from sklearn import config_context

    X, y = problem(SVR())
    weights = np.random.default_rng(1).uniform(0.2, 3.0, len(X))
    with config_context(enable_metadata_routing=True):
        machine = LSSVR().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        estimator = Pipeline([("inner", Pipeline([("scale", scaler), ("m", machine)]))])
        estimator = TransformedTargetRegressor(estimator, transformer=StandardScaler())
        estimator.set_score_request(sample_weight=False)
        grid = grid_of(machine, "regressor__inner__m__")
        assert_same(*both(estimator, grid, X, y, fit_params={"sample_weight": weights}, cv=4))
