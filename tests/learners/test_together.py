"""All folds at once, by conjugate gradients and from one inverse, against solving each from nothing."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from onefit.data import Folds
from onefit.kernels import Gaussian
from onefit.learners import column, together
from onefit.learners.chosen_rows import ChosenRows
from onefit.learners.dual_solver import DualSolver
from onefit.learners.epsilon_insensitive import EpsilonInsensitive
from onefit.learners.hinge import Hinge
from onefit.learners.preconditioner import Preconditioner
from onefit.learners.shared_inverse import SharedInverse
from onefit.learners.squared_hinge import SquaredHinge

pytestmark = pytest.mark.slow  # the inside of the engine, whose values tests/public checks

LEARNERS = {
    "hinge": Hinge(),
    "hinge without bias": Hinge(bias=False),
    "squared hinge": SquaredHinge(),
    "squared hinge without bias": SquaredHinge(bias=False),
    "insensitive": EpsilonInsensitive(epsilon=0.1),
    "absolute": EpsilonInsensitive(epsilon=0.0),
    "insensitive without bias": EpsilonInsensitive(bias=False, epsilon=0.3),
}


def problem(seed, n=260, classes=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    f = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n)
    return X, (np.sign(f) if classes else f), rng


def duals_of(learner, y, C, folds, weights):
    for fold in folds:
        trained = weights.copy()
        trained[fold.removed] = 0.0
        yield learner.dual(y, C, trained)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("gamma", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_both_ways_equal_solving_each_fold_from_nothing(name, gamma, weighted):
    learner = LEARNERS[name]
    X, y, rng = problem(1, classes="hinge" in name)
    folds = Folds.from_splits(KFold(6).split(X), len(y))
    weights = rng.uniform(0.3, 2.0, len(y)) if weighted else np.ones(len(y))
    K = Gaussian(gamma)(X)
    solver, near = DualSolver(K), Preconditioner.of(K, 0.01, learner.bias)
    zeros = np.zeros(len(y))
    found = {"gradients": 0, "inverse": 0}
    for C in (0.05, 1.0, 50.0):
        full_dual = learner.dual(y, C, weights)
        full = solver.solve(full_dual, zeros, zeros, warm=False)
        duals = list(duals_of(learner, y, C, folds, weights))
        starts = np.array([column._at_bounds(full.beta, full_dual, dual) for dual in duals])
        expected = [DualSolver(K).solve(dual, zeros, zeros, warm=False) for dual in duals]
        ways = {"gradients": together.by_gradients(K, ChosenRows(near), duals, starts, starts @ K, 1e-10)[0]}
        if full_dual.free(full.beta).any():
            inverse = solver.inverse(full_dual, full.beta)
            ways["inverse"] = together.by_inverse(inverse, duals, starts, starts @ K, 1e-10)
        for way, solutions in ways.items():
            for dual, solution, other in zip(duals, solutions, expected):
                if solution is None:
                    continue
                found[way] += 1
                np.testing.assert_allclose(solution.u + solution.b, other.u + other.b, atol=1e-7)
                np.testing.assert_allclose(K @ solution.beta, solution.u, atol=1e-10)
                assert ((solution.beta >= dual.lower) & (solution.beta <= dual.upper)).all()
                assert not learner.bias or abs(solution.beta.sum()) < 1e-8 * np.abs(solution.beta).sum()
                assert dual.gap(solution.beta, solution.u, solution.b) < 1e-6
    assert found["inverse"] >= {0.3: 6, 0.05: 1, 0.01: 0}[gamma]  # for wide kernels bounds change too much for most


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("gamma", [0.05, 0.3])
def test_rough_solutions_have_nearly_the_free_coefficients_of_the_exact_ones(name, gamma):
    learner = LEARNERS[name]
    X, y, _ = problem(2, classes="hinge" in name)
    K, ones, zeros = Gaussian(gamma)(X), np.ones(len(y)), np.zeros(len(y))
    last, dual = learner.dual(y, 0.5, ones), learner.dual(y, 1.0, ones)
    exact = DualSolver(K).solve(dual, zeros, warm=False)
    start = column._at_bounds(DualSolver(K).solve(last, zeros, warm=False).beta, last, dual)
    near = Preconditioner.of(K, 0.01)
    (rough,), _ = together.by_gradients(K, ChosenRows(near), [dual], start[None], (K @ start)[None], 1e-10, rough=1)
    if rough is None:
        assert not dual.ridge.any()  # bounds may change too much where nothing bends the objective
        return
    assert np.abs(K @ rough.beta - rough.u).max() <= rough.error < 1e-3
    assert ((rough.beta >= dual.lower) & (rough.beta <= dual.upper)).all()
    assert (dual.free(rough.beta) != dual.free(exact.beta)).mean() < 0.1


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("gamma", [0.001, 0.05, 0.3])
def test_a_rough_solution_beside_precise_ones_of_another_penalty(bias, gamma):
    learner = SquaredHinge(bias=bias)
    X, y, _ = problem(3)
    K, ones, zeros = Gaussian(gamma)(X), np.ones(len(y)), np.zeros(len(y))
    dual, following = learner.dual(y, 1.0, ones), learner.dual(y, 4.0, ones)
    full = DualSolver(K).solve(dual, zeros, warm=False)
    duals = list(duals_of(learner, y, 1.0, Folds.from_splits(KFold(5).split(X), len(y)), ones))
    starts = np.array([other.within(full.beta) for other in [*duals, following]])
    chosen = ChosenRows(Preconditioner.of(K, 0.01, bias))
    solutions, slow = together.by_gradients(K, chosen, [*duals, following], starts, starts @ K, 1e-10, rough=1)
    assert not slow.any()
    for other, solution in zip(duals, solutions):
        expected = DualSolver(K).solve(other, zeros, warm=False)
        np.testing.assert_allclose(solution.u + solution.b, expected.u + expected.b, atol=1e-8)
        assert solution.violation <= 1e-10
    rough, exact = solutions[-1], DualSolver(K).solve(following, zeros, warm=False)
    assert np.abs(K @ rough.beta - rough.u).max() <= rough.error < 1e-3
    assert (following.free(rough.beta) != following.free(exact.beta)).mean() < 0.1
    assert rough.violation > 1e-6  # no digits were asked for


@pytest.mark.parametrize("bias", [False, True])
def test_values_have_digits_of_their_own_where_they_are_far_below_the_targets(bias):
    """Else small penalties would not rank rows as retraining does."""
    X, y, _ = problem(6, n=300)
    K, ones = Gaussian(1e-6)(X), np.ones(len(y))
    for C in (1e-8, 1e-4):
        duals = list(duals_of(SquaredHinge(bias=bias), y, C, Folds.from_splits(KFold(5).split(X), len(y)), ones))
        starts = np.array([dual.within(dual.target / dual.ridge) for dual in duals])
        near = Preconditioner.of(K, duals[0].least_ridge, bias)
        solutions, _ = together.by_gradients(K, ChosenRows(near), duals, starts, starts @ K, 1e-10)
        for solution in solutions:
            np.testing.assert_allclose(solution.u, K @ solution.beta, atol=1e-9 * np.ptp(solution.u))


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_steps_from_one_inverse_are_those_of_dense_systems(bias, seed):
    rng = np.random.default_rng(seed)
    n = 30
    A = rng.normal(size=(n, n))
    K, ridge = A @ A.T / n, rng.uniform(0.1, 1.0, n)
    base = np.sort(rng.choice(n, 18, replace=False))
    shared = SharedInverse(K, ridge, base, constant=1.0 if bias else 0.0, jitter=0.0)
    assert shared.definite
    for _ in range(3):
        free = rng.random((n, 4)) < 0.6
        right, missing = rng.normal(size=(n, 4)), rng.normal(size=4) * bias
        x = shared.step(right * free, free, missing, bias)
        for k in range(4):
            rows = np.flatnonzero(free[:, k])
            M = K[np.ix_(rows, rows)] + np.diag(ridge[rows])
            if bias:
                M = np.block([[M, np.ones((len(rows), 1))], [np.ones((1, len(rows))), np.zeros((1, 1))]])
            expected = np.linalg.solve(M, np.r_[right[rows, k], [missing[k]] * bias])[: len(rows)]
            np.testing.assert_allclose(x[rows, k], expected, atol=1e-9)
            assert (x[~free[:, k], k] == 0).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_the_inverse_from_the_factor_of_the_last_solution_is_that_of_a_new_one(name):
    learner = LEARNERS[name]
    X, y, _ = problem(1, n=120, classes="hinge" in name)
    solver, zeros = DualSolver(Gaussian(0.3)(X)), np.zeros(len(y))
    dual = learner.dual(y, 2.0, np.ones(len(y)))
    beta = solver.solve(dual, zeros, warm=False).beta
    left, anew = solver.inverse(dual, beta), DualSolver(solver.K).inverse(dual, beta)
    assert left.definite
    assert anew.definite
    order = np.argsort(left.base)
    np.testing.assert_array_equal(left.base[order], anew.base)
    np.testing.assert_allclose(left.P[np.ix_(order, order)], anew.P, atol=1e-8 * np.abs(anew.P).max())
    other = learner.dual(y, 3.0, np.ones(len(y)))  # nothing of another problem is used
    assert (np.diff(solver.inverse(other, beta).base) > 0).all()
