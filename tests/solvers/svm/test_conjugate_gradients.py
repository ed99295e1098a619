"""Conjugate gradients for several problems at once: the solutions of each problem by itself."""

import numpy as np
import pytest

from onefit.kernels import Gaussian
from onefit.solvers.svm.conjugate_gradients import coupling, narrow_path, solve_by_conjugate_gradients
from onefit.solvers.svm.solver import Solver

from ...oracles.problems import row_weights, seeds
from ...oracles.support_vector import gram
from .machines import MACHINES, assert_optimal, cold, heldout, learner, random_start, target, trained

machines = pytest.mark.parametrize("machine", MACHINES)
biases = pytest.mark.parametrize("bias", [True, False])


def problems(machine, bias, seed, n=80, C=3.0):
    """(K of a narrow kernel, problems that leave out every fifth row in turn, with unequal weights)."""
    K, X = gram("narrow", seed, n)
    y, weights = target(machine, seed, X), row_weights(seed, n)
    left_in = [np.arange(n) % 5 != fold for fold in range(5)]
    return K, [learner(machine, bias).dual(y, C, weights * used) for used in left_in]


@seeds
@machines
@biases
def test_solutions_are_optimal_from_any_start(seed, machine, bias):
    K, duals = problems(machine, bias, seed)
    starts = np.array([random_start(dual, seed + k) for k, dual in enumerate(duals)])
    found = solve_by_conjugate_gradients(K, duals, starts, starts @ K)
    solved = [k for k, solution in enumerate(found) if solution is not None]
    assert len(solved) >= 4  # of five: bounds may change too often from a random start
    for k in solved:
        assert_optimal(K, duals[k], found[k])
        expected = cold(K, duals[k])
        np.testing.assert_allclose(found[k].u + found[k].b, expected.u + expected.b, atol=1e-8, rtol=0)


@seeds
@machines
@biases
def test_the_path_of_a_split_on_a_narrow_kernel(seed, machine, bias):
    """The penalty of one puts all coefficients of a diagonal K at their bounds: SMO steps free some."""
    n, penalties = 520, np.array([1.0, 1.3, 20.0])
    X = np.random.default_rng(seed).normal(size=(n, 12))
    K, y = Gaussian(1.0)(X), target(machine, seed, X)
    unit, solver = learner(machine, bias).dual(y, 1.0, np.ones(n)), Solver(K)
    found, expected = narrow_path(solver, unit, penalties), Solver(K).path(unit, penalties)
    assert found is not None
    np.testing.assert_allclose(found.images, found.betas @ K, atol=1e-10, rtol=0)
    values = found.images + found.biases[:, None]
    np.testing.assert_allclose(values, expected.images + expected.biases[:, None], atol=1e-8, rtol=0)
    for k, C in enumerate(penalties):
        assert_optimal(K, unit.at(C), found.at(k))
    assert (np.abs(found.gaps) < 1e-6 * np.abs(y).sum()).all()


def test_coupled_rows_have_no_narrow_path():
    X = np.random.default_rng(0).normal(size=(520, 3))
    unit = learner("hinge", True).dual(np.where(X[:, 0] > 0, 1.0, -1.0), 1.0, np.ones(520))
    assert narrow_path(Solver(Gaussian(0.1)(X)), unit, np.array([1.0, 10.0])) is None


def test_a_problem_without_free_coefficients_is_left_to_others():
    K, duals = problems("hinge", True, 0)
    starts = np.zeros((len(duals), len(K)))
    assert solve_by_conjugate_gradients(K, duals, starts, starts.copy()) == [None] * len(duals)


def test_coupling_tells_diagonal_from_other_matrices():
    rng = np.random.default_rng(0)
    n, none = 400, np.zeros(400)
    assert coupling(np.eye(n), none, True) < 1e-12
    assert coupling(np.eye(n) + 0.5, none, True) < 1e-12  # a bias takes a constant up
    assert coupling(np.eye(n) + 0.5, none, False) > 10
    Z = rng.normal(size=(n, 5))
    assert coupling(Z @ Z.T, none, True) > 10
    assert coupling(Z @ Z.T, none + 1e3, True) < 0.1


@pytest.mark.parametrize("machine", ["hinge", "squared hinge", "regression 0.05"])
def test_held_out_values_of_weakly_coupled_rows(machine):
    """From 600 rows on splits are solved together; each is retrained here."""
    n, penalties = 620, (0.3, 4.0)
    X = np.random.default_rng(1).normal(size=(n, 12))
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    K = np.exp(-0.6 * distances)
    assert 0 < coupling(K, np.zeros(n), True) < 0.03
    y = target(machine, 1, X)
    splits = [(np.flatnonzero(np.arange(n) % 4 != fold), np.flatnonzero(np.arange(n) % 4 == fold)) for fold in range(4)]
    held = heldout(K, y, splits, machine, penalties)
    assert not held.failed.any()
    for k, C in enumerate(penalties):
        for (train, test), values in zip(splits[:2], held.test):
            expected = trained(machine, K, y, C, train=train)
            np.testing.assert_allclose(values[k, :, 0], expected[test], atol=1e-6, rtol=0)
