"""Bad input gets an error that names it, before any work."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, PredefinedSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from onefit import LSSVC, LSSVR, KernelSearchCV, RetrainingWarning, criteria, cross_val_decision

GRID = {"alpha": [0.1, 1.0]}


@pytest.mark.usefixtures("no_work")
class TestErrors:
    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_missing_values(self, regression, bad):
        X, y = regression
        broken = X.copy()
        broken[3, 1] = bad
        with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
            KernelSearchCV(KernelRidge(), GRID).fit(broken, y)
        target = y.copy()
        target[5] = bad
        with pytest.raises(ValueError, match=r"Input y contains (NaN|infinity)"):
            KernelSearchCV(KernelRidge(), GRID).fit(X, target)

    def test_wrong_lengths(self, regression):
        X, y = regression
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            KernelSearchCV(KernelRidge(), GRID).fit(X, y[:-1])
        with pytest.raises(ValueError, match=r"sample_weight has shape \(79,\)"):
            KernelSearchCV(KernelRidge(), GRID).fit(X, y, sample_weight=np.ones(79))

    @pytest.mark.parametrize("weights", [np.nan, 0.0])
    def test_impossible_weights(self, regression, weights):
        X, y = regression
        with pytest.raises(ValueError, match=r"sample_weight|sample weights"):
            KernelSearchCV(KernelRidge(), GRID).fit(X, y, sample_weight=np.full(len(y), weights))

    @pytest.mark.parametrize("weights", [["much"] * 80, [None] * 79 + ["1 kg"], [[1.0], [1.0, 2.0]] * 40, {"a": 1}])
    def test_weights_that_are_no_numbers(self, regression, weights):
        with pytest.raises(ValueError, match="sample_weight"):
            KernelSearchCV(KernelRidge(), GRID).fit(*regression, sample_weight=weights)
        with pytest.raises(ValueError, match="sample_weight"):
            LSSVR().fit(*regression, sample_weight=weights)

    def test_arguments_of_fit_that_nobody_takes(self, regression):
        pipeline = make_pipeline(StandardScaler(), KernelRidge())
        for estimator, name in (
            (KernelRidge(), "foo"),
            (pipeline, "foo"),
            (pipeline, "kernelridge__foo"),
            (pipeline, "nobody__sample_weight"),
            (make_pipeline(pipeline), "pipeline__standardscaler__foo"),
        ):
            with pytest.raises(ValueError, match=f"fit got the argument '{name}'"):
                KernelSearchCV(estimator, [{}]).fit(*regression, **{name: 3})

    def test_gram_matrix_that_is_none(self, regression):
        X, y = regression
        model = KernelRidge(kernel="precomputed")
        with pytest.raises(ValueError, match="must be square"):
            KernelSearchCV(model, GRID).fit(X, y)
        K = X @ X.T
        K[0, 1] += 1.0
        with pytest.raises(ValueError, match="must be symmetric"):
            KernelSearchCV(model, GRID).fit(K, y)

    def test_unknown_names(self, regression):
        with pytest.raises(ValueError, match="Invalid parameter 'alfa'"):
            KernelSearchCV(KernelRidge(), {"alfa": [1.0]}).fit(*regression)
        with pytest.raises(ValueError, match="Unknown criterion 'loo2': use one of cv, bif"):
            KernelSearchCV(KernelRidge(), GRID, criterion="loo2").fit(*regression)
        with pytest.raises(ValueError, match="preprocessing must be"):
            KernelSearchCV(KernelRidge(), GRID, preprocessing="none").fit(*regression)
        with pytest.raises(ValueError, match="scoring"):
            KernelSearchCV(KernelRidge(), GRID, scoring="r3").fit(*regression)

    @pytest.mark.parametrize("budget", [0, -1.0, np.nan, True, "soon", "5 parsecs", "-3s", [5]])
    def test_impossible_time_budget(self, regression, budget):
        with pytest.raises(ValueError, match="time_budget"):
            KernelSearchCV(KernelRidge(), GRID, time_budget=budget).fit(*regression)

    def test_journal_that_is_no_path(self, regression):
        with pytest.raises(ValueError, match="journal must be None or the path of a file, got 5"):
            KernelSearchCV(KernelRidge(), GRID, journal=5).fit(*regression)

    def test_one_class_only(self, regression):
        X, _ = regression
        with pytest.raises(ValueError, match="one class only"):
            KernelSearchCV(LSSVC(), GRID).fit(X, np.ones(len(X), dtype=int))

    def test_more_folds_than_rows(self, regression):
        X, y = regression
        with pytest.raises(ValueError, match="greater than the number of samples"):
            KernelSearchCV(KernelRidge(), GRID, cv=KFold(100)).fit(X, y)

    def test_empty_sets(self, regression):
        X, y = regression
        rows = np.arange(len(y))
        with pytest.raises(ValueError, match="test set of split 1 is empty"):
            KernelSearchCV(KernelRidge(), GRID, cv=[(rows[:40], rows[40:]), (rows, [])]).fit(X, y)
        with pytest.raises(ValueError, match="training set of split 0 is empty"):
            KernelSearchCV(KernelRidge(), GRID, cv=[([], rows)]).fit(X, y)
        with pytest.raises(ValueError, match="row numbers outside"):
            KernelSearchCV(KernelRidge(), GRID, cv=[(rows[:40], [500])]).fit(X, y)
        with pytest.raises(ValueError, match="No splits"):
            KernelSearchCV(KernelRidge(), GRID, cv=PredefinedSplit([-1] * len(y))).fit(X, y)

    def test_memory_budget(self, regression):
        X, y = regression
        with pytest.raises(ValueError, match=r"80 rows need 205 kB .* in which 55 rows would fit"):
            KernelSearchCV(KernelRidge(), GRID, memory_budget=100_000).fit(X, y)
        with pytest.raises(ValueError, match="memory_budget 'lots'"):
            KernelSearchCV(KernelRidge(), GRID, memory_budget="lots").fit(X, y)
        for budget in ([1], True, (), b"4GB", 1j):
            with pytest.raises(ValueError, match="memory_budget must be a number of bytes"):
                KernelSearchCV(KernelRidge(), GRID, memory_budget=budget).fit(X, y)

    def test_text_in_regression(self, regression):
        X, y = regression
        with pytest.raises(ValueError, match="regressor"):
            KernelSearchCV(KernelRidge(), GRID).fit(X, np.where(y > 0, "up", "down"))

    def test_no_target(self, regression):
        with pytest.raises(ValueError, match="requires y"):
            KernelSearchCV(KernelRidge(), GRID).fit(regression[0])

    def test_target_is_checked_before_transformers_are_fitted(self, regression):
        X, y = regression

        class Untouched(StandardScaler):
            def fit(self, X, y=None, sample_weight=None):
                raise AssertionError("a transformer was fitted before the error")

        with pytest.raises(ValueError, match="regressor"):
            KernelSearchCV(make_pipeline(Untouched(), KernelRidge()), [{}]).fit(X, np.where(y > 0, "up", "down"))

    def test_multi_metric_needs_a_refit_metric(self, regression):
        with pytest.raises(ValueError, match="For multi-metric scoring"):
            KernelSearchCV(KernelRidge(), GRID, scoring=["r2", "neg_max_error"]).fit(*regression)

    def test_cross_val_decision(self, regression):
        X, y = regression
        with pytest.raises(ValueError, match="method must be"):
            cross_val_decision(KernelRidge(), X, y, method="guess")
        with pytest.raises(ValueError, match="order must be"):
            cross_val_decision(KernelRidge(), X, y, method="bif", order=0)
        with pytest.raises(ValueError, match="preprocessing must be"):
            cross_val_decision(KernelRidge(), X, y, preprocessing="x")
        with pytest.raises(ValueError, match="alpha of KernelRidge"):
            cross_val_decision(KernelRidge(alpha=-1), X, y)

    def test_criteria(self, regression):
        X, y = regression
        K = X @ X.T
        with pytest.raises(ValueError, match='needs kernel="precomputed"'):
            criteria.CV()(K, y, KernelRidge())
        with pytest.raises(ValueError, match=r"shape \(79, 80\) for 80 targets"):
            criteria.CV()(K[1:], y, KernelRidge(kernel="precomputed"))
        with pytest.raises(ValueError, match="order must be"):
            criteria.BIF(order=0)
        with pytest.raises(ValueError, match="aggregate"):
            criteria.CV(aggregate="all")(K, y, KernelRidge(kernel="precomputed"))


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LSSVC(alpha=-1.0), "alpha must be"),
        (LSSVC(kernel="rbff"), "Unknown kernel"),
        (LSSVC(gamma=-1.0), "gamma must be"),
        (LSSVC(alpha="x"), "alpha must be"),
        (LSSVC(kernel="precomputed"), "must be square"),
    ],
)
def test_estimators_refuse_bad_parameters(two_classes, estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(*two_classes)


def test_arguments_of_a_step_that_is_searched_over(regression):
    """What the step takes is known only once a candidate has replaced it."""

    class Taking(KernelRidge):
        def fit(self, X, y, foo):
            return super().fit(X, y)

    X, y = regression
    pipeline = Pipeline([("scale", StandardScaler()), ("model", KernelRidge())])
    search = KernelSearchCV(pipeline, {"model": [Taking()]})
    with pytest.warns(RetrainingWarning):
        search.fit(X, y, model__foo=3)
    assert np.isfinite(search.best_score_)
