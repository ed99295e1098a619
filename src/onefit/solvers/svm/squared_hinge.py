r"""The L2-SVM: the squared hinge loss.

.. math:: \min_{f, b} \tfrac12 \|f\|^2 + C \sum_i w_i \max(0, 1 - y_i (f(x_i) + b))^2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._arrays import Array
from ...data import Targets
from ...gram import Gram
from ...losses.margin import SquaredHingeLoss
from ...machines.capabilities import Ball
from ..primal.iterative import ByNewton
from .dual import Dual
from .hinge import TwoClassLearner


@dataclass(frozen=True)
class SquaredHinge(TwoClassLearner):
    """Its dual has a ridge of 1 / (2 C) instead of an upper bound."""

    name = "L2 support vector classification"
    offers = frozenset({"fitted", "series", "margin", "ball"})
    primal = ByNewton(5, SquaredHingeLoss())  # passes for penalties a factor of ten apart, wide and narrow kernels

    def dual(self, y: Array, C: float, weights: Array) -> Dual:
        used = weights > 0
        ridge = 0.5 / C / (weights + ~used)
        ends = np.multiply(y, np.inf, out=np.zeros(used.shape), where=used & (y != 0))
        return Dual(y, np.minimum(ends, 0.0), np.maximum(ends, 0.0), ridge, 0.0, self.bias, moving=False)

    def smoothed(self, y: Array, C: float, weights: Array, h: float) -> Dual:
        """The loss has no kinks to smooth."""
        return self.dual(y, C, weights)

    def smoothed_loss(self, h: float) -> SquaredHingeLoss:
        return SquaredHingeLoss()

    def half_width(self, h: float | None, scale: Callable[[], float]) -> float:
        return 0.0

    def balls(self, gram: Gram, targets: Targets, penalties: Array) -> list[Ball]:
        """The smallest balls around all rows in the feature space of ``K + D``, for every C."""
        from .margins import smallest_balls  # compiled code is imported by who needs it

        return smallest_balls(self, gram, targets, penalties)
