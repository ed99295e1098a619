"""From leave-one-out values of a least-squares machine to a loss."""

from __future__ import annotations

import numpy as np

from ..core.evidence import Evidence
from .base import Array
from .held_out import mean_loss, prediction_losses


def left_out_loss(evidence: Evidence, share: float = 1.0) -> Array:
    """Mean loss (E,) with ``share`` of the ridge: squared error of a regression, else the share of wrong labels.

    A squared error is that of the residuals, whose digits ``y - (y - residual)`` would lose.
    """
    if evidence.machine.coded.coding.classes is None:
        return np.asarray((evidence.smoother(share).left_out ** 2).mean(axis=(1, 2)))
    return mean_loss(prediction_losses(evidence, evidence.left_out(share)), "points")
