r"""Support vector regression: the epsilon-insensitive loss.

.. math:: \min_{f, b} \tfrac12 \|f\|^2 + C \sum_i w_i \max(0, |y_i - f(x_i) - b| - \epsilon)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .dual import Array, Dual
from .support_vector import Rows, SupportVectorLearner


@dataclass(frozen=True)
class EpsilonInsensitive(SupportVectorLearner):
    """scikit-learn's SVR."""

    epsilon: float = 0.1
    name = "support vector regression"

    def rows(self, y: Array) -> Rows:
        return np.arange(len(y))

    def trainable(self, y: Array, weights: Array) -> bool:
        return bool((weights > 0).any())

    def dual(self, y: Array, C: float, weights: Array) -> Dual:
        box = C * weights
        return Dual(y, -box, box, np.zeros(len(y)), self.epsilon, self.bias)
