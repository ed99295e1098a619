r"""Support vector regression: the epsilon-insensitive loss.

.. math:: \min_{f, b} \tfrac12 \|f\|^2 + C \sum_i w_i \max(0, |y_i - f(x_i) - b| - \epsilon)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..._arrays import Array, Indices
from ...losses.residual import EpsilonInsensitiveLoss, SmoothedTubeLoss
from ..primal.iterative import TubeBySmoothing
from .dual import Dual, smoothing_ridge
from .learner import SupportVectorLearner


@dataclass(frozen=True)
class EpsilonInsensitive(SupportVectorLearner):
    """scikit-learn's SVR."""

    epsilon: float = 0.1
    name = "support vector regression"
    offers = frozenset({"fitted", "series"})

    @property
    def primal(self) -> TubeBySmoothing:
        """Smoothing: penalties a factor of ten apart, of wide and narrow kernels, took 50 to 72 passes."""
        return TubeBySmoothing(60, self.epsilon)

    def loss(self, y: Array, f: Array) -> Array:
        """``max(0, |y - f| - epsilon)``."""
        return EpsilonInsensitiveLoss(self.epsilon).value(y, f)

    def rows(self, y: Array) -> Indices:
        return np.arange(len(y))

    def trainable(self, y: Array, weights: Array) -> bool:
        return bool((weights > 0).any())

    def dual(self, y: Array, C: float, weights: Array) -> Dual:
        box = C * weights
        return Dual(y, -box, box, np.zeros(len(box)), self.epsilon, self.bias)

    def smoothed(self, y: Array, C: float, weights: Array, h: float) -> Dual:
        r"""A quadratic for :math:`||y - f| - \epsilon| \le h`: a narrower tube, and a ridge.

        With ``epsilon = 0`` the two kinks are one: the tube is then h wide, and the loss Huber's.
        """
        plain = self.dual(y, C, weights)
        return replace(plain, ridge=smoothing_ridge(C, weights, h), epsilon=self._tube(h) - h)

    def smoothed_loss(self, h: float) -> SmoothedTubeLoss:
        return SmoothedTubeLoss(self._tube(h), h)

    def half_width(self, h: float | None, scale: Callable[[], float]) -> float:
        if h is not None:
            if 0 < self.epsilon < h:
                raise ValueError(f"h must not be larger than epsilon = {self.epsilon}, got {h}.")
            return h
        return 0.01 * (self.epsilon if self.epsilon > 0 else scale())

    def _tube(self, h: float) -> float:
        return self.epsilon if self.epsilon > 0 else h
