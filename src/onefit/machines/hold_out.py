"""Out-of-fold values as everybody reads them: those of a learner, with identical rows made equal."""

from __future__ import annotations

from typing import Any

from ..data.problem import Problem
from ..data.targets import Targets
from ..data.ties import Rows, interchangeable_rows, repeat_first
from ..gram.contract import Gram
from .contract import Array, HeldOut, Learner, OnTrain


def hold_out(
    learner: Learner,
    gram: Gram,
    targets: Targets,
    penalties: Array,
    *,
    on_train: OnTrain | None = None,
    **options: Any,
) -> HeldOut:
    """``learner.heldout`` with bit-identical values for identical rows of a split, tested or trained on.

    Leave-one-out values are pooled: they are equal for identical rows with equal targets and weights.
    """
    problem, report = gram.problem, on_train
    identical = problem.identical_rows
    if on_train is not None and identical is not None:

        def report(number: int, positions: Rows, values: Array) -> None:
            repeat_first(values, identical[problem.folds.folds[number].train], axis=1)
            on_train(number, positions, values)

    held = learner.heldout(gram, targets, penalties, on_train=report, **options)
    if problem.folds.leave_one_out:
        equalise_left_out(held.test[0], problem, targets)
    elif identical is not None:
        for fold, part in zip(problem.folds, held.test):
            repeat_first(part, identical[fold.test], axis=1)
    return held


def equalise_left_out(values: Array, problem: Problem, targets: Targets) -> None:
    """Make pooled leave-one-out values (L, n, c) of interchangeable rows equal, in place."""
    repeat_first(values, interchangeable_rows(problem.identical_rows, targets.Y, targets.whole_weights), axis=1)
