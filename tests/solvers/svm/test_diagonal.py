"""Duals whose matrix is a multiple of the identity: the closed form, compared with solvers that do not know of it."""

import numpy as np
import pytest

from onefit.solvers.svm.diagonal import solve_diagonal

from ...oracles.problems import points, row_weights, seeds
from ...oracles.support_vector import curve
from .machines import EPSILONS, MACHINES, cold, learner, target, trained

pytestmark = pytest.mark.slow  # the inside of the engine, whose values tests/public checks

machines = pytest.mark.parametrize("machine", MACHINES)
diagonals = pytest.mark.parametrize("diagonal", [0.25, 1.0, 16.0])


@seeds
@machines
@diagonals
@pytest.mark.parametrize("n", [5, 40])
def test_the_values_of_the_reference(seed, machine, diagonal, n):
    y = target(machine, seed, points(seed, n), share=(0.5, 0.3, 0.2)[seed])
    for C in (1e-3, 0.1, 1.0, 50.0):
        beta, b = solve_diagonal(learner(machine).dual(y, C, np.ones(n)), diagonal)
        expected = trained(machine, diagonal * np.eye(n), y, C)
        np.testing.assert_allclose(diagonal * beta + b, expected, atol=1e-6, rtol=0, err_msg=str(C))


@seeds
@machines
@diagonals
def test_weights(seed, machine, diagonal):
    y = target(machine, seed, points(seed, 40))
    weights = np.where(np.arange(40) % 4 == 2, 0.0, row_weights(seed, 40))
    for C in (0.01, 0.5, 10.0):
        beta, b = solve_diagonal(learner(machine).dual(y, C, weights), diagonal)
        assert not beta[weights == 0].any()
        expected = trained(machine, diagonal * np.eye(40), y, C, weights=weights)
        np.testing.assert_allclose(diagonal * beta + b, expected, atol=1e-6, rtol=0)


@seeds
@machines
@pytest.mark.parametrize("bias", [True, False])
def test_the_conditions_of_optimality(seed, machine, bias):
    """Each row by itself minimises a quadratic on an interval, given the bias; the sum is zero if there is one."""
    n = 30
    y = target(machine, seed, points(seed, n))
    for C in (0.01, 1.0, 100.0):
        dual = learner(machine, bias).dual(y, C, row_weights(seed, n))
        beta, b = solve_diagonal(dual, 2.0)
        assert abs(beta.sum()) <= 1e-12 * np.abs(beta).sum() if bias else b == 0.0
        for i in range(n):
            grid = np.clip(np.linspace(-60, 60, 4001), dual.lower[i], dual.upper[i])
            values = grid**2 * (2.0 + dual.ridge[i]) / 2 - (dual.target[i] - b) * grid + dual.epsilon * np.abs(grid)
            mine = beta[i] ** 2 * (2.0 + dual.ridge[i]) / 2 - (dual.target[i] - b) * beta[i]
            assert mine + dual.epsilon * abs(beta[i]) <= values.min() + 1e-12


@seeds
@machines
@pytest.mark.parametrize("bias", [True, False])
def test_the_same_as_the_general_solver(seed, machine, bias):
    y = target(machine, seed, points(seed, 50))
    for C in (1e-4, 0.3, 1e4):
        dual = learner(machine, bias).dual(y, C, row_weights(seed, 50))
        beta, b = solve_diagonal(dual, 1.0)
        general = cold(np.eye(50), dual)
        np.testing.assert_allclose(beta + b, general.u + general.b, atol=1e-8)


@seeds
@pytest.mark.parametrize("machine", ["regression 0.05", "regression 0.3"])
def test_targets_within_the_tube_leave_the_middle(seed, machine):
    X = points(seed, 20)
    y = 3.0 + 0.9 * EPSILONS[machine] * curve(seed, X) / np.abs(curve(seed, X)).max()
    beta, b = solve_diagonal(learner(machine).dual(y, 1.0, np.ones(20)), 1.0)
    assert not beta.any()
    assert b == pytest.approx((y.min() + y.max()) / 2, abs=1e-12)


@pytest.mark.parametrize("positive", [1, 3, 6])
def test_all_rows_at_their_bound(positive):
    """The bias is between ``1 - C`` of one class and ``C - 1`` of the other, in the middle."""
    y = np.where(np.arange(12) < positive, 1.0, -1.0)
    weights = np.where(y > 0, (12 - positive) / positive, 1.0)
    C = 2.0**-6
    beta, b = solve_diagonal(learner("hinge").dual(y, C, weights), 1.0)
    np.testing.assert_allclose(beta, C * weights * y, rtol=1e-12)
    assert b == pytest.approx(((1 - C * (12 - positive) / positive) + (-1 + C)) / 2, abs=1e-12)


def test_two_classes_of_unequal_size():
    """By hand: with a large C, ``f = ±1`` at every row, so ``beta = ±1 - b`` sums to zero where b is the mean label."""
    y = np.array([1.0, 1.0, 1.0, -1.0])
    beta, b = solve_diagonal(learner("hinge").dual(y, 100.0, np.ones(4)), 1.0)
    assert b == pytest.approx(0.5, abs=1e-12)
    np.testing.assert_allclose(beta, [0.5, 0.5, 0.5, -1.5], atol=1e-12)


def test_no_row_takes_part():
    beta, b = solve_diagonal(learner("regression 0.3").dual(np.ones(3), 1.0, np.zeros(3)), 1.0)
    assert beta.tolist() == [0.0] * 3
    assert b == 0.0
