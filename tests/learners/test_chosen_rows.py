"""Which rows conjugate gradients are on, and when their part of K is taken anew."""

import numpy as np
import pytest

from onefit.kernels import Gaussian
from onefit.learners.chosen_rows import ChosenRows
from onefit.learners.preconditioner import Preconditioner
from onefit.native.side_twins import dense

pytestmark = pytest.mark.slow  # the inside of the engine, whose values tests/public checks

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
