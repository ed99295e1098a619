"""KernelLearnCV: what it learns, what it reports, and its manners."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.datasets import load_iris
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, f_regression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression
from sklearn.metrics import get_scorer, r2_score
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR

from onefit import (
    L2SVC,
    LSSVC,
    LSSVR,
    JournalError,
    KernelLearnCV,
    KernelLogisticRegression,
    KernelSearchCV,
    TimeBudgetWarning,
    criteria,
)
from onefit.kernels import (
    ARD,
    Columns,
    Gaussian,
    Given,
    Laplacian,
    Linear,
    Matern,
    Metric,
    NotDifferentiableError,
    Precomputed,
    WeightedSum,
)

N, D = 60, 4


def regression(seed=0, n=N, d=D):
    """Only the first feature counts."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=n)


MACHINES = {
    "krr": (KernelRidge(), "regression"),
    "lssvr": (LSSVR(), "regression"),
    "lssvc": (LSSVC(), "classes"),
    "svc": (SVC(), "classes"),
    "svr": (SVR(), "regression"),
    "l2svc": (L2SVC(), "classes"),
    "klr": (KernelLogisticRegression(), "classes"),
    "scaled": (make_pipeline(StandardScaler(), LSSVR()), "regression"),
}


def data(kind):
    X, y = regression()
    return X, (y > 0).astype(int) if kind == "classes" else y


@pytest.mark.quick(3)
@pytest.mark.parametrize("machine", MACHINES)
def test_the_path_improves_and_reports_what_a_search_reports(machine):
    estimator, kind = MACHINES[machine]
    X, y = data(kind)
    learned = KernelLearnCV(estimator, ARD(Gaussian()), max_iter=4, outer_cv=2, cv=3).fit(X, y)
    results = learned.cv_results_
    inner = results["inner_value"]
    assert len(results["params"]) == len(inner) == len(learned.path_) == learned.n_iter_ > 2
    assert inner[-1] < inner[0]
    loss = {"klr": KernelLogisticRegression, "svc": "hinge", "l2svc": "hinge"}.get(machine, "squared")
    if machine != "klr":
        grid = [{name: [value] for name, value in step.items()} for step in results["params"]]
        again = KernelSearchCV(
            estimator, grid, criterion=criteria.CV(loss=loss), cv=3, preprocessing="shared", refit=False
        ).fit(X, y)
        np.testing.assert_allclose(inner, -again.cv_results_["mean_test_score"], rtol=1e-10)
    last = learned.best_estimator_[-1] if machine == "scaled" else learned.best_estimator_
    assert isinstance(last.kernel, ARD)
    assert isinstance(last.kernel.scales, tuple)
    assert learned.feature_importances_.argmax() == 0
    assert learned.feature_importances_.sum() == pytest.approx(1.0)


def test_outer_scores_are_those_of_the_whole_search_on_training_rows():
    """The slow way: fit an unstopped search on the training rows of each fold, and train each of its steps."""
    X, y = regression()
    options = {"max_iter": 3, "cv": 3}
    learned = KernelLearnCV(LSSVR(), ARD(Gaussian()), outer_cv=3, **options).fit(X, y)
    steps = learned.n_iter_
    losses, scores = np.zeros(steps), []
    for train, test in KFold(3).split(X):
        path = KernelLearnCV(LSSVR(), ARD(Gaussian()), stop=None, **options).fit(X[train], y[train])
        found = path.cv_results_["params"]
        chosen = [found[min(k, len(found) - 1)] for k in range(steps)]
        predicted = [LSSVR(**step).fit(X[train], y[train]).predict(X[test]) for step in chosen]
        losses += [((y[test] - one) ** 2).sum() / len(y) for one in predicted]
        scores.append([r2_score(y[test], one) for one in predicted])
    np.testing.assert_allclose(learned.cv_results_["outer_loss"], losses, rtol=1e-8)
    np.testing.assert_allclose(learned.cv_results_["mean_test_score"], np.mean(scores, axis=0), rtol=1e-8)
    assert learned.best_index_ == losses.argmin()
    assert learned.outer_score_ == learned.best_score_ == learned.cv_results_["mean_test_score"][learned.best_index_]


def test_a_margin_takes_an_earlier_step_that_is_as_good():
    X, y = regression()
    options = {"max_iter": 3, "cv": 3, "outer_cv": 3}
    plain = KernelLearnCV(LSSVR(), ARD(Gaussian()), **options).fit(X, y)
    assert plain.best_index_ == plain.cv_results_["outer_loss"].argmin() > 0
    careful = KernelLearnCV(LSSVR(), ARD(Gaussian()), margin=1.0, **options).fit(X, y)
    splits = [careful.cv_results_[f"split{k}_test_score"] for k in range(3)]
    assert np.shape(splits) == (3, careful.n_iter_)
    assert 0 < careful.best_index_ <= plain.best_index_
    assert KernelLearnCV(LSSVR(), ARD(Gaussian()), margin=1e6, **options).fit(X, y).best_index_ == 0


def test_the_margin_is_counted_in_standard_errors_of_the_difference():
    from onefit.estimators.outer_folds import OuterOutcome, OuterScores

    losses = np.array([[3.0, 2.2, 2.0, 2.1], [3.1, 2.0, 1.9, 2.2], [2.9, 1.9, 2.0, 2.3]])
    scores = OuterScores.of([OuterOutcome(row, row, 1.0) for row in losses], 4)
    difference = losses[:, 1] - losses[:, 2]
    exact = difference.mean() / (difference.std(ddof=1) / np.sqrt(3))
    assert scores.best() == scores.best(0.99 * exact) == 2
    assert scores.best(1.01 * exact) == 1


def test_step_zero_is_the_answer_of_the_grid_and_no_steps_are_asked_for():
    X, y = regression()
    learned = KernelLearnCV(LSSVR(), ARD(Gaussian()), max_iter=0).fit(X, y)
    assert learned.best_index_ == 0
    kernel = learned.best_estimator_.kernel
    plain = LSSVR(kernel=kernel.kernel, alpha=learned.best_params_["alpha"]).fit(X, y)
    np.testing.assert_allclose(learned.predict(X), plain.predict(X), rtol=1e-10)
    assert set(kernel.scales) == {1.0}


@pytest.mark.parametrize("stop", [None, "penalty"])
def test_without_outer_folds_the_last_step_is_taken(stop):
    X, y = regression()
    learned = KernelLearnCV(LSSVR(), ARD(Gaussian()), stop=stop, max_iter=5).fit(X, y)
    assert learned.best_index_ == learned.n_iter_ - 1
    assert np.isnan(learned.outer_score_)
    assert np.isnan(learned.cv_results_["mean_test_score"]).all()


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    "criterion",
    ["loo", "gcv", "ckta", criteria.CV(loss="absolute"), criteria.BIF(order=np.inf), criteria.CV(scale_penalty=True)],
    ids=str,
)
def test_other_criteria_can_be_descended(criterion):
    X, y = regression()
    learned = KernelLearnCV(LSSVR(), ARD(Gaussian()), criterion=criterion, max_iter=3, outer_cv=2).fit(X, y)
    inner = learned.cv_results_["inner_value"]
    assert (inner[-1] > inner[0]) if criterion == "ckta" else (inner[-1] < inner[0])


@pytest.mark.slow
def test_the_likelihood_is_that_of_scikit_learn():
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, WhiteKernel

    X, y = regression(n=100)
    y = y + 0.4 * np.random.default_rng(1).normal(size=len(y))
    learned = KernelLearnCV(KernelRidge(), ARD(Gaussian()), criterion="lml", stop=None, max_iter=200).fit(X, y)
    model = learned.best_estimator_
    lengths = 1.0 / (np.sqrt(2 * model.kernel.kernel.gamma) * np.array(model.kernel.scales))
    kernel = RBF(lengths, (1e-5, 1e5)) + WhiteKernel(model.alpha, (1e-12, 1e3))
    process = GaussianProcessRegressor(kernel).fit(X, y)  # goes on from here
    found = learned.cv_results_["inner_value"][-1]
    assert found == pytest.approx(process.log_marginal_likelihood(kernel.theta), rel=1e-6)
    assert process.log_marginal_likelihood_value_ - found < 1e-3


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian([0.1] * D),
        ARD(Laplacian()),
        ARD(Matern(nu=2.5), groups=[[0], [1, 2, 3]]),
        Gaussian() + Linear(),
        Gaussian(),
    ],
    ids=str,
)
def test_kernels_keep_their_type(kernel):
    X, y = regression()
    learned = KernelLearnCV(LSSVR(), kernel, max_iter=2, outer_cv=2, cv=3).fit(X, y)
    assert type(learned.best_estimator_.kernel) is type(kernel)
    assert len(learned.parameter_names_) == learned.path_.shape[1]


@pytest.mark.slow
def test_agop_finds_the_feature_that_counts():
    X, y = regression(d=8)
    learned = KernelLearnCV(LSSVR(), ARD(Gaussian()), start="agop", max_iter=0, outer_cv=3).fit(X, y)
    assert learned.n_iter_ == 6
    assert learned.best_index_ > 0
    assert np.argmax(learned.best_estimator_.kernel.scales) == 0


def test_agop_finds_a_direction_that_no_feature_has():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    y = np.sin(1.5 * (X[:, 0] - X[:, 1])) + 0.1 * rng.normal(size=N)
    learned = KernelLearnCV(LSSVR(), Metric(Gaussian()), start="agop", max_iter=0, outer_cv=3, cv=3).fit(X, y)
    assert learned.best_index_ > 0
    L = np.array(learned.best_estimator_.kernel.matrix)
    direction = np.linalg.eigh(L @ L.T)[1][:, -1]
    np.testing.assert_allclose(np.abs(direction), [0.5**0.5, 0.5**0.5, 0, 0], atol=0.1)
    assert direction[0] * direction[1] < 0


def test_the_metric_of_agop_is_the_mean_outer_product_of_gradients():
    X, y = regression()
    options = {"start": "agop", "max_iter": 0, "stop": None, "cv": 3}
    steps = KernelLearnCV(LSSVR(), Metric(Gaussian()), **options).fit(X, y).cv_results_["params"]
    predict, h = LSSVR(**steps[0]).fit(X, y).predict, 1e-5
    slopes = np.array([(predict(X + h * e) - predict(X - h * e)) / (2 * h) for e in np.eye(D)])
    expected, L = slopes @ slopes.T, np.array(steps[1]["kernel"].matrix)
    found = L @ L.T
    np.testing.assert_allclose(found / np.trace(found), expected / np.trace(expected), atol=1e-5)


@pytest.mark.parametrize("kernel", [ARD(Gaussian()), Metric(Gaussian())], ids=str)
def test_agop_of_a_constant_predictor_stays_where_it_is(kernel):
    X, _ = regression()
    learned = KernelLearnCV(LSSVR(), kernel, start="agop", max_iter=0, outer_cv=2, cv=2).fit(X, np.ones(N))
    np.testing.assert_allclose(learned.predict(X), 1.0)


@pytest.mark.slow
def test_several_classes_targets_and_weights():
    X, y = load_iris(return_X_y=True)
    learned = KernelLearnCV(LSSVC(), ARD(Gaussian()), max_iter=2, outer_cv=3, cv=3).fit(X[::2], y[::2])
    assert learned.score(X[1::2], y[1::2]) > 0.9
    X, y = regression()
    Y = np.column_stack([y, X[:, 1]])
    assert KernelLearnCV(KernelRidge(), ARD(Gaussian()), max_iter=2, outer_cv=2).fit(X, Y).predict(X).shape == Y.shape
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    learned = KernelLearnCV(LSSVR(), ARD(Gaussian()), max_iter=2, outer_cv=2, cv=3)
    learned.fit(X, y, sample_weight=weights)
    grid = [{name: [value] for name, value in step.items()} for step in learned.cv_results_["params"]]
    search = KernelSearchCV(LSSVR(), grid, criterion=criteria.CV(loss="squared"), cv=3, refit=False)
    again = search.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(learned.cv_results_["inner_value"], -again.cv_results_["mean_test_score"], rtol=1e-10)


def weighted_loss_of_the_start(estimator, X, y, params, weights):
    """The outer loss of the first step: searches on the rows of each outer fold, weighted errors of those left out."""
    missed = 0.0
    for train, test in KFold(3).split(X):
        some = {name: value[train] for name, value in params.items()}
        start = KernelLearnCV(clone(estimator), ARD(Gaussian()), stop=None, max_iter=0, cv=2).fit(
            X[train], y[train], **some
        )
        missed += weights[test] @ (start.predict(X[test]) - y[test]) ** 2
    return missed / weights.sum()


def test_outer_losses_are_weighted_as_the_machine_is():
    X, y = regression()
    weights = np.random.default_rng(1).uniform(0.1, 3.0, N)
    for estimator, name in [
        (KernelRidge(), "sample_weight"),
        (make_pipeline(StandardScaler(), KernelRidge()), "kernelridge__sample_weight"),
    ]:
        params = {name: weights}
        learned = KernelLearnCV(estimator, ARD(Gaussian()), max_iter=0, cv=2, outer_cv=3).fit(X, y, **params)
        expected = weighted_loss_of_the_start(estimator, X, y, params, weights)
        np.testing.assert_allclose(learned.cv_results_["outer_loss"], [expected], rtol=1e-6)


@config_context(enable_metadata_routing=True)
@pytest.mark.parametrize("name", ["sample_weight", "weights_of_rows"])
@pytest.mark.parametrize("scored", [True, False])
def test_weights_are_routed_as_they_are_without_routing(name, scored):
    X, y = regression()
    weights = np.random.default_rng(1).uniform(0.1, 3.0, N)
    asked = True if name == "sample_weight" else name
    options = {"max_iter": 1, "cv": 2, "outer_cv": 3}
    machine = KernelRidge().set_fit_request(sample_weight=asked).set_score_request(sample_weight=scored and asked)
    estimators = [machine]
    if name == "sample_weight" or not scored:  # a Pipeline's score takes no other name
        estimators.append(make_pipeline(FunctionTransformer(), clone(machine)))
    found = [KernelLearnCV(one, ARD(Gaussian()), **options).fit(X, y, **{name: weights}) for one in estimators]
    with config_context(enable_metadata_routing=False):
        same = KernelLearnCV(KernelRidge(), ARD(Gaussian()), **options).fit(X, y, sample_weight=weights)
    for one in found:
        np.testing.assert_allclose(one.cv_results_["outer_loss"], same.cv_results_["outer_loss"], rtol=1e-12)
        np.testing.assert_allclose(one.cv_results_["inner_value"], same.cv_results_["inner_value"], rtol=1e-12)
        as_weighted = np.isclose(one.best_score_, same.best_score_, rtol=1e-12)
        assert as_weighted == scored


@config_context(enable_metadata_routing=True)
def test_weights_of_a_scorer_alone_have_a_name_of_their_own():
    X, y = regression()
    weights = np.random.default_rng(1).uniform(0.1, 3.0, N)
    scoring = get_scorer("neg_mean_squared_error").set_score_request(sample_weight="tested")
    machine = KernelRidge().set_fit_request(sample_weight=False)
    options = {"max_iter": 0, "cv": 2, "outer_cv": KFold(3), "scoring": scoring}
    found = KernelLearnCV(machine, ARD(Gaussian()), **options).fit(X, y, tested=weights)
    plain = KernelLearnCV(KernelRidge(), ARD(Gaussian()), **{**options, "scoring": None}).fit(X, y)
    np.testing.assert_allclose(found.cv_results_["outer_loss"], plain.cv_results_["outer_loss"], rtol=1e-12)
    assert found.best_score_ != pytest.approx(-found.cv_results_["outer_loss"][0])  # weighted, as the scorer asks for


def test_groups_reach_both_kinds_of_folds():
    X, y = regression()
    groups = np.arange(N) // 6
    options = {"cv": GroupKFold(3), "outer_cv": GroupKFold(2), "max_iter": 1}
    learned = KernelLearnCV(LSSVR(), ARD(Gaussian()), **options).fit(X, y, groups=groups)
    assert learned.n_splits_ == 2


@pytest.mark.slow
def test_workers_do_not_change_anything():
    X, y = regression()
    one, two = (
        KernelLearnCV(LSSVR(), ARD(Gaussian()), max_iter=2, outer_cv=2, n_jobs=jobs).fit(X, y) for jobs in (None, 2)
    )
    np.testing.assert_array_equal(one.cv_results_["outer_loss"], two.cv_results_["outer_loss"])
    np.testing.assert_array_equal(one.path_, two.path_)


@pytest.mark.slow
def test_features_can_be_selected_by_importance():
    X, y = regression(d=6)
    search = KernelLearnCV(LSSVR(), ARD(Gaussian()), max_iter=3, outer_cv=2, cv=3)
    assert SelectFromModel(search).fit(X, y).get_support()[0]
    assert RFE(search, n_features_to_select=1, step=3).fit(X, y).get_support().tolist() == [True] + [False] * 5


@pytest.mark.slow
def test_importance_of_a_linear_feature_is_seen_although_its_scale_is_small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = 3.0 * X[:, 0] + np.sin(3 * X[:, 1])
    learned = KernelLearnCV(LSSVR(), ARD(Gaussian()), max_iter=15).fit(X, y)
    assert learned.feature_importances_[0] > 0.4
    assert learned.feature_importances_[2] < 0.05


@pytest.mark.slow
def test_a_scaler_in_front_is_absorbed():
    """Features in other units: the same predictions, since scales stand for the scaler's factors."""
    X, y = regression()
    units = np.array([1.0, 1e3, 1e-2, 5.0])
    search = KernelLearnCV(make_pipeline(StandardScaler(), LSSVR()), ARD(Gaussian()), max_iter=3, outer_cv=2)
    plain, scaled = clone(search).fit(X, y), clone(search).fit(X * units, y)
    np.testing.assert_allclose(scaled.predict(X * units), plain.predict(X), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(scaled.feature_importances_, plain.feature_importances_, atol=1e-5)


def test_a_frame_has_columns_by_name():
    X, y = regression()
    frame = pd.DataFrame(X, columns=list("abcd"))
    kernel = WeightedSum([Columns(Gaussian(0.5), ["a"]), Columns(Gaussian(0.5), ["b", "c", "d"])])
    learned = KernelLearnCV(LSSVR(), kernel, max_iter=10).fit(frame, y)
    weights = learned.best_estimator_.kernel.weights
    assert weights[0] > 10 * weights[1]
    assert learned.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="no column 'z'"):
        KernelLearnCV(LSSVR(), Columns(Gaussian(), ["z"])).fit(frame, y)


def test_names_are_those_of_the_columns_that_the_machine_sees():
    """A transformer may put columns elsewhere."""
    X, y = regression()
    frame = pd.DataFrame(X, columns=list("abcd"))
    moved = make_column_transformer(
        (StandardScaler(), ["d", "c"]), ("passthrough", ["a"]), verbose_feature_names_out=False
    )
    kernel = WeightedSum([Columns(Gaussian(0.5), ["a"]), Columns(Gaussian(0.5), ["c", "d"])])
    learned = KernelLearnCV(make_pipeline(moved, LSSVR()), kernel, max_iter=5, outer_cv=2, cv=3).fit(frame, y)
    first, second = learned.best_estimator_[-1].kernel.kernels
    assert first.columns == (2,)
    assert second.columns == (1, 0)
    with pytest.raises(ValueError, match="no column 'b'"):
        KernelLearnCV(make_pipeline(moved, LSSVR()), Columns(Gaussian(), ["b"])).fit(frame, y)
    nameless = make_pipeline(FunctionTransformer(np.asarray), LSSVR())
    with pytest.raises(ValueError, match="names"):
        KernelLearnCV(nameless, Columns(Gaussian(), ["a"])).fit(frame, y)


@pytest.mark.quick(2)
@pytest.mark.parametrize("method", ["uniform", "align", "alignf", "gradient", None])
def test_weights_of_several_kernels(method):
    X, y = regression()
    kernel = WeightedSum([Columns(Gaussian(1.0), [j]) for j in range(D)])
    learned = KernelLearnCV(LSSVR(), kernel, method=method, max_iter=10, outer_cv=3).fit(X, y)
    weights = np.array(learned.best_estimator_.kernel.weights)
    assert learned.cv_results_["outer_loss"][learned.best_index_] <= learned.cv_results_["outer_loss"][0]
    if method == "uniform":
        assert (weights == 0.25).all()
    else:
        assert weights.argmax() == 0
        assert learned.best_index_ > 0


def test_the_spectral_measure_of_a_sum_is_said_to_choose_one_kernel():
    X, y = data("classes")
    kernel = WeightedSum([Gaussian(0.1), Gaussian(1.0)])
    with pytest.warns(UserWarning, match="single one"):
        learned = KernelLearnCV(LSSVC(), kernel, criterion="sm", stop=None).fit(X, y)
    alone = [criteria.SM()(one(X), 2 * y - 1) for one in kernel.kernels]
    weights = learned.best_estimator_.kernel.weights
    assert sum(weights) == pytest.approx(1.0)  # the penalty was chosen for such a sum
    better = int(np.argmax(alone))
    assert weights[better] > 100 * weights[1 - better]
    assert learned.cv_results_["inner_value"][-1] == pytest.approx(alone[better], rel=0.05)


def test_weights_of_given_matrices():
    X, y = regression()
    parts = [Columns(Gaussian(1.0), [0]), Columns(Gaussian(1.0), [1, 2, 3])]
    given = WeightedSum([part(X) for part in parts])
    assert given == WeightedSum([Given(part(X)) for part in parts])
    options = {"max_iter": 5, "outer_cv": 3}
    learned = KernelLearnCV(LSSVR(), given, **options).fit(np.arange(N)[:, None], y)
    same = KernelLearnCV(LSSVR(), WeightedSum(parts), **options).fit(X, y)
    np.testing.assert_allclose(learned.best_estimator_.kernel.weights, same.best_estimator_.kernel.weights, rtol=1e-6)
    np.testing.assert_allclose(learned.predict(np.arange(5)[:, None]), same.predict(X[:5]), rtol=1e-6)
    assert not hasattr(learned, "feature_importances_")


@pytest.mark.parametrize("exact", [True, False])
def test_weights_by_spectral_perturbation_are_those_of_a_grid_on_the_simplex(exact):
    X, y = regression(n=40)
    kernel = WeightedSum([Columns(Gaussian(1.0), [0]), Columns(Gaussian(1.0), [1]), Linear()])
    criterion = criteria.SPS(exact=exact)
    learned = KernelLearnCV(KernelRidge(), kernel, criterion=criterion, stop=None, max_iter=100).fit(X, y)
    found = learned.best_estimator_
    assert sum(found.kernel.weights) == pytest.approx(1.0)
    model = KernelRidge(kernel="precomputed", alpha=found.alpha)
    shares = [(a, b, 20 - a - b) for a in range(21) for b in range(21 - a)]
    values = [criterion(kernel.with_weights(np.array(share) / 20)(X), y, model) for share in shares]
    assert learned.cv_results_["inner_value"][-1] <= min(values) + 1e-4 * abs(min(values))


@pytest.mark.slow
def test_learned_kernels_are_saved_and_used_elsewhere(tmp_path):
    import skops.io

    X, y = data("classes")
    learned = KernelLearnCV(LSSVC(), ARD(Gaussian()), max_iter=2, outer_cv=2).fit(X, y)
    skops.io.dump(learned.best_estimator_, tmp_path / "model.skops")
    unknown = skops.io.get_untrusted_types(file=tmp_path / "model.skops")
    model = skops.io.load(tmp_path / "model.skops", trusted=unknown)
    np.testing.assert_array_equal(model.predict(X), learned.predict(X))
    assert model.kernel == learned.best_estimator_.kernel
    assert SVC(kernel=model.kernel).fit(X, y).score(X, y) > 0.7


@pytest.mark.slow
def test_the_same_fit_is_the_same_and_can_be_cloned():
    X, y = regression()
    search = KernelLearnCV(LSSVR(), ARD(Gaussian()), max_iter=2, random_state=3)
    first, second = clone(search).fit(X, y), clone(search).fit(X, y)
    np.testing.assert_array_equal(first.predict(X), second.predict(X))
    shuffled = KernelLearnCV(LSSVR(), ARD(Gaussian()), max_iter=2, random_state=4).fit(X, y)
    assert (shuffled.cv_results_["outer_loss"] != first.cv_results_["outer_loss"]).any()


def test_a_journal_is_read_instead_of_computing_again(tmp_path, monkeypatch):
    from onefit.estimators import kernel_learn

    X, y = regression()
    search = KernelLearnCV(LSSVR(), ARD(Gaussian()), max_iter=2, outer_cv=2, journal=tmp_path / "paths.sqlite")
    first = clone(search).fit(X, y)
    monkeypatch.setattr(kernel_learn, "run_outer", None)
    monkeypatch.setattr(kernel_learn.PathTask, "run", None)
    second = clone(search).fit(X, y)
    np.testing.assert_array_equal(first.cv_results_["outer_loss"], second.cv_results_["outer_loss"])
    assert first.best_params_ == second.best_params_
    with pytest.raises(TypeError):  # other data are other paths
        clone(search).fit(X, y + 1.0)
    (tmp_path / "text").write_text("no journal at all, whatever its name may be")
    with pytest.raises(JournalError):
        clone(search).set_params(journal=tmp_path / "text").fit(X, y)


def test_a_journal_does_not_give_a_path_that_ran_out_of_time_to_others(tmp_path):
    X, y = regression()
    search = KernelLearnCV(LSSVR(), ARD(Gaussian()), max_iter=4, stop=None, journal=tmp_path / "paths.sqlite")
    with pytest.warns(TimeBudgetWarning):
        short = clone(search).set_params(time_budget=1e-3).fit(X, y)
    assert short.n_iter_ < clone(search).fit(X, y).n_iter_ == 5


def test_a_journal_that_cannot_hold_the_kernel_is_refused_before_any_work(tmp_path, monkeypatch):
    from onefit.estimators import kernel_learn

    X, y = regression()
    monkeypatch.setattr(kernel_learn.PathTask, "run", None)
    search = KernelLearnCV(LSSVR(), WeightedSum([Linear()(X)]), journal=tmp_path / "paths.sqlite")
    with pytest.raises(ValueError, match="written"):
        search.fit(np.arange(N)[:, None], y)


def test_time_that_is_over_ends_paths_after_a_step():
    X, y = regression()
    search = KernelLearnCV(LSSVR(), ARD(Gaussian()), outer_cv=2, time_budget=1e-3)
    with pytest.warns(TimeBudgetWarning):
        search.fit(X, y)
    assert 1 <= search.n_iter_ <= 2
    assert search.predict(X).shape == y.shape


def test_an_interrupt_leaves_the_steps_so_far(monkeypatch):
    from onefit.estimators import kernel_learn

    def interrupted(fold):
        raise KeyboardInterrupt

    X, y = regression()
    monkeypatch.setattr(kernel_learn, "run_outer", interrupted)
    search = KernelLearnCV(LSSVR(), ARD(Gaussian()), max_iter=2)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert len(search.cv_results_["params"]) == 3
    assert not hasattr(search, "best_index_")


def test_steps_are_printed_if_asked_for(capsys):
    X, y = regression()
    KernelLearnCV(LSSVR(), ARD(Gaussian()), max_iter=1, outer_cv=2, verbose=1).fit(X, y)
    printed = capsys.readouterr().out
    assert "step 0" in printed
    assert "outer fold 1" in printed


@pytest.mark.slow
def test_predictions_can_be_cross_validated():
    X, y = regression()
    search = KernelLearnCV(LSSVR(), ARD(Gaussian()), max_iter=1, outer_cv=2, cv=2)
    assert cross_val_predict(search, X, y, cv=2).shape == y.shape


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel": "rbf"}, "kernel must be"),
        ({"kernel": Precomputed()}, "Given"),
        ({"stop": "never"}, "stop"),
        ({"start": "anywhere"}, "start"),
        ({"start": "agop", "kernel": Gaussian()}, "ARD"),
        ({"method": "align"}, "WeightedSum"),
        ({"method": "magic"}, "method"),
        ({"margin": -1.0}, "margin"),
        ({"max_iter": -1}, "max_iter"),
        ({"max_iter": 1.5}, "max_iter"),
        ({"scoring": ["r2"]}, "scoring"),
        ({"scoring": "nothing"}, "scoring"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"cv": 50}, "n_splits=50"),
        ({"cv": [(np.arange(30), np.arange(30, N))]}, "cv must be"),
        ({"time_budget": "soon"}, "time_budget"),
        ({"criterion": "nothing"}, "criterion"),
        ({"estimator": LinearRegression()}, "LinearRegression"),
        ({"estimator": TransformedTargetRegressor(LSSVR())}, "TransformedTargetRegressor"),
        ({"kernel": ARD(Gaussian(), scales=[1.0])}, "features"),
    ],
)
def test_what_makes_no_sense_is_refused_before_any_work(options, words, monkeypatch):
    from onefit.estimators import kernel_path

    def work(*arguments):
        raise AssertionError("a grid was begun")

    monkeypatch.setattr(kernel_path, "evaluate_candidates", work)
    X, y = regression()
    given = {"estimator": LSSVR(), "kernel": ARD(Gaussian()), **options}
    with pytest.raises(ValueError, match=words):
        KernelLearnCV(**given).fit(X, y)


@pytest.mark.parametrize(
    ("y", "weights", "words"),
    [(None, None, "y is None"), ("y", -np.ones(N), "non-negative"), ("y", np.ones(3), "one weight for each row")],
)
def test_data_that_make_no_sense_are_refused_before_any_work(y, weights, words, monkeypatch):
    from onefit.estimators import kernel_path

    monkeypatch.setattr(kernel_path, "evaluate_candidates", None)
    X, values = regression()
    with pytest.raises(ValueError, match=words):
        KernelLearnCV(LSSVR(), ARD(Gaussian())).fit(X, y and values, sample_weight=weights)


def test_transformers_that_need_y_are_refused_with_the_reason():
    X, y = regression()
    with pytest.raises(ValueError, match="cannot be fitted without y") as refused:
        KernelLearnCV(make_pipeline(SelectKBest(f_regression, k=2), LSSVR()), ARD(Gaussian())).fit(X, y)
    assert "preprocessing" not in str(refused.value)


def test_a_criterion_without_derivatives_is_refused():
    X, y = data("classes")
    with pytest.raises(NotDifferentiableError, match="span"):
        KernelLearnCV(SVC(), ARD(Gaussian()), criterion="span").fit(X, y)
    with pytest.raises(NotDifferentiableError, match="error"):
        KernelLearnCV(LSSVC(), ARD(Gaussian()), criterion=criteria.CV(loss="error")).fit(X, y)


@pytest.mark.slow
def test_many_irrelevant_features_are_found_irrelevant(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 500))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=1000)
    evaluations, plain = [], criteria.CV.tangent

    def counting(self, evidence):
        evaluations.append(1)
        return plain(self, evidence)

    monkeypatch.setattr(criteria.CV, "tangent", counting)
    learned = KernelLearnCV(LSSVR(), ARD(Gaussian()), stop=None, max_iter=40).fit(X, y)
    assert len(evaluations) <= 100
    assert learned.feature_importances_[3:].max() < 0.01
    assert learned.feature_importances_[:3].sum() > 0.8


@pytest.mark.slow
def test_value_and_all_derivatives_take_six_matrices_at_most():
    """No n x n x d array: of 400 rows and 300 features it would be 300 matrices."""
    import tracemalloc

    from onefit.data import Folds
    from onefit.search.gradient import Objective, Point, problem_of

    n, d = 400, 300
    X, y = regression(n=n, d=d)
    kernel = ARD(Gaussian(0.5 / d), scales=np.ones(d))
    folds = Folds.from_splits(KFold(10).split(X), n)
    problem, _ = problem_of(LSSVR(kernel=kernel), X, y, None, folds, criteria.CV())
    objective = Objective(problem, Point(kernel, 0.1))
    objective(objective.theta)
    tracemalloc.start()
    objective(objective.theta)
    peak = tracemalloc.get_traced_memory()[1] / 8
    tracemalloc.stop()
    assert peak < 6 * n**2 + 6 * n * d


def test_values_far_from_the_training_rows_are_counted():
    from onefit.estimators.training_range import column_moments, count_far_values

    X, y = regression()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(text="some", same=3.0)
    frame.loc[4, "b"] = np.nan
    new = frame.head(5).assign(a=[0.0, 20.0, -20.0, np.nan, 0.0], same=4.0)
    moments = column_moments(frame)
    assert count_far_values(new, moments).tolist() == [2, 0, 0, 0, 0, 0]
    assert not count_far_values(frame, moments).any()
    numbers = frame.drop(columns="text").fillna(0.0).to_numpy()
    np.testing.assert_allclose(column_moments(sparse.csr_matrix(numbers)), column_moments(numbers), atol=1e-12)
    search = KernelLearnCV(LSSVR(), ARD(Gaussian()), stop=None, max_iter=1).fit(X, y)
    np.testing.assert_allclose(search.column_moments_, [X.mean(axis=0), X.std(axis=0)])


def test_clipping_in_front_keeps_far_rows_at_the_edge_of_the_training_range():
    """A row that is far out in a feature that counts falls back to the bias; behind a clipping scaler it does not."""
    X, _ = regression()
    y, far = 3.0 * X[:, 0], np.zeros((1, D))
    far[0, 0] = 15.0
    options = {"max_iter": 3, "outer_cv": 2, "cv": 3}
    plain = KernelLearnCV(LSSVR(), ARD(Gaussian(1.0)), **options).fit(X, y)
    clipped = KernelLearnCV(make_pipeline(MinMaxScaler(clip=True), LSSVR()), ARD(Gaussian()), **options).fit(X, y)
    edge = far.copy()
    edge[0, 0] = X[:, 0].max()
    assert clipped.predict(far) == pytest.approx(clipped.predict(edge))
    assert abs(clipped.predict(far)[0] - y.max()) < 0.5
    assert abs(plain.predict(far)[0] - y.max()) > 2.0


def test_parameters_of_zero_stay_zero():
    X, y = regression()
    options = {"max_iter": 3, "outer_cv": 2, "cv": 3}
    learned = KernelLearnCV(LSSVR(), ARD(Gaussian(), scales=[1.0, 0.0, 1.0, 1.0]), **options).fit(X, y)
    without = KernelLearnCV(LSSVR(), ARD(Gaussian(1 / D)), **options).fit(X[:, [0, 2, 3]], y)
    scales = learned.best_estimator_.kernel.scales
    assert scales[1] == 0
    np.testing.assert_allclose(np.delete(scales, 1), without.best_estimator_.kernel.scales, rtol=1e-6)
    assert learned.feature_importances_[1] == 0
    for criterion in ("cv", "sps", "ckta"):
        kernel = WeightedSum([Gaussian(1.0), Linear(), Columns(Gaussian(1.0), [0])], [0.0, 0.5, 0.5])
        search = KernelLearnCV(KernelRidge(), kernel, criterion=criterion, stop=None, max_iter=3).fit(X, y)
        assert search.best_estimator_.kernel.weights[0] == 0
        assert search.best_estimator_.kernel.weights[2] > search.best_estimator_.kernel.weights[1]
    penalised = KernelLearnCV(LSSVR(), ARD(Gaussian(), scales=[1.0, 0.0, 1.0, 1.0]), stop="penalty", max_iter=3)
    assert penalised.fit(X, y).best_estimator_.kernel.scales[1] == 0


def test_indefinite_kernels_can_be_learned_where_the_machine_is_defined():
    """Weights of matrices with negative eigenvalues; the values are those of really retraining."""
    X, y = regression()
    noise = np.random.default_rng(2).normal(size=(N, N))
    kernel, rows = WeightedSum([0.2 * (noise + noise.T), Gaussian(0.5)(X)]), np.arange(N)[:, None]
    for machine in (KernelRidge(), LSSVR()):
        learned = KernelLearnCV(machine, kernel, cv=4, stop=None, max_iter=5).fit(rows, y)
        inner = learned.cv_results_["inner_value"]
        assert inner[-1] < inner[0]
        last = clone(machine).set_params(**learned.best_params_)
        held = cross_val_predict(last, rows, y, cv=4)
        assert inner[-1] == pytest.approx(((y - held) ** 2).mean(), rel=1e-8)
    with pytest.raises(ValueError, match="positive semi-definite"):  # a likelihood needs a positive definite matrix
        KernelLearnCV(KernelRidge(), kernel, criterion="lml", stop=None).fit(rows, y)


def test_names_of_columns_are_found_inside_of_other_kernels():
    X, y = regression()
    frame, options = pd.DataFrame(X, columns=list("abcd")), {"max_iter": 1, "outer_cv": 2, "cv": 3}

    def learned(kernel):
        return KernelLearnCV(LSSVR(), kernel, **options).fit(frame, y).best_estimator_.kernel

    assert learned(ARD(Columns(Gaussian(), ["b", "a"]))).kernel.columns == (1, 0)
    assert learned(Metric(Columns(Gaussian(), ["c"]))).kernel.columns == (2,)
    nested = learned(Columns(Columns(Gaussian(), ["d"]), ["b", "d"]))
    assert nested.columns == (1, 3)
    assert nested.kernel.columns == (1,)  # of the two
    with pytest.raises(ValueError, match="no column 'a'"):
        learned(Columns(Columns(Gaussian(), ["a"]), ["b", "d"]))
    with pytest.raises(ValueError, match="no names"):
        learned(Metric(Columns(Gaussian(), ["a"]), np.eye(4)))


def test_given_matrices_may_be_lists_frames_and_sparse():
    K = Gaussian(0.5)(regression()[0])
    same = [K, K.tolist(), pd.DataFrame(K), sparse.csr_matrix(K), np.asfortranarray(K)]
    assert len({WeightedSum([one]) for one in same}) == 1
    for wrong, words in ((K[:, :3], "square"), (np.triu(K), "symmetric"), ("linear", "linear"), (None, "None")):
        with pytest.raises(ValueError, match=words):
            WeightedSum([Linear(), wrong])


def test_matrices_of_a_sum_are_computed_once(monkeypatch):
    X, y = regression()
    calls, plain = [], Laplacian.map

    def counting(self, values):
        calls.append(values.shape)
        plain(self, values)

    monkeypatch.setattr(Laplacian, "map", counting)
    found = {}
    for steps in (1, 8):
        calls.clear()
        kernel = WeightedSum([Gaussian(0.5), Laplacian(0.5)])
        search = KernelLearnCV(LSSVR(), kernel, stop=None, max_iter=steps, cv=3).fit(X, y)
        found[steps] = len(calls), search.n_iter_
    assert found[8][1] > found[1][1]
    assert found[8][0] == found[1][0]


def test_a_score_that_is_no_number_is_said():
    X, y = regression()
    search = KernelLearnCV(LSSVR(), ARD(Gaussian()), max_iter=0, outer_cv=2, scoring=lambda model, X, y: np.nan)
    with pytest.warns(UserWarning, match="outer_score_ is NaN"):
        search.fit(X, y)
    assert search.predict(X).shape == y.shape
