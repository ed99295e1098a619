"""Time budgets: what they mean, and in which order a search uses them."""

import time
from itertools import pairwise

import numpy as np
import pytest

from onefit.search.deadline import Deadline, parse_seconds
from onefit.search.tasks import Row, coarse_to_fine


@pytest.mark.parametrize(
    ("budget", "seconds"),
    [(60, 60), (0.5, 0.5), ("60", 60), ("60s", 60), (" 5 M ", 300), ("5min", 300), ("1.5h", 5400), ("200ms", 0.2)],
)
def test_budgets_are_seconds(budget, seconds):
    assert parse_seconds(budget) == pytest.approx(seconds)


@pytest.mark.parametrize("budget", [0, -1, float("nan"), True, "", "s", "1d", "-5s", "1e3", None, [1]])
def test_what_is_no_time_is_refused(budget):
    with pytest.raises(ValueError, match="time_budget"):
        parse_seconds(budget)


def test_a_deadline_waits_for_the_first_score():
    deadline = Deadline(1e-9)
    time.sleep(1e-3)
    assert not deadline.passed()
    assert deadline.passed(scored=True)
    deadline.note_scores([Row(0, {"score": np.array([np.nan])})])
    assert not deadline.passed()
    deadline.note_scores([Row(1, {"score": np.array([0.5])})])
    assert deadline.passed()
    generous = Deadline(1e6)
    generous.note_scores([Row(1, {"score": np.array([0.5])})])
    assert not generous.passed()


@pytest.mark.parametrize("count", [0, 1, 2, 3, 8, 31, 100])
def test_every_beginning_of_the_order_is_spread(count):
    """The largest gap between the first k numbers is at most about twice what it has to be."""
    order = coarse_to_fine(count)
    assert sorted(order) == list(range(count))
    for k in range(1, count + 1):
        seen = sorted([-1, *order[:k], count])
        widest = max(b - a for a, b in pairwise(seen))
        assert widest <= 2 * -(-(count + 1) // (k + 1)) + 1
