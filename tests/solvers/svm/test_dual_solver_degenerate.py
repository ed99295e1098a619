"""Dual problems on matrices without content, of low rank, or not quite positive semi-definite."""

import signal

import numpy as np
import pytest

from onefit.solvers.svm.learner import EpsilonInsensitive
from onefit.solvers.svm.solver import Solver, indefiniteness

from ...oracles.problems import points, random_symmetric, seeds
from ...oracles.support_vector import GRAMS, classified, gaussian, gram, labels, single_precision
from .machines import MACHINES, assert_optimal, cold, learner, target, trained

machines = pytest.mark.parametrize("machine", MACHINES)
biases = pytest.mark.parametrize("bias", [True, False])


@pytest.fixture
def in_time():
    """A search that never ends fails instead of hanging."""

    def give_up(*_):
        raise TimeoutError("the test takes far longer than it can")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, 1)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@machines
@biases
@pytest.mark.parametrize("n", [4, 31])
@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
def test_a_zero_gram(machine, bias, n, C):
    """Only the bias is left: the values are a constant, as LIBSVM's; zero without a bias."""
    K, X = gram("zero", 1, n)
    y = target(machine, 1, X)
    dual = learner(machine, bias).dual(y, C, np.ones(n))
    solution = Solver(K).solve(dual, np.zeros(n), warm=False)
    assert_optimal(K, dual, solution)
    if bias:
        np.testing.assert_allclose(solution.b, trained(machine, K, y, C), atol=1e-6)


@machines
@biases
def test_rows_without_content(machine, bias):
    """A linear kernel on data of which some rows are all zero."""
    X = points(0, 20, 2)
    X[[1, 4, 5, 12]] = 0.0
    K = single_precision(np.round(X * 16) / 16 @ (np.round(X * 16) / 16).T)
    y = target(machine, 0, points(0, 20, 3))
    for C in (0.1, 5.0):
        dual = learner(machine, bias).dual(y, C, np.ones(20))
        solution = cold(K, dual)
        assert_optimal(K, dual, solution)
        expected = trained(machine, K, y, C, bias)
        np.testing.assert_allclose(solution.u + solution.b, expected, atol=1e-6)


@seeds
@pytest.mark.parametrize("C", [1e6, 1e8])
def test_separable_data_and_a_huge_penalty(seed, C):
    """The hard margin: no row is within it, and the penalty is not felt."""
    X = np.round(points(seed, 30, 2) * 16) / 16
    y = np.where(X[:, 0] + X[:, 1] > 0, 1.0, -1.0)
    X += 0.5 * y[:, None]
    K = X @ X.T
    dual = learner("hinge").dual(y, C, np.ones(30))
    solution = cold(K, dual)
    assert_optimal(K, dual, solution)
    f = solution.u + solution.b
    assert (y * f).min() == pytest.approx(1.0, abs=1e-8)
    assert not dual.bounded(solution.beta)
    np.testing.assert_allclose(f, classified(K, y, C), atol=1e-6)


@seeds
@pytest.mark.parametrize("name", ["narrow", "medium"])
def test_a_huge_penalty_and_a_definite_gram(seed, name):
    K, X = gram(name, seed, 40)
    y = labels(seed, X)
    dual = learner("hinge").dual(y, 1e8, np.ones(40))
    solution = cold(K, dual)
    assert_optimal(K, dual, solution)
    assert (y * (solution.u + solution.b)).min() == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(solution.u + solution.b, classified(K, y, 1e8), atol=1e-6)


@seeds
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0, 1e4])
def test_the_same_points_with_opposite_labels(seed, C):
    """Every point twice, once in each class: nothing can be learned, the value is zero everywhere."""
    X = points(seed, 15, 3)
    K = single_precision(gaussian(np.repeat(X, 2, axis=0), 0.5))
    y = np.tile([1.0, -1.0], 15)
    for machine in ("hinge", "squared hinge"):
        dual = learner(machine).dual(y, C, np.ones(30))
        solution = cold(K, dual)
        assert_optimal(K, dual, solution)
        np.testing.assert_allclose(solution.u + solution.b, 0.0, atol=1e-7)


@seeds
@pytest.mark.parametrize("C", [0.1, 10.0, 1e4])
def test_some_points_twice_with_opposite_labels(seed, C):
    X = points(seed, 20, 3)
    twice = np.concatenate([np.arange(20), np.arange(8)])
    K = single_precision(gaussian(X, 0.5)[np.ix_(twice, twice)])
    y = labels(seed, X)[twice]
    y[20:] *= -1
    dual = learner("hinge").dual(y, C, np.ones(28))
    solution = cold(K, dual)
    assert_optimal(K, dual, solution)
    np.testing.assert_allclose(solution.u + solution.b, classified(K, y, C), atol=1e-6)


@machines
@pytest.mark.parametrize("name", ["linear", "ones", "polynomial"])
def test_constant_features(machine, name):
    """All rows alike: one value for all of them, that of a zero Gram matrix."""
    X = np.ones((17, 3)) * 0.5
    K = single_precision(GRAMS[name](X))
    y = target(machine, 2, points(2, 17, 3))
    for C in (0.1, 10.0):
        dual = learner(machine).dual(y, C, np.ones(17))
        solution = cold(K, dual)
        assert_optimal(K, dual, solution)
        np.testing.assert_allclose(solution.u + solution.b, trained(machine, np.zeros((17, 17)), y, C), atol=1e-6)


@seeds
@machines
@biases
@pytest.mark.parametrize("rank", [1, 2])
def test_a_gram_of_low_rank_in_double_precision(seed, machine, bias, rank):
    """Far fewer dimensions than free rows might want; only the conditions of optimality are looked at."""
    X = points(seed, 80, rank)
    K = X @ X.T
    y = target(machine, seed, points(seed, 80, 3))
    for C in (1e-2, 1.0, 1e4):
        dual = learner(machine, bias).dual(y, C, np.ones(80))
        assert_optimal(K, dual, Solver(K).solve(dual, np.zeros(80), warm=False))


# How far a matrix is from positive semi-definite.


@pytest.mark.usefixtures("in_time")
@seeds
@pytest.mark.parametrize("name", GRAMS)
def test_positive_semi_definite_matrices_have_no_noise(seed, name):
    X = points(seed, 50)
    K = GRAMS[name](X)
    assert indefiniteness((K + K.T) / 2) == 0.0


@seeds
@pytest.mark.parametrize("gamma", [0.01, 0.05])
def test_single_precision_is_small_noise(seed, gamma):
    K = single_precision(gaussian(points(seed, 60, 2), gamma))
    smallest = np.linalg.eigvalsh(K)[0]
    assert smallest < -1e-9
    noise = indefiniteness(K)
    assert -smallest <= noise <= -32 * smallest
    assert noise < 1e-5


@seeds
def test_indefinite_matrices_are_infinitely_so(seed):
    X = points(seed, 40)
    assert indefiniteness(np.tanh(X @ X.T - 1.0)) == np.inf
    assert indefiniteness(random_symmetric(seed, 30)) == np.inf
    assert indefiniteness(-np.eye(4)) == np.inf


@pytest.mark.usefixtures("in_time")
def test_a_diagonal_of_zeros():
    assert indefiniteness(np.array([[0.0, 1.0], [1.0, 0.0]])) == np.inf
    assert indefiniteness(np.zeros((2, 2))) == 0.0


def test_indefiniteness_reads_only():
    K = np.eye(3)
    K.flags.writeable = False
    assert indefiniteness(K) == 0.0


@seeds
def test_noise_is_no_obstacle(seed):
    """A smooth Gram matrix in single precision has negative eigenvalues; the solution is LIBSVM's none the less."""
    X = points(seed, 60, 2)
    K = single_precision(gaussian(X, 0.05))
    assert indefiniteness(K) > 0
    y = np.where(np.sin(2 * X[:, 0]) + X[:, 1] > 0, 1.0, -1.0)
    for C in (0.1, 10.0):
        dual = learner("hinge").dual(y, C, np.ones(60))
        solution = cold(K, dual)
        assert_optimal(K, dual, solution)
        np.testing.assert_allclose(solution.u + solution.b, classified(K, y, C), atol=1e-6)


@seeds
def test_conflicting_duplicates_of_very_different_weights(seed):
    """Newton steps lead far beyond the bounds, since K is singular; their rounding must not stay in ``K beta``."""
    n, rng = 400, np.random.default_rng(seed)
    X = points(seed, n // 3, 4)[rng.integers(0, n // 3, n)]
    K, y = gaussian(X, 1.0), np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=n)
    dual = EpsilonInsensitive(epsilon=0.0).dual(y, 0.5, 10 ** rng.uniform(-3, 3, n))
    solution = cold(K, dual)
    assert_optimal(K, dual, solution)
