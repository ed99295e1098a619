"""Starts of a split from its last two solutions."""

import numpy as np
import pytest

from onefit.learners.dual import Solution
from onefit.learners.foresight import Foresight

pytestmark = pytest.mark.slow  # the inside of the engine, whose values tests/public checks


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
