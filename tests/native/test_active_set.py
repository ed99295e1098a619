"""The active-set method and its twin, which solves dense systems, reach the same solutions."""

import inspect

import numpy as np
import pytest

from onefit.learners import dual_solver
from onefit.learners.dual_solver import DualSolver, indefiniteness
from onefit.native import active_set, twins

from ..learners.machines import MACHINES, learner, random_start, target
from ..oracles.problems import row_weights, seeds
from ..oracles.support_vector import ORDINARY, gram

pytestmark = pytest.mark.slow  # the inside of the engine, whose values tests/public checks
machines = pytest.mark.parametrize("machine", MACHINES)
biases = pytest.mark.parametrize("bias", [True, False])


@pytest.fixture
def both(monkeypatch):
    """A function that returns the solutions of the compiled loop and of its twin, from the same start."""

    def solve(K, dual, start, warm):
        solutions = []
        for loop in (active_set.active_set, twins.active_set):
            with monkeypatch.context() as patch:
                patch.setattr(dual_solver, "active_set", loop)
                solutions.append(DualSolver(K, indefiniteness(K)).solve(dual, start, warm=warm))
        return solutions

    return solve


def test_the_twin_takes_the_same_arguments():
    compiled = getattr(active_set.active_set, "py_func", active_set.active_set)
    assert list(inspect.signature(twins.active_set).parameters) == list(inspect.signature(compiled).parameters)


@seeds
@machines
@biases
@pytest.mark.parametrize("name", ORDINARY)
def test_the_same_solution_as_the_twin(both, seed, machine, bias, name):
    """From a cold start, and from a random one that goes to the method at once."""
    n = (7, 20, 40)[seed]
    K, X = gram(name, seed, n)
    weights = np.where(np.arange(n) % 7 == 3, 0.0, row_weights(seed, n))
    for C in (0.01, 10.0):
        dual = learner(machine, bias).dual(target(machine, seed, X), C, weights)
        for start, warm in ((np.zeros(n), False), (random_start(dual, seed), True)):
            mine, twin = both(K, dual, start, warm)
            assert mine.converged
            assert twin.converged
            scale = max(1.0, np.abs(mine.u).max())
            np.testing.assert_allclose(mine.u + mine.b, twin.u + twin.b, atol=1e-7 * scale)
            assert bias or mine.b == 0.0 == twin.b


@seeds
@machines
@biases
def test_the_twin_solves_the_linear_system_of_the_free(both, seed, machine, bias):
    """Where K is definite the coefficients are unique too: compare them, not only the values."""
    K, X = gram("medium", seed, 40)
    dual = learner(machine, bias).dual(target(machine, seed, X), 1.0, row_weights(seed, 40))
    mine, twin = both(K, dual, np.zeros(40), False)
    np.testing.assert_allclose(mine.beta, twin.beta, atol=1e-7)
    np.testing.assert_array_equal(dual.free(mine.beta), dual.free(twin.beta))


def test_too_few_rounds_are_not_success(monkeypatch):
    """The loop says so itself, and how far from optimal it stopped."""
    K, X = gram("wide", 0, 40)
    dual = learner("hinge").dual(target("hinge", 0, X), 100.0, np.ones(40))
    for loop in (active_set.active_set, twins.active_set):
        with monkeypatch.context() as patch:
            patch.setattr(dual_solver, "active_set", loop)
            solution = DualSolver(K, max_rounds=1).solve(dual, np.zeros(40))
        assert not solution.converged
        gradient = K @ solution.beta - dual.target + solution.b
        violation = np.where(solution.beta < dual.upper, -gradient, 0.0).max()
        violation = max(violation, np.where(solution.beta > dual.lower, gradient, 0.0).max())
        assert violation > 1e-3
        assert solution.violation == pytest.approx(violation, rel=1e-6)
