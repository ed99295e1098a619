"""A leap and its twin, which solves a dense system, change the same coefficients."""

import inspect

import numpy as np
import pytest
from scipy.linalg import cholesky

from onefit.native import leap, twins

from ..learners.machines import MACHINES, learner, random_start, target
from ..oracles.problems import row_weights, seeds
from ..oracles.support_vector import gram

pytestmark = pytest.mark.slow  # the inside of the engine, whose values tests/public checks


def test_the_twin_takes_the_same_arguments():
    compiled = getattr(leap.leap, "py_func", leap.leap)
    assert list(inspect.signature(twins.leap).parameters) == list(inspect.signature(compiled).parameters)


@seeds
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("C", [0.5, 20.0])
def test_the_same_step_as_the_twin(seed, machine, bias, C):
    n = 40
    K, X = gram("narrow", seed, n)
    dual = learner(machine, bias).dual(target(machine, seed, X), C, row_weights(seed, n))
    start = random_start(dual, seed)
    free = np.flatnonzero(dual.free(start))
    assert len(free)
    m = len(free)
    F = np.empty(n, dtype=np.intp)
    F[:m] = free
    U = np.zeros((n, n))
    constant = 1.0 if bias else 0.0
    U[:m, :m] = cholesky(K[np.ix_(free, free)] + constant + np.diag(dual.ridge[free] + 1e-9))
    parts = (K, dual.ridge, dual.target, dual.epsilon, dual.lower, dual.upper, bias)
    outcomes = []
    for step in (leap.leap, twins.leap):
        beta, u, order, side = start.copy(), K @ start, F.copy(), np.where(start > 0, 1.0, -1.0)
        count, changes = step(*parts, beta, u, order, m, U, side)
        outcomes.append((beta, u, set(order[:count].tolist()), side[order[:count]].sum(), changes))
    (beta, u, order, sides, changes), (beta2, u2, order2, sides2, changes2) = outcomes
    np.testing.assert_allclose(beta, beta2, atol=1e-8 * max(1.0, np.abs(beta2).max()))
    np.testing.assert_allclose(u, u2, atol=1e-8 * max(1.0, np.abs(u2).max()))
    assert (order, sides, changes) == (order2, sides2, changes2)
    np.testing.assert_allclose(K @ beta, u, atol=1e-8 * max(1.0, np.abs(u).max()))
