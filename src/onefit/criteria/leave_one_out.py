"""From leave-one-out values of a least-squares machine to a loss."""

from __future__ import annotations

import numpy as np

from ..machines.evidence import Evidence
from .base import Array
from .held_out import held_out_losses, mean_loss, prediction_loss
from .losses import Loss


def left_out_loss(evidence: Evidence, loss: Loss | None, share: float = 1.0) -> Array:
    """Mean loss (E,) with ``share`` of the ridge; None is the loss of ``held_out_losses``.

    A squared error is that of the residuals, whose digits ``y - (y - residual)`` would lose.
    """
    loss = prediction_loss(evidence) if loss is None else loss
    if loss == "squared" and not evidence.some_class_left_out:
        return np.asarray((evidence.smoother(share).left_out ** 2).mean(axis=(1, 2)))
    return mean_loss(held_out_losses(evidence, evidence.left_out(share), loss), "points")
