"""Out-of-fold values of the whole data set."""

from __future__ import annotations

import warnings

import numpy as np

from ..core import Folds
from ..core.coding import Coding


def assemble(parts, folds: Folds, coding: Coding, present, *, warn: bool = True) -> np.ndarray:
    """(n,) or (n, outputs) from each split's decision values: the mean of rows tested more than once, NaN
    where a row is never tested.

    A class that a split's training rows do not have gets the smallest number, as in scikit-learn.
    """
    if folds.leave_one_out and len(parts) == 1:
        parts = [parts[0][fold.test] for fold in folds]  # they are pooled, in the order of the rows
    decisions = [coding.full_decision(part, classes) for part, classes in zip(parts, present)]
    times = np.bincount(np.concatenate([fold.test for fold in folds]), minlength=folds.n)
    mean = np.where(times[:, None] > 0, np.zeros((folds.n, decisions[0].shape[1])), np.nan)
    for fold, decision in zip(folds, decisions):  # each row's share: the smallest numbers must not add up
        np.add.at(mean, fold.test, decision / times[fold.test, None])
    _warn_of_uneven_tests(times, warn)
    return mean[:, 0] if _is_flat(coding) else mean


def _warn_of_uneven_tests(times, warn):
    if warn and (times == 0).any():
        warnings.warn(f"{int((times == 0).sum())} rows are never tested: their values are NaN.", stacklevel=4)
    if warn and (times > 1).any():
        warnings.warn("Some rows are tested more than once: their values are means.", stacklevel=4)


def _is_flat(coding: Coding) -> bool:
    return coding.flat if coding.classes is None else len(coding.classes) == 2


def predictions(parts, folds: Folds, coding: Coding, present):
    """The label of each row, the commonest where it is tested more than once; None if some row never is."""
    if folds.leave_one_out and len(parts) == 1:
        parts = [parts[0][fold.test] for fold in folds]
    known = np.asarray(coding.classes)
    votes = np.zeros((folds.n, len(known)), dtype=np.intp)
    for fold, part, classes in zip(folds, parts, present):
        chosen = np.searchsorted(known, coding.predict(part, classes))
        np.add.at(votes, (fold.test, chosen), 1)
    return known[votes.argmax(axis=1)] if votes.any(axis=1).all() else None
