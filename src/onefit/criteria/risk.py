"""The loss of machines on the very rows that they are trained on."""

from __future__ import annotations

import numpy as np

from ..core.evidence import Evidence
from ..core.machine import LEAST_SQUARES
from .base import Array, Criterion, Situation


def empirical_risk(evidence: Evidence) -> Array:
    """Mean loss on all rows, trained on all rows (E,): squared for least squares, hinge for support vector machines.

    Rows count alike, whatever they weigh in training; of several targets it is the mean.
    """
    if evidence.machine.learner.name == LEAST_SQUARES:
        return evidence.once("risk", lambda: np.asarray((evidence.smoother().residuals ** 2).mean(axis=(1, 2))))
    risks = [margin.slacks.mean() if margin.converged else np.nan for (margin,) in evidence.margins]
    return np.array(risks)


def check_hinge_classes(criterion: Criterion, situation: Situation) -> None:
    """The hinge loss is one of two classes; least squares take any target."""
    if situation.learner != LEAST_SQUARES and situation.n_classes != 2:
        raise ValueError(
            f"The criterion {criterion.name} of a support vector machine needs two classes: "
            f"the target has {situation.n_classes}."
        )
