"""Which rows conjugate gradients are on, and when their part of K is taken anew."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from onefit.core import Folds, Problem, Targets, Workspace
from onefit.kernels import Gaussian
from onefit.learners import group
from onefit.learners.chosen_rows import ChosenRows
from onefit.learners.hinge import Hinge
from onefit.learners.preconditioner import Preconditioner
from onefit.learners.squared_hinge import SquaredHinge
from onefit.native.side_twins import dense

N = 200


@pytest.fixture(params=[0.1, 1e-9], ids=["single", "double"])
def chosen(request):
    X = np.random.default_rng(0).normal(size=(N, 5))
    return ChosenRows(Preconditioner.of(Gaussian(0.01)(X), request.param))


def first(count):
    return np.arange(N) < count


def check(chosen, rows):
    """The parts are those of the rows."""
    K = chosen.near.K if chosen.near.K.ndim == 2 else dense(chosen.near.K, N)
    np.testing.assert_array_equal(chosen.rows, rows)
    np.testing.assert_array_equal(chosen.left_out, np.setdiff1d(np.arange(N), rows))
    parts = [(chosen.K, rows)] + [(chosen.others, chosen.left_out)] * (len(rows) < N)
    for part, columns in parts:
        part = part.T if part.ndim == 2 else dense(part, len(columns))
        np.testing.assert_array_equal(part, K[np.ix_(rows, columns)])


def test_both_precisions_are_tried(chosen, request):
    assert (chosen.near.kind is np.float32) == ("single" in request.node.name)


def test_rows_that_are_wanted_are_there(chosen):
    wanted = np.random.default_rng(1).random(N) < 0.6
    assert chosen.cover(wanted, 10, anew=True)
    check(chosen, np.flatnonzero(wanted))


def test_rows_join_those_of_the_same_problems(chosen):
    chosen.cover(first(100), 10, anew=True)
    assert not chosen.cover(first(50), 10, anew=False)
    assert chosen.cover(~first(160), 10, anew=False)
    check(chosen, np.r_[0:100, 160:N])


def test_other_problems_use_rows_that_are_chosen_if_these_are_few_more(chosen):
    chosen.cover(first(100), 10, anew=True)
    K = chosen.K
    assert not chosen.cover(first(96), 10, anew=True)
    assert chosen.K is K
    check(chosen, np.arange(100))
    assert chosen.cover(first(80), 10, anew=True)
    check(chosen, np.arange(80))
    assert chosen.cover(~first(110), 10, anew=True)
    check(chosen, np.arange(110, N))


def test_one_problem_uses_them_however_many_they_are(chosen):
    chosen.cover(first(100), 10, anew=True)
    assert not chosen.cover(first(20), 1, anew=True)
    check(chosen, np.arange(100))


@pytest.mark.parametrize(("problems", "most"), [(10, 190), (1, 140)])
def test_nothing_is_copied_where_nearly_all_rows_are_wanted(chosen, problems, most):
    chosen.cover(first(most), problems, anew=True)
    check(chosen, np.arange(most))
    chosen.release()
    assert chosen.cover(first(most + 1), problems, anew=True)
    check(chosen, np.arange(N))
    assert chosen.K is chosen.near.K
    assert not chosen.cover(first(N), problems, anew=True)


def test_what_was_released_is_taken_again(chosen):
    chosen.cover(first(100), 10, anew=True)
    chosen.release()
    assert chosen.K.size == 0
    assert chosen.cover(first(100), 10, anew=True)
    check(chosen, np.arange(100))


@pytest.mark.parametrize(
    "learner", [SquaredHinge(), SquaredHinge(bias=False), Hinge()], ids=lambda learner: learner.name
)
def test_parts_are_kept_from_penalty_to_penalty_unless_bounds_follow_it(monkeypatch, learner):
    """Values do not depend on it."""
    rng, taken, between = np.random.default_rng(0), [], Preconditioner.between
    X = rng.normal(size=(400, 8))
    y, by_gradients = np.sign(X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=400)), group.by_gradients

    def spy(near, rows, others):
        taken.append(len(rows))
        return between(near, rows, others)

    def heldout():
        taken.clear()
        ws = Workspace(Problem(X, Folds.from_splits(KFold(10).split(X), 400)), Gaussian(0.1))
        held = learner.heldout(ws, Targets(y[:, None]), 2.0 ** np.arange(-1, 7))
        assert not held.failed.any()
        return held.test, [count for count in taken if count > 0]

    def forgetful(K, chosen, *parts):
        chosen.release()
        return by_gradients(K, chosen, *parts)

    monkeypatch.setattr(Preconditioner, "between", spy)
    kept, few = heldout()
    monkeypatch.setattr(group, "by_gradients", forgetful)
    anew, many = heldout()
    if isinstance(learner, SquaredHinge):
        assert len(few) < 0.8 * len(many)
        assert few[-1] < 0.95 * few[0]  # rows are left where fewer are free
    else:
        assert few == many
    for part, other in zip(kept, anew):
        np.testing.assert_allclose(part, other, atol=1e-8)
