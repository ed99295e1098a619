r"""Support vector classification: the hinge loss.

.. math:: \min_{f, b} \tfrac12 \|f\|^2 + C \sum_i w_i \max(0, 1 - y_i (f(x_i) + b))
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .dual import Array, Dual
from .support_vector import Rows, SupportVectorLearner


@dataclass(frozen=True)
class TwoClassLearner(SupportVectorLearner):
    """Targets are -1 and +1; rows with target 0 belong to neither class of a pair and take no part."""

    def rows(self, y: Array) -> Rows:
        return np.flatnonzero(y)

    def trainable(self, y: Array, weights: Array) -> bool:
        return bool(((y > 0) & (weights > 0)).any() and ((y < 0) & (weights > 0)).any())


@dataclass(frozen=True)
class Hinge(TwoClassLearner):
    """The L1-SVM, scikit-learn's SVC on a pair of classes."""

    name = "support vector classification"

    def dual(self, y: Array, C: float, weights: Array) -> Dual:
        box = C * weights * y
        return Dual(y, np.minimum(box, 0.0), np.maximum(box, 0.0), np.zeros(len(y)), 0.0, self.bias)
