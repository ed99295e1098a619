"""The empirical risk: the loss of machines on the rows that they are trained on."""

from __future__ import annotations

import numpy as np

from ..machines.evidence import Evidence
from .base import Array
from .losses import Loss, row_losses


def empirical_risk(evidence: Evidence, loss: Loss | None = None) -> Array:
    """Mean loss on all rows of machines trained on all rows (E,).

    None is the loss of the machine: squared for least squares, hinge for support vector classification (of pairs of
    classes the mean over those that a row's class is in), epsilon-insensitive for support vector regression, minus the
    logarithm of the likelihood for logistic regression. Rows count alike, whatever they weigh in training; of several
    targets it is the mean.
    """
    machine = evidence.machine
    loss = machine.learner.loss if loss is None else loss

    def compute() -> Array:
        if loss == "squared" and "smoother" in machine.learner.offers:  # residuals have more digits than y - f
            return np.asarray((evidence.smoother().residuals ** 2).mean(axis=(1, 2)))
        losses = row_losses(loss, machine.coded.coding, machine.coded.labels, evidence.fitted)
        return np.asarray(losses.mean(axis=1))

    return evidence.once(("risk", loss), compute)
