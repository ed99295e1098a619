"""Derivatives of criteria, for every criterion, machine and kernel that has them, against central differences.

The combinations come from the registry of criteria: a new criterion is in the table by itself.
"""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit
from sklearn.svm import SVC, SVR

from onefit import L2SVC, LSSVC, LSSVR, EpsilonSVR, HingeSVC, KernelLogisticRegression, criteria
from onefit.data import Folds
from onefit.kernels import ARD, Gaussian, Laplacian, Matern, NotDifferentiableError, RationalQuadratic, WeightedSum
from onefit.kernels.row_pairs import RowPairs
from onefit.search.gradient import Objective, Point, problem_of

from ..oracles.problems import partition, points, smooth_targets

N = 26
STEP = {"exact": 1e-5, "iterative": 1e-5}
TOLERANCE = {"exact": 1e-7, "iterative": 1e-5}

KERNELS = {
    "ard": ARD(Gaussian(0.2), scales=[0.8, 1.3, 0.5]),
    "groups": ARD(RationalQuadratic(2.0, 1.5), groups=[[0, 2], [1]], scales=[0.8, 1.3]),
    "sum": Gaussian(0.2) * Laplacian(0.1) + 0.5 * Matern(2.0, 2.5),
    "weights": WeightedSum([Gaussian(0.5), ARD(Gaussian(0.1), scales=[1.0, 2.0, 0.5])], [0.4, 0.6]),
}
LEAST_SQUARES = {
    "krr": (KernelRidge(alpha=0.3), "regression"),
    "krr-two": (KernelRidge(alpha=0.3), "two targets"),
    "lssvr": (LSSVR(alpha=0.3), "regression"),
    "lssvc": (LSSVC(alpha=0.3), "classes"),
    "lssvc-weights": (LSSVC(alpha=0.3, class_weight={0: 2.0, 1: 0.5}), "classes"),
    "lssvc-balanced": (LSSVC(alpha=0.3, class_weight="balanced"), "three classes"),
    "lssvc-three": (LSSVC(alpha=0.3, fit_intercept=False), "three classes"),
}
ITERATIVE = {
    "svc": (SVC(C=2.0), "classes"),
    "svc-weights": (SVC(C=2.0, class_weight={0: 2.0, 1: 0.5}), "classes"),
    "svc-three": (SVC(C=2.0), "three classes"),
    "hinge": (HingeSVC(C=2.0, fit_intercept=False), "classes"),
    "l2svc": (L2SVC(C=2.0), "classes"),
    "l2svc-three": (L2SVC(C=2.0, class_weight="balanced", fit_intercept=False), "three classes"),
    "svr": (SVR(C=2.0, epsilon=0.1), "regression"),
    "epsilon-svr": (EpsilonSVR(C=2.0, epsilon=0.1, fit_intercept=False), "regression"),
    "klr": (KernelLogisticRegression(C=2.0), "classes"),
    "klr-three": (KernelLogisticRegression(C=2.0, fit_intercept=False), "three classes"),
}
MACHINES = LEAST_SQUARES | ITERATIVE


def sharp(y, f):
    """A loss of a user, whose derivative is not given."""
    return np.logaddexp(0.0, 3.0 * (y - f)) + 0.1 * (y - f) ** 4


VARIANTS = {
    "cv": [
        criteria.CV(loss="squared"),
        criteria.CV(loss="squared", aggregate="folds"),
        criteria.CV(loss="squared", scale_penalty=True),
        criteria.CV(loss=sharp),
        criteria.CV(loss="hinge"),
        criteria.CV(loss="absolute"),
    ],
    "bif": [criteria.BIF(order=np.inf, loss="squared")],
    "loo": [criteria.LOO(loss="squared"), criteria.LOO(loss=sharp, scale_penalty=True)],
    "sm": [criteria.SM(), criteria.SM(degree=4, weighted=False)],
    "sps": [criteria.SPS(exact=True, delta=0.5), criteria.SPS(delta=0.5)],
}
WITHOUT = {"alo", "rks", "cvks", "cv_variance", "er", "br", "span", "xi_alpha", "gacv", "fsm", "pep"}
"""Criteria without derivatives: maxima, counts, and those whose derivatives nobody asked for."""


def target(kind, X):
    y = smooth_targets(3, X, 2)
    if kind == "regression":
        return y[:, 0]
    if kind == "two targets":
        return y
    noise = np.random.default_rng(0).normal(size=len(X))
    return np.digitize(y[:, 0] + 0.5 * noise, [0.5] if kind == "classes" else [0.2, 0.8])


TABLE = {
    f"{name}-{number}": criterion
    for name, kind in criteria.REGISTRY.items()
    if name not in WITHOUT
    for number, criterion in enumerate(VARIANTS.get(name) or [kind()])
}


def derivatives(criterion, machine, kernel, X, y, cv):
    """(found, differences, names) with respect to all parameters and the penalty."""
    estimator = MACHINES[machine][0]
    name = "alpha" if hasattr(estimator, "alpha") else "C"
    start = np.log(getattr(estimator, name))

    def value(theta, penalty):
        model = type(estimator)(**{**estimator.get_params(), "kernel": "precomputed", name: np.exp(penalty)})
        return criterion(kernel.with_log_parameters(theta)(X), y, model, cv)

    model = type(estimator)(**{**estimator.get_params(), "kernel": "precomputed"})
    gradient = criterion.gradient(kernel(X), y, model, cv)
    np.testing.assert_allclose(gradient.gram, gradient.gram.T, rtol=0, atol=1e-14 * np.abs(gradient.gram).max())
    theta = kernel.log_parameters
    assert gradient.value == pytest.approx(value(theta, start), rel=1e-9)
    h = STEP["exact" if machine in LEAST_SQUARES else "iterative"]
    steps = h * np.eye(len(theta))
    differences = [(value(theta + e, start) - value(theta - e, start)) / (2 * h) for e in steps]
    differences.append((value(theta, start + h) - value(theta, start - h)) / (2 * h))
    return np.array([*kernel.pullback(RowPairs(X), gradient.gram), gradient.log_penalty]), np.array(differences)


@pytest.mark.quick(60)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("criterion", TABLE)
def test_derivatives_are_those_of_the_value(criterion, machine, kernel):
    X = points(1, N)
    y = target(MACHINES[machine][1], X)
    criterion, folds = TABLE[criterion], partition(0, N, [9, 6, 6, 5])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, expected = derivatives(criterion, machine, KERNELS[kernel], X, y, folds)
    except NotDifferentiableError as error:
        assert criterion.name in ("bif", "sps")
        assert machine in ITERATIVE, error  # noqa: PT017
        return
    except ValueError as error:
        assert "is defined for" in str(error) or "needs classes" in str(error) or "classes" in str(error)  # noqa: PT017
        return
    size = np.linalg.norm(expected)
    tolerance = TOLERANCE["exact" if machine in LEAST_SQUARES else "iterative"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * size)


@pytest.mark.parametrize("name", sorted(criteria.REGISTRY))
def test_criteria_say_whether_they_have_derivatives(name):
    criterion = criteria.REGISTRY[name]()
    assert criterion.differentiable == (name not in WITHOUT)


@pytest.mark.parametrize(
    "splits",
    [KFold(3), LeaveOneOut(), ShuffleSplit(4, test_size=0.3, random_state=0)],
    ids=["folds", "loo", "shuffled"],
)
@pytest.mark.parametrize("machine", ["lssvr", "krr-two", "lssvc-weights", "svr", "klr"])
def test_any_splits_have_derivatives(machine, splits):
    X = points(1, N)
    y = target(MACHINES[machine][1], X)
    found, expected = derivatives(criteria.CV(loss="squared"), machine, KERNELS["ard"], X, y, splits)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.linalg.norm(expected))


@pytest.mark.parametrize("aggregate", ["points", "folds"])
@pytest.mark.parametrize("machine", ["krr", "krr-two", "lssvr", "lssvc", "lssvc-three", "svc", "l2svc", "svr", "klr"])
def test_weights_of_rows_have_derivatives(machine, aggregate):
    """Weights count in the training and in the loss; the oracle is the value at neighbouring parameters."""
    estimator, kind = MACHINES[machine]
    X, h = points(1, N), 1e-5
    weights = np.random.default_rng(4).uniform(0.5, 2.0, N)
    folds = Folds.from_splits(partition(0, N, [9, 6, 6, 5]), N)
    criterion = criteria.CV(loss="squared", aggregate=aggregate)
    model = clone(estimator).set_params(kernel=KERNELS["ard"])
    penalty = getattr(model, "alpha", getattr(model, "C", None))
    problem, _ = problem_of(model, X, target(kind, X), weights, folds, criterion)
    objective = Objective(problem, Point(KERNELS["ard"], penalty))
    _, found = objective(objective.theta)
    shifts = h * np.eye(len(found))
    expected = [(objective(objective.theta + e)[0] - objective(objective.theta - e)[0]) / (2 * h) for e in shifts]
    tolerance = TOLERANCE["exact" if machine in LEAST_SQUARES else "iterative"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.linalg.norm(expected))


def test_the_tube_of_support_vector_regression_has_a_derivative():
    X, h = points(1, N), 1e-5
    y, K = target("regression", X), KERNELS["ard"](X)

    def value(epsilon):
        return criteria.CV()(K, y, SVR(kernel="precomputed", C=2.0, epsilon=epsilon), 4)

    found = criteria.CV().gradient(K, y, SVR(kernel="precomputed", C=2.0, epsilon=0.1), 4).log_epsilon
    expected = (value(0.1 * np.exp(h)) - value(0.1 * np.exp(-h))) / (2 * h)
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("machine", ["svc", "svr"])
def test_a_machine_without_free_coefficients_has_derivatives(machine):
    """With a tiny C all coefficients are at their bounds, and the bias is in the middle of an interval."""
    X = points(1, N)
    kind = {"svc": "classes", "svr": "regression"}[machine]
    estimator = {"svc": SVC(C=1e-3), "svr": SVR(C=1e-4, epsilon=0.01)}[machine].set_params(kernel="precomputed")
    y, kernel, h = target(kind, X), KERNELS["ard"], 1e-4
    cv = [(np.arange(0, 20), np.arange(20, N))] if machine == "svr" else balanced_split(y)
    criterion = criteria.CV(loss="squared")
    gradient = criterion.gradient(kernel(X), y, estimator, cv)
    theta = kernel.log_parameters
    expected = [
        criterion(kernel.with_log_parameters(theta + e)(X), y, estimator, cv)
        - criterion(kernel.with_log_parameters(theta - e)(X), y, estimator, cv)
        for e in h * np.eye(len(theta))
    ]
    found = kernel.pullback(RowPairs(X), gradient.gram)
    np.testing.assert_allclose(found, np.array(expected) / (2 * h), rtol=0, atol=1e-5 * np.linalg.norm(found))


def balanced_split(y):
    """One split with as many training rows of one class as of the other."""
    few = min(np.bincount(y)) - 2
    train = np.concatenate([np.flatnonzero(y == label)[:few] for label in (0, 1)])
    return [(train, np.setdiff1d(np.arange(len(y)), train))]


def test_what_has_no_derivative_is_refused_by_name():
    X = points(1, N)
    y, K = target("classes", X), KERNELS["ard"](X)
    model = LSSVC(kernel="precomputed")
    with pytest.raises(NotDifferentiableError, match="error"):
        criteria.CV().gradient(K, y, model, 4)
    with pytest.raises(NotDifferentiableError, match="span"):
        criteria.Span().gradient(K, y, SVC(kernel="precomputed"))
    with pytest.raises(NotDifferentiableError, match="threshold"):
        criteria.SM(threshold=0.1).gradient(K, y)
    with pytest.raises(NotDifferentiableError, match="order"):
        criteria.BIF(order=3).gradient(K, y, model, 4)
    with pytest.raises(NotDifferentiableError, match="one penalty"):
        criteria.CV().gradient(K, np.column_stack([y, y]), KernelRidge(alpha=[1.0, 2.0], kernel="precomputed"), 4)
