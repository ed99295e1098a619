"""Which classes may win for values within intervals, against all signs that the values can have."""

from itertools import combinations, product

import numpy as np
import pytest

from onefit.data.coding import PairCoding

from ..oracles.problems import seeds

NAMES = np.array(["ant", "bee", "cat", "dog", "eel"])
INTERVALS = [(-2.0, -1.0), (1.0, 2.0), (-1.0, 1.0), (-1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (-np.inf, np.inf)]


def votes_of(chosen, k):
    """How many votes each class has if ``chosen`` says which pairs go to the second class."""
    votes = [0] * k
    for (i, j), second in zip(combinations(range(k), 2), chosen):
        votes[j if second else i] += 1
    return votes


def possible_choices(lower, upper):
    """All combinations of whether pairs go to the second class: they do if a value is not negative."""
    return product(*[[s for s in (False, True) if (high >= 0 if s else low < 0)] for low, high in zip(lower, upper)])


def random_box(seed, k, rows):
    """Intervals (rows, pairs) of all kinds."""
    rng = np.random.default_rng(seed)
    return np.array(INTERVALS)[rng.integers(len(INTERVALS), size=(rows, k * (k - 1) // 2))].transpose(2, 0, 1)


def of_present(k, kept):
    """The columns of the pairs of some classes, literally."""
    return [c for c, (i, j) in enumerate(combinations(range(k), 2)) if i in kept and j in kept]


@seeds
@pytest.mark.parametrize(("k", "kept"), [(2, (0, 1)), (3, (0, 1, 2)), (4, (0, 1, 2, 3)), (5, (0, 1, 2, 3, 4)),
                                          (3, (0, 2)), (4, (0, 2, 3)), (5, (1, 2, 4))])  # fmt: skip
def test_every_class_that_can_be_predicted_can_win(seed, k, kept):
    coding = PairCoding(NAMES[:k], True)
    rows = 12 if len(kept) == 5 else 60
    lower, upper = random_box(seed, k, rows)
    present = None if len(kept) == k else NAMES[list(kept)]
    fewest, most = coding.vote_bounds(lower, upper, present)
    possible = coding.can_win(lower, upper, present)
    assert possible.shape == fewest.shape == most.shape == (rows, len(kept))
    columns = of_present(k, kept)
    sure = 0
    for row in range(rows):
        votes = np.array([votes_of(c, len(kept)) for c in possible_choices(lower[row, columns], upper[row, columns])])
        np.testing.assert_array_equal(fewest[row], votes.min(axis=0))
        np.testing.assert_array_equal(most[row], votes.max(axis=0))
        winners = np.unique(votes.argmax(axis=1))  # the first of equals
        assert possible[row, winners].all()
        sure += possible[row].sum() == 1
        if len(votes) == 1:
            assert possible[row].sum() == 1
        if len(kept) == 2:
            assert possible[row].sum() == len(winners)
    assert sure > 0 or len(kept) == 5


@seeds
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("break_ties", [False, True])
def test_the_label_of_any_values_within_the_box_can_win(seed, k, break_ties):
    """Confidences, which break ties, included; and at the ends of the intervals, where a value may be zero."""
    coding = PairCoding(NAMES[:k], True, break_ties=break_ties)
    rng = np.random.default_rng(seed)
    lower, upper = random_box(seed + 10, k, 60)
    possible = coding.can_win(lower, upper)
    low, high = np.maximum(lower, -5.0), np.minimum(upper, 5.0)
    ruled_out = 0
    for draw in range(40):
        share = rng.integers(2, size=low.shape) if draw % 2 else rng.uniform(size=low.shape)
        values = low + share * (high - low)
        for row, v in enumerate(values):
            strict = break_ties and k > 2  # scikit-learn's decision_function gives a zero to the first class
            scores = np.array(votes_of(v > 0 if strict else v >= 0, k), dtype=float)
            if strict:
                sums = np.zeros(k)
                for (i, j), value in zip(combinations(range(k), 2), v):
                    sums[i] -= value
                    sums[j] += value
                scores += sums / (3 * (np.abs(sums) + 1))
            assert possible[row, scores.argmax()], (lower[row], upper[row], v)
            ruled_out += k - possible[row].sum()
    assert ruled_out > 0
