"""The contract of learners, machines that are read from estimators, and held-out values as everybody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._arrays import Indices
from ..data.coding import CodedTargets, Link, Pairs
from ..data.problem import Problem
from ..data.targets import Targets
from ..data.ties import interchangeable_rows, repeat_first
from ..gram.contract import Gram
from ..kernels import Kernel
from .capabilities import Ball, HeldOutTangent, Margin, RidgeInverse, Smoother, at_penalties
from .primal import PrimalSolver


class Exactness(StrEnum):
    """How a score relates to really retraining on every fold."""

    EXACT = "exact"
    CERTIFIED = "certified"
    APPROXIMATE = "approximate"
    RETRAINED = "retrained"
    PRUNED = "pruned"
    FAILED = "failed"
    UNREACHED = "not reached"


Array = NDArray[np.float64]

OnTrain = Callable[[int, NDArray[np.intp], Array], None]
"""Called with (fold number, positions on the path, values of the training rows (k, m, c)), positions in order.

Penalties that are computed again, by least squares or refined, are reported once more after the others, with the whole
path and NaN at the others.
"""


@dataclass(frozen=True)
class Series:
    """The influence-function series that held-out values are approximated by: its order, which may be infinite.

    Losses with kinks are smoothed over ``h`` on both sides of them (None: the loss's own default). The series starts
    from the minimiser of the smoothed loss ("smoothed"), or from that of the loss itself ("plug-in"). ``frozen`` takes
    the loss for its second-order expansion at the solution on all rows, so that the sum of the series is one Newton
    step: that of piecewise quadratic losses always is.
    """

    order: float = 5
    h: float | None = None
    start: str = "smoothed"
    frozen: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.order, Real) or not self.order >= 1 or self.order not in (np.inf, self.order // 1):
            raise ValueError(f"order must be a positive whole number or infinity, got {self.order!r}.")
        if self.h is not None and not (isinstance(self.h, Real) and 0 < self.h < np.inf):
            raise ValueError(f"h must be a positive number or None, got {self.h!r}.")
        if self.start not in ("smoothed", "plug-in"):
            raise ValueError(f'start must be "smoothed" or "plug-in", got {self.start!r}.')


@dataclass
class HeldOut:
    """Out-of-fold values along a path of L penalties (ridges, or C).

    ``test[i]`` has shape (L, rows tested by split i, c). Leave-one-out has one entry with all rows.
    ``error`` bounds the absolute error of every value against exact arithmetic and an infinite series;
    ``failed`` marks penalties without a unique solution, or whose solution was not found, for the ``reason`` given:
    their values are not to be used. ``least_squares`` marks penalties whose system is singular and was solved all the
    same, ``rounded`` those at which values are not known to some six digits, for rounding, of which ``rounding`` says
    where it comes from. NaN stands where a split cannot be trained on. ``bias_slack`` (splits, L, c) is half the length
    of the interval of biases that are all optimal, in whose middle the values are; zero where the bias is determined.
    """

    test: list[Array]
    error: Array
    failed: NDArray[np.bool_]
    exact: bool
    reason: str = ""
    least_squares: NDArray[np.bool_] | None = None
    rounded: NDArray[np.bool_] | None = None
    bias_slack: Array | None = None
    rounding: str = ""

    @classmethod
    def of_views(cls, parts: Sequence[HeldOut], test: list[Array]) -> HeldOut:
        """Values ``test`` from one view for each split: marks are those of any view, if the learner makes such."""

        def known(name: str) -> list[Any]:
            return [found for part in parts if (found := getattr(part, name)) is not None]

        return cls(
            test,
            np.max(known("error"), axis=0),
            np.any(known("failed"), axis=0),
            all(known("exact")),
            parts[0].reason,
            np.any(marks, axis=0) if (marks := known("least_squares")) else None,
            np.any(marks, axis=0) if (marks := known("rounded")) else None,
            np.concatenate(slacks) if (slacks := known("bias_slack")) else None,
            parts[0].rounding,
        )


class Judge(Protocol):
    """Says when held-out values are known well enough, from intervals that get narrower round by round."""

    def still_open(
        self, k: int, column: int, splits: list[int], intervals: Sequence[tuple[Array, Array] | None], round_: int
    ) -> list[bool]:
        """Which of some splits need another round, at penalty number k.

        ``intervals`` are those of their tested rows after ``round_`` rounds, None where there is nothing new.
        """

    def promising(self, k: int, split: int) -> bool:
        """Whether so much is known of a split that it is worth finding out as much of others."""

    def settle(self, k: int, column: int, split: int, values: Array, round_: int | None = None) -> None:
        """Take note of values that are exact, since some round if the rounds of the split were counted."""

    def finish(self, k: int, column: int) -> None:
        """Take note that no split is open any more."""


class Learner(Protocol):
    """A loss and its algebra: equal learners can share everything but the regularisation value."""

    @property
    def name(self) -> str:
        """The name of the machine in messages; nothing depends on it."""

    @property
    def offers(self) -> frozenset[str]:
        """The capabilities that criteria may ask for besides out-of-fold values: names of ``CAPABILITIES``."""

    @property
    def bias(self) -> bool:
        """Whether there is an unpenalised constant."""

    @property
    def primal(self) -> PrimalSolver | None:
        """Trains it on explicit features; None if nothing does."""

    @property
    def loss(self) -> str | Callable[[Array, Array], Array]:
        """The loss of its empirical risk: the name of one of ``criteria.row_losses``, or a function of (y, f)."""

    def squares(self, columns: int) -> int:
        """n x n arrays of doubles that it needs at once besides base matrices, for so many columns of targets."""

    @property
    def certifies(self) -> bool:
        """Whether it asks a judge how well its values have to be known."""

    @property
    def several_outputs(self) -> bool:
        """Whether a regression may have more than one target."""

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
        """Out-of-fold values for every penalty and split: exact, by a series, or as well as a judge asks for.

        Penalties ascend: solutions at one are where the next one starts from. ``resolve_small`` asks for the digits,
        signs and ranks of values below the rounding of the targets.
        """

    def tangent(self, gram: Gram, targets: Targets, penalty: float, *, scale_penalty: bool = False) -> HeldOutTangent:
        """Out-of-fold values for one penalty, exact, with derivatives."""

    def __hash__(self) -> int: ...


class FittedLearner(Learner, Protocol):
    """Offers "fitted": the values of a machine trained on all rows.

    Learners that offer "smoother" or "margin" need not say more: their values are part of that.
    """

    def fitted(self, gram: Gram, targets: Targets, penalties: Array) -> Array:
        """Values (L, n, c) of all rows by the machine trained on all rows; NaN where it was not found."""


class LinearLearner(Learner, Protocol):
    """Offers "smoother": fitted values that are linear in the targets."""

    def smoother(
        self, gram: Gram, targets: Targets, penalties: Array, *, spectral: bool, values: bool = False
    ) -> Smoother:
        """The machine trained on all rows; ``spectral`` asks to take every ridge from one spectrum.

        ``values`` asks for leave-one-out predictions whose signs and ranks can be read.
        """

    def inverse(self, gram: Gram, targets: Targets, penalty: float) -> RidgeInverse:
        """The inverse that functions of the machine trained on all rows are differentiated with."""


class MarginLearner(Learner, Protocol):
    """Offers "margin": a support vector machine that separates two classes; with bounded coefficients also "box"."""

    def margins(self, gram: Gram, targets: Targets, penalties: Array) -> list[list[Margin]]:
        """The machine trained on all rows: for every penalty a list with one entry for each column of the targets."""


class BallLearner(MarginLearner, Protocol):
    """Offers "ball": a hard-margin machine of ``K + D``, so that the smallest ball around its rows counts."""

    def balls(self, gram: Gram, targets: Targets, penalties: Array) -> list[Ball]:
        """The smallest balls around all rows in the feature space of ``K + D``, for every penalty."""


@dataclass(frozen=True)
class Machine:
    """A learner, its kernel, and its regularisation: one penalty (ridge, or C), or one for each target.

    ``class_weight`` is None, "balanced" or a tuple of (class, weight) pairs; ``balance_weighted`` says that balanced
    weights take sample weights into account. ``pairs`` is how a machine that is trained on pairs of classes puts them
    together, None for one-vs-rest and in regression. ``link`` takes decision values to probabilities, where the
    estimator has ``predict_proba``. ``stops_at_tol`` says that the estimator's own solver is iterative and stops at its
    parameter ``tol``; ``exact_tol`` is the one at which it stops at the solution that is scored, None if there is none.
    ``separate`` says that a wrapper trains it on each of the "outputs", or on each of the "classes" against the rest.
    """

    learner: Learner
    kernel: Kernel
    penalties: tuple[float, ...]
    class_weight: Hashable = None
    pairs: Pairs | None = None
    balance_weighted: bool = True
    link: Link | None = None
    stops_at_tol: bool = False
    exact_tol: float | None = None
    separate: str | None = None


@dataclass(frozen=True)
class MachinePath:
    """One machine along a path of E candidates: its coded targets, and their penalties, one each or one per target."""

    learner: Learner
    targets: Targets
    coded: CodedTargets
    penalties_of_candidates: tuple[tuple[float, ...], ...]

    @cached_property
    def penalties(self) -> Array:
        """The distinct penalties, ascending."""
        return np.unique([penalty for own in self.penalties_of_candidates for penalty in own])

    @cached_property
    def positions(self) -> NDArray[np.intp]:
        """Positions (E, c) of the candidates' penalties among the distinct ones, for every column of the targets."""
        c = self.targets.Y.shape[1]
        places = [np.searchsorted(self.penalties, own) for own in self.penalties_of_candidates]
        return np.array([np.broadcast_to(place, (c,)) for place in places])

    def of_candidates(self, part: Array) -> Array:
        """Values of the candidates (E, l, c) from those of the distinct penalties (L, l, c)."""
        return at_penalties(part, self.positions)


def hold_out(
    learner: Learner,
    gram: Gram,
    targets: Targets,
    penalties: Array,
    *,
    on_train: OnTrain | None = None,
    **options: Any,
) -> HeldOut:
    """``learner.heldout`` with bit-identical values for identical rows of a split, tested or trained on.

    Leave-one-out values are pooled: they are equal for identical rows with equal targets and weights.
    """
    problem, report = gram.problem, on_train
    identical = problem.identical_rows
    if on_train is not None and identical is not None:

        def report(number: int, positions: Indices, values: Array) -> None:
            repeat_first(values, identical[problem.folds.folds[number].train], axis=1)
            on_train(number, positions, values)

    held = learner.heldout(gram, targets, penalties, on_train=report, **options)
    if problem.folds.leave_one_out:
        equalise_left_out(held.test[0], problem, targets)
    elif identical is not None:
        for fold, part in zip(problem.folds, held.test):
            repeat_first(part, identical[fold.test], axis=1)
    return held


def equalise_left_out(values: Array, problem: Problem, targets: Targets) -> None:
    """Make pooled leave-one-out values (L, n, c) of interchangeable rows equal, in place."""
    repeat_first(values, interchangeable_rows(problem.identical_rows, targets.Y, targets.whole_weights), axis=1)
