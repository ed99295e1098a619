"""Losses on held-out rows of a precomputed Gram matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from ..core import Folds, Problem, Targets, Workspace
from ..core.coding import code_targets, row_weights
from ..core.machine import Series
from ..core.registry import read_machine
from ..kernels import Precomputed


def held_out_loss(
    K: Any, y: Any, estimator: Any, cv: Any, *, series: Series | None, scale_penalty: bool, aggregate: str
) -> float:
    """Mean loss on held-out rows: squared error in regression, share of wrong labels in classification.

    ``aggregate="points"`` pools all tested rows, ``"folds"`` averages the folds' means. Folds that train
    on one class only cannot be evaluated and are an error.
    """
    if aggregate not in ("points", "folds"):
        raise ValueError(f'aggregate must be "points" or "folds", got {aggregate!r}.')
    machine = read_machine(estimator)
    if not isinstance(machine.kernel, Precomputed):
        raise ValueError(f'A criterion on a Gram matrix needs kernel="precomputed", got {estimator}.')
    coded = code_targets(y, is_classifier(estimator), machine.pairs)
    K = np.asarray(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or len(K) != len(coded.Y):
        raise ValueError(f"The Gram matrix has shape {K.shape} for {len(coded.Y)} targets.")
    splitter = check_cv(cv, coded.labels, classifier=is_classifier(estimator))
    folds = Folds.from_splits(splitter.split(K, coded.labels), len(K))
    present = coded.present_classes(folds, None)
    if any(classes is not None and len(classes) < 2 for classes in present):
        raise ValueError("A fold trains on one class only.")
    weights = row_weights(machine.class_weight, coded, folds, None, shared=False)
    ws = Workspace(Problem(K, folds), machine.kernel)
    penalties = np.unique(machine.penalties)
    held = machine.learner.heldout(ws, Targets(coded.Y, weights), penalties, series=series, scale_penalty=scale_penalty)
    if held.failed.any():
        raise ValueError(f"No held-out values of {estimator}: {held.reason}.")
    chosen = np.broadcast_to(np.searchsorted(penalties, machine.penalties), (coded.Y.shape[1],))
    rows = [np.arange(folds.n)] if folds.leave_one_out else [fold.test for fold in folds]
    if folds.leave_one_out:
        coded.drop_absent(held.test[0], folds, present)
    losses = []
    for k, (tested, part) in enumerate(zip(rows, held.test)):
        values = part[chosen, :, np.arange(part.shape[2])].T  # (l, c)
        if coded.coding.classes is None:
            losses.append(((values - coded.Y[tested]) ** 2).mean(axis=1))
        else:
            classes = None if folds.leave_one_out else present[k]
            predicted = coded.coding.predict(values, classes)
            losses.append((predicted != coded.labels[tested]).astype(np.float64))
    if aggregate == "points":
        return float(np.concatenate(losses).mean())
    return float(np.mean([loss.mean() for loss in losses]))
