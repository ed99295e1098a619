"""Which candidates scikit-learn trains as fast: these are handed over to it."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..criteria import CV
from ..kernels import Sigmoid
from .request import Request
from .scorers import LossScorer
from .tasks import KernelTask, Path

ROWS_A_PAIR, SMALL_PAIR = 4, 250
"""Rows of a pair of classes, times its penalties squared, up to which support vector machines are handed over: the
first number for each pair that there is, at most the second. LIBSVM takes 0.1 ms for a small pair. The fast path was as
fast with one penalty for 21, 45 and 190 pairs of 110, 160 and 230 rows, with two for 45 and 190 of 45 and 95 rows."""
ROWS_A_PENALTY = 600
"""Rows, for each one or two penalties of a kernel, from which on support vector machines whose splits have a view of
their own are handed over. LIBSVM needs few entries of K where classes are far apart, and no factor where a kernel is
narrow: with one penalty the fast path was 0.7 to 2 times as fast at 900 and 1,500 rows, with two 1.1 times at 1,500 and
0.8 times at 2,500."""
FEW_TRAININGS = 4
"""Trainings of a search, with one candidate any number, that share too little to make up for what a plan and the check
of the delivered model cost: one candidate behind a scaler was 0.8 to 0.95 times as fast, one split 0.7 times."""


def hand_over_tasks(
    request: Request, tasks: list[KernelTask]
) -> tuple[list[KernelTask], dict[int, str], dict[int, str]]:
    """(the tasks that are left, reasons by number of candidates that cannot be solved, and of those that cannot gain).

    Only plain cross-validation is handed over.
    """
    plain = isinstance(request.criterion, CV) and not (
        request.criterion.certify or request.columns or request.screen or request.series or request.scale_penalty
        or request.shared or request.approximation
    )  # fmt: skip
    losses = request.scoring is not None and any(
        isinstance(metric.scorer, LossScorer) for metric in request.scoring.metrics.values()
    )  # of decision values, which trained estimators of several classes give in other forms
    if not plain or losses or request.folds.leave_one_out:
        return tasks, {}, {}
    # sigmoids so small that they are as good as linear too: looking costs a transformer and a Gram matrix
    indefinite = [task for task in tasks if isinstance(task.kernel, Sigmoid) and _has_only_svms(task)]
    left = [task for task in tasks if task not in indefinite]
    count, splits = sum(len(task.numbers) for task in left), len(request.folds)
    gains_nothing = partial(_cannot_gain, few=count == 1 or count * splits <= FEW_TRAININGS, one_split=splits == 1)
    handed = [task for task in left if all(gains_nothing(task, path) for path in task.paths)]
    reason = "nothing to gain: so few candidates share so little that scikit-learn is as fast"
    return (
        [task for task in left if task not in handed],
        {number: f"{task.kernel} is not positive semi-definite" for task in indefinite for number in task.numbers},
        {number: reason for task in handed for number in task.numbers},
    )


def _has_only_svms(task: KernelTask) -> bool:
    return all(path.learner.certifies for path in task.paths)


def _cannot_gain(task: KernelTask, path: Path, few: bool, one_split: bool) -> bool:
    """Whether training for each penalty costs no more than one path; ``few`` says that all candidates are."""
    apart = one_split or task.inputs.per_fold(task.kernel)
    svm, penalties = path.learner.certifies, len(path.penalties)
    n, pairs = path.targets.Y.shape
    if task.explicit:  # features of a Pipeline, for a path of ridges: a single one shares nothing
        return penalties == 1
    if few:  # the check of the delivered model costs as much as folds share
        return apart or (svm and (pairs > 1 or n >= 2 * ROWS_A_PENALTY))
    if apart and penalties <= min(2, n / ROWS_A_PENALTY):
        return svm
    rows = np.count_nonzero(path.targets.Y) / pairs
    return svm and rows * penalties**2 <= min(ROWS_A_PAIR * pairs, SMALL_PAIR)
