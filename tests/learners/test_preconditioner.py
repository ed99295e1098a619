"""The preconditioner of conjugate gradients, against the dense inverse that it stands for."""

import numpy as np
import pytest

from onefit.kernels import Gaussian
from onefit.learners import together
from onefit.learners.chosen_rows import ChosenRows
from onefit.learners.dual_solver import DualSolver
from onefit.learners.preconditioner import RANK, USEFUL, Preconditioner
from onefit.learners.squared_hinge import SquaredHinge
from onefit.linalg.pivoted import pivoted_cholesky
from onefit.native.gradients import invert_each, projected_gradients
from onefit.native.panels import product
from onefit.native.side_twins import dense

from ..oracles.problems import seeds

pytestmark = pytest.mark.slow  # the inside of the engine, whose values tests/public checks


def rows(seed, n=200):
    return np.random.default_rng(seed).normal(size=(n, 5))


def matrix(near):
    """Its matrix, that may be in panels."""
    return near.K if near.K.ndim == 2 else dense(near.K, near.G.shape[1])


def parts(near, ridge, free):
    """(1 / E, inverses of I + G E⁻¹ Gᵀ) of several problems."""
    scale = near.scales(ridge, free)
    inverses = near.inner(scale)
    invert_each(inverses)
    return scale, inverses


@seeds
@pytest.mark.parametrize("magnitude", [1.0, 3e-50, 2e60])
@pytest.mark.parametrize("gamma", [1e-3, 0.1, 50.0])
@pytest.mark.parametrize("same_ridge", [True, False])
def test_the_parts_are_those_of_the_inverse(seed, magnitude, gamma, same_ridge):
    rng, X = np.random.default_rng(seed), rows(seed)
    near = Preconditioner.of(magnitude * Gaussian(gamma)(X), magnitude * 0.1)
    n, t = len(X), 3
    ridge = np.full((t, n), 0.3) if same_ridge else rng.uniform(0.1, 1.0, (t, n))
    free = rng.random((t, n)) < 0.8
    scale, inverses = parts(near, ridge, free)
    assert len(near.G) == 0 if gamma == 50.0 else 0 < len(near.G) <= RANK
    for k in range(t):
        F = np.flatnonzero(free[k])
        assert (scale[k, ~free[k]] == 0).all()
        G, E = near.G[:, F], np.diag(1 / scale[k, F])
        np.testing.assert_allclose(np.diagonal(E), ridge[k, F] + near.rest)
        woodbury = np.linalg.inv(E) - np.linalg.inv(E) @ G.T @ inverses[k] @ G @ np.linalg.inv(E)
        np.testing.assert_allclose(woodbury, np.linalg.inv(E + G.T @ G), atol=1e-9)


@seeds
def test_inner_matrices_follow_the_rows_that_change(seed):
    rng, X = np.random.default_rng(seed), rows(seed)
    near, ridge = Preconditioner.of(Gaussian(0.05)(X), 0.1), rng.uniform(0.1, 1.0, (3, len(X)))
    ridge[2] = 3.0 * (ridge[0] + near.rest) - near.rest  # scales that differ by a factor
    free = rng.random((3, len(X))) < 0.8
    scale = near.scales(ridge, free)
    inner = near.inner(scale)
    other = near.scales(ridge, free ^ (rng.random((3, len(X))) < 0.05))
    assert (scale != other).any()
    np.testing.assert_allclose(near.inner(other, scale, inner.copy()), near.inner(other), rtol=1e-10, atol=1e-10)


@seeds
@pytest.mark.parametrize("ridge", [0.1, 1e-6])
def test_some_rows_only(seed, ridge):
    X, rng = rows(seed), np.random.default_rng(seed)
    near, some = Preconditioner.of(X @ X.T, ridge), np.sort(rng.choice(200, 120, replace=False))
    part, others = near.on(some, near.between(some, some)), np.setdiff1d(np.arange(200), some)
    np.testing.assert_array_equal(matrix(part), matrix(near)[np.ix_(some, some)])
    np.testing.assert_array_equal(part.G, near.G[:, some])
    np.testing.assert_array_equal(dense(part.rows, 120), dense(near.rows, 200)[:, some])
    np.testing.assert_array_equal(dense(part.columns, len(near.G)), dense(near.columns, len(near.G))[some])
    B, there = rng.normal(size=(3, 120)).astype(near.kind), np.empty((3, 80), dtype=near.kind)
    product(near.between(some, others), B, there)
    np.testing.assert_allclose(there, B @ matrix(near)[np.ix_(some, others)], rtol=1e-4, atol=1e-4)
    assert (part.unit, part.rest, part.kind) == (near.unit, near.rest, near.kind)


@seeds
@pytest.mark.parametrize("gamma", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("bias", [False, True])
def test_products_are_as_precise_as_they_say(seed, gamma, bias):
    K, B = Gaussian(gamma)(rows(seed)), np.random.default_rng(seed).normal(size=(4, 200))
    near = Preconditioner.of(K, 0.1, bias)
    assert near.kind is np.float32
    products = np.empty((4, 200), dtype=np.float32)
    product(near.K, B.astype(np.float32), products)
    products = near.unit * products + near.shift * B.sum(axis=1, keepdims=True)
    error = np.abs(products - B @ K).max(axis=1)
    bound = near.unit * near.rounding * np.sqrt((B**2).sum(axis=1))
    assert (error <= bound).all()
    assert (error > 1e-4 * bound).all()


@seeds
@pytest.mark.parametrize("gamma", [1e-3, 0.03, 0.3])
@pytest.mark.parametrize("moved", [2, 1200])
@pytest.mark.parametrize("missing", [0.0, 1.0])
def test_products_that_conjugate_gradients_add_up_are_too(seed, gamma, moved, missing):
    X, n = np.random.default_rng(seed).normal(size=(1200, 20)), 1200
    K, right, free = Gaussian(gamma)(X), np.sign(X[:, :1].T), np.ones((1, n), dtype=bool)
    right[:, moved:] = 0.0
    near, ridge = Preconditioner.of(K, 1.0, True), np.ones((1, n))
    system = (near.K, near.rows, near.columns, *parts(near, ridge, free), ridge, right, free, np.array([missing]), True)
    x, image = np.empty((1, n)), np.empty((1, n))
    solved, _ = projected_gradients(*system, np.zeros(1), np.array([1e-5]), 300, 400, free[:, 0], x, image)
    assert solved.all()
    error = np.abs(near.unit * image + near.shift * x.sum() - x @ K).max()
    assert error <= near.unit * near.rounding * np.sqrt((x * x).sum())


@seeds
def test_nothing_is_taken_from_narrow_kernels(seed):
    """Their zeros are exact in sums."""
    assert Preconditioner.of(Gaussian(1.0)(rows(seed)), 0.1, True).shift == 0


@seeds
@pytest.mark.parametrize("magnitude", [1.0, 3e-50, 2e60])
def test_with_a_bias_the_entries_of_a_wide_kernel_have_more_digits(seed, magnitude):
    K = magnitude * Gaussian(1e-3)(rows(seed))
    with_bias, without = Preconditioner.of(K, magnitude, True), Preconditioner.of(K, magnitude)
    assert without.shift == 0
    assert with_bias.shift == pytest.approx(K.mean(), rel=0.01)
    errors = [np.abs(near.unit * matrix(near).astype(float) + near.shift - K).max() for near in (with_bias, without)]
    assert errors[0] < errors[1] / 10
    assert with_bias.rounding < without.rounding / 10


@seeds
@pytest.mark.parametrize("magnitude", [1.0, 3e-50, 2e60])
def test_the_matrix_is_in_single_precision_whatever_its_magnitude(seed, magnitude):
    K = magnitude * Gaussian(0.1)(rows(seed))
    near = Preconditioner.of(K, 0.01 * magnitude)
    assert near.K.dtype == np.float32
    np.testing.assert_allclose(near.unit * matrix(near).astype(np.float64), K, rtol=1e-7)
    left = np.diagonal(K) / near.unit - (near.G**2).sum(axis=0)
    assert near.rest == pytest.approx(left.mean(), rel=1e-6)


def test_degenerate_matrices():
    for K in (np.zeros((5, 5)), np.ones((5, 5)), np.eye(1), np.zeros((5, 5), dtype=np.float32)):
        near = Preconditioner.of(K, 0.0)
        scale, inverses = parts(near, np.zeros((1, len(K))), np.ones((1, len(K)), dtype=bool))
        assert np.isfinite(near.K).all()
        assert np.isfinite(scale).all()
        assert np.isfinite(inverses).all()


def steps(K, near, ridge):
    """Steps of conjugate gradients until six digits are found."""
    n = len(K)
    free, y = np.ones((1, n), dtype=bool), np.sign(np.random.default_rng(0).normal(size=(1, n)))
    scale, inverses = parts(near, np.full((1, n), ridge), free)
    system = (near.K, near.rows, near.columns, scale, inverses, np.full((1, n), ridge), y, free, np.zeros(1), True)
    x, goal, none = np.empty((1, n)), np.array([1e-6]), np.zeros(1)
    rest = 1000, np.ones(1, dtype=bool), x, x.copy()
    outcomes = (projected_gradients(*system, goal, none, limit, *rest) for limit in range(1, 200))
    return next(limit for limit, (solved, _) in enumerate(outcomes, 1) if solved.all())


def test_a_wide_kernel_takes_fewer_steps_with_it():
    K = Gaussian(0.01)(rows(0, n=300))
    near = Preconditioner.of(K, 0.01)
    plain = Preconditioner(near.unit, near.K, near.G[:0], 1.0, near.kind)
    assert 3 * steps(K, near, 0.01) < steps(K, plain, 0.01)


def test_a_narrow_kernel_too_with_its_eigenvectors_and_not_with_as_many_columns():
    K = Gaussian(0.15)(rows(0, n=400))
    near = Preconditioner.of(K, 0.1)
    G, left = pivoted_cholesky(K, len(near.G))
    columns = Preconditioner(near.unit, near.K, G, left.mean(), near.kind)
    plain = Preconditioner(near.unit, near.K, near.G[:0], 1.0, near.kind)
    assert 2 * steps(K, near, 0.1) < steps(K, plain, 0.1)
    assert 1.3 * steps(K, near, 0.1) < steps(K, columns, 0.1)


@seeds
def test_ridges_make_up_for_small_eigenvalues(seed):
    K = Gaussian(0.05)(rows(seed))
    near = Preconditioner.of(K, 0.1)
    part = near.for_ridges(1.0)
    assert 0 < len(part.G) < len(near.G)
    np.testing.assert_array_equal(part.G, near.G[: len(part.G)])
    left = np.diagonal(K) / near.unit - (part.G**2).sum(axis=0)
    assert part.rest == pytest.approx(left.mean(), rel=1e-6)
    values = np.linalg.eigvalsh(K)[::-1] / near.unit
    assert values[len(part.G)] < 1.5 * USEFUL * (1.0 / near.unit + part.rest)
    assert near.for_ridges(0.0) is near
    assert len(near.for_ridges(1e9).G) == 0
    assert steps(K, part, 1.0) <= steps(K, near, 1.0) + 4


@pytest.mark.parametrize("magnitude", [1e-45, 1e60])
def test_solutions_do_not_depend_on_the_magnitude_of_the_matrix(magnitude):
    """With C in inverse proportion the machine is the same, and K alone would overflow single precision."""
    X = rows(1, n=260)
    y = np.sign(X[:, 0] + 0.3 * X[:, 1] ** 2 - 0.2)
    K = Gaussian(0.05)(X)
    values = []
    for scale in (1.0, magnitude):
        duals = [SquaredHinge().dual(y, 0.5 / scale, np.arange(260) % 4 != k) for k in range(4)]
        starts = np.array([np.where(dual.lower < dual.upper, y, 0.0) / scale for dual in duals])
        tolerance = DualSolver(scale * K).tolerance_of(duals[0])
        near = Preconditioner.of(scale * K, duals[0].ridge.min())
        found, slow = together.by_gradients(scale * K, ChosenRows(near), duals, starts, scale * (starts @ K), tolerance)
        assert not slow.any()
        values.append([solution.u + solution.b for solution in found])
    np.testing.assert_allclose(values[0], values[1], atol=1e-8)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_ridge_that_single_precision_would_lose_is_met_with_double(kind):
    X = rows(2)
    K = (X @ X.T).astype(kind)
    near, single = Preconditioner.of(K, 1e-6), Preconditioner.of(K, 1.0)
    assert near.kind is np.float64
    assert near.K is K
    assert single.kind is np.float32
    assert near.resolves(1.0)
    assert single.resolves(0.5)
    assert not single.resolves(1e-6)


@pytest.mark.parametrize("C", [1e3, 1e6])
def test_small_ridges_on_a_matrix_of_low_rank(C):
    """Coefficients are residuals over the ridge: what tells their signs is small beside the first residual."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.sign(X[:, 0] + rng.normal(size=300))
    K = X @ X.T
    solver, learner = DualSolver(K), SquaredHinge()
    full_dual = learner.dual(y, C, np.ones(300))
    full = solver.solve(full_dual, np.zeros(300), warm=False)
    duals = [learner.dual(y, C, np.arange(300) % 5 != k) for k in range(5)]
    starts = np.array([np.where(dual.lower < dual.upper, full.beta, 0.0) for dual in duals])
    near = Preconditioner.of(K, 1 / (2 * C))
    found, _ = together.by_gradients(K, ChosenRows(near), duals, starts, starts @ K, solver.tolerance_of(full_dual))
    for dual, solution in zip(duals, found):
        assert solution is not None
        expected = DualSolver(K).solve(dual, np.zeros(300), warm=False)
        np.testing.assert_allclose(solution.u + solution.b, expected.u + expected.b, atol=1e-7)
