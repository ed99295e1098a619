"""The solver reaches the solutions of a reference that solves dense systems, and leaves a factor that belongs to it."""

import numpy as np
import pytest

from onefit.solvers.svm._solver import DualSolver
from onefit.solvers.svm.solver import Solver, indefiniteness

from ...oracles import svm_loops as reference
from ...oracles.problems import row_weights, seeds
from ...oracles.support_vector import ORDINARY, gram
from .machines import MACHINES, learner, random_start, target

pytestmark = pytest.mark.slow  # the inside of the engine, whose values tests/public checks
machines = pytest.mark.parametrize("machine", MACHINES)
biases = pytest.mark.parametrize("bias", [True, False])


def both(K, dual, start, warm):
    """(solution, reference's coefficients, values) from the same start."""
    parts = (K, dual.ridge, dual.target, dual.epsilon, dual.lower, dual.upper, dual.bias)
    beta = start.copy()
    solver = Solver(K, indefiniteness(K))
    u, b, _, converged = reference.active_set(*parts, beta, jitter=solver.jitter(dual.bias))
    assert converged
    return solver.solve(dual, start, warm=warm), beta, u + b


@seeds
@machines
@biases
@pytest.mark.parametrize("name", ORDINARY)
def test_the_same_solution_as_the_reference(seed, machine, bias, name):
    """From a cold start, and from a random one that goes to Newton's method at once."""
    n = (7, 20, 40)[seed]
    K, X = gram(name, seed, n)
    weights = np.where(np.arange(n) % 7 == 3, 0.0, row_weights(seed, n))
    for C in (0.01, 10.0):
        dual = learner(machine, bias).dual(target(machine, seed, X), C, weights)
        for start, warm in ((np.zeros(n), False), (random_start(dual, seed), True)):
            solution, _, values = both(K, dual, start, warm)
            assert solution.converged
            scale = max(1.0, np.abs(solution.u).max())
            np.testing.assert_allclose(solution.u + solution.b, values, atol=1e-7 * scale)
            assert bias or solution.b == 0.0


@seeds
@machines
@biases
def test_coefficients_are_the_references_where_they_are_unique(seed, machine, bias):
    K, X = gram("medium", seed, 60)
    dual = learner(machine, bias).dual(target(machine, seed, X), 1.0, row_weights(seed, 60))
    solution, beta, _ = both(K, dual, np.zeros(60), False)
    np.testing.assert_allclose(solution.beta, beta, atol=1e-7)
    np.testing.assert_array_equal(dual.free(solution.beta), dual.free(beta))


@seeds
@machines
@biases
def test_the_factor_is_that_of_the_free_coefficients(seed, machine, bias):
    """Whatever was appended and removed on the way."""
    n = 120
    K, X = gram("medium", seed, n)
    dual = learner(machine, bias).dual(target(machine, seed, X), 3.0, row_weights(seed, n))
    solver, beta = DualSolver(K), random_start(dual, seed)
    u = K @ beta
    assert solver.solve(dual, beta, u, 1e-10, warm=True)[3]
    order = solver.order
    np.testing.assert_array_equal(np.sort(order), np.flatnonzero(dual.free(beta)))
    U = np.triu(solver.last_factor())
    expected = K[np.ix_(order, order)] + (solver.magnitude if bias else 0.0)
    expected += np.diag(dual.ridge[order] + solver.last_jitter)
    np.testing.assert_allclose(U.T @ U, expected, atol=1e-11 * max(1.0, np.abs(expected).max()))


@seeds
@machines
def test_a_path_has_the_solutions_of_its_penalties(seed, machine):
    """Each as from a start of its own; and after the last penalty that is felt, that of the last."""
    n, penalties = 80, np.array([0.01, 0.3, 2.0, 50.0, 1e4])
    K, X = gram("narrow", seed, n)
    y, weights = target(machine, seed, X), row_weights(seed, n)
    path = Solver(K).path(learner(machine).dual(y, 1.0, weights), penalties)
    for k, C in enumerate(penalties):
        alone = Solver(K).solve(learner(machine).dual(y, C, weights), np.zeros(n), warm=False)
        found = path.at(k)
        assert found.converged
        scale = max(1.0, np.abs(alone.u).max())
        np.testing.assert_allclose(found.u + found.b, alone.u + alone.b, atol=1e-8 * scale)


def test_a_leading_block_of_a_larger_matrix_is_enough():
    K, X = gram("medium", 0, 90)
    dual = learner("hinge").dual(target("hinge", 0, X)[:60], 1.0, np.ones(60))
    part, whole = Solver(K[:60, :60]), Solver(K[:60, :60].copy())
    first, second = (solver.solve(dual, np.zeros(60), warm=False) for solver in (part, whole))
    np.testing.assert_array_equal(first.beta, second.beta)


@pytest.mark.parametrize("layout", ["columns first", "every other", "backwards"])
def test_the_layout_of_the_matrix_does_not_matter(layout):
    K, X = gram("medium", 0, 60)
    dual = learner("hinge").dual(target("hinge", 0, X), 2.0, np.ones(60))
    layouts = {
        "columns first": np.asfortranarray(K),
        "every other": np.kron(K, np.ones((2, 2)))[::2, ::2],
        "backwards": np.ascontiguousarray(K[::-1, ::-1])[::-1, ::-1],
    }
    found, expected = (Solver(A).solve(dual, np.zeros(60), warm=False) for A in (layouts[layout], K))
    np.testing.assert_array_equal(found.beta, expected.beta)


@pytest.mark.parametrize("seed", range(20))
def test_large_coefficients_on_the_way_leave_no_rounding(seed):
    """A path from a tiny to a huge penalty ends where the huge one ends by itself, as far as both say."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 3)) * rng.uniform(1.0, 8.0)
    K, y = (X @ X.T + 1.0) ** 3, rng.normal(size=12)
    unit, C = learner("regression 0.05").dual(y, 1.0, np.ones(12)), float(10 ** rng.uniform(6, 8.7))
    path = Solver(K).path(unit, np.array([1e-6, C])).at(1)
    rounding = float(Solver(K).rounding_of(path.beta))
    np.testing.assert_allclose(path.u, K @ path.beta, atol=max(unit.tolerance, 2 * rounding), rtol=0)


def test_too_few_rounds_are_not_success():
    """The solver says so itself, and how far from optimal it stopped."""
    K, X = gram("wide", 0, 40)
    dual = learner("hinge").dual(target("hinge", 0, X), 100.0, np.ones(40))
    solution = Solver(K).solve(dual, np.zeros(40), max_rounds=1)
    assert not solution.converged
    gradient = K @ solution.beta - dual.target + solution.b
    violation = np.where(solution.beta < dual.upper, -gradient, 0.0).max()
    violation = max(violation, np.where(solution.beta > dual.lower, gradient, 0.0).max())
    assert violation > 1e-3
    assert solution.violation == pytest.approx(violation, rel=1e-6)
