"""Dual problems with tiny and huge penalties: coefficients that tie, tiny sums, rounding of what has gone."""

import numpy as np
import pytest

from ...oracles.problems import row_weights, seeds
from ...oracles.support_vector import gaussian, gram, regressed
from .machines import MACHINES, assert_optimal, cold, learner, random_start, solver, target, trained

pytestmark = pytest.mark.slow  # the inside of the engine, whose values tests/public checks

machines = pytest.mark.parametrize("machine", MACHINES)
TINY = (1e-10, 1e-7, 2.0**-12, 2.0**-10)
SIZES = [(58, 77), (20, 21), (5, 60), (77, 58)]


def narrow(seed, n):
    """A Gaussian Gram matrix that is diagonal but for 1e-15 or so."""
    return gaussian(np.random.default_rng(seed).uniform(-1, 1, size=(n, 13)), 32.0)


def two_classes(seed, positive, negative):
    """Shuffled labels."""
    return np.random.default_rng(seed).permutation(np.repeat([1.0, -1.0], [positive, negative]))


def assert_smaller_class_at_its_bound(y, C, solution):
    """On a diagonal Gram matrix: rows of the larger class share what the smaller one has, and lie on the margin."""
    larger = 1.0 if y.sum() > 0 else -1.0
    ratio = (y == -larger).sum() / (y == larger).sum()
    expected = C * np.where(y == larger, ratio, 1.0) * y
    np.testing.assert_allclose(solution.beta, expected, atol=2e-10, rtol=0)  # what the tolerance leaves open
    assert solution.b == pytest.approx(larger * (1 - C * ratio), abs=2e-10)


@seeds
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("C", TINY)
def test_ties_of_a_narrow_kernel(seed, sizes, C):
    """With every row at a bound, whole classes promise the same gain: those of one direction alone cannot move."""
    y = two_classes(seed, *sizes)
    K = narrow(seed, len(y))
    dual = learner("hinge").dual(y, C, np.ones(len(y)))
    first = cold(K, dual)
    larger = 1.0 if sizes[0] > sizes[1] else -1.0
    some = np.flatnonzero(y == larger)[: min(sizes)]
    at_bounds = np.where((y != larger) | np.isin(np.arange(len(y)), some), C * y, 0.0)
    for solution in (first, *(solver(K).solve(dual, start) for start in (np.zeros(len(y)), at_bounds))):
        assert_optimal(K, dual, solution)
        assert_smaller_class_at_its_bound(y, C, solution)
        assert solution.rounds < 60


@seeds
@machines
@pytest.mark.parametrize("name", ["wide", "narrow", "duplicated", "linear", "polynomial"])
@pytest.mark.parametrize("weighted", [False, True])
def test_tiny_penalties(seed, machine, name, weighted):
    """Optimal, with a sum of zero next to coefficients however small; the values of the reference."""
    n = (13, 40, 61)[seed]
    K, X = gram(name, seed, n)
    y = target(machine, seed, X, share=(0.5, 0.1, 0.3)[seed])
    weights = np.where(np.arange(n) % 5 == 2, 0.0, row_weights(seed, n)) if weighted else np.ones(n)
    for C in TINY:
        dual = learner(machine).dual(y, C, weights)
        anywhere = random_start(dual, seed) * (C if machine == "squared hinge" else 1.0)  # its bounds are infinite
        for start, warm in ((np.zeros(n), False), (np.zeros(n), True), (anywhere, True)):
            solution = solver(K).solve(dual, start, warm=warm)
            assert_optimal(K, dual, solution)
        expected = trained(machine, K, y, C, weights=weights)
        if expected is not None and np.ptp(optimal_biases(dual, solution)) < 1e-7:
            np.testing.assert_allclose(solution.u + solution.b, expected, atol=1e-6, rtol=0, err_msg=str(C))


def optimal_biases(dual, solution):
    """The ends of the interval of biases for which no row would gain: a point if a coefficient is inside."""
    slope = dual.gradient(solution.beta, solution.u)
    rising = slope + np.where(solution.beta >= 0, dual.epsilon, -dual.epsilon)
    falling = slope + np.where(solution.beta > 0, dual.epsilon, -dual.epsilon)
    near = 1e-9 * np.abs(solution.beta).sum()
    highest = rising[solution.beta < dual.upper - near].min(initial=np.inf)
    lowest = falling[solution.beta > dual.lower + near].max(initial=-np.inf)
    return -highest, -lowest


@seeds
@machines
@pytest.mark.parametrize("factor", [1e-9, 1e-3, 1e6])
def test_the_penalty_is_the_scale_of_the_gram(seed, machine, factor):
    """A penalty C for K is a penalty ``factor C`` for ``K / factor``, with coefficients ``factor`` times as large."""
    K, X = gram("medium", seed, 40)
    y = target(machine, seed, X, share=0.3)
    for C in (0.1, 2.0):
        one = cold(K, learner(machine).dual(y, C, np.ones(40)))
        dual = learner(machine).dual(y, factor * C, np.ones(40))
        other = cold(K / factor, dual)
        assert_optimal(K / factor, dual, other)
        np.testing.assert_allclose(other.u + other.b, one.u + one.b, atol=1e-8)
        np.testing.assert_allclose(other.beta / factor, one.beta, atol=1e-6)


@seeds
@machines
@pytest.mark.parametrize("C", [1e6, 1e8])
def test_from_huge_coefficients_to_small_ones(seed, machine, C):
    """Rows that contradict others are left out: what they did to ``K beta`` must not be taken for tolerable."""
    rng = np.random.default_rng(seed)
    X = np.round(2 * rng.uniform(-1, 1, size=(24, 3))) / 2
    X = np.unique(X, axis=0)
    n = len(X)
    twice = np.concatenate([np.arange(n), np.arange(4)])
    K = (X[twice] @ X[twice].T + 1) ** 2 + np.eye(n)[np.ix_(np.r_[:n, :4], np.r_[:n, :4])]
    y = target(machine, seed, np.column_stack([X, X[:, 0]]), share=0.4)[twice]
    y[n:] = -y[:4]
    full = learner(machine).dual(y, C, np.ones(n + 4))
    dual = learner(machine).dual(y, C, np.where(np.arange(n + 4) < n, 1.0, 0.0))
    before = cold(K, full)
    assert_optimal(K, full, before)
    after = solver(K).solve(dual, np.clip(before.beta, dual.lower, dual.upper))
    assert np.abs(after.beta).sum() < 1e-3 * np.abs(before.beta).sum() or machine == "squared hinge"
    assert_optimal(K, dual, after)
    expected = trained(machine, K, y, C, train=np.arange(n))
    if expected is not None:
        np.testing.assert_allclose(after.u + after.b, expected, atol=1e-6)


@seeds
@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_targets_far_from_zero(seed, offset):
    """The sum is zero next to coefficients that the targets dwarf."""
    K, X = gram("narrow", seed, 40)
    y = target("regression 0.05", seed, X)
    for C in (2.0**-12, 1e-2):
        dual = learner("regression 0.05").dual(y + offset, C, np.ones(40))
        solution = cold(K, dual)
        assert solution.converged
        assert abs(solution.beta.sum()) <= 1e-12 * np.abs(solution.beta).sum()
        expected = regressed(K, y, C, 0.05)
        np.testing.assert_allclose(solution.u + solution.b - offset, expected, atol=1e-6 + 1e-14 * offset)
