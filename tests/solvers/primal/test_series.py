"""The influence-function series on features Z, against the series on the matrix Z Zᵀ, which has oracles of its own."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.svm import SVC, SVR

from onefit import L2SVC, LSSVC, LSSVR, EpsilonSVR, HingeSVC, KernelLogisticRegression, criteria
from onefit.data import Folds, Problem, Targets
from onefit.data.coding import code_targets, row_weights
from onefit.gram import DenseGram, FeatureGram
from onefit.kernels import Precomputed
from onefit.losses.margin import LogisticLoss
from onefit.machines.contract import Series, hold_out
from onefit.machines.registry import read_machine

MACHINES = {
    "KernelRidge": KernelRidge(),
    "LSSVR": LSSVR(),
    "LSSVC": LSSVC(),
    "balanced LSSVC": LSSVC(class_weight="balanced"),
    "L2SVC": L2SVC(),
    "balanced L2SVC without a bias": L2SVC(class_weight="balanced", fit_intercept=False),
    "KernelLogisticRegression": KernelLogisticRegression(),
    "KernelLogisticRegression without a bias": KernelLogisticRegression(fit_intercept=False),
    "SVC": SVC(),
    "balanced HingeSVC": HingeSVC(class_weight="balanced"),
    "HingeSVC without a bias": HingeSVC(fit_intercept=False),
    "SVR": SVR(),
    "EpsilonSVR without a bias": EpsilonSVR(epsilon=0.2, fit_intercept=False),
}
SPLITTERS = {
    "unequal folds": KFold(7),
    "overlapping": ShuffleSplit(4, test_size=0.3, random_state=0),
    "rows left unused": ShuffleSplit(3, test_size=0.2, train_size=0.5, random_state=1),
}
PENALTIES = np.array([0.003, 0.3, 20.0])


def targets_of(estimator, Z, seed, k):
    rng = np.random.default_rng(100 + seed)
    smooth = np.tanh(Z[:, 0] - Z[:, 1]) + 0.4 * rng.normal(size=len(Z))
    if isinstance(estimator, KernelRidge | LSSVR | SVR | EpsilonSVR):
        return smooth
    return np.digitize(smooth, [0.0] if k == 2 else [-0.5, 0.4])


def by_both(estimator, Z, y, splits, series, *, weights=None, scale_penalty=False):
    """Held-out values of the splits from features, and from the matrix."""
    machine = read_machine(estimator.set_params(kernel="precomputed"))
    folds = Folds.from_splits(splits, len(y))
    coded = code_targets(y, y.dtype.kind == "i", machine.pairs, machine.link)
    own, whole = (row_weights(machine.class_weight, coded, folds, weights, shared=s) for s in (False, True))
    targets = Targets(coded.Y, own, whole)
    for gram in (FeatureGram(Z, folds), DenseGram(Problem(Z @ Z.T, folds), Precomputed())):
        yield hold_out(machine.learner, gram, targets, PENALTIES, series=series, scale_penalty=scale_penalty)


def assert_equal(held, expected, rtol=1e-9):
    np.testing.assert_array_equal(held.failed, expected.failed)
    for found, values in zip(held.test, expected.test):
        np.testing.assert_allclose(found, values, rtol=rtol, atol=rtol)


@pytest.mark.quick(24)
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("order", [1, 2, 5, np.inf])
@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale_penalty", [False, True])
@pytest.mark.parametrize("k", [2, 3])
def test_values_are_those_of_the_matrix(name, order, splitter, weighted, scale_penalty, k):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(59, 5)) + 1.0
    y, weights = targets_of(MACHINES[name], Z, 0, k), rng.uniform(0.3, 2.0, 59) if weighted else None
    splits, options = list(SPLITTERS[splitter].split(Z)), {"weights": weights, "scale_penalty": scale_penalty}
    kinks = isinstance(MACHINES[name], SVC | SVR | HingeSVC | EpsilonSVR)  # one Newton step of a steep slope leads far
    assert_equal(*by_both(MACHINES[name], Z, y, splits, Series(order), **options), rtol=1e-8 if kinks else 1e-9)


@pytest.mark.quick(6)
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("order", [2, np.inf])
@pytest.mark.parametrize("width", [1, 8, 40])
@pytest.mark.parametrize("seed", range(3))
def test_any_number_of_features(name, order, width, seed):
    """One, and more features than rows."""
    Z = np.random.default_rng(seed).normal(size=(31, width))
    y, splits = targets_of(MACHINES[name], Z[:, [0, -1]], seed, 2), list(KFold(4).split(Z))
    assert_equal(*by_both(MACHINES[name], Z, y, splits, Series(order), scale_penalty=bool(seed % 2)), rtol=1e-8)


@pytest.mark.parametrize("name", ["SVC", "balanced HingeSVC", "SVR"])
@pytest.mark.parametrize("order", [1, 5, np.inf])
def test_constants_where_no_row_curves(name, order):
    """Penalties so small that all rows are at their bounds, or only one is between them: the middle of an interval."""
    Z = np.random.default_rng(1).normal(size=(45, 3)) + 2.0
    y = targets_of(MACHINES[name], Z - 2.0, 1, 2)
    machine, splits = MACHINES[name].set_params(kernel="precomputed"), list(KFold(5).split(Z))
    folds, learner = Folds.from_splits(splits, 45), read_machine(machine).learner
    targets = Targets((y if y.dtype.kind == "f" else 2.0 * y - 1.0)[:, None])
    penalties = np.array([1e-6, 1e-5, 1e-4])
    found, expected = (
        learner.heldout(gram, targets, penalties, series=Series(order))
        for gram in (FeatureGram(Z, folds), DenseGram(Problem(Z @ Z.T, folds), Precomputed()))
    )
    assert_equal(found, expected)


@pytest.mark.parametrize("name", MACHINES)
def test_leave_one_out_by_one_newton_step(name):
    """ALO: every row is left out from the factor of all rows."""
    Z = np.random.default_rng(2).normal(size=(50, 6))
    y, machine = targets_of(MACHINES[name], Z, 2, 2), MACHINES[name].set_params(kernel="precomputed")
    for loss in ("squared", None):
        found, expected = (criteria.ALO(loss=loss)(K, y, machine) for K in (FeatureGram(Z), Z @ Z.T))
        assert found == pytest.approx(expected, rel=1e-8)


def test_splits_that_lack_a_class_have_no_values():
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(40, 3)), np.repeat([0, 1], [30, 10])
    splits = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))]
    for machine in (L2SVC(), KernelLogisticRegression(), SVC()):
        found, expected = by_both(machine, Z, y, splits, Series(3))
        assert np.isnan(found.test[0]).all()
        assert_equal(found, expected)


def test_losses_that_are_smoothed_more():
    Z = np.random.default_rng(3).normal(size=(40, 4))
    for machine in (SVC(), SVR(epsilon=0.3)):
        y = targets_of(machine, Z, 3, 2)
        for order in (3, np.inf):
            assert_equal(*by_both(machine, Z, y, list(KFold(4).split(Z)), Series(order, h=0.25)))


def test_a_start_without_smoothing_is_refused():
    Z = np.random.default_rng(3).normal(size=(40, 4))
    y = targets_of(SVC(), Z, 3, 2)
    with pytest.raises(ValueError, match='start="smoothed" only'):
        criteria.BIF(start="plug-in")(FeatureGram(Z), y, SVC(kernel="precomputed"), cv=3)
    plug_in = criteria.BIF(start="plug-in")(FeatureGram(Z), y, L2SVC(kernel="precomputed"), cv=3)
    assert plug_in == criteria.BIF()(FeatureGram(Z), y, L2SVC(kernel="precomputed"), cv=3)


def test_small_values_keep_their_digits():
    """Rows far from all landmarks have nearly no features: without a bias their values are far below the targets."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(40, 3))
    Z[::4] *= 1e-20
    y, folds = rng.normal(size=(40, 1)), Folds.from_splits(KFold(4).split(Z), 40)
    learner = read_machine(KernelRidge(kernel="precomputed")).learner
    small = learner.heldout(FeatureGram(Z, folds), Targets(y), np.array([0.5]), series=Series(4)).test
    for part, fold in zip(small, folds):
        tiny = part[0, fold.test % 4 == 0, 0]
        assert (tiny != 0).all()
        assert np.abs(tiny).max() < 1e-18


@pytest.mark.parametrize("seed", range(3))
def test_taylor_coefficients_of_the_logistic_slope(seed):
    """Their sum is the slope along the path, up to the first order that is left out."""
    rng = np.random.default_rng(seed)
    terms, y = rng.normal(size=(7, 5)), np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    loss = LogisticLoss()
    slopes, total = loss.taylor(y, terms[0]), loss.slope(y, terms[0])
    for step in (0.02, 0.01):
        slopes, total = loss.taylor(y, terms[0]), loss.slope(y, terms[0])
        for s in range(1, 7):
            slopes.rest()
            total = total + slopes.add(terms[s]) * step**s
        exact = loss.slope(y, sum(term * step**s for s, term in enumerate(terms)))
        assert np.abs(total - exact).max() < 50 * step**7
