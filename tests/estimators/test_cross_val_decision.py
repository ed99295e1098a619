"""Out-of-fold decision values: closed form, series and retraining."""

import warnings

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from onefit import LSSVC, LSSVR, EpsilonSVR, HingeSVC, RetrainingWarning, criteria, cross_val_decision
from tests.oracles.bouligand import series_as_printed, sharp_machine, smoothed_hinge, smoothed_tube
from tests.oracles.problems import partition, points, two_seeds
from tests.oracles.support_vector import curve, gaussian, labels

SPLITS = [5, KFold(7, shuffle=True, random_state=0), LeaveOneOut(), KFold(2)]


def retrained(*args, **kwargs):
    return cross_val_decision(*args, method="retrain", **kwargs)


@pytest.mark.parametrize("cv", SPLITS, ids=str)
@pytest.mark.parametrize("scale_penalty", [False, True])
@pytest.mark.parametrize("estimator", [KernelRidge(kernel="rbf", alpha=0.3), LSSVR(alpha=0.3)], ids=str)
def test_regression(regression, estimator, cv, scale_penalty):
    exact = cross_val_decision(estimator, *regression, cv=cv, scale_penalty=scale_penalty)
    expected = retrained(estimator, *regression, cv=cv, scale_penalty=scale_penalty)
    np.testing.assert_allclose(exact, expected, atol=1e-9)
    if not scale_penalty:
        np.testing.assert_allclose(exact, cross_val_predict(estimator, *regression, cv=cv), atol=1e-9)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("cv", SPLITS, ids=str)
@pytest.mark.quick(4)
def test_classification(three_classes, two_classes, class_weight, cv):
    model = LSSVC(alpha=0.1, class_weight=class_weight)
    for X, y in (three_classes, two_classes):
        exact = cross_val_decision(model, X, y, cv=cv)
        assert exact.shape == ((len(y), 3) if len(set(y)) == 3 else (len(y),))
        np.testing.assert_allclose(exact, retrained(model, X, y, cv=cv), atol=1e-9)


def test_multi_output(regression):
    X, y = regression
    Y = np.column_stack([y, X[:, 1]])
    model = KernelRidge(kernel="rbf", alpha=[0.1, 2.0])
    np.testing.assert_allclose(cross_val_decision(model, X, Y, cv=4), retrained(model, X, Y, cv=4), atol=1e-9)
    column = cross_val_decision(model.set_params(alpha=1.0), X, y[:, None], cv=4)
    assert column.shape == (len(y), 1)


@pytest.mark.parametrize("pipeline", [False, True])
def test_weights(regression, pipeline):
    X, y = regression
    weights = np.random.default_rng(0).uniform(0.2, 2, size=len(y))
    model = make_pipeline(StandardScaler(), LSSVR()) if pipeline else LSSVR()
    exact = cross_val_decision(model, X, y, sample_weight=weights)
    np.testing.assert_allclose(exact, retrained(model, X, y, sample_weight=weights), atol=1e-9)
    assert not np.allclose(exact, cross_val_decision(model, X, y))


def test_series_converges_to_exact(regression):
    X, y = regression
    for scale_penalty in (False, True):
        kwargs = {"cv": 5, "scale_penalty": scale_penalty}
        model = LSSVR(alpha=5.0)
        exact = cross_val_decision(model, X, y, **kwargs)
        errors = [
            np.abs(cross_val_decision(model, X, y, method="bif", order=r, **kwargs) - exact).max() for r in (1, 5, 80)
        ]
        assert errors[0] > errors[1] > errors[2]
        assert errors[2] < 1e-9
        limit = cross_val_decision(model, X, y, method="bif", order=np.inf, **kwargs)
        np.testing.assert_allclose(limit, exact, atol=1e-12)


@two_seeds
@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize("C", [2.0, 10.0])
class TestPlugInSeries:
    """The paper's recursion: mean of losses, no bias, equal folds, from the machine itself."""

    def test_of_classes(self, seed, order, C):
        K, y = gaussian_problem(seed, labels)
        beta, _ = sharp_machine(K, y, np.full(24, C), False)
        model = HingeSVC(C=C, kernel="precomputed", fit_intercept=False)
        self.check(K, y, model, smoothed_hinge(0.1), beta, order, C, h=0.1)

    def test_of_a_regression(self, seed, order, C):
        K, y = gaussian_problem(seed, curve)
        beta, _ = sharp_machine(K, y, np.full(24, C), False, 0.2)
        model = EpsilonSVR(C=C, epsilon=0.2, kernel="precomputed", fit_intercept=False)
        self.check(K, y, model, smoothed_tube(0.2, 0.05), beta, order, C, h=0.05)

    def check(self, K, y, model, loss, beta, order, C, h):
        splits = partition(0, 24, [6] * 4)
        asked = {"method": "bif", "order": order, "h": h, "cv": splits, "scale_penalty": True}
        values = cross_val_decision(model, K, y, start="plug-in", **asked)
        expected = np.empty(24)
        for _, test in splits:
            printed = series_as_printed(K, y, loss, beta, 1 / (2 * 24 * C), test, 4, order)
            expected[test] = printed[test]
        np.testing.assert_allclose(values, expected, atol=1e-8)
        assert np.abs(values - cross_val_decision(model, K, y, **asked)).max() > 1e-6
        kind = criteria.BIF(order=order, h=h, start="plug-in", scale_penalty=True)
        wrong = (np.sign(values) != y) if isinstance(model, HingeSVC) else (values - y) ** 2
        assert kind(K, y, model, cv=splits) == pytest.approx(wrong.mean(), abs=1e-9)


def gaussian_problem(seed, target):
    X = points(seed, 24)
    return gaussian(X, 1.0), target(seed, X)


@pytest.mark.parametrize("method", ["exact", "bif", "retrain"])
def test_a_start_that_there_is_not_is_refused_before_work(method):
    with pytest.raises(ValueError, match='start must be "smoothed" or "plug-in", got \'sharp\''):
        cross_val_decision(LSSVR(), None, None, method=method, start="sharp")


def test_without_kinks_both_starts_are_the_same(regression):
    one, two = (cross_val_decision(LSSVR(), *regression, method="bif", start=s) for s in ("smoothed", "plug-in"))
    np.testing.assert_array_equal(one, two)


def test_rows_tested_twice_get_the_mean_with_a_warning(regression):
    X, y = regression
    cv = RepeatedKFold(n_splits=4, n_repeats=2, random_state=0)
    with pytest.warns(match="more than once"):
        values = cross_val_decision(KernelRidge(kernel="rbf"), X, y, cv=cv)
    splits = list(cv.split(X))
    halves = [cross_val_predict(KernelRidge(kernel="rbf"), X, y, cv=splits[i : i + 4]) for i in (0, 4)]
    np.testing.assert_allclose(values, np.mean(halves, axis=0), atol=1e-9)


def test_rows_never_tested_are_not_a_number_with_a_warning(regression):
    X, y = regression
    cv = ShuffleSplit(1, test_size=0.25, random_state=0)
    with pytest.warns(match="60 rows are never tested"):
        values = cross_val_decision(KernelRidge(kernel="rbf"), X, y, cv=cv)
    assert np.isnan(values).sum() == 60


def test_a_class_that_a_fold_lacks(three_classes):
    X, y = three_classes
    cats = np.flatnonzero(y == "cat")
    rest = np.flatnonzero(y != "cat")
    splits = [(rest, cats), (np.r_[cats, rest[:40]], rest[40:]), (np.r_[cats, rest[20:]], rest[:20])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        exact = cross_val_decision(LSSVC(), X, y, cv=splits)
        expected = retrained(LSSVC(), X, y, cv=splits)
    np.testing.assert_allclose(exact, expected, atol=1e-9)
    assert (exact[cats, 2] == np.finfo(float).min).all()


def test_one_class_in_a_fold_is_an_error(two_classes):
    X, y = two_classes
    ants = np.flatnonzero(y == "ant")
    with pytest.raises(ValueError, match="Split 0 trains on one class only"):
        cross_val_decision(LSSVC(), X, y, cv=[(ants, np.flatnonzero(y == "bee"))])


def test_other_estimators_are_retrained(regression, three_classes):
    with pytest.warns(RetrainingWarning, match="NuSVR"):
        values = cross_val_decision(NuSVR(C=2.0), *regression, cv=4)
    np.testing.assert_allclose(values, cross_val_predict(NuSVR(C=2.0), *regression, cv=4))
    with pytest.warns(RetrainingWarning, match="NuSVC"):
        values = cross_val_decision(NuSVC(nu=0.2), *three_classes, cv=4)
    expected = cross_val_predict(NuSVC(nu=0.2), *three_classes, cv=4, method="decision_function")
    np.testing.assert_allclose(values, expected)


def test_penalty_of_a_retrained_svr_follows_the_rows(regression):
    X, y = regression
    with pytest.warns(RetrainingWarning, match="max_iter"):
        values = cross_val_decision(SVR(C=2.0, max_iter=10**6), X, y, cv=4, scale_penalty=True)
    np.testing.assert_allclose(values, cross_val_predict(SVR(C=2.0 * 80 / 60), X, y, cv=4))


def test_shared_preprocessing(regression):
    X, y = regression
    pipe = make_pipeline(StandardScaler(), LSSVR())
    shared = cross_val_decision(pipe, X, y, preprocessing="shared")
    np.testing.assert_allclose(shared, cross_val_decision(LSSVR(), StandardScaler().fit_transform(X), y), atol=1e-10)


@pytest.mark.parametrize("n_classes", [3, 4])
@pytest.mark.parametrize("pipeline", [False, True])
def test_a_class_that_a_fold_lacks_has_no_pairs(n_classes, pipeline):
    """Three classes have three pairs, two have one: columns of pairs must not be taken for those of classes."""
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % n_classes
    last = np.flatnonzero(y == n_classes - 1)
    splits = [(np.setdiff1d(np.arange(40), last), last)]
    model = SVC(decision_function_shape="ovo")
    if pipeline:
        model = make_pipeline(StandardScaler(), model)
    with pytest.warns(UserWarning, match="never tested"):
        exact = cross_val_decision(model, X, y, cv=splits)
    assert np.isnan(exact[last]).sum() == len(last) * (n_classes - 1)
    with pytest.raises(ValueError, match="one decision value for each pair of classes"):
        cross_val_decision(model, X, y, cv=splits, method="retrain")
