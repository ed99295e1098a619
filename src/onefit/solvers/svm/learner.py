"""Support vector machines by their losses: a dual problem for each column of the targets.

One column is a pair of classes, or a regression.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._arrays import Array, Indices
from ..._exceptions import NotUnderstoodError
from ...data import Targets
from ...gram import Gram
from ...losses.margin import SmoothedHingeLoss, SmoothLoss, SquaredHingeLoss
from ...losses.residual import EpsilonInsensitiveLoss, SmoothedTubeLoss
from ...machines.capabilities import Ball, HeldOutTangent, Margin, fitted_values
from ...machines.contract import HeldOut, Judge, OnTrain, Series
from ...machines.primal import PrimalSolver
from ..primal.in_memory import fitted_on_features, held_out_by_solver
from ..primal.iterative import ByNewton, HingeBySmoothing, TubeBySmoothing
from ..primal.series import series_on_features
from .dual import Dual, smoothing_ridge


def require_compiled_loops() -> None:
    """Raise a NotUnderstoodError where the installation has no compiled loops; estimators are then retrained.

    Modules that import them are imported by the functions that need them, after a call of this one.
    """
    try:
        from . import _solver  # noqa: F401
    except ImportError as error:
        reason = "this installation of onefit has no compiled solver: no C compiler was at hand"
        raise NotUnderstoodError(reason) from error


@dataclass(frozen=True)
class SupportVectorLearner(ABC):
    """A loss whose dual is the problem of ``dual.py``."""

    bias: bool = True
    certifies = True
    several_outputs = False

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the machine in messages."""

    @property
    @abstractmethod
    def offers(self) -> frozenset[str]:
        """The capabilities that criteria may ask for besides out-of-fold values."""

    @abstractmethod
    def dual(self, y: Array, C: float, weights: Array) -> Dual:
        """The dual problem of targets y with penalty ``C weights``; rows of weight zero are left out."""

    @abstractmethod
    def smoothed(self, y: Array, C: float, weights: Array, h: float) -> Dual:
        """The dual problem of the loss smoothed over h around its kinks: the ridge is one over its curvature."""

    @abstractmethod
    def smoothed_loss(self, h: float) -> SmoothLoss:
        """The loss smoothed over h around its kinks."""

    @abstractmethod
    def half_width(self, h: float | None, scale: Callable[[], float]) -> float:
        """``h``, or the default; ``scale`` tells the size of the residuals of the machine itself."""

    @abstractmethod
    def rows(self, y: Array) -> Indices:
        """The rows that take part in the problem of a column of targets."""

    @abstractmethod
    def trainable(self, y: Array, weights: Array) -> bool:
        """Whether the rows of positive weight can be trained on."""

    @property
    @abstractmethod
    def primal(self) -> PrimalSolver:
        """Trains it on explicit features."""

    def squares(self, columns: int) -> int:
        """Gram matrix, factor, and an inverse or other factors; with several columns also a part of the Gram matrix."""
        return 3 if columns == 1 else 4

    def margins(self, gram: Gram, targets: Targets, penalties: Array) -> list[list[Margin]]:
        """The machine trained on all rows, for every C and column of the targets."""
        require_compiled_loops()
        from .margins import margin_path

        return margin_path(self, gram, targets, penalties)

    def fitted(self, gram: Gram, targets: Targets, penalties: Array) -> Array:
        """Values of all rows (L, n, c) by the machine trained on all rows; NaN where it was not found.

        On explicit features it is that of the loss smoothed around its kinks.
        """
        if gram.Z is not None:
            return fitted_on_features(self, gram, targets, penalties)
        return np.array([fitted_values(row) for row in self.margins(gram, targets, penalties)])

    def best_constant(self, y: Array, weights: Array, values: Array) -> float:
        """The best constant to add to values of rows with weights, in units of C: the middle of its interval."""
        from .bias import best_bias

        rows = self.rows(y)
        return sum(best_bias(self.dual(y[rows], 1.0, weights[rows]), values[rows])) / 2

    def _check_start(self, series: Series) -> None:
        """Refuse a series that does not start from the minimiser of a smoothed loss, which is what features have."""
        h = self.half_width(series.h, lambda: 1.0)
        if h > 0 and series.start != "smoothed":
            raise ValueError(f'On explicit features the series of {self.name} starts from start="smoothed" only.')

    def tangent(self, gram: Gram, targets: Targets, penalty: float, *, scale_penalty: bool = False) -> HeldOutTangent:
        """Held-out values for one C, with derivatives."""
        require_compiled_loops()
        from .tangent import support_vector_tangent

        return support_vector_tangent(self, gram, targets, penalty, scale_penalty)

    def heldout(
        self,
        gram: Gram,
        targets: Targets,
        penalties: Array,
        *,
        scale_penalty: bool = False,
        series: Series | None = None,
        resolve_small: bool = True,
        on_train: OnTrain | None = None,
        judge: Judge | None = None,
    ) -> HeldOut:
        """Out-of-fold values for every C, from small to large, and split; NaN where a split cannot be trained on.

        ``error`` is the smaller of the ball around the solution that its duality gap proves and of an estimate from the
        violation of optimality and rounding (``held_out.py``); both leave aside a bias that is not determined.
        On explicit features the machine is trained there, with its loss smoothed around its kinks.
        """
        if gram.Z is not None:
            options: dict[str, Any] = {"scale_penalty": scale_penalty, "on_train": on_train}
            with gram.problem.ledger.record("heldout"):
                if series is None:
                    return held_out_by_solver(self, gram, targets, penalties, **options)
                self._check_start(series)
                return series_on_features(
                    self, gram, targets, penalties, series, best_constant=self.best_constant, **options
                )
        require_compiled_loops()
        from .certified import CertifiedRun
        from .held_out import Run
        from .series_run import SeriesRun

        run = Run(self, gram, targets, penalties, scale_penalty, on_train)
        if series is not None:
            run = SeriesRun(self, gram, targets, penalties, scale_penalty, on_train, series)
        elif judge is not None:
            run = CertifiedRun(self, gram, targets, penalties, scale_penalty, on_train, judge)
        with gram.problem.ledger.record("heldout"):
            return run.all_columns()


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
    r"""The L1-SVM, scikit-learn's SVC on a pair of classes.

    .. math:: \min_{f, b} \tfrac12 \|f\|^2 + C \sum_i w_i \max(0, 1 - y_i (f(x_i) + b))
    """

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


@dataclass(frozen=True)
class SquaredHinge(TwoClassLearner):
    r"""The L2-SVM, with the squared hinge loss: its dual has a ridge of 1 / (2 C) instead of an upper bound.

    .. math:: \min_{f, b} \tfrac12 \|f\|^2 + C \sum_i w_i \max(0, 1 - y_i (f(x_i) + b))^2
    """

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


@dataclass(frozen=True)
class EpsilonInsensitive(SupportVectorLearner):
    r"""Support vector regression, scikit-learn's SVR: the epsilon-insensitive loss.

    .. math:: \min_{f, b} \tfrac12 \|f\|^2 + C \sum_i w_i \max(0, |y_i - f(x_i) - b| - \epsilon)
    """

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
