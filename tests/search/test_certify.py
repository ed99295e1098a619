"""Bounds of mean scores from intervals of held-out values, against scores of values within them."""

from itertools import combinations, product
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import get_scorer
from sklearn.svm import SVC, SVR

from onefit.data import Folds
from onefit.data.coding import Pairs, code_targets
from onefit.machines import Exactness
from onefit.resources import Ledger
from onefit.search.certify import Certify, LabelReferee, ValueReferee
from onefit.search.scorers import TWINS
from onefit.search.scoring import Scoring

from ..oracles.problems import partition, seeds

UNEQUAL = (2, 9, 4, 3)
REGRESSION = sorted(set(TWINS) - {"accuracy"})


def refereed(y, splits, *, scoring=None, weights=None, prune=False, proved=-np.inf, tolerance=0.1, break_ties=False):
    """(referee, present classes of each split) as a search would make it."""
    classifier = y.dtype.kind != "f"
    coded = code_targets(y, classifier, Pairs("ovr", break_ties) if classifier else None)
    folds = Folds.from_splits(splits, len(y))
    estimator = SVC() if classifier else SVR()
    params = {} if weights is None else {"sample_weight": weights}
    built = Scoring.build(estimator, scoring, np.nan, lambda name, scorer, multi: params)
    present = coded.present_classes(folds, None)
    settings = SimpleNamespace(folds=folds, scoring=built, present=present)
    return Certify(tolerance, prune, proved).referee(coded, settings, 2, Ledger()), present


def leave_one_out(n):
    return [(np.delete(np.arange(n), i), np.array([i])) for i in range(n)]


def intervals(rng, n, columns):
    """Some sure signs, some open ones, zeros among them (n, columns)."""
    centre, width = rng.normal(size=(n, columns)), rng.choice([0.0, 0.3, 3.0], size=(n, columns))
    lower, upper = centre - width, centre + width
    lower[rng.random(lower.shape) < 0.05] = 0.0
    return np.minimum(lower, upper), np.maximum(lower, upper)


def tell(referee, k, splits, lower, upper):
    """Hand all intervals to the referee."""
    for column in range(referee.columns):
        for number, (_, test) in enumerate(splits):
            referee.still_open(k, column, [number], [(lower[test, column], upper[test, column])], 0)


def label(values, classes, all_classes):
    """The label by votes, literally: pairs of all classes, of which some were trained on."""
    votes = dict.fromkeys(classes, 0)
    for (i, j), value in zip(combinations(all_classes, 2), values):
        if i in votes and j in votes:
            votes[j if value >= 0 else i] += 1
    return max(classes, key=lambda c: (votes[c], -list(classes).index(c)))


@seeds
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("splits", "classes"),
    [*product(["unequal", "leave-one-out"], [2, 3, 4]), ("lacking", 3), ("lacking", 4)],
)
def test_bounds_of_accuracies(seed, classes, weighted, splits):
    rng = np.random.default_rng(seed)
    n, best = 18, 1.0
    y = np.r_[np.arange(classes), rng.integers(classes, size=n - classes)]
    if splits == "lacking":
        best = 0.75  # nobody knows the class of the first split
        splits = [(np.flatnonzero(y != 1), np.flatnonzero(y == 1)), *partition(seed, n, UNEQUAL)[1:]]
    else:
        splits = partition(seed, n, UNEQUAL) if splits == "unequal" else leave_one_out(n)
    weights = rng.uniform(0.2, 3.0, size=n) if weighted else None
    referee, present = refereed(y, splits, weights=weights)
    assert isinstance(referee, LabelReferee)
    lower, upper = intervals(rng, n, classes * (classes - 1) // 2)
    assert referee.bounds(1) == (0.0, pytest.approx(best))
    tell(referee, 1, splits, lower, upper)
    least, most = referee.bounds(1)
    seen = []
    for draw in range(20):
        share = rng.integers(2, size=lower.shape) if draw % 2 else rng.uniform(size=lower.shape)
        values = lower + share * (upper - lower)
        scores = []
        for (_, test), found in zip(splits, present):
            known = np.arange(classes) if found is None else found
            right = [label(values[i], known, np.arange(classes)) == y[i] for i in test]
            # leave-one-out scores are pooled, and rows of one-row folds are not weighed
            used = None if weights is None or len(splits) == n else weights[test]
            scores.append(np.average(right, weights=used))
        seen.append(np.mean(scores))
        assert least - 1e-12 <= seen[-1] <= most + 1e-12
    if classes == 2:  # every row by itself: best and worst are attained
        sure = [((lower[:, 0] >= 0) == y) & ((lower[:, 0] >= 0) | (upper[:, 0] < 0))]
        can = np.where(y == 1, upper[:, 0] >= 0, lower[:, 0] < 0)
        used = np.ones(n) if weights is None or len(splits) == n else weights
        for bound, right in ((least, sure[0]), (most, can)):
            assert bound == pytest.approx(np.mean([np.average(right[test], weights=used[test]) for _, test in splits]))
    tell(referee, 0, splits, values, values)
    assert referee.bounds(0) == pytest.approx((seen[-1], seen[-1]), abs=1e-12)


@seeds
@pytest.mark.parametrize("scoring", REGRESSION)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("pooled", [False, True])
def test_bounds_of_regression_scores(seed, scoring, weighted, pooled):
    rng = np.random.default_rng(seed)
    n = 18
    y = rng.normal(size=n) + 5
    splits = leave_one_out(n) if pooled else partition(seed, n, UNEQUAL)
    weights = rng.uniform(0.2, 3.0, size=n) if weighted else None
    referee, _ = refereed(y, splits, scoring=scoring, weights=weights)
    assert isinstance(referee, ValueReferee)
    lower, upper = intervals(rng, n, 1)
    lower, upper = lower + 5, upper + 5
    assert referee.bounds(0)[0] == -np.inf
    tell(referee, 0, splits, lower, upper)
    least, most = referee.bounds(0)

    def mean(values):
        def one(rows, w):
            model = SimpleNamespace(predict=lambda X: values[rows])
            return get_scorer(scoring)._score_func(y[rows], model.predict(None), sample_weight=w)

        sign = get_scorer(scoring)._sign
        if pooled:
            return sign * one(np.arange(n), None)
        return sign * np.mean([one(test, None if weights is None else weights[test]) for _, test in splits])

    for draw in range(16):
        share = rng.integers(2, size=lower.shape) if draw % 2 else rng.uniform(size=lower.shape)
        score = mean((lower + share * (upper - lower))[:, 0])
        assert least - 1e-12 <= score <= most + 1e-12
    # each row by itself: the nearest and the farthest values of the intervals
    inside = np.clip(y, lower[:, 0], upper[:, 0])
    ends = np.stack([lower[:, 0], upper[:, 0]])
    outside = ends[np.abs(ends - y).argmax(axis=0), np.arange(n)]
    assert (least, most) == pytest.approx((mean(outside), mean(inside)), abs=1e-12)


def test_a_value_is_known_up_to_the_tolerance():
    y = np.array([0.0, 4.0, 0.0, 4.0, 0.0, 4.0])  # standard deviation 2
    splits = [(np.arange(3, 6), np.arange(3)), (np.arange(3), np.arange(3, 6))]
    referee, _ = refereed(y, splits, tolerance=0.1)
    centre = np.ones(3)
    assert referee.still_open(0, 0, [0], [(centre - 0.21, centre + 0.21)], 0) == [True]
    assert referee.still_open(0, 0, [0, 1], [(centre - 0.19, centre + 0.19), None], 1) == [False, True]
    exactness, bound = referee.outcome(0)
    assert exactness == Exactness.CERTIFIED
    assert bound == np.inf  # nothing is known of the second split
    referee.settle(0, 0, 1, centre)
    exactness, bound = referee.outcome(0)
    assert exactness == Exactness.CERTIFIED
    assert 0 < bound < np.inf
    assert referee.outcome(1) == (Exactness.EXACT, 0.0)


def test_only_what_is_below_the_proved_score_is_pruned():
    """One row in four is surely wrong: at most 0.75. A proved score of 0.75 is no reason to stop, a larger one is."""
    y = np.array([0, 1, 0, 1])
    splits = [(np.array([2, 3]), np.array([0, 1])), (np.array([0, 1]), np.array([2, 3]))]
    wrong = np.array([1.0, -1.0]), np.array([2.0, 1.0])
    for proved, pruned in ((0.75, False), (0.76, True)):
        referee, _ = refereed(y, splits, prune=True, proved=proved)
        assert referee.still_open(0, 0, [0, 1], [wrong, None], 0) == [not pruned] * 2
        assert referee.bounds(0) == (0.0, 0.75)
        expected = (Exactness.PRUNED, 0.75) if pruned else (Exactness.EXACT, 0.0)
        assert referee.outcome(0) == expected


@pytest.mark.parametrize("proved", [-np.inf, 0.9])
def test_a_candidate_that_is_known_becomes_the_one_to_beat(proved):
    y = np.array([0, 1, 0, 1])
    splits = [(np.array([2, 3]), np.array([0, 1])), (np.array([0, 1]), np.array([2, 3]))]
    referee, _ = refereed(y, splits, prune=True, proved=proved)
    right = np.array([-1.0, 1.0])
    referee.settle(0, 0, 0, right)
    referee.finish(0, 0)
    assert referee.incumbent.score == max(0.5, proved)  # the second split is not known
    referee.settle(0, 0, 1, right)
    referee.finish(0, 0)
    assert referee.incumbent.score == 1.0
    assert referee.still_open(1, 0, [0, 1], [(-right, -right), None], 0) == [False, False]
    assert referee.outcome(1)[0] == Exactness.PRUNED


def test_votes_are_counted_as_soon_as_they_are_sure():
    """Of three classes, two pairs that agree on one leave nothing to the third pair."""
    y = np.array([0, 1, 2, 0, 1, 2])
    splits = [(np.array([3, 4, 5]), np.array([0, 1, 2])), (np.array([0, 1, 2]), np.array([3, 4, 5]))]
    referee, _ = refereed(y, splits)
    sure = np.full(3, -2.0), np.full(3, -1.0)
    referee.still_open(0, 0, [0], [sure], 0)
    assert referee.still_open(0, 1, [0], [sure], 0) == [False]  # class 0 beats 1 and 2
    assert referee.ledger["proved in round 0"] == 3
    every = list(product([-1.0, 1.0], repeat=3))
    assert {label(v, [0, 1, 2], [0, 1, 2]) for v in every if v[0] < 0 and v[1] < 0} == {0}
