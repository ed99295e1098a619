"""Criteria of machines on landmarks, against the criteria themselves on the n x n product of the features."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold
from sklearn.svm import SVC, SVR

from onefit import (
    L2SVC,
    LSSVC,
    EpsilonSVR,
    GridEdgeWarning,
    HingeSVC,
    KernelLogisticRegression,
    KernelSearchCV,
    LandmarkFeatures,
    Landmarks,
    LandmarksWarning,
    LinearEpsilonSVR,
    LinearHingeSVC,
    RandomFeatures,
    criteria,
    kernels,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore", category=GridEdgeWarning),
    pytest.mark.filterwarnings("ignore", category=LandmarksWarning),
]

GRID = {"gamma": [0.05, 0.4], "C": [0.02, 1.0, 30.0]}
WITHOUT_KINKS = {
    "L2SVC": L2SVC(),
    "balanced L2SVC without a bias": L2SVC(class_weight="balanced", fit_intercept=False),
    "KernelLogisticRegression": KernelLogisticRegression(),
    "KernelLogisticRegression without a bias": KernelLogisticRegression(fit_intercept=False),
}
WITH_KINKS = {"SVC": SVC(), "HingeSVC": HingeSVC(fit_intercept=False), "SVR": SVR(), "EpsilonSVR": EpsilonSVR()}
READING_VALUES = [
    criteria.RKS(), criteria.RKS(eta=2.0, loss="squared", norm="trace"), criteria.SPS(), criteria.SPS(exact=True),
    criteria.CVKS(), criteria.CVKS(scale_penalty=True, aggregate="folds"), criteria.CVVariance(),
]  # fmt: skip
UNEQUAL = KFold(7, shuffle=True, random_state=0)


def problem(kind, n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    smooth = np.tanh(X[:, 0] - X[:, 1]) + 0.3 * rng.normal(size=n)
    if kind == "numbers":
        return X, smooth
    return X, np.digitize(smooth, [0.0] if kind == 2 else [-0.5, 0.4])


def kind_of(machine):
    return "numbers" if isinstance(machine, SVR | EpsilonSVR) else 2


def searched(machine, criterion, X, y, approximation=None, grid=GRID, **options):
    approximation = Landmarks(20, random_state=0) if approximation is None else approximation
    search = KernelSearchCV(machine, grid, criterion=criterion, approximation=approximation, cv=UNEQUAL, **options)
    return search.fit(X, y)


def rows_of(search, X):
    """(features Z, parameters, row number) of every candidate."""
    landmarks = search.best_estimator_.named_steps["features"].landmarks
    for k, params in enumerate(search.cv_results_["params"]):
        yield LandmarkFeatures(landmarks, kernels.Gaussian(params["gamma"])).fit_transform(X), params, k


def on_matrix(criterion, Z, y, machine, C):
    folds = {"cv": UNEQUAL} if "heldout" in criterion.reads else {}
    return criterion(Z @ Z.T, y, clone(machine).set_params(kernel="precomputed", C=C), **folds)


@pytest.mark.quick(10)
@pytest.mark.parametrize("criterion", READING_VALUES, ids=repr)
@pytest.mark.parametrize("name", WITHOUT_KINKS)
@pytest.mark.parametrize("k", [2, 3])
def test_losses_without_kinks(name, criterion, k):
    (X, y), machine = problem(k), WITHOUT_KINKS[name]
    search = searched(machine, criterion, X, y)
    for Z, params, row in rows_of(search, X):
        found = search.cv_results_[f"criterion_{criterion.name}"][row]
        assert found == pytest.approx(on_matrix(criterion, Z, y, machine, params["C"]), rel=1e-8)
        assert search.cv_results_["status"][row] == "exact given 20 landmarks"


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", WITH_KINKS)
@pytest.mark.parametrize("held_out", [False, True])
def test_losses_with_kinks_are_those_of_the_machine_that_is_delivered(name, held_out):
    """The linear machine with the smoothed loss, trained on the features of all rows, or of every split."""
    machine = WITH_KINKS[name]
    X, y = problem(kind_of(machine))
    search = searched(machine, criteria.CVKS() if held_out else criteria.RKS(), X, y)
    for Z, params, row in rows_of(search, X):
        bias = getattr(machine, "fit_intercept", True)
        if kind_of(machine) == "numbers":
            linear = LinearEpsilonSVR(params["C"], machine.epsilon, bias)
        else:
            linear = LinearHingeSVC(params["C"], bias)
        losses = np.empty(len(y))
        everything = np.arange(len(y))
        for train, test in UNEQUAL.split(X) if held_out else [(everything, everything)]:
            model = clone(linear).fit(Z[train], y[train])
            if kind_of(machine) == "numbers":
                losses[test] = np.maximum(0.0, np.abs(y[test] - model.predict(Z[test])) - machine.epsilon)
            else:
                losses[test] = np.maximum(0.0, 1.0 - (2 * y[test] - 1) * model.decision_function(Z[test]))
        penalty = (0.5 if held_out else 0.25) / len(y) * criteria.kernel_stability(Z @ Z.T)
        found = search.cv_results_["criterion_cvks" if held_out else "criterion_rks"][row]
        assert found == pytest.approx(losses.mean() + penalty, rel=1e-6)
        assert "the loss is smoothed over" in search.cv_results_["status"][row]


@pytest.mark.quick(8)
@pytest.mark.parametrize("criterion", [c for c in READING_VALUES if c.loss is None], ids=repr)
@pytest.mark.parametrize("name", [*WITH_KINKS, "SVC of three classes"])
def test_losses_with_kinks_are_near_those_of_the_machine_itself(name, criterion):
    """Smoothing over 0.01 of the margin, or a hundredth of epsilon, moves mean losses by less than that."""
    machine = WITH_KINKS.get(name, SVC(class_weight="balanced"))
    X, y = problem(3 if name not in WITH_KINKS else kind_of(machine))
    search = searched(machine, criterion, X, y)
    for Z, params, row in rows_of(search, X):
        expected = on_matrix(criterion, Z, y, machine, params["C"])
        assert search.cv_results_[f"criterion_{criterion.name}"][row] == pytest.approx(expected, abs=0.01)


@pytest.mark.quick(12)
@pytest.mark.parametrize("name", ["KernelRidge", "LSSVC", *WITHOUT_KINKS, *WITH_KINKS])
@pytest.mark.parametrize("order", [1, 2, 5, np.inf])
@pytest.mark.parametrize("scale_penalty", [False, True])
@pytest.mark.parametrize("k", [2, 3])
def test_influence_series(name, order, scale_penalty, k):
    """It selects, and stands beside another score: the criterion on the matrix gives both."""
    machine = {"KernelRidge": KernelRidge(kernel="rbf"), "LSSVC": LSSVC(), **WITHOUT_KINKS, **WITH_KINKS}[name]
    kind = "numbers" if isinstance(machine, KernelRidge | SVR | EpsilonSVR) else k
    (X, y), penalty = problem(kind), "alpha" if name in ("KernelRidge", "LSSVC") else "C"
    criterion = criteria.BIF(order=order, scale_penalty=scale_penalty, loss="squared", aggregate="folds")
    grid = {"gamma": [0.05, 0.4], penalty: [0.1, 3.0]}
    selecting = searched(machine, criterion, X, y, grid=grid)
    beside = searched(machine, ["cv", criterion], X, y, grid=grid)
    for Z, params, row in rows_of(selecting, X):
        dense = clone(machine).set_params(kernel="precomputed", **{penalty: params[penalty]})
        expected = criterion(Z @ Z.T, y, dense, cv=UNEQUAL)
        rel = 1e-7 if name in WITH_KINKS else 1e-9
        assert -selecting.cv_results_["mean_test_score"][row] == pytest.approx(expected, rel=rel)
        assert beside.cv_results_["criterion_bif"][row] == pytest.approx(expected, rel=rel)
        assert selecting.cv_results_["status"][row].startswith("given 20 landmarks")
        assert ("smoothed over" in selecting.cv_results_["status"][row]) == (name in WITH_KINKS)
    assert selecting.cv_results_["exactness"][0] == "approximate"
    assert np.isfinite(selecting.oof_decision_).all()


def test_leave_one_out_by_newton_steps():
    X, y = problem(2)
    for machine in (SVC(), KernelLogisticRegression()):
        search = searched(machine, criteria.ALO(loss="squared"), X, y)
        for Z, params, row in rows_of(search, X):
            expected = on_matrix(criteria.ALO(loss="squared"), Z, y, machine, params["C"])
            assert search.cv_results_["criterion_alo"][row] == pytest.approx(expected, rel=1e-7)


def test_series_from_the_loss_with_its_kinks_are_refused_at_once():
    X, y = problem(2)
    with pytest.raises(ValueError, match='bif needs start="smoothed"'):
        searched(SVC(), criteria.BIF(start="plug-in"), X, y)
    searched(L2SVC(), criteria.BIF(start="plug-in"), X, y)  # has no kinks


def test_series_of_transformers_that_learn_on_every_fold_are_refused():
    X, y = problem(2)
    with pytest.raises(ValueError, match='need preprocessing="shared"'):
        searched(L2SVC(gamma="scale"), "bif", X, y, grid={"C": [0.1, 1.0]})
    searched(L2SVC(gamma="scale"), "bif", X, y, grid={"C": [0.1, 1.0]}, preprocessing="shared")


def test_criteria_beside_cross_validation_have_the_same_values():
    X, y = problem(2)
    alone = searched(SVC(), "rks", X, y).cv_results_["criterion_rks"]
    both = searched(SVC(), ["cv", "rks", "cvks"], X, y).cv_results_
    np.testing.assert_allclose(both["criterion_rks"], alone, rtol=1e-9)
    assert np.isfinite(both["criterion_cvks"]).all()


def test_as_many_landmarks_as_rows():
    """Then the machine is that of the kernel itself."""
    X, y = problem(2, n=40)
    search = searched(L2SVC(), "rks", X, y, Landmarks(method=X))
    dense = KernelSearchCV(L2SVC(), GRID, criterion="rks", cv=UNEQUAL).fit(X, y)
    np.testing.assert_allclose(search.cv_results_["criterion_rks"], dense.cv_results_["criterion_rks"], rtol=1e-6)


def test_random_features():
    X, y = problem(2)
    search = searched(KernelLogisticRegression(), "cvks", X, y, RandomFeatures(30, random_state=0))
    assert search.cv_results_["status"][0] == "exact given 30 random features"
    assert np.isfinite(search.cv_results_["criterion_cvks"]).all()


@pytest.mark.parametrize("name", ["span", "xi_alpha", "gacv", "radius_margin"])
@pytest.mark.parametrize("beside", [False, True])
def test_criteria_of_dual_problems_are_refused_at_once(name, beside):
    X, y = problem(2)
    machine = L2SVC() if name in ("span", "radius_margin") else SVC()
    with pytest.raises(ValueError, match=f"criterion {name} is not available with an approximation: it reads a margin"):
        searched(machine, ["cv", name] if beside else name, X, y)
