"""Penalties so large, and kernels so small, that rounding is seen."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from onefit.data import Folds, Problem, Targets
from onefit.gram import DenseGram
from onefit.kernels import Gaussian
from onefit.learners.dual_solver import DualSolver
from onefit.learners.hinge import Hinge
from onefit.learners.squared_hinge import SquaredHinge

from ..oracles.problems import seeds


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
        solver, dual = DualSolver(K), learner.dual(y, C, np.ones(len(y)))
        solution = solver.solve(dual, np.zeros(len(y)), warm=False)
        values = solution.u + solution.b
        limit = values if limit is None else limit
        errors[C] = np.abs(values - limit).max(), solver.is_rounded(dual, solution.beta)
    assert all(error < 5e-6 for error, rounded in errors.values() if not rounded)
    assert not errors[1e6][1]
    assert errors[1e13][1]
    assert errors[1e13][0] > 1e-3  # it matters


@pytest.mark.slow
def test_the_error_of_a_tiny_kernel_in_single_precision_is_known():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.sign(X[:, 0] + 0.3 * X[:, 1] * X[:, 2])
    gram = DenseGram(Problem(X, Folds.from_splits(KFold(3).split(X), 60)), Gaussian(0.1) * 1e-40, single=True)
    held = SquaredHinge().heldout(gram, Targets(y[:, None]), np.array([1e40]))
    assert not held.exact
    assert 0 < held.error[0] < np.inf
