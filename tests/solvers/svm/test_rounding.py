"""Penalties so large, and kernels so small, that rounding is seen."""

from dataclasses import replace

import numpy as np
import pytest

from onefit.solvers.svm.learner import EpsilonInsensitive, Hinge, SquaredHinge
from onefit.solvers.svm.solver import Solver

from ...oracles.problems import seeds
from .machines import assert_optimal


def rows(seed, n=200, d=4):
    """Two classes that no hyperplane separates: beyond some C the values are the same but for O(1 / C)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sign(X[:, 0] + 0.5 * rng.normal(size=n))


@seeds
@pytest.mark.parametrize("learner", [Hinge(), SquaredHinge()])
def test_the_digits_of_the_limit_are_lost_where_it_says_so(seed, learner):
    X, y = rows(seed)
    K = X @ X.T
    errors, limit = {}, None
    for C in 10.0 ** np.arange(6, 13.5, 0.5):
        solver, dual = Solver(K), learner.dual(y, C, np.ones(len(y)))
        solution = solver.solve(dual, np.zeros(len(y)), warm=False)
        values = solution.u + solution.b
        limit = values if limit is None else limit
        errors[C] = np.abs(values - limit).max(), solver.is_rounded(dual, solution.beta)
    assert all(error < 5e-6 for error, rounded in errors.values() if not rounded)
    assert not errors[1e6][1]
    assert errors[1e13][1]
    assert errors[1e13][0] > 1e-3  # it matters


@pytest.mark.parametrize("seed", range(12))
def test_rounding_does_not_grow_along_a_path(seed):
    """Steep paths: penalties grow 700-fold from step to step while free coefficients hardly change."""
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(25, 3)), 10.0 ** rng.uniform(-3, 3, 25)
    K = np.exp(-np.abs(X[:, None] - X[None]).sum(axis=2))
    unit = EpsilonInsensitive(bool(seed % 2), 0.0).dual(10 * rng.normal(size=25), 1.0, weights)
    penalties = 1e-3 * 700.0 ** np.arange(5)
    path = Solver(K).path(unit, penalties)
    for k, C in enumerate(penalties[: path.solved]):
        solution = path.at(k)
        assert_optimal(K, unit.at(C), replace(solution, u=K @ solution.beta))
