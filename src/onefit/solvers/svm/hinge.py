r"""Support vector classification: the hinge loss.

.. math:: \min_{f, b} \tfrac12 \|f\|^2 + C \sum_i w_i \max(0, 1 - y_i (f(x_i) + b))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..._arrays import Array, Indices
from ...losses.margin import SmoothedHingeLoss
from ..primal.iterative import HingeBySmoothing
from .dual import Dual, smoothing_ridge
from .learner import SupportVectorLearner


@dataclass(frozen=True)
class TwoClassLearner(SupportVectorLearner):
    """Targets are -1 and +1; rows with target 0 belong to neither class of a pair and take no part."""

    loss = "hinge"

    def rows(self, y: Array) -> Indices:
        return np.flatnonzero(y)

    def trainable(self, y: Array, weights: Array) -> bool:
        return bool(((y > 0) & (weights > 0)).any() and ((y < 0) & (weights > 0)).any())


@dataclass(frozen=True)
class Hinge(TwoClassLearner):
    """The L1-SVM, scikit-learn's SVC on a pair of classes."""

    name = "support vector classification"
    offers = frozenset({"fitted", "series", "margin", "box"})
    primal = HingeBySmoothing(40)  # passes for penalties a factor of ten apart, wide and narrow kernels: 31 to 48

    def dual(self, y: Array, C: float, weights: Array) -> Dual:
        box = C * weights * y
        return Dual(y, np.minimum(box, 0.0), np.maximum(box, 0.0), np.zeros(len(box)), 0.0, self.bias)

    def smoothed(self, y: Array, C: float, weights: Array, h: float) -> Dual:
        r"""A quadratic for :math:`|1 - y f| \le h`: targets ``(1 + h) y``, and a ridge."""
        plain = self.dual(y, C, weights)
        return replace(plain, target=(1.0 + h) * y, ridge=smoothing_ridge(C, weights, h))

    def smoothed_loss(self, h: float) -> SmoothedHingeLoss:
        return SmoothedHingeLoss(h)

    def half_width(self, h: float | None, scale: Callable[[], float]) -> float:
        return 0.01 if h is None else h
