"""Starts from the last two solutions of a split, and searches that use them, against solving from nothing."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from onefit.core import Folds, Problem, Targets, Workspace
from onefit.kernels import Gaussian
from onefit.learners import column
from onefit.learners.dual import Solution
from onefit.learners.dual_solver import DualSolver
from onefit.learners.foresight import Foresight
from onefit.learners.squared_hinge import SquaredHinge

PENALTIES = 4.0 ** np.arange(-2, 7)


def rows(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    return X, np.sign(np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.4 * rng.normal(size=n))


def solution(beta):
    beta = np.array(beta, dtype=float)
    return Solution(beta, 2 * beta, 0.0, 0.0, True)


def kept(*steps, wrong=()):
    """A foresight that was told of solutions (C, {split: coefficients})."""
    ahead = Foresight()
    for C, coefficients in steps:
        ahead.keep(C, {k: solution(beta) for k, beta in coefficients.items()}, list(wrong))
    return ahead


def test_the_line_is_linear_in_the_ridge():
    slope, limit = np.array([1.0, -2.0, 0.5, 3.0]), np.array([4.0, 5.0, 6.0, 7.0])
    at = lambda C: limit + slope / C  # noqa: E731
    ahead = kept((1.0, {3: at(1.0)}), (2.0, {3: at(2.0)}))
    beta, image = ahead.line(3, 10.0)
    np.testing.assert_allclose(beta, at(10.0))
    np.testing.assert_allclose(image, 2 * at(10.0))


def test_it_is_trusted_where_fewer_coefficients_change_than_the_full_solution_had_wrong():
    """One of four changes between the last two; the ridge goes on by a quarter of the way: half a one is expected."""
    steps = (1.0, {0: [1, 1, 0, 1]}), (4.0, {0: [1, 1, 1, 1]})
    right, wrong = kept(*steps, wrong=[0]), kept(*steps, wrong=[1])
    assert wrong.changes(16.0) == pytest.approx(0.5)
    assert wrong.trusted(16.0)
    assert not right.trusted(16.0)
    assert not wrong.trusted(4.0)
    assert not wrong.trusted(2.0)


@pytest.mark.parametrize(
    "steps",
    [
        [(1.0, {0: [1, 1, 0, 1]})],
        [(4.0, {0: [1, 1, 0, 1]}), (4.0, {0: [1, 1, 1, 1]})],
        [(4.0, {0: [1, 1, 0, 1]}), (1.0, {0: [1, 1, 1, 1]})],
        [(1.0, {0: [1, 1, 0, 1]}), (4.0, {0: [1, 1, 1, 1], 1: [1, 1, 1, 1]})],
        [(4.0, {0: [1, 1, 1, 1]}), (4.0 * (1 + 1e-9), {0: [1, 1, 1, 1]})],
        [(7.0, {0: [1, 1, 1, 1]}), (np.nextafter(7.0, 8.0), {0: [1, 1, 1, 1]})],
    ],
)
def test_it_is_not_without_two_penalties_in_order_and_apart_and_the_same_splits(steps):
    assert not kept(*steps, wrong=[4]).trusted(16.0)


@pytest.mark.parametrize("gamma", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale_penalty", [False, True])
def test_values_are_those_of_solving_every_split_from_nothing(gamma, bias, weighted, scale_penalty, monkeypatch):
    X, y = rows(0, 330)
    folds = Folds.from_splits(KFold(7).split(X), len(y))
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else None
    ahead = []
    honest = column.Column._solve_ahead

    def counted(self, numbers, C):
        for item in honest(self, numbers, C):
            ahead.append(C)
            yield item

    monkeypatch.setattr(column.Column, "_solve_ahead", counted)
    ws, learner = Workspace(Problem(X, folds), Gaussian(gamma)), SquaredHinge(bias=bias)
    parts = learner.heldout(ws, Targets(y[:, None], weights), PENALTIES, scale_penalty=scale_penalty).test
    assert len(ahead) >= 7
    K = Gaussian(gamma)(X)
    for fold, part in zip(folds, parts):
        trained = np.ones(len(y)) if weights is None else weights.copy()
        trained[fold.removed] = 0.0
        for k, C in enumerate(PENALTIES):
            growth = len(y) / len(fold.train) if scale_penalty else 1.0
            expected = DualSolver(K).solve(learner.dual(y, C * growth, trained), np.zeros(len(y)), warm=False)
            np.testing.assert_allclose(part[k, :, 0], expected.u[fold.test] + expected.b, atol=1e-7)


def test_a_split_that_is_not_solved_from_its_line_is_solved_from_the_full_solution(monkeypatch):
    X, y = rows(2, 330)
    folds = Folds.from_splits(KFold(5).split(X), len(y))
    run = lambda: SquaredHinge().heldout(  # noqa: E731
        Workspace(Problem(X, folds), Gaussian(0.3)), Targets(y[:, None]), PENALTIES
    )
    expected, honest = run().test, column.Column._solve_ahead

    for missing in ({2}, {0, 1, 2, 3, 4}):
        monkeypatch.setattr(
            column.Column,
            "_solve_ahead",
            lambda self, numbers, C, missing=missing: (i for i in honest(self, numbers, C) if i[0] not in missing),
        )
        for part, other in zip(run().test, expected):
            assert np.isfinite(part).all()
            np.testing.assert_allclose(part, other, atol=1e-7)


@pytest.mark.parametrize(
    "penalties",
    [
        [0.25, 1.0, 2.0, 2.0 * (1 + 1e-13), 64.0],
        [0.25, 1.0, 2.0, 2.0 * (1 + 1e-6), 64.0, 65.0],
        [1.0, 4.0, 7.0, np.nextafter(7.0, 8.0), 30.0],
        [1.0, 1.4, 1.7, 1e3, 1.1e3, 1e6],
        [64.0, 16.0, 16.0, 4.0, 1.0, 64.0],
        list(np.geomspace(1, 100, 60)),
    ],
    ids=["nearly equal", "close", "the same ridge", "uneven", "unsorted", "many"],
)
def test_products_with_the_matrix_stay_precise_along_any_path(penalties):
    """Rounding of two nearly equal solutions must not be carried to a third."""
    X, y = rows(3, 330)
    folds = Folds.from_splits(KFold(5).split(X), len(y))
    parts = (
        SquaredHinge()
        .heldout(Workspace(Problem(X, folds), Gaussian(0.3)), Targets(y[:, None]), np.array(penalties))
        .test
    )
    K, zeros = Gaussian(0.3)(X), np.zeros(len(y))
    for fold, part in zip(folds, parts):
        trained = np.ones(len(y))
        trained[fold.removed] = 0.0
        for k, C in enumerate(penalties):
            expected = DualSolver(K).solve(SquaredHinge().dual(y, C, trained), zeros, warm=False)
            np.testing.assert_allclose(part[k, :, 0], expected.u[fold.test] + expected.b, atol=1e-9)
