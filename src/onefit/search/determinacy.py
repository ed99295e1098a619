"""Whether scores follow from held-out values that are known up to an error.

Accuracy depends on the signs of values, the area under a ROC curve on their ranks: a score is determined only if the
values are farther from zero, or from those of rows with another target, than they may be wrong. Such doubtful values
are looked for first, which is cheap; where there are some, the score is computed again with values moved by their error
towards and away from the targets, and with the bias at the ends of its interval. A score that changes by more than
``TOLERANCE`` is not determined.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from .._arrays import Array, Mask
from ..data.coding import Coding, PairCoding
from ..machines import Exactness
from .scoring import ScoredRows, Scoring
from .tasks import OPEN_BIAS, Path, Row, Settings

Score = Callable[[Array], dict[str, Array]]
"""From values (E, l, c) to the scores (E,) of each metric."""

TOLERANCE = 1e-6
"""Change of a score, relative to it where it is larger than one, that still counts as the same score; and error of
held-out values, relative to the largest of them and of the targets, up to which they count as known."""

DIGITS = "the scores depend on digits of held-out values beyond their error bound"
"""Status of rows whose labels or ranks are not determined in double precision."""


def label_undetermined(
    rows: list[Row], values: list[Array], slack: Array | None, path: Path, settings: Settings, scoring: Scoring
) -> None:
    """Say of exact rows that their scores are not determined, where that is so.

    ``values`` (E, l, c) of each split, or of all rows if they are left out singly, are those of the E rows; ``slack``
    (splits, E, c) is half the length of the intervals of their biases, None where biases are determined. LIBSVM takes
    the middle of such an interval too, unless rounding leaves a coefficient off its bound, as bounds of different sizes
    make it: scores of weighted rows are then not called exact. Certified rows are proved for every bias but those of
    folds that were solved; of rows with shared preprocessing, which are not exact, only the bias is looked at.
    """
    known = [k for k, row in enumerate(rows) if path.frozen or row.exactness in (Exactness.EXACT, Exactness.CERTIFIED)]
    if not known:
        return
    solved = np.array([rows[k].exactness == Exactness.EXACT for k in known])
    error = np.where(solved, [rows[k].error_bound for k in known], 0.0)
    parts = [part[known] for part in values]
    doubts = _of_classes if path.coded.coding.classes is not None else _of_regression
    if slack is not None and slack[:, known].any():
        for k in np.array(known)[doubts(parts, 0 * error, slack[:, known], path, settings, scoring)]:
            rows[k].add_status(OPEN_BIAS)
            if not _uniform(path.targets.weights):
                rows[k].exactness = Exactness.APPROXIMATE
    closed = np.zeros((len(settings.folds), len(known), parts[0].shape[2]))
    for k in np.array(known)[doubts(parts, error, closed, path, settings, scoring)]:
        rows[k].add_status(DIGITS)
        rows[k].exactness = Exactness.APPROXIMATE


def _uniform(weights: Array | tuple[Array, ...] | None) -> bool:
    """Whether all rows that count weigh the same in all splits."""
    return weights is None or (not isinstance(weights, tuple) and float(np.ptp(weights[weights > 0])) == 0)


def _of_regression(values: list[Array], error: Array, slack: Array, path: Path, *_: object) -> Mask:
    """Mark candidates whose values are not known to TOLERANCE of the largest value or target."""
    largest = np.max([np.abs(part).max(axis=(1, 2)) for part in values], axis=0)
    size = np.fmax(largest, np.abs(path.coded.Y).max())
    return np.asarray(~(error + slack.max(axis=(0, 2)) <= TOLERANCE * size))


def _of_classes(
    values: list[Array], error: Array, slack: Array, path: Path, settings: Settings, scoring: Scoring
) -> Mask:
    """Mark candidates whose scores change with the values' errors on some split."""
    found = np.zeros(len(error), dtype=bool)
    for number, part in enumerate(values):
        if settings.folds.leave_one_out:  # every row has a bias of its own
            tested = ScoredRows(settings.X, settings.y, settings.labels, np.arange(settings.folds.n), pooled=True)
            order = np.argsort([int(fold.test[0]) for fold in settings.folds])
            reach, common = error[:, None, None] + slack[order].transpose(1, 0, 2), 0 * slack[0]
        else:
            tested = settings.scored_rows(number, settings.folds.folds[number].test)
            reach, common = error[:, None, None], slack[number]
        left = np.flatnonzero(~found)
        if len(left) and (tested.present is None or len(tested.present) > 1):
            codes, coding = path.coded.Y[tested.rows], path.coded.coding
            score = _scorer(scoring, tested, coding)
            parts = part[left], codes, reach[left], common[left]
            found[left] = _undetermined(score, *parts, coding, ranked=not scoring.reads_labels)
    return found


def _scorer(scoring: Scoring, tested: ScoredRows, coding: Coding) -> Score:
    def score(values: Array) -> dict[str, Array]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said when the scores were computed
            return scoring.path(tested, values, coding)

    return score


def _undetermined(
    score: Score, values: Array, codes: Array, error: Array, slack: Array, coding: Coding, *, ranked: bool
) -> Mask:
    """Which of E candidates have scores of classes that their values (E, l, c) do not determine.

    ``codes`` (l, c) are the coded targets. ``error`` (E, l, c) bounds the error of each value, ``slack`` (E, c) is half
    the length of the interval of the bias that all values of a column share; dimensions of length one are repeated.
    Rows with equal values are taken to be equal rows, which move together. Errors are too small to be seen in anything
    but labels and, where scores are ``ranked``, ranks; intervals of a bias are not, so that all scores of candidates
    with such are looked at.

    Cost: O(E l log l c) to look for doubtful values, at most six calls of ``score`` for the candidates that have some.
    """
    wide = slack.any(axis=1) | (error.max(axis=(1, 2)) > error.min(axis=(1, 2)))
    near = _near_boundary(values, error, coding)
    if ranked:
        near |= _near_others(values, codes, error)
    chosen = np.flatnonzero(wide | near)
    found = np.zeros(len(values), dtype=bool)
    if len(chosen):
        values, error, slack = values[chosen], error[chosen], slack[chosen, None]
        known = score(values)
        moves = [error * direction for direction in _directions(values, codes)]
        moves += [slack, -slack] if slack.any() else []
        for move in moves:
            left = np.flatnonzero(~found[chosen])
            if len(left):
                before = {name: scores[left] for name, scores in known.items()}
                found[chosen[left]] = differ(before, score(values[left] + move[left]))
    return found


def differ(known: dict[str, Array], moved: dict[str, Array]) -> Mask:
    """Mark candidates whose scores differ in some metric; a score that is missing in both does not."""
    different = [
        ~(np.abs(moved[name] - scores) <= TOLERANCE * np.maximum(1.0, np.abs(scores)))
        & ~(np.isnan(scores) & np.isnan(moved[name]))
        for name, scores in known.items()
        if name in moved
    ]
    return np.asarray(np.any(different, axis=0))


def _near_boundary(values: Array, reach: Array, coding: Coding) -> Mask:
    """Mark candidates with a value so near to where labels change that it may be on the other side."""
    if values.shape[2] == 1 or isinstance(coding, PairCoding):
        return np.asarray((np.abs(values) <= reach).any(axis=(1, 2)))
    top = -np.partition(-values, 1, axis=2)[:, :, :2]
    return np.asarray((top[:, :, 0] - top[:, :, 1] <= 2 * reach.max(axis=2)).any(axis=1))


def _near_others(values: Array, codes: Array, error: Array) -> Mask:
    """Mark candidates with rows of different targets whose values are so near that their order may be another one."""
    order = np.argsort(values, axis=1)
    gaps = np.diff(np.take_along_axis(values, order, axis=1), axis=1)
    targets = np.take_along_axis(np.broadcast_to(codes, values.shape), order, axis=1)
    other = np.diff(targets, axis=1) != 0
    tied = gaps == 0  # a group of equal rows may have several targets: its neighbours differ from one of them
    other[:, 1:] |= tied[:, :-1]
    other[:, :-1] |= tied[:, 1:]
    return np.asarray((other & ~tied & (gaps <= 2 * error.max(axis=1, keepdims=True))).any(axis=(1, 2)))


def _directions(values: Array, codes: Array) -> list[Array]:
    """Moves (E, l, c) of size one towards the targets and away from them; groups of equal values move together.

    Rows of neither class of a pair, whose code is zero, move up with one pair of moves and down with another.
    """
    moves = []
    for neither in (1.0, -1.0) if (codes == 0).any() else (1.0,):
        towards = np.broadcast_to(np.where(codes == 0, neither, np.sign(codes)), values.shape).copy()
        for e, c in np.ndindex(values.shape[0], values.shape[2]):
            _, group = np.unique(values[e, :, c], return_inverse=True)
            towards[e, :, c] = np.sign(np.bincount(group, weights=towards[e, :, c]))[group]
        moves += [towards, -towards]
    return moves
