"""Products and solutions that release the interpreter's lock: what NumPy gives, compiled or by SciPy."""

import numpy as np
import pytest

from onefit.linalg import unlocked

FORMS = ["", "_"]  # compiled where there was a compiler, and SciPy's


@pytest.fixture(params=FORMS, ids=["compiled", "scipy"])
def form(request):
    return lambda name: getattr(unlocked, request.param + name)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("rows", "width"), [(1, 1), (7, 3), (3, 7), (200, 40)])
def test_squares_are_added_to_the_upper_triangle(form, rows, width, seed):
    rng = np.random.default_rng(seed)
    Z, G = rng.normal(size=(rows + 2, width)), rng.normal(size=(width, width))
    Z.flags.writeable = False
    expected = np.triu(G + Z[1:-1].T @ Z[1:-1]) + np.tril(G, -1)  # what is below the diagonal stays
    form("add_squares")(G, Z[1:-1])
    np.testing.assert_allclose(G, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("rows", "width"), [(1, 1), (7, 3), (3, 7), (200, 40)])
def test_rows_are_divided_by_a_triangle(form, rows, width, seed):
    rng = np.random.default_rng(seed)
    lower = np.asfortranarray(np.tril(rng.normal(size=(width, width))) + 5 * np.eye(width))
    lower.flags.writeable = False
    K = rng.normal(size=(rows, width))
    expected = np.array([np.linalg.solve(lower, row) for row in K])
    form("divide_rows")(lower, K)
    np.testing.assert_allclose(K, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("width", "columns"), [(1, 1), (5, 3), (60, 1)])
def test_positive_systems_are_solved(form, width, columns, seed):
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(width, width))
    A, B = np.asfortranarray(F @ F.T + np.eye(width)), np.asfortranarray(rng.normal(size=(width, columns)))
    expected = np.linalg.solve(A, B)
    assert form("solve_positive")(A, B)
    np.testing.assert_allclose(B, expected, rtol=1e-9, atol=1e-12)


def test_what_is_not_positive_definite_is_told_and_the_targets_are_kept(form):
    A, B = np.diag([1.0, -1.0, 2.0]).T, np.asfortranarray(np.ones((3, 2)))
    assert not form("solve_positive")(np.asfortranarray(A), B)
    np.testing.assert_array_equal(B, 1.0)


def test_nothing_to_do(form):
    G = np.ones((3, 3))
    form("add_squares")(G, np.empty((0, 3)))
    np.testing.assert_array_equal(G, 1.0)
