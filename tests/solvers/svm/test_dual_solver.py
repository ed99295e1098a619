"""Solutions of dual problems: those of LIBSVM and of Newton's method, from any start."""

import numpy as np
import pytest
from sklearn.svm import SVC

from onefit.solvers.svm.dual import Dual

from ...oracles.problems import row_weights, seeds
from ...oracles.support_vector import ORDINARY, classified, curve, gram, labels
from .machines import EPSILONS, MACHINES, assert_optimal, cold, learner, random_start, solver, target, trained

machines = pytest.mark.parametrize("machine", MACHINES)
biases = pytest.mark.parametrize("bias", [True, False])
SIZES = {0: 5, 1: 23, 2: 60, 3: 120}
PENALTIES = (1e-3, 0.1, 3.0, 100.0, 1e4)


@pytest.mark.parametrize("seed", SIZES)
@machines
@pytest.mark.parametrize("name", ORDINARY)
@pytest.mark.quick(12)
def test_the_values_of_the_reference(seed, machine, name):
    """LIBSVM where it converges, which it does for small penalties; Newton's method for the squared hinge."""
    n = SIZES[seed]
    K, X = gram(name, seed, n)
    y = target(machine, seed, X, share=(0.5, 0.3)[seed % 2])
    for C in PENALTIES if n < 60 else PENALTIES[:-2]:
        dual = learner(machine).dual(y, C, np.ones(n))
        solution = cold(K, dual)
        assert_optimal(K, dual, solution)
        expected = trained(machine, K, y, C)
        if expected is None:
            assert C >= 100
            continue
        np.testing.assert_allclose(solution.u + solution.b, expected, atol=1e-6, rtol=0, err_msg=str(C))


@seeds
@machines
@pytest.mark.parametrize("name", ORDINARY)
def test_the_values_of_the_reference_without_bias(seed, machine, name):
    n = (6, 20, 50)[seed]
    K, X = gram(name, seed, n)
    y = target(machine, seed, X)
    for C in (1e-3, 0.3, 20.0):
        dual = learner(machine, bias=False).dual(y, C, np.ones(n))
        solution = cold(K, dual)
        assert_optimal(K, dual, solution)
        expected = trained(machine, K, y, C, bias=False)
        assert expected is not None or C > 1
        if expected is not None:
            np.testing.assert_allclose(solution.u, expected, atol=1e-6, rtol=0, err_msg=str(C))


@seeds
@machines
@pytest.mark.parametrize("name", ["wide", "narrow", "duplicated"])
def test_weights(seed, machine, name):
    """Rows of weight zero are left out; the others' penalties differ by a factor of up to 25."""
    K, X = gram(name, seed, 40)
    y = target(machine, seed, X)
    weights = np.where(np.arange(40) % 4 == 2, 0.0, row_weights(seed, 40))
    for C in (0.05, 1.0, 20.0):
        dual = learner(machine).dual(y, C, weights)
        solution = cold(K, dual)
        assert_optimal(K, dual, solution)
        assert not solution.beta[weights == 0].any()
        np.testing.assert_allclose(
            solution.u + solution.b, trained(machine, K, y, C, weights=weights), atol=1e-6, rtol=0
        )


@seeds
@machines
@biases
@pytest.mark.parametrize("name", ORDINARY)
def test_the_start_does_not_matter(seed, machine, bias, name):
    n = (10, 30, 70)[seed]
    K, X = gram(name, seed, n)
    space = solver(K)
    for C in (0.1, 10.0)[: 1 + seed % 2]:
        dual = learner(machine, bias).dual(target(machine, seed, X), C, row_weights(seed, n))
        first = cold(K, dual)
        for number in range(3):
            start = random_start(dual, 10 * seed + number)
            kept = start.copy()
            for warm in (True, False):
                again = space.solve(dual, start, warm=warm)
                np.testing.assert_array_equal(start, kept)
                assert_optimal(K, dual, again)
                np.testing.assert_allclose(again.u + again.b, first.u + first.b, atol=1e-7, rtol=1e-9)
        known = space.solve(dual, kept, K @ kept)
        np.testing.assert_allclose(known.u + known.b, first.u + first.b, atol=1e-7, rtol=1e-9)


@machines
@pytest.mark.parametrize("name", ["medium", "narrow"])
def test_many_free_rows(machine, name):
    """From nothing, from anywhere, and from the solution of a problem with other rows left out."""
    K, X = gram(name, 0, 300)
    y, space = target(machine, 0, X), solver(K)
    for C in (0.5, 10.0):
        full = cold(K, learner(machine).dual(y, C, np.ones(300)))
        dual = learner(machine).dual(y, C, np.where(np.arange(300) % 5 == 0, 0.0, 1.0))
        first = cold(K, dual)
        assert_optimal(K, dual, first)
        for start in (np.clip(full.beta, dual.lower, dual.upper), random_start(dual, 1)):
            again = space.solve(dual, start)
            assert_optimal(K, dual, again)
            np.testing.assert_allclose(again.u + again.b, first.u + first.b, atol=1e-7)
    assert name == "medium" or dual.free(first.beta).sum() > 100


@seeds
@machines
def test_from_the_solution_nothing_changes(seed, machine):
    K, X = gram("medium", seed, 40)
    dual = learner(machine).dual(target(machine, seed, X), 1.0, np.ones(40))
    first = cold(K, dual)
    again = solver(K).solve(dual, first.beta, first.u)
    np.testing.assert_allclose(again.beta, first.beta, atol=1e-9)
    assert again.b == pytest.approx(first.b, abs=1e-9)


@seeds
@pytest.mark.parametrize("positive", [12, 6, 3])
@pytest.mark.parametrize("name", ["wide", "medium", "linear"])
@pytest.mark.parametrize("warm", [False, True])
def test_without_a_free_row_the_bias_is_the_middle_of_its_interval(seed, positive, name, warm):
    """Small penalties, as large in sum for either class: every row is at its bound and within the margin."""
    K, _ = gram(name, seed, 24)
    y = np.where(np.arange(24) < positive, 1.0, -1.0)
    weights = np.where(y > 0, 12 / positive, 12 / (24 - positive)) * 21
    for C in (2.0**-14, 2.0**-18):
        dual = learner("hinge").dual(y, C, weights)
        for start in range(5) if warm else [None]:
            beta = np.zeros(24) if start is None else random_start(dual, 10 * seed + start)
            solution = solver(K).solve(dual, beta, warm=warm)
            np.testing.assert_allclose(solution.beta, C * weights * y, rtol=1e-12)
            u = K @ (C * weights * y)
            middle = ((1 - u[y > 0]).min() + (-1 - u[y < 0]).max()) / 2
            assert solution.b == pytest.approx(middle, abs=1e-9)
            np.testing.assert_allclose(solution.u + solution.b, classified(K, y, C, weights=weights), atol=1e-6)


@seeds
@pytest.mark.parametrize("machine", ["regression 0.05", "regression 0.3"])
def test_targets_within_the_tube_leave_a_constant(seed, machine):
    """No coefficient at all: the constant is the middle of the smallest and the largest target."""
    K, X = gram("medium", seed, 30)
    y = 7.0 + curve(seed, X) * 0.9 * EPSILONS[machine] / np.abs(curve(seed, X)).max()
    solution = cold(K, learner(machine).dual(y, 3.0, np.ones(30)))
    assert not solution.beta.any()
    assert solution.b == pytest.approx((y.min() + y.max()) / 2, abs=1e-12)


@seeds
def test_the_scale_of_the_kernel_and_of_the_targets(seed):
    """Values of K are as well multiplied into C; targets, tube and penalty of a regression scale together."""
    K, X = gram("medium", seed, 30)
    y = labels(seed, X)
    plain = cold(K, learner("hinge").dual(y, 2.0, np.ones(30)))
    for scale in (2.0**-30, 2.0**30):
        scaled = cold(K * scale, learner("hinge").dual(y, 2.0 / scale, np.ones(30)))
        np.testing.assert_allclose(scaled.u + scaled.b, plain.u + plain.b, atol=1e-7)
    t = curve(seed, X)
    bounds = np.full(30, 5.0)
    plain = cold(K, Dual(t, -bounds, bounds, np.zeros(30), 0.05, True))
    for scale in (1e-6, 1e6):
        dual = Dual(t * scale, -bounds * scale, bounds * scale, np.zeros(30), 0.05 * scale, True)
        scaled = cold(K, dual)
        np.testing.assert_allclose((scaled.u + scaled.b) / scale, plain.u + plain.b, atol=1e-7)


@seeds
def test_a_constant_added_to_the_targets_moves_the_bias_only(seed):
    K, X = gram("medium", seed, 40)
    y = curve(seed, X)
    plain = cold(K, learner("regression 0.05").dual(y, 1.0, np.ones(40)))
    moved = cold(K, learner("regression 0.05").dual(y + 1024.0, 1.0, np.ones(40)))
    np.testing.assert_allclose(moved.beta, plain.beta, atol=1e-6)
    assert moved.b - 1024.0 == pytest.approx(plain.b, abs=1e-6)


@seeds
def test_one_solver_serves_many_problems(seed):
    """Its work space leaves nothing behind."""
    K, X = gram("wide", seed, 40)
    space = solver(K)
    for machine in MACHINES:
        for bias in (True, False):
            for C in (0.1, 20.0):
                dual = learner(machine, bias).dual(target(machine, seed, X), C, np.ones(40))
                shared = space.solve(dual, np.zeros(40), warm=False)
                alone = cold(K, dual)
                np.testing.assert_array_equal(shared.beta, alone.beta)
                assert shared.b == alone.b


def test_the_gram_matrix_is_only_read():
    K, X = gram("medium", 0, 30)
    before = K.copy()
    dual = learner("hinge").dual(labels(0, X), 1.0, np.ones(30))
    assert solver(K).solve(dual, np.zeros(30), warm=False).converged
    np.testing.assert_array_equal(K, before)


def test_a_single_row_and_a_single_class():
    """A regression on one row is that row's target; rows of one class can have that class's value only."""
    K = np.ones((1, 1))
    solution = cold(K, learner("regression 0.05").dual(np.array([3.0]), 2.0, np.ones(1)))
    assert solution.b + solution.u[0] == pytest.approx(3.0, abs=1e-9)
    assert solution.beta.tolist() == [0.0]
    K, _ = gram("medium", 0, 6)
    solution = cold(K, learner("hinge").dual(np.ones(6), 2.0, np.ones(6)))
    assert not solution.beta.any()
    assert solution.b == 1.0


@seeds
def test_labels_are_those_of_libsvm(seed):
    K, X = gram("medium", seed, 80)
    y = labels(seed, X)
    solution = cold(K, learner("hinge").dual(y, 1.0, np.ones(80)))
    model = SVC(C=1.0, kernel="precomputed", tol=1e-10).fit(K, y)
    clear = np.abs(solution.u + solution.b) > 1e-5
    assert clear.sum() > 60
    np.testing.assert_array_equal(np.sign(solution.u + solution.b)[clear], model.predict(K)[clear])
