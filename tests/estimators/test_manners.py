"""What a user of scikit-learn expects besides the scores."""

import logging
import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneOut, ShuffleSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, TargetEncoder
from sklearn.svm import NuSVC, NuSVR, OneClassSVM
from sklearn.utils.validation import check_is_fitted

from onefit import LSSVC, LSSVR, GridEdgeWarning, KernelSearchCV, RetrainingWarning, criteria, one_standard_error
from tests.oracles.grid_search import assert_same_search, both

GRID = {"gamma": [0.01, 0.1, 1.0], "alpha": [1e-3, 0.1, 10.0]}


def test_ledger_of_a_whole_grid(regression):
    """1 distance matrix, one Gram and one factorisation a width, no fit."""
    X, y = regression
    grid = {"gamma": np.logspace(-2, 0.5, 6), "alpha": np.logspace(-5, 3, 15)}
    search = KernelSearchCV(KernelRidge(kernel="rbf"), grid, cv=10).fit(X, y)
    assert search.ledger_["base"] == 1
    assert search.ledger_["gram"] <= 6
    assert search.ledger_["eigendecomposition"] + search.ledger_["band form"] <= 6
    assert search.ledger_["cholesky"] == search.ledger_["fit"] == 0
    assert search.ledger_["heldout"] == 6


def test_two_learners_share_the_distances(regression):
    """A factorisation takes the Gram matrix: each learner has its own, computed from the same distances."""
    X, y = regression
    grid = {"fit_intercept": [True, False], "gamma": [0.1], "alpha": np.logspace(-3, 3, 20)}
    search = KernelSearchCV(LSSVR(), grid, cv=10).fit(X, y)
    assert (search.ledger_["base"], search.ledger_["gram"], search.ledger_["band form"]) == (1, 2, 2)


def test_the_narrow_end_of_a_width_grid_is_free(regression):
    X, y = regression
    grid = {"gamma": [1e5, 1e6, 1e7], "alpha": [0.1, 1.0]}
    fast, slow = both(KernelRidge(kernel="rbf"), grid, X, y, cv=5)
    assert (fast.ledger_["gram"], fast.ledger_["eigendecomposition"]) == (0, 0)
    assert_same_search(fast, slow)


def test_parameters_without_effect_are_evaluated_once(regression, caplog):
    X, y = regression
    grid = {"kernel": ["linear"], "gamma": [0.1, 1.0, 10.0], "alpha": [0.1, 1.0]}
    with caplog.at_level(logging.INFO, logger="onefit"):
        search = KernelSearchCV(KernelRidge(), grid, cv=5).fit(X, y)
    assert search.ledger_["gram"] == search.ledger_["heldout"] == 1
    assert sum(status.startswith("same as") for status in search.cv_results_["status"]) == 4
    assert "4 candidates repeat others" in caplog.text
    slow = GridSearchCV(KernelRidge(), grid, cv=5).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"])


@pytest.mark.parametrize(
    "estimator",
    [KernelRidge(kernel="rbf"), pytest.param(LSSVR(), marks=pytest.mark.slow)],
    ids=["ridge", "LSSVR"],
)
@pytest.mark.slow
def test_leave_one_out_is_pooled(regression, estimator):
    X, y = regression
    kwargs = {"cv": LeaveOneOut(), "scoring": "neg_mean_squared_error"}
    fast, slow = both(estimator, GRID, X, y, **kwargs)
    assert "split1_test_score" not in fast.cv_results_
    assert fast.n_splits_ == len(y)
    for key in ("split0_test_score", "mean_test_score"):
        np.testing.assert_allclose(fast.cv_results_[key], slow.cv_results_["mean_test_score"], atol=1e-9)
    assert fast.best_params_ == slow.best_params_


@pytest.mark.slow
def test_leave_one_out_of_a_class_with_one_row(three_classes):
    X, y = three_classes
    keep = np.r_[np.flatnonzero(y != "cat"), np.flatnonzero(y == "cat")[:1]]
    fast, slow = both(LSSVC(), GRID, X[keep], y[keep], cv=LeaveOneOut())
    np.testing.assert_allclose(fast.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"])


def test_out_of_fold_values_of_a_class_with_one_row(three_classes):
    X, y = three_classes
    keep = np.r_[np.flatnonzero(y != "cat"), np.flatnonzero(y == "cat")[:1]]
    kept = KernelSearchCV(LSSVC(), GRID, cv=LeaveOneOut()).fit(X[keep], y[keep])
    again = KernelSearchCV(LSSVC(), GRID, cv=LeaveOneOut(), refit=lambda _: kept.best_index_).fit(X[keep], y[keep])
    np.testing.assert_array_equal(kept.oof_decision_, again.oof_decision_)
    assert kept.oof_decision_[-1, 2] == np.finfo(float).min


def test_out_of_fold_values_of_the_best(regression, three_classes):
    X, y = regression
    search = KernelSearchCV(KernelRidge(kernel="rbf"), GRID, cv=5).fit(X, y)
    expected = cross_val_predict(search.best_estimator_, X, y, cv=5)
    np.testing.assert_allclose(search.oof_decision_, expected, atol=1e-9)
    X, y = three_classes
    search = KernelSearchCV(LSSVC(), GRID, cv=5, refit=lambda results: 4).fit(X, y)
    expected = cross_val_predict(search.best_estimator_, X, y, cv=5, method="decision_function")
    np.testing.assert_allclose(search.oof_decision_, expected, atol=1e-9)


def test_shared_preprocessing_is_labelled_and_cheaper(regression):
    X, y = regression
    pipe = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf"))
    grid = {"kernelridge__alpha": [0.1, 1.0], "kernelridge__gamma": [0.1]}
    search = KernelSearchCV(pipe, grid, cv=5, preprocessing="shared").fit(X, y)
    frozen = KernelSearchCV(KernelRidge(kernel="rbf", gamma=0.1), {"alpha": [0.1, 1.0]}, cv=5)
    frozen.fit(StandardScaler().fit_transform(X), y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], frozen.cv_results_["mean_test_score"])
    assert set(search.cv_results_["exactness"]) == {"approximate"}
    assert set(search.cv_results_["status"]) == {"shared preprocessing"}
    assert search.ledger_["base"] == 1


def test_shared_preprocessing_freezes_balanced_weights(three_classes):
    search = KernelSearchCV(LSSVC(class_weight="balanced"), GRID, cv=5, preprocessing="shared").fit(*three_classes)
    assert set(search.cv_results_["exactness"]) == {"approximate"}
    assert search.ledger_["gram"] <= 3


def test_shared_preprocessing_is_refused_for_supervised_transformers(two_classes):
    X, y = two_classes
    pipe = make_pipeline(TargetEncoder(), LSSVC())
    with pytest.raises(ValueError, match="cannot be fitted without y"):
        KernelSearchCV(pipe, {"lssvc__alpha": [1.0]}, preprocessing="shared").fit(X.round(), y)


@pytest.mark.parametrize(
    ("estimator", "grid", "reason"),
    [
        (NuSVC(), {"nu": [0.2, 0.3]}, "NuSVC has no fast path"),
        (CalibratedClassifierCV(LSSVC()), {"cv": [2, 3]}, "no fast"),
    ],
)
def test_other_estimators_are_retrained_with_a_warning(two_classes, estimator, grid, reason):
    with pytest.warns(RetrainingWarning, match=reason):
        fast, slow = both(estimator, grid, *two_classes, cv=3, return_train_score=True)
    assert_same_search(fast, slow)
    assert set(fast.cv_results_["exactness"]) == {"retrained"}
    assert fast.ledger_["fit"] == 6
    assert hasattr(fast, "oof_decision_") == hasattr(estimator, "decision_function")
    assert fast.ledger_["fit"] == 6 + 3 * hasattr(fast, "oof_decision_")  # out-of-fold values when they are asked for


def test_estimators_without_a_target_are_retrained(regression):
    X, _ = regression
    scoring = lambda model, X, y=None: float(model.score_samples(X).mean())  # noqa: E731
    with pytest.warns(RetrainingWarning, match="OneClassSVM"):
        fast, slow = both(OneClassSVM(), {"nu": [0.2, 0.5]}, X, None, cv=3, scoring=scoring)
    assert_same_search(fast, slow)


def test_scorers_that_need_the_model_are_answered_by_retraining(regression):
    def sparsity(model, X, y):
        return -float(np.abs(model.dual_coef_).sum())

    with pytest.warns(RetrainingWarning, match="dual_coef_"):
        fast, slow = both(KernelRidge(kernel="rbf"), GRID, *regression, cv=3, scoring=sparsity)
    assert_same_search(fast, slow)
    assert set(fast.cv_results_["exactness"]) == {"retrained"}


def test_a_mixed_grid_is_retrained_in_part(regression):
    X, y = regression
    pipe = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf"))
    grid = [{"kernelridge__alpha": [0.1, 1.0]}, {"kernelridge": [NuSVR()]}]
    with pytest.warns(RetrainingWarning, match="1 of 3"):
        fast, slow = both(pipe, grid, X, y, cv=3)
    np.testing.assert_allclose(fast.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"])
    assert fast.cv_results_["exactness"].tolist() == ["exact", "exact", "retrained"]


def test_a_singular_system_is_retrained(regression):
    X, y = regression
    with pytest.warns():
        fast, slow = both(KernelRidge(kernel="linear"), {"alpha": [0.0, 1.0]}, X, y, cv=3)
    assert fast.cv_results_["exactness"].tolist() == ["retrained", "exact"]
    np.testing.assert_allclose(fast.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"])


def test_failing_candidates_of_the_fallback_get_the_error_score(two_classes):
    with pytest.warns(match="fits failed"), pytest.warns(match="non-finite"), pytest.warns(RetrainingWarning):
        fast, slow = both(NuSVC(), {"nu": [0.2, 2.0]}, *two_classes, cv=3)
    assert_same_search(fast, slow)
    assert fast.cv_results_["exactness"].tolist() == ["retrained", "failed"]


def test_interruption_keeps_what_is_finished(regression):
    X, y = regression
    calls = []

    def scorer(model, X, y):
        calls.append(1)
        if len(calls) > 2 * 3 * 5:  # two of three kernels, three ridges, five folds
            raise KeyboardInterrupt
        return -float(np.abs(model.predict(X) - y).mean())

    search = KernelSearchCV(KernelRidge(kernel="rbf"), GRID, cv=5, scoring=scorer)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert len(search.cv_results_["params"]) == 6
    complete = KernelSearchCV(KernelRidge(kernel="rbf"), GRID, cv=5, scoring="neg_mean_absolute_error").fit(X, y)
    rows = [complete.cv_results_["params"].index(params) for params in search.cv_results_["params"]]
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], complete.cv_results_["mean_test_score"][rows], rtol=1e-12
    )
    assert not any(name.startswith("best_") for name in vars(search))
    with pytest.raises(NotFittedError):
        check_is_fitted(search)
    with pytest.raises(NotFittedError):
        search.predict(X)


def test_a_second_fit_forgets_the_first(regression):
    X, y = regression
    search = KernelSearchCV(KernelRidge(kernel="rbf"), GRID, cv=3).fit(X, y)
    with pytest.raises(ValueError):
        search.set_params(param_grid={"alpha": [-1.0]}).fit(X, y)
    assert not hasattr(search, "best_params_")


def test_the_log_tells_what_happens(regression, caplog):
    with caplog.at_level(logging.DEBUG, logger="onefit"):
        KernelSearchCV(KernelRidge(kernel="rbf"), GRID, cv=3).fit(*regression)
    assert "9 candidates on 3 folds: 3 kernels" in caplog.text
    assert caplog.text.count("Gaussian") == 3


def test_metadata_routing(regression):
    X, y = regression
    weights, groups = np.linspace(0.5, 2, len(y)), np.arange(len(y)) % 6
    with config_context(enable_metadata_routing=True):
        from sklearn.metrics import get_scorer

        model = KernelRidge(kernel="rbf").set_fit_request(sample_weight=True)
        scorer = get_scorer("r2").set_score_request(sample_weight=True)
        fit_params = {"sample_weight": weights, "groups": groups}
        fast, slow = both(model, GRID, X, y, fit_params, cv=GroupKFold(3), scoring=scorer)
        assert_same_search(fast, slow)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=True), model)
        grid = {"kernelridge__alpha": [0.1, 1.0]}
        assert_same_search(*both(pipe, grid, X, y, fit_params, cv=GroupKFold(3), scoring=scorer))
        scoring = {"a": scorer, "b": get_scorer("neg_mean_squared_error").set_score_request(sample_weight=False)}
        assert_same_search(*both(model, GRID, X, y, fit_params, cv=GroupKFold(3), scoring=scoring, refit="a"))
        fast.score(X, y, sample_weight=weights)


@pytest.mark.parametrize("routed", [False, True])
def test_the_loss_of_a_criterion_is_weighted_as_the_machine_is(regression, routed):
    X, y = regression
    weights = np.linspace(0.1, 2, len(y))
    with config_context(enable_metadata_routing=routed):
        model = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf"))
        if routed:  # nobody is asked for a scorer's weights: there is no scorer
            model[0].set_fit_request(sample_weight=False)
            model[1].set_fit_request(sample_weight=True)
        name = "sample_weight" if routed else "kernelridge__sample_weight"
        search = KernelSearchCV(
            model, {"kernelridge__alpha": [0.1, 1.0, 3.0]}, cv=KFold(3), criterion=criteria.CV(loss="squared")
        ).fit(X, y, **{name: weights})
        for k, (train, test) in enumerate(KFold(3).split(X)):
            missed = [
                clone(model).set_params(**params).fit(X[train], y[train], **{name: weights[train]}).predict(X[test])
                - y[test]
                for params in search.cv_results_["params"]
            ]
            expected = [-np.average(one**2, weights=weights[test]) for one in missed]
            np.testing.assert_allclose(search.cv_results_[f"split{k}_test_score"], expected, rtol=1e-9)


def test_the_edge_of_the_grid_is_announced(regression):
    X, y = regression
    with pytest.warns(GridEdgeWarning, match=r"alpha=10.0 is the smallest value tried"):
        KernelSearchCV(KernelRidge(kernel="rbf", gamma=0.1), {"alpha": [10.0, 1e2, 1e3]}, cv=5).fit(X, y)


def test_no_edge_warning_inside_the_grid_or_for_short_lists(regression, recwarn):
    X, y = regression
    KernelSearchCV(KernelRidge(kernel="rbf", gamma=0.1), {"alpha": [1e-6, 0.1, 1e3]}, cv=5).fit(X, y)
    KernelSearchCV(KernelRidge(kernel="rbf", gamma=0.1), {"alpha": [10.0, 1e3]}, cv=5).fit(X, y)
    assert not [w for w in recwarn if issubclass(w.category, GridEdgeWarning)]


def test_one_standard_error_takes_the_smoothest_close_model(regression):
    X, y = regression
    y = y + np.random.default_rng(0).normal(size=len(y))
    grid = {"alpha": np.logspace(-4, 2, 13), "gamma": [0.1]}
    search = KernelSearchCV(KernelRidge(kernel="rbf"), grid, cv=5, refit=one_standard_error).fit(X, y)
    means = search.cv_results_["mean_test_score"]
    best = means.argmax()
    of_best = [search.cv_results_[f"split{k}_test_score"][best] for k in range(5)]
    close = means >= means[best] - np.std(of_best, ddof=1) / np.sqrt(5)
    assert search.best_params_["alpha"] == grid["alpha"][close].max()
    assert search.best_params_["alpha"] > grid["alpha"][best]
    assert not hasattr(search, "best_score_")


def test_it_is_a_grid_search_and_clones_and_pickles(regression):
    search = KernelSearchCV(KernelRidge(kernel="rbf"), GRID, cv=3, memory_budget="1GB")
    assert isinstance(search, GridSearchCV)
    assert clone(search).get_params()["memory_budget"] == "1GB"
    search.fit(*regression)
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(regression[0]), search.predict(regression[0]))
    assert again.ledger_["gram"] == search.ledger_["gram"]


def test_rows_never_tested_are_not_a_number(regression):
    X, y = regression
    cv = ShuffleSplit(2, test_size=0.3, random_state=0)
    search = KernelSearchCV(KernelRidge(kernel="rbf"), GRID, cv=cv).fit(X, y)
    tested = np.unique(np.concatenate([test for _, test in cv.split(X)]))
    assert np.isfinite(search.oof_decision_[tested]).all()
    assert np.isnan(search.oof_decision_).sum() == len(y) - len(tested)
