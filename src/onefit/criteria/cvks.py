"""Cross-validation and kernel stability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.evidence import Evidence
from ..core.machine import HINGE, LEAST_SQUARES, SQUARED_HINGE
from .base import Array, Criterion, Situation, added_field, check_factor, short_repr
from .held_out import check_aggregate, mean_loss, trainable
from .risk import check_hinge_classes
from .stability import check_norm, stability_of


@dataclass(frozen=True)
class CVKS(Criterion):
    r"""Cross-validation and kernel stability.

    .. math:: CV_k + \frac{\eta}{n} \hat\beta

    with the exact cross-validated squared loss of least squares, hinge loss of support vector machines of two classes.
    A list of ``eta`` is chosen from by an inner threefold cross-validation of a search. ``scale_penalty`` as in ``CV``.
    ``aggregate="points"`` pools the rows; the paper averages the folds' means, ``aggregate="folds"``.
    ``norm`` is that of ``kernel_stability``.

    Cost    that of exact cross-validation, and a pass over K.
    Oracle  retraining on every fold, and the largest eigenvalue of every K - K^i.
    Laws    eta = 0 is cross-validation with the same loss.
    Source  Liu, Liao, Zhang, Ren & Wang, Kernel stability for model selection in kernel-based algorithms: equation 6;
            Remark 2 for the norms.
    """

    eta: Any = 2.0**-1
    scale_penalty: bool = False
    aggregate: str = "points"
    norm: str = added_field("spectral")

    __repr__ = short_repr

    name = "cvks"
    reads = ("gram", "heldout")
    learners = (LEAST_SQUARES, HINGE, SQUARED_HINGE)
    formula = "CV + (η/n) β̂"
    cost = "that of CV, and O(n²)"
    estimates = "no error"
    use = "cross-validation with a preference between kernels that it cannot tell apart"
    failures = "the scale of K and of the loss have to match η"

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", check_factor("eta", self.eta))
        check_aggregate(self.aggregate)
        check_norm(self.norm)

    def check(self, situation: Situation) -> None:
        """Support vector machines have two classes."""
        super().check(situation)
        check_hinge_classes(self, situation)

    def path(self, evidence: Evidence) -> Array:
        """Held-out loss plus penalty of every candidate."""
        penalty = float(self.eta) / evidence.n * stability_of(evidence, self.norm)  # first: it reads the Gram matrix
        held, Y = evidence.held(None, self.scale_penalty), evidence.machine.targets.Y
        if not trainable(evidence, held):
            return np.full(evidence.size, np.nan)
        if evidence.machine.learner.name == LEAST_SQUARES:
            losses = [((part - Y[rows]) ** 2).mean(axis=2) for rows, part in zip(held.tested, held.parts)]
        else:
            losses = [np.maximum(0.0, 1.0 - Y[rows, 0] * part[:, :, 0]) for rows, part in zip(held.tested, held.parts)]
        means = mean_loss(losses, self.aggregate)
        means[held.failed] = np.nan
        return means + penalty
