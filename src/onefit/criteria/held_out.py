"""Losses on held-out rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.evidence import Evidence, Held

Array = NDArray[np.float64]


def check_aggregate(aggregate: str) -> None:
    """Refuse what is not a way of putting rows together."""
    if aggregate not in ("points", "folds"):
        raise ValueError(f'aggregate must be "points" or "folds", got {aggregate!r}.')


def mean_loss(losses: list[Array], aggregate: str) -> Array:
    """From the losses (E, rows) of each split to their means (E,).

    ``aggregate="points"`` pools all tested rows, ``"folds"`` averages the folds' means.
    """
    if aggregate == "points":
        return np.asarray(np.concatenate(losses, axis=1).mean(axis=1))
    return np.asarray(np.mean([loss.mean(axis=1) for loss in losses], axis=0))


def trainable(evidence: Evidence, held: Held) -> bool:
    """Whether every split has two classes to train on; the reason is kept if not."""
    if any(classes is not None and len(classes) < 2 for classes in held.present):
        evidence.reasons.append("a fold trains on one class only")
        return False
    return True


def prediction_losses(evidence: Evidence, held: Held) -> list[Array]:
    """Losses (E, rows) of each split: squared error in regression, wrong labels in classification."""
    coded, folds, present = evidence.machine.coded, held.folds, held.present
    if not trainable(evidence, held):
        return [np.full((evidence.size, 1), np.nan)]
    losses = []
    for k, (tested, part) in enumerate(zip(held.tested, held.parts)):
        if coded.coding.classes is None:
            losses.append(((part - coded.Y[tested]) ** 2).mean(axis=2))
            continue
        if folds.leave_one_out:
            part = part.copy()  # others read these values as well
            coded.drop_absent(part, folds, present)
        predicted = coded.coding.predict(part, None if folds.leave_one_out else present[k])
        losses.append((predicted != coded.labels[tested]).astype(np.float64))
    for loss in losses:
        loss[held.failed] = np.nan
    return losses
