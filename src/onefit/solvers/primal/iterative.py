"""The solvers on explicit features of losses other than squares: Newton's method, at once or along smoothed losses.

A learner names one of them as its ``primal`` solver, with its loss and with what solutions usually cost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...losses.margin import SmoothLoss
from ...machines.primal import FeatureProblem, LinearPath, SplitSolution, SplitSolutions
from .newton import columns_by_newton
from .smoothed import SmoothedLoss, columns_smoothed, hinge_stages, tube_stages

Array = NDArray[np.float64]


@dataclass(frozen=True)
class _Iterative(ABC):
    """Solutions take ``passes`` over the rows, usually, for each penalty and column of targets."""

    passes: float
    from_sums = False
    pairs = True  # rows with label zero belong to neither class, and do not count

    def refuse(self, penalties: Sequence[float]) -> str | None:
        """None: every C can be served."""
        return None

    def factors(self, penalties: Array) -> Array:
        """C itself."""
        return penalties

    def counts(self, y: Array) -> NDArray[np.bool_]:
        """All rows, or of pairs of classes those that belong to one of them."""
        return y != 0 if self.pairs else np.ones(len(y), dtype=bool)

    def usual_passes(self, columns: float, penalties: int) -> float:
        """Each column has a path of penalties of its own."""
        return self.passes * columns * penalties

    def solve(self, problem: FeatureProblem) -> SplitSolutions:
        """The machines of all splits; those of leading features are none of them."""
        found, decrement, gap, passes = self._columns(problem)
        accuracy = np.sqrt(decrement.max(axis=2))  # (splits, L)
        bound = accuracy if gap is None else np.sqrt(2.0 * gap.max(axis=2))
        coef, constant = (found[:, :, :-1], found[:, :, -1]) if problem.bias else (found, np.zeros_like(found[:, :, 0]))
        paths = [[LinearPath(*own)] for own in zip(coef, constant)]
        return SplitSolutions([SplitSolution(own, (), *e) for own, *e in zip(paths, accuracy, bound)], passes=passes)

    @abstractmethod
    def half_width(self, Y: Array) -> float | None:
        """Over how much on both sides of its kinks the loss is smoothed for targets Y; None if it has no kinks."""

    @abstractmethod
    def _columns(self, problem: FeatureProblem) -> tuple[Array, Array, Array | None, int]:
        """(parameters (splits, L, q, c), squared decrements and duality gaps (splits, L, c), passes)."""


@dataclass(frozen=True)
class ByNewton(_Iterative):
    """Newton's method for a loss of classes without kinks (``newton.py``); rows with label zero do not count."""

    smooth: SmoothLoss

    def loss(self, Y: Array) -> SmoothLoss:
        return self.smooth

    def half_width(self, Y: Array) -> None:
        return None

    def smoothed_over(self, h: float | None) -> ByNewton:
        return self

    def _columns(self, problem: FeatureProblem) -> tuple[Array, Array, Array | None, int]:
        found, decrement, passes = columns_by_newton(
            problem.feature_map, problem.X, problem.Y, problem.groups, problem.penalties, self.smooth,
            bias=problem.bias, ratios=1.0 / problem.shares, threads=problem.threads,
        )  # fmt: skip
        return found, decrement, None, passes


@dataclass(frozen=True)
class _BySmoothing(_Iterative):
    """Newton's method for a loss with kinks, smoothed less and less (``smoothed.py``)."""

    @abstractmethod
    def stages(self, Y: Array) -> list[SmoothedLoss]:
        """The losses that are minimised one after another for targets Y: the last one counts."""

    def loss(self, Y: Array) -> SmoothedLoss:
        return self.stages(Y)[-1]

    def half_width(self, Y: Array) -> float:
        return self.loss(Y).h

    def _columns(self, problem: FeatureProblem) -> tuple[Array, Array, Array | None, int]:
        return columns_smoothed(
            problem.feature_map, problem.X, problem.Y, problem.groups, problem.penalties, self.stages(problem.Y),
            bias=problem.bias, ratios=1.0 / problem.shares, pairs=self.pairs, threads=problem.threads,
        )  # fmt: skip


@dataclass(frozen=True)
class HingeBySmoothing(_BySmoothing):
    """The hinge loss, at last smoothed over ``h``; rows with label zero do not count."""

    h: float = 0.01

    def smoothed_over(self, h: float | None) -> HingeBySmoothing:
        return self if h is None else replace(self, h=h)

    def stages(self, Y: Array) -> list[SmoothedLoss]:
        return hinge_stages(self.h)


@dataclass(frozen=True)
class TubeBySmoothing(_BySmoothing):
    """The epsilon-insensitive loss for a positive ``epsilon``, at last smoothed over ``h``."""

    epsilon: float
    h: float | None = None
    pairs = False

    def refuse(self, penalties: Sequence[float]) -> str | None:
        if self.epsilon == 0:
            return "With an approximation epsilon must be positive: its loss is smoothed over a hundredth of it."
        return None

    def smoothed_over(self, h: float | None) -> TubeBySmoothing:
        return self if h is None else replace(self, h=h)

    def stages(self, Y: Array) -> list[SmoothedLoss]:
        return tube_stages(self.epsilon, float(Y.std()), self.h)
