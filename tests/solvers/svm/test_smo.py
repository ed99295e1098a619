"""Steps of sequential minimal optimisation: the compiled ones are the reference's, and each lowers the objective."""

import numpy as np
import pytest

from onefit.solvers.svm._smo import smo_steps

from ...oracles import svm_loops as reference
from ...oracles.problems import row_weights, seeds
from ...oracles.support_vector import dual_value, gram
from .machines import MACHINES, learner, random_start, target

pytestmark = pytest.mark.slow  # the inside of the engine, whose values tests/public checks

machines = pytest.mark.parametrize("machine", MACHINES)
biases = pytest.mark.parametrize("bias", [True, False])


def problem(machine, name, seed, n=40, bias=True, C=2.0):
    """(Gram matrix, dual with unequal penalties)."""
    K, X = gram(name, seed, n)
    return K, learner(machine, bias).dual(target(machine, seed, X), C, row_weights(seed, n))


def run(loop, K, dual, beta, tol, steps):
    """(coefficients, image, steps made) of a loop from a start that is left alone."""
    beta, u = beta.copy(), K @ beta
    parts = (K, dual.ridge, dual.target, dual.epsilon, dual.lower, dual.upper, dual.bias)
    made = loop(*parts, beta, u, tol, steps)
    return beta, u, made


def objective(K, dual, beta):
    return -dual_value(K, dual.ridge, dual.target, dual.epsilon, beta)


def promises(K, dual, beta):
    """What a step is chosen by, the two largest of each kind: slopes, and second-order gains with the steepest row."""
    gradient = K @ beta + dual.ridge * beta - dual.target
    rising = np.where(beta < dual.upper, gradient + np.where(beta >= 0, dual.epsilon, -dual.epsilon), np.inf)
    falling = np.where(beta > dual.lower, gradient + np.where(beta > 0, dual.epsilon, -dual.epsilon), -np.inf)
    bend, i = np.diagonal(K) + dual.ridge, int(np.argmin(rising))
    if not dual.bias:
        gains = np.maximum(np.maximum(-rising, falling), 0.0) ** 2 / bend
        return [np.sort(gains)[:-3:-1]]
    together = np.maximum(bend + bend[i] - 2 * K[i], 1e-12)
    gains = np.maximum(falling - rising[i], 0.0) ** 2 / together
    return [1.0 + np.sort(rising[i] - rising)[:-3:-1], np.sort(gains)[:-3:-1]]


@seeds
@machines
@biases
@pytest.mark.parametrize("name", ["wide", "narrow"])
def test_the_same_steps_as_the_reference(seed, machine, bias, name):
    """Step by step from the same place; only where two rows are equally steep may rounding choose between them."""
    K, dual = problem(machine, name, seed, bias=bias)
    beta, ties = random_start(dual, seed), 0
    for _ in range(60):
        expected, image, expected_made = run(reference.smo, K, dual, beta, 1e-3, 1)
        tied = any(top[1] > (1 - 1e-12) * top[0] for top in promises(K, dual, beta))
        beta, u, made = run(smo_steps, K, dual, beta, 1e-3, 1)
        assert made == expected_made
        if np.abs(beta - expected).max() > 1e-10:
            assert tied, "another choice than the reference's, without a tie"
            ties += 1
            continue
        np.testing.assert_allclose(u, image, atol=1e-10)
        if not made:
            break
    assert ties < 5


@seeds
@machines
@biases
def test_many_steps_are_as_many_single_ones(seed, machine, bias):
    K, dual = problem(machine, "narrow", seed, bias=bias)
    for loop in (smo_steps, reference.smo):
        single = random_start(dual, seed)
        together, _, made = run(loop, K, dual, single, 1e-3, 5)
        for _ in range(5):
            single, _, _ = run(loop, K, dual, single, 1e-3, 1)
        assert made == 5
        np.testing.assert_allclose(together, single, atol=1e-10)


@seeds
@machines
@biases
@pytest.mark.parametrize("name", ["wide", "linear", "duplicated", "identity"])
def test_every_step_lowers_the_objective_and_stays_feasible(seed, machine, bias, name):
    K, dual = problem(machine, name, seed, n=15, bias=bias)
    for loop in (smo_steps, reference.smo):
        beta, values = np.zeros(15), [0.0]
        for _ in range(25):
            beta, u, made = run(loop, K, dual, beta, 1e-6, 1)
            values.append(objective(K, dual, beta))
            assert (dual.lower <= beta).all()
            assert (beta <= dual.upper).all()
            assert not bias or abs(beta.sum()) <= 1e-13 * np.abs(beta).sum()
            np.testing.assert_allclose(u, K @ beta, atol=1e-10 * max(1.0, np.abs(K).max()))
            if made == 0:
                break
            assert values[-1] < values[-2] + 1e-12 * abs(values[-2])
        assert values[-1] < 0


@seeds
@machines
@biases
def test_it_ends_where_the_conditions_of_optimality_hold(seed, machine, bias):
    """Literally: no coefficient can be moved (with a bias, no pair) with a slope beyond the tolerance."""
    K, dual = problem(machine, "narrow", seed, n=25, bias=bias)
    tol = 1e-5
    for loop in (smo_steps, reference.smo):
        beta, _, made = run(loop, K, dual, np.zeros(25), tol, 100_000)
        assert made < 100_000
        gradient = K @ beta + dual.ridge * beta - dual.target
        up = [gradient[i] + (dual.epsilon if beta[i] >= 0 else -dual.epsilon) for i in range(25)]
        down = [gradient[i] + (dual.epsilon if beta[i] > 0 else -dual.epsilon) for i in range(25)]
        rising = min(up[i] for i in range(25) if beta[i] < dual.upper[i])
        falling = max(down[i] for i in range(25) if beta[i] > dual.lower[i])
        if bias:
            assert falling - rising <= tol + 1e-10
        else:
            assert max(-rising, falling) <= tol + 1e-10


def test_nothing_is_done_within_the_tolerance():
    K, dual = problem("hinge", "wide", 0)
    for loop in (smo_steps, reference.smo):
        beta, _, made = run(loop, K, dual, np.zeros(40), 2.5, 10)  # slopes are -1 and +1 at zero
        assert made == 0
        assert not beta.any()


@seeds
@machines
def test_rows_left_out_do_not_move(seed, machine):
    K, X = gram("medium", seed, 30)
    weights = np.where(np.arange(30) % 3 == 0, 0.0, row_weights(seed, 30))
    for bias in (True, False):
        dual = learner(machine, bias).dual(target(machine, seed, X), 1.0, weights)
        for loop in (smo_steps, reference.smo):
            beta, _, made = run(loop, K, dual, np.zeros(30), 1e-6, 500)
            assert made > 5
            assert not beta[::3].any()


@biases
def test_rows_of_zeros_take_no_curvature(bias):
    """Two rows without any content: the pair is limited by its bounds alone."""
    K = np.zeros((4, 4))
    y = np.array([1.0, -1.0, 1.0, -1.0])
    dual = learner("hinge", bias).dual(y, 3.0, np.ones(4))
    for loop in (smo_steps, reference.smo):
        beta, u, _ = run(loop, K, dual, np.zeros(4), 1e-6, 100)
        np.testing.assert_array_equal(beta, 3.0 * y)
        assert not u.any()
