"""The loops that solve several dual problems side by side, against their twins in NumPy."""

import inspect

import numpy as np
import pytest

from onefit.linalg.pivoted import pivoted_cholesky
from onefit.native import gradients, narrow, panels, schur, sets
from onefit.native import side_twins as twins
from onefit.native import systems as system_loops

from ..learners.machines import MACHINES, learner, random_start, target
from ..oracles.panels import in_panels
from ..oracles.problems import random_gram, row_weights, seeds
from ..oracles.support_vector import gram

pytestmark = pytest.mark.slow  # the inside of the engine, whose values tests/public checks

LOOPS = [
    *(
        narrow.narrow_product,
        narrow.row_products,
        gradients.projected_gradients,
        gradients.invert_each,
        sets.change_sets,
        schur.schur_leaps,
    ),
    *(
        sets.tell_bias,
        gradients.follow_scales,
        panels.fill_panels,
        panels.take_panels,
        panels.panel_product,
        panels.add_row,
    ),
    *(system_loops.take_systems, system_loops.put_steps, system_loops.add_images, system_loops.update_each),
]
biases = pytest.mark.parametrize("bias", [True, False])
machines = pytest.mark.parametrize("machine", MACHINES)


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_the_twin_takes_the_same_arguments(loop):
    compiled = getattr(loop, "py_func", loop)
    twin = getattr(twins, compiled.__name__)
    assert list(inspect.signature(twin).parameters) == list(inspect.signature(compiled).parameters)


@pytest.mark.parametrize("n", [1, 3, 4, 6, 601])
@pytest.mark.parametrize("m", [1, 5, 700, 2048, 4100])
@pytest.mark.parametrize("t", [1, 2, 4, 5, 10])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_narrow_product(n, m, t, kind):
    rng = np.random.default_rng(n + m + t)
    K, B = rng.normal(size=(n, m)).astype(kind), rng.normal(size=(t, m))
    for loop in (narrow.narrow_product, twins.narrow_product):
        out = np.full((t, n), np.nan)
        loop(K, B, out)
        np.testing.assert_allclose(out, B @ K.T.astype(np.float64), atol=1e-11)
        few = np.full((t, n), np.nan, dtype=np.float32)
        loop(K.astype(np.float32), B.astype(np.float32), few)
        np.testing.assert_allclose(few, B @ K.T.astype(np.float64), atol=1e-5 * np.sqrt(m))


@pytest.mark.parametrize("n", [1, 5, 300])
@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 66])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_products_of_some_rows(n, count, kind):
    rng = np.random.default_rng(n + count)
    K, b, rows = rng.normal(size=(n, n)).astype(kind), rng.normal(size=n), rng.integers(n, size=count)
    for loop in (narrow.row_products, twins.row_products):
        out = np.full(count, np.nan)
        loop(K, rows, b, out)
        np.testing.assert_allclose(out, K[rows].astype(np.float64) @ b, atol=1e-11)


@pytest.mark.parametrize("n", [1, 15, 16, 17, 601])
@pytest.mark.parametrize("m", [0, 1, 2, 33, 700])
@pytest.mark.parametrize("t", [1, 2, 3, 4, 5, 6, 7, 13])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_product_with_panels(n, m, t, kind):
    rng = np.random.default_rng(n + m + t)
    K, B = rng.normal(size=(m, n)), rng.normal(size=(t, m))
    for loop in (panels.panel_product, panels.product, twins.panel_product):
        out = np.full((t, n), np.nan, dtype=kind)
        loop(in_panels(K, kind), B.astype(kind), out)
        np.testing.assert_allclose(out, B @ K, atol=(1e-12 if kind is np.float64 else 1e-5) * np.sqrt(m + 1))


@pytest.mark.parametrize("n", [1, 8, 33])
@pytest.mark.parametrize("m", [1, 16, 37])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("from_kind", [np.float64, np.float32])
def test_panels_have_the_entries_of_the_matrix(n, m, kind, from_kind):
    rng = np.random.default_rng(n + m)
    K = rng.normal(size=(m, n)).astype(from_kind)
    expected = ((K - 0.25) / 2.0).astype(kind)
    rows, columns = rng.permutation(m)[: (m + 1) // 2], rng.permutation(n)[: (n + 1) // 2]
    for module in (panels, twins):
        made = panels.empty_panels((m, n), kind)
        module.fill_panels(K, 0.25, 2.0, made)
        np.testing.assert_allclose(twins.dense(made, n), expected, rtol=1e-6)
        assert made.shape[2] * made.itemsize == 64
        assert not twins.dense(made, None)[:, n:].any()
        some = panels.empty_panels((len(rows), len(columns)), kind)
        module.take_panels(made, rows, columns, some)
        np.testing.assert_array_equal(twins.dense(some, len(columns)), twins.dense(made, n)[np.ix_(rows, columns)])
        for matrix in (made, expected):
            total = np.ones(n)
            module.add_row(matrix, m - 1, 3.0, total)
            np.testing.assert_allclose(total, 1.0 + 3.0 * expected[m - 1], rtol=1e-5)


def systems(seed, n=40, t=3, rank=5):
    """K, a preconditioner of it (four arrays), and systems of some problems."""
    rng = np.random.default_rng(seed)
    K, ridge = random_gram(seed, n) / n, rng.uniform(0.5, 1.0, size=(t, n))
    free, G = rng.random((t, n)) < 0.7, pivoted_cholesky(K, rank)[0]
    scale = free / (ridge + rng.uniform(0.1, 1.0, size=(t, 1)))
    inverses = np.linalg.inv([np.eye(rank) + (G * row) @ G.T for row in scale])
    near = in_panels(G), in_panels(G.T), scale, inverses
    return K, near, ridge, rng.normal(size=(t, n)), free, rng.normal(size=t)


@seeds
@pytest.mark.parametrize("rank", [0, 1, 5])
def test_inner_matrices_follow_scales(seed, rank):
    rng = np.random.default_rng(seed)
    H, old = rng.normal(size=(30, rank)), rng.uniform(size=(3, 30)) * (rng.random((3, 30)) < 0.5)
    scale = np.where(rng.random((3, 30)) < 0.5, old * (1 + 1e-13), rng.uniform(size=(3, 30)))
    for loop in (gradients.follow_scales, twins.follow_scales):
        matrices = np.ones((3, rank, rank))
        loop(H, old, scale, 1e-12, matrices)
        for k in range(3):
            np.testing.assert_allclose(matrices[k], 1.0 + H.T @ np.diag(scale[k] - old[k]) @ H, atol=1e-11)


@seeds
@pytest.mark.parametrize("r", [0, 1, 2, 7, 32])
@pytest.mark.parametrize("spread", [0.0, 5.0])
def test_small_matrices_are_inverted_however_they_are_scaled(seed, r, spread):
    """To digits of every entry, as those of preconditioners need: large eigenvalues stand beside small ones."""
    rng = np.random.default_rng(seed)
    Q, size = rng.normal(size=(4, 3 * r + 1, r)), 10.0 ** rng.uniform(-spread, spread, size=r)
    plain = np.eye(r) + Q.transpose(0, 2, 1) @ Q
    for loop in (gradients.invert_each, twins.invert_each):
        matrices = plain * np.outer(size, size)
        loop(matrices)
        np.testing.assert_allclose(matrices * np.outer(size, size), np.linalg.inv(plain), rtol=1e-8, atol=1e-11)


@seeds
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_products_follow_the_coefficients_that_differ(seed, kind):
    rng = np.random.default_rng(seed)
    K, before, which = random_gram(seed, 30).astype(kind), rng.normal(size=(4, 30)), np.array([True, False, True, True])
    beta = np.where(rng.random((4, 30)) < np.array([[0.3], [0.5], [0.0], [1.0]]), rng.normal(size=(4, 30)), before)
    for loop in (system_loops.update_each, twins.update_each):
        u = before @ K.astype(float)
        loop(K, u, beta, before, which)
        np.testing.assert_allclose(u, np.where(which[:, None], beta, before) @ K.astype(float), atol=1e-5)


@seeds
@biases
@pytest.mark.parametrize("rank", [0, 1, 5])
def test_conjugate_gradients_solve_the_systems_of_the_free(seed, bias, rank):
    K, near, ridge, right, free, missing = systems(seed, rank=rank)
    for loop in (gradients.projected_gradients, twins.projected_gradients):
        x = np.full_like(right, np.nan)
        parts = (*near, ridge, right, free, missing, bias, np.full(3, 1e-12), np.zeros(3))
        image = np.full_like(right, np.nan)
        solved, needed = loop(K, *parts, 60, 100, np.zeros(3, dtype=bool), x, image)
        assert solved.all()
        assert not needed.any()
        np.testing.assert_allclose(image, x @ K, atol=1e-10)
        for k in range(len(x)):
            rows = np.flatnonzero(free[k])
            M = K[np.ix_(rows, rows)] + np.diag(ridge[k, rows])
            if bias:
                M = np.block([[M, np.ones((len(rows), 1))], [np.ones((1, len(rows))), np.zeros((1, 1))]])
            expected = np.linalg.solve(M, np.r_[right[k, rows], [missing[k]] * bias])[: len(rows)]
            np.testing.assert_allclose(x[k, rows], expected, atol=1e-10)
            assert (x[k, ~free[k]] == 0).all()


@seeds
@biases
@pytest.mark.parametrize("rank", [0, 5])
@pytest.mark.parametrize("patient", [False, True])
@pytest.mark.parametrize(("rough", "limit", "look"), [(1e-2, 60, 100), (0.0, 4, 100), (0.0, 12, 3), (0.0, 60, 3)])
def test_conjugate_gradients_stop_where_the_twin_does(seed, bias, rank, rough, limit, look, patient):
    K, near, ridge, right, free, missing = systems(seed, rank=rank)
    found, patient, goal = [], np.full(3, patient), np.array([1e-10, 1e-9, 1e-11])
    rough = np.array([rough, rough / 10, rough * 2])
    for loop in (gradients.projected_gradients, twins.projected_gradients):
        x = np.empty_like(right)
        done, needed = loop(K, *near, ridge, right, free, missing, bias, goal, rough, limit, look, patient, x, x.copy())
        found.append((done, needed, x))
    solved = found[0][0]
    np.testing.assert_array_equal(solved, found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-6)
    assert (found[0][1].max() > 0) == (look == 3)
    np.testing.assert_allclose(found[0][2][solved], found[1][2][solved], atol=1e-7)


@biases
@pytest.mark.parametrize("look", [1, 4, 100])
@pytest.mark.parametrize("limit", [4, 12, 60])
def test_the_patient_do_not_go_on_alone(bias, look, limit):
    K, near, ridge, right, free, missing = systems(1, rank=0)
    goal, patient, found = np.array([1e-12, 1e-3, 1e-12]), np.array([True, False, True]), []
    for loop in (gradients.projected_gradients, twins.projected_gradients):
        x, image = np.empty_like(right), np.empty_like(right)
        parts = (K, *near, ridge, right, free, missing, bias, goal, np.zeros(3), limit, look, patient, x, image)
        found.append((*loop(*parts), x))
        np.testing.assert_allclose(image, x @ K, atol=1e-10)
    solved = found[0][0]
    np.testing.assert_array_equal(solved, found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-6)
    np.testing.assert_allclose(found[0][2][solved], found[1][2][solved], atol=1e-9)
    alone = np.empty_like(right)
    gradients.projected_gradients(*parts[:-3], np.zeros(3, dtype=bool), alone, image)
    assert np.allclose(found[0][2], alone, atol=1e-9) == (look == 100 or limit == 4)
    assert found[0][0].all() == (limit == 60 or (look < 100 and limit == 12))


@biases
def test_only_the_patient_solve_what_seems_to_need_many_steps(bias):
    K, near, ridge, right, free, missing = systems(0, rank=0)
    parts = (K, *near, ridge, right, free, missing, bias, np.full(3, 1e-10), np.full(3, 1e-1), 60)
    for loop in (gradients.projected_gradients, twins.projected_gradients):
        x = np.empty_like(right)
        assert loop(*parts, 1, np.ones(3, dtype=bool), x, x.copy())[0].all()
        solved, needed = loop(*parts[:-1], 5, 1, np.array([True, False, True]), x, x.copy())
        assert not solved.any()
        assert (needed > 5).all()


@seeds
@biases
def test_conjugate_gradients_in_single_precision(seed, bias):
    K, near, ridge, right, free, missing = systems(seed)
    G = twins.dense(near[0], len(K))
    single = [in_panels(part, np.float32) for part in (K, G, G.T)]
    x, image, expected = np.empty_like(right), np.empty_like(right), np.empty_like(right)
    parts, rest = (*near[2:], ridge, right, free, missing, bias), (60, 100, np.zeros(3, dtype=bool))
    solved, _ = gradients.projected_gradients(*single, *parts, np.zeros(3), np.full(3, 1e-5), *rest, x, image)
    assert solved.all()
    precise = np.full(3, 1e-13), np.zeros(3)
    twins.projected_gradients(K, *near[:2], *parts, *precise, *rest, expected, expected.copy())
    np.testing.assert_allclose(x, expected, atol=1e-4 * np.abs(expected).max())
    np.testing.assert_allclose(image, x @ K, atol=1e-5 * np.abs(image).max())


def test_conjugate_gradients_do_not_call_nan_a_solution():
    K, near, ridge, right, free, missing = systems(0)
    right[1, np.flatnonzero(free[1])[0]] = np.nan
    x = np.empty_like(right)
    for loop in (gradients.projected_gradients, twins.projected_gradients):
        parts = (*near, ridge, right, free, missing, True, np.full(3, 1e-10), np.zeros(3), 60, 8)
        for patient in ([False] * 3, [True] * 3, [False, True, False]):
            assert not loop(K, *parts, np.array(patient), x, x.copy())[0][1]


def batch(machine, bias, seed, n=40, t=3):
    """(K, the problem's parts, random coefficients, free sets and sides) of some problems."""
    K, X = gram("narrow", seed, n)
    duals = []
    for k in range(t):
        weights = np.where(np.arange(n) % t == k, 0.0, row_weights(seed, n))
        duals.append(learner(machine, bias).dual(target(machine, seed, X), 2.0, weights))
    beta = np.array([random_start(dual, seed + k) for k, dual in enumerate(duals)])
    free = np.array([dual.free(start) for dual, start in zip(duals, beta)])
    lower, upper, ridge = (np.array([getattr(d, name) for d in duals]) for name in ("lower", "upper", "ridge"))
    return K, duals[0].target, duals[0].epsilon, lower, upper, ridge, beta, free, np.where(beta > 0, 1.0, -1.0)


@seeds
@machines
@biases
def test_sets_change_as_in_the_twin(seed, machine, bias):
    K, y, epsilon, lower, upper, ridge, before, free, side = batch(machine, bias, seed)
    moved = before + np.random.default_rng(seed).normal(size=before.shape) * free
    outcomes = []
    for loop in (sets.change_sets, twins.change_sets):
        beta, u, sets_, sides = moved.copy(), moved @ K, free.copy(), side.copy()
        b, residual, changes = np.empty(3), np.empty(3), np.empty(3, dtype=np.intp)
        loop(K, ridge, y, epsilon, lower, upper, bias, 1e-9, before, beta, u, sets_, sides, b, residual, changes)
        np.testing.assert_allclose(u, beta @ K, atol=1e-11)
        assert ((beta >= lower) & (beta <= upper)).all()
        outcomes.append((beta, sets_, sides, b, residual, changes))
    for mine, twin in zip(*outcomes):
        np.testing.assert_allclose(mine, twin, atol=1e-11)
    assert outcomes[0][-1].sum() > 0


@seeds
@machines
@pytest.mark.parametrize("all_rows", [True, False])
def test_systems_on_some_rows(seed, machine, all_rows):
    K, y, epsilon, _, _, ridge, beta, free, side = batch(machine, True, seed)
    rng, u, scales = np.random.default_rng(seed), beta @ K, np.random.default_rng(seed).uniform(size=beta.shape)
    rows = np.arange(40) if all_rows else np.flatnonzero(rng.random(40) < 0.6)
    missing = np.array([0.1, 1e6, 0.0])
    free[2] = False  # nothing to solve
    for module in (system_loops, twins):
        D, scale, right = np.full((3, 3, len(rows)), np.nan)
        taken = np.zeros((3, len(rows)), dtype=bool)
        parts = 4.0, y, epsilon, u, beta, side, missing, ridge, free, scales, D, taken, scale, right
        size = module.take_systems(rows, *parts)
        np.testing.assert_allclose(D, ridge[:, rows] / 4)
        np.testing.assert_array_equal(taken, free[:, rows])
        np.testing.assert_array_equal(scale, scales[:, rows])
        assert (size[1], size[2]) == (1e6, 1.0)
        for k in range(3):
            expected = [-(u[k, i] + ridge[k, i] * beta[k, i] - y[i] + side[k, i] * epsilon) * free[k, i] for i in rows]
            np.testing.assert_allclose(4 * size[k] * right[k], expected, atol=1e-9)
        assert np.abs(right[0]).max() == pytest.approx(1.0)


@seeds
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_steps_on_some_rows(seed, kind):
    rng = np.random.default_rng(seed)
    rows, which = np.array([1, 2, 5]), np.array([0, 2])
    x, size, image = rng.normal(size=(3, 3)), rng.uniform(size=3), rng.normal(size=(2, 3)).astype(kind)
    factor, constant, old = rng.normal(size=2), rng.normal(size=2), rng.normal(size=(3, 7))
    for module in (system_loops, twins):
        beta, u = old.copy(), old.copy()
        length, total = module.put_steps(rows, x, size, beta)
        module.add_images(which, rows, image, factor, constant, u)
        for k in range(3):
            assert length[k] == pytest.approx(np.sqrt((x[k] ** 2).sum()))
            assert total[k] == pytest.approx(x[k].sum())
            moved = np.zeros(7)
            moved[rows] = size[k] * x[k]
            np.testing.assert_allclose(beta[k], old[k] + moved)
        for k, problem in enumerate(which):
            moved[rows] = factor[k] * image[k] + constant[k]
            np.testing.assert_allclose(u[problem], old[problem] + moved, rtol=1e-6)
        np.testing.assert_array_equal(u[1], old[1])


@seeds
@machines
def test_a_bias_is_told_by_coefficients_away_from_bounds(seed, machine):
    _, _, epsilon, lower, upper, _, beta, free, _ = batch(machine, True, seed)
    for loop in (sets.tell_bias, twins.tell_bias):
        told = loop(epsilon, lower, upper, beta, free)
        assert told.tolist() == free.any(axis=1).tolist()
        assert not loop(epsilon, lower, upper, beta, np.zeros_like(free)).any()
        nearly = np.where(np.isfinite(upper), upper, lower)
        nearly = np.where(free, nearly * (1 - 1e-12), 0.0)  # at most that far from an end
        assert not loop(epsilon, lower, upper, nearly, free).any()
        assert told.all()


@seeds
@machines
@biases
@pytest.mark.parametrize("max_leaps", [1, 2, 20])
@pytest.mark.parametrize("room", [0, 60])
def test_leaps_are_those_of_dense_systems(seed, machine, bias, max_leaps, room):
    """Rows of the base come to rest and become free again, and so do others."""
    K, y, epsilon, *parts = batch(machine, bias, seed)
    lower, upper, ridge, beta, free, side = (part[0] for part in parts)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(40)[:36]
    base, known = rows[:24], rows[24:]
    M = K + float(bias) + np.diag(ridge + 1e-9)
    P = np.linalg.inv(M[np.ix_(base, base)])
    Q = M[np.ix_(known, base)] @ P
    S = M[np.ix_(known, known)] - Q @ M[np.ix_(base, known)]
    gradient = (K @ beta + ridge * beta - y)[rows]
    right = (-(gradient + epsilon * side[rows]) * free[rows])[:24]
    resting = np.flatnonzero(~free[base])
    q = len(resting)
    outcomes = []
    for loop in (schur.schur_leaps, twins.schur_leaps):
        R, U = np.zeros(min(q + room, 24), dtype=np.intp), np.zeros((min(q + room, 24), min(q + room, 24)))
        R[:q], U[:q, :q] = resting, np.linalg.cholesky(P[np.ix_(resting, resting)]).T
        state = [part[rows] for part in (beta, free, side)]
        known_parts = (P, P.sum(axis=0), Q, Q.sum(axis=1), S, right.copy(), P @ right, Q @ right, gradient, epsilon)
        missing = -float(beta.sum()) if bias else 0.0
        possible = loop(*known_parts, lower[rows], upper[rows], bias, missing, 1e-9, *state, R, q, U, max_leaps)
        outcomes.append((possible, *state))
    (possible, *mine), (other, *twin) = outcomes
    if room or possible:
        assert possible == other
        for one, another in zip(mine, twin):
            np.testing.assert_allclose(one, another, atol=1e-7)
