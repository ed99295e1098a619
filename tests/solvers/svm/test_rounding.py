"""Penalties so large, and kernels so small, that rounding is seen."""

import numpy as np
import pytest

from onefit.solvers.svm.hinge import Hinge
from onefit.solvers.svm.solver import Solver
from onefit.solvers.svm.squared_hinge import SquaredHinge

from ...oracles.problems import seeds


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
