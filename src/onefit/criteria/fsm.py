"""The feature space-based kernel matrix evaluation measure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import Array, Mask
from ..machines.evidence import Evidence
from .base import Criterion


@dataclass(frozen=True)
class FSM(Criterion):
    r"""Spread of the two classes along the line between their means, relative to the distance of the means.

    .. math:: FSM = \frac{\sqrt{\sum_{i \in +} (b_i - a_i + A - B)^2 / (n_+ - 1)}
                        + \sqrt{\sum_{i \in -} (c_i - d_i + D - C)^2 / (n_- - 1)}}{A + D - B - C}

    with a_i, b_i the means of row i of K over the positive and the negative class for a positive i, c_i, d_i those
    for a negative i, and A … D their means. Of more than two classes it is the mean over the one-vs-rest problems.
    Infinite if the class means coincide, NaN for K = 0. The formula is as known from the literature, not
    compared with the source; its algebra is checked against explicit features.

    Cost    O(n²): one product of K with the indicators of the classes.
    Oracle  explicit feature vectors.
    Laws    invariant to scaling of K and to adding a constant to it; K = I gives 0, its smallest value.
    Source  Nguyen & Ho, An efficient kernel matrix evaluation measure (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import criteria
    >>> criteria.FSM()(np.eye(4), np.array([0, 0, 1, 1]))
    0.0
    """

    name = "fsm"
    reads = ("gram", "labels")
    classes = "labels"
    formula = "(σ₊ + σ₋) / ‖mean₊ - mean₋‖, σ along the line between the means"
    cost = "O(n²)"
    estimates = "no error"
    use = "comparison with other measures"
    failures = "K = I gives its minimum 0: always prefers the narrowest Gaussian"

    def path(self, evidence: Evidence) -> Array:
        """The value of the kernel, once for every candidate: it does not depend on the penalty."""
        assert evidence.labels is not None
        positive = evidence.labels.positive
        sizes = positive.sum(axis=0)
        if (sizes < 2).any() or (evidence.n - sizes < 2).any():
            raise ValueError("FSM needs two rows or more in every class and outside of it.")
        sums = evidence.gram.sums
        if not evidence.gram.squares.any():
            return np.full(evidence.size, np.nan)
        values = [_of_class(column > 0, part, sums) for column, part in zip(positive.T, evidence.class_sums.T)]
        return np.full(evidence.size, float(np.mean(values)))


def _of_class(inside: Mask, class_sums: Array, sums: Array) -> float:
    """One class against the rest."""
    towards = class_sums / inside.sum()
    away = (sums - class_sums) / (~inside).sum()
    projections = towards - away  # onto the difference of the class means
    distance = float(projections[inside].mean() - projections[~inside].mean())
    spread = float(projections[inside].std(ddof=1) + projections[~inside].std(ddof=1))
    rounding = len(sums) * np.finfo(np.float64).eps * float(np.abs(towards).max() + np.abs(away).max())
    return spread / distance if distance > rounding else np.inf
