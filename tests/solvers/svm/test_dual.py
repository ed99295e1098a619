"""The dual problem of support vector machines: bounds, free coefficients, the duality gap."""

import numpy as np
import pytest

from ...oracles.problems import row_weights, seeds
from ...oracles.support_vector import dual_value, gram, labels, primal_value
from .machines import CLASSIFIERS, EPSILONS, MACHINES, cold, learner, losses, random_start, target

machines = pytest.mark.parametrize("machine", MACHINES)


def feasible(dual, seed):
    """Random coefficients within the bounds whose sum is zero."""
    beta = random_start(dual, seed)
    positive, negative = beta[beta > 0].sum(), -beta[beta < 0].sum()
    return np.where(beta > 0, beta * min(1.0, negative / positive), beta * min(1.0, positive / negative))


def weighted(machine, name, seed, n, C, bias=True):
    """(Gram matrix, targets, weights of which some are zero, dual)."""
    K, X = gram(name, seed, n)
    y = target(machine, seed, X)
    weights = np.where(np.arange(n) % 5 == 1, 0.0, row_weights(seed, n))
    return K, y, weights, learner(machine, bias).dual(y, C, weights)


@seeds
@machines
@pytest.mark.parametrize("name", ["wide", "narrow", "linear", "zero"])
@pytest.mark.parametrize("C", [1e-2, 1.0, 1e3])
def test_the_gap_is_primal_less_dual(seed, machine, name, C):
    """At any feasible coefficients and any bias, computed literally."""
    K, y, weights, dual = weighted(machine, name, seed, 30, C)
    beta = feasible(dual, seed)
    assert abs(beta.sum()) < 1e-12 * np.abs(beta).sum()
    for b in (-1.3, 0.0, 0.4):
        primal = primal_value(K, beta, b, lambda f: losses(machine, y, f, C, weights))
        lower = dual_value(K, dual.ridge, dual.target, dual.epsilon, beta)
        assert dual.gap(beta, K @ beta, b) == pytest.approx(primal - lower, rel=1e-9, abs=1e-12 * primal)


@seeds
@machines
def test_without_bias_the_sum_does_not_matter(seed, machine):
    K, y, weights, dual = weighted(machine, "medium", seed, 30, 2.0, bias=False)
    beta = random_start(dual, seed)
    assert abs(beta.sum()) > 1e-3
    primal = primal_value(K, beta, 0.0, lambda f: losses(machine, y, f, 2.0, weights))
    lower = dual_value(K, dual.ridge, dual.target, dual.epsilon, beta)
    assert dual.gap(beta, K @ beta, 0.0) == pytest.approx(primal - lower, rel=1e-9)


@seeds
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_gap_of_the_hinge_is_the_sum_of_the_certificate(seed, C):
    """``Σ a (m)₊ + (C - a) (-m)₊`` with ``a = y beta`` and ``m = y (u + b) - 1``."""
    K, X = gram("medium", seed, 40)
    y, weights = labels(seed, X), row_weights(seed, 40)
    dual = learner("hinge").dual(y, C, weights)
    beta = feasible(dual, seed)
    for b in (-0.5, 0.2):
        m = y * (K @ beta + b) - 1
        a = y * beta
        certificate = sum(a[i] * max(m[i], 0) + (C * weights[i] - a[i]) * max(-m[i], 0) for i in range(40))
        assert dual.gap(beta, K @ beta, b) == pytest.approx(certificate, rel=1e-12)


@seeds
@machines
@pytest.mark.parametrize("name", ["wide", "linear", "duplicated", "identity", "ones"])
def test_the_gap_is_never_negative_and_vanishes_at_the_solution(seed, machine, name):
    K, y, weights, dual = weighted(machine, name, seed, 30, 1.0)
    for start in range(5):
        beta = feasible(dual, 10 * seed + start)
        for b in np.linspace(-2, 2, 9):
            assert dual.gap(beta, K @ beta, b) >= 0
    solution = cold(K, dual)
    gap = dual.gap(solution.beta, solution.u, solution.b)
    primal = primal_value(K, solution.beta, solution.b, lambda f: losses(machine, y, f, 1.0, weights))
    assert 0 <= gap <= 1e-7 * max(primal, 1.0)


@seeds
@machines
def test_the_gap_bounds_the_distance_to_the_solution(seed, machine):
    """``|w - w*|² <= gap`` at any feasible coefficients."""
    K, _, _, dual = weighted(machine, "medium", seed, 30, 1.0)
    best = cold(K, dual)
    for start in range(5):
        beta = feasible(dual, 10 * seed + start)
        away = beta - best.beta
        assert away @ K @ away <= dual.gap(beta, K @ beta, best.b) * (1 + 1e-9)


@pytest.mark.parametrize("machine", CLASSIFIERS)
def test_bounds_follow_the_labels_and_the_weights(machine):
    y, weights = np.array([1.0, -1.0, 1.0, -1.0]), np.array([1.0, 2.0, 0.0, 0.5])
    dual = learner(machine).dual(y, 4.0, weights)
    if machine == "hinge":
        assert dual.lower.tolist() == [0.0, -8.0, 0.0, -2.0]
        assert dual.upper.tolist() == [4.0, 0.0, 0.0, 0.0]
        assert dual.ridge.tolist() == [0.0] * 4
    else:
        assert dual.lower.tolist() == [0.0, -np.inf, 0.0, -np.inf]
        assert dual.upper.tolist() == [np.inf, 0.0, 0.0, 0.0]
        assert dual.ridge[[0, 1, 3]].tolist() == [1 / 8, 1 / 16, 1 / 4]
    assert dual.target.tolist() == y.tolist()
    assert dual.epsilon == 0.0


@pytest.mark.parametrize("machine", EPSILONS)
def test_bounds_of_a_regression(machine):
    dual = learner(machine).dual(np.array([0.3, -2.0, 5.0]), 4.0, np.array([1.0, 0.0, 0.5]))
    assert (-dual.lower).tolist() == dual.upper.tolist() == [4.0, 0.0, 2.0]
    assert dual.epsilon == EPSILONS[machine]


def test_what_is_free():
    """Inside the bounds, and for epsilon > 0 not at zero, where the objective has a kink."""
    y = np.array([0.1, 0.2, 0.3, 0.4])
    beta = np.array([2.0, 0.0, -2.0, 1.0])
    assert learner("regression 0.05").dual(y, 2.0, np.ones(4)).free(beta).tolist() == [False, False, False, True]
    assert learner("regression 0").dual(y, 2.0, np.ones(4)).free(beta).tolist() == [False, True, False, True]
    classes = learner("hinge").dual(np.array([1.0, 1.0, -1.0, -1.0]), 2.0, np.array([1.0, 1.0, 1.0, 0.0]))
    assert classes.free(np.array([2.0, 0.0, -2.0, 0.0])).tolist() == [False] * 4
    assert classes.free(np.array([1.0, 2.0, -1.0, 0.0])).tolist() == [True, False, True, False]


def test_whether_a_larger_penalty_changes_anything():
    dual = learner("hinge").dual(np.array([1.0, 1.0, -1.0]), 2.0, np.array([1.0, 1.0, 2.0]))
    assert dual.bounded(np.array([2.0, 0.0, -2.0]))
    assert dual.bounded(np.array([1.0, 3.0, -4.0]))
    assert not dual.bounded(np.array([1.0, 0.0, -1.0]))
    assert not dual.bounded(np.zeros(3))
    curved = learner("squared hinge").dual(np.array([1.0, 1.0, -1.0]), 2.0, np.ones(3))
    assert curved.bounded(np.array([1.0, 0.0, -1.0]))  # its ridge follows the penalty
    line = learner("regression 0.3").dual(np.zeros(3), 2.0, np.ones(3))
    assert line.bounded(np.array([1.0, 1.0, -2.0]))
    assert not line.bounded(np.array([1.0, 0.0, -1.0]))


@seeds
@machines
def test_the_gradient_is_that_of_the_quadratic_part(seed, machine):
    """Against central differences."""
    K, _, _, dual = weighted(machine, "medium", seed, 12, 1.0)
    beta = random_start(dual, seed)

    def quadratic(beta):
        return beta @ K @ beta / 2 + dual.ridge @ beta**2 / 2 - dual.target @ beta

    differences = [(quadratic(beta + step) - quadratic(beta - step)) / 2e-4 for step in 1e-4 * np.eye(12)]
    np.testing.assert_allclose(dual.gradient(beta, K @ beta), differences, atol=1e-7)


@seeds
@machines
def test_the_objective_is_less_the_dual_value(seed, machine):
    K, _, _, dual = weighted(machine, "medium", seed, 30, 2.0)
    beta = feasible(dual, seed)
    expected = -dual_value(K, dual.ridge, dual.target, dual.epsilon, beta)
    assert dual.objective(beta, K @ beta) == pytest.approx(expected, rel=1e-12)


@seeds
def test_the_least_ridge_is_that_of_the_rows_that_are_used(seed):
    rng = np.random.default_rng(seed)
    y, weights = np.sign(rng.normal(size=30)), rng.choice([0.0, 0.5, 2.0], 30)
    dual = learner("squared hinge").dual(y, 1e-3, weights)
    assert dual.least_ridge == pytest.approx(1 / (2 * 1e-3 * 2.0))
    assert learner("squared hinge").dual(y, 1e-3, np.zeros(30)).least_ridge == np.inf
