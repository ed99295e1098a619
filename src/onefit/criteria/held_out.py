"""Mean losses on rows that a machine was not trained on, and on those that it was."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..machines.evidence import Evidence, OutOfFold
from .losses import ERROR, Loss, left_out_losses, row_losses

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


def trainable(evidence: Evidence, held: OutOfFold) -> bool:
    """Whether every split has two classes to train on; the reason is kept if not."""
    if any(classes is not None and len(classes) < 2 for classes in held.present):
        evidence.reasons.append("a fold trains on one class only")
        return False
    return True


def held_out_losses(evidence: Evidence, held: OutOfFold, loss: Loss | None) -> list[Array]:
    """Losses (E, rows) of each split; None is the share of wrong labels, or the squared error of a regression."""
    coded, folds, present = evidence.machine.coded, held.folds, held.present
    if not trainable(evidence, held):
        return [np.full((evidence.size, 1), np.nan)]
    loss = prediction_loss(evidence) if loss is None else loss
    losses = []
    for k, (tested, part) in enumerate(zip(held.tested, held.parts)):
        if folds.leave_one_out:
            found = left_out_losses(loss, coded.coding, coded.labels, part, present)
        else:
            found = row_losses(loss, coded.coding, coded.labels[tested], part, present[k])
        if np.isnan(found[~held.failed]).any():
            evidence.reasons.append("a fold is trained without the class of a row, which then has no target")
        found[held.failed] = np.nan
        losses.append(found)
    return losses


def prediction_loss(evidence: Evidence) -> str:
    """The loss of a prediction: a wrong label, or the squared error of a regression."""
    return "squared" if evidence.machine.coded.coding.classes is None else ERROR
