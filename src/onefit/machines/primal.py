"""The contract of training on explicit features: a learner's ``primal`` solver, its problem, and its solutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..gram.cells import Cells
from ..gram.feature_map import FeatureMap
from ..gram.streamed import PassRecord, RowBlocks
from ..losses.margin import SmoothLoss

Array = NDArray[np.float64]

UNSOLVED = 1e-6
"""Error of decision values from which on a solution counts as not found."""


@dataclass(frozen=True)
class LinearPath:
    """Coefficients (L, r, c) and constants (L, c) for each of L penalties."""

    coef: Array
    intercept: Array

    @property
    def stacked(self) -> Array:
        """Coefficients as columns (r, L c), for one product with features."""
        L, r, c = self.coef.shape
        return np.ascontiguousarray(self.coef.transpose(1, 0, 2).reshape(r, L * c))

    def values(self, products: Array) -> Array:
        """Values (L, l, c) of rows from the products (l, L c) of their features with ``stacked``."""
        L, _, c = self.coef.shape
        return np.ascontiguousarray(products.reshape(len(products), L, c).transpose(1, 0, 2)) + self.intercept[:, None]


@dataclass(frozen=True)
class SquaredErrors:
    """Squared errors on the tested rows of a split, summed: ``total`` (L, c), and the ``weight`` of these rows.

    ``terms`` (L, c) is the size of the numbers that they are a difference of: where errors are far smaller, digits are
    lost. ``spread`` (c,) is the variance of the targets, from their sums.
    """

    weight: float
    total: Array
    terms: Array
    spread: Array


@dataclass(frozen=True)
class SplitSolution:
    """The machine trained on the training rows of a split, for each number of leading features.

    ``errors`` has one entry for each of them too, or none where the tested rows are no cell. Of iterative solutions
    ``accuracy`` (L,) bounds the error of decision values, relative to the lengths of features, and ``bound`` (L,) their
    distance from those of the loss that was asked for, where that has kinks which were smoothed.
    """

    paths: Sequence[LinearPath]
    errors: Sequence[SquaredErrors] = ()
    accuracy: Array | None = None
    bound: Array | None = None

    @property
    def unsolved(self) -> NDArray[np.bool_]:
        """Penalties (L,) at which the solution was not found."""
        if self.accuracy is None:
            return np.zeros(len(self.paths[-1].coef), dtype=bool)
        return ~(self.accuracy <= UNSOLVED)  # nor is NaN


@dataclass(frozen=True)
class SplitSolutions:
    """The machines of all splits, and the one trained on all rows if it was asked for and their sums are known.

    ``passes`` is how often the rows were gone through.
    """

    splits: list[SplitSolution]
    whole: LinearPath | None = None
    passes: int = 1


@dataclass(frozen=True)
class FeatureProblem:
    """A path of ascending penalties on explicit features, to be solved on every split of some groups of cells.

    ``shares`` are those of all rows that the splits train on where the penalty follows them, else ones: ridges are
    multiplied by them, C is divided. ``widths`` are the numbers of leading features for which solutions are asked,
    the last of them all; ``records`` keep the sums of a pass, where there is a journal; ``on_all_rows`` asks for the
    machine trained on all rows as well, if that takes no pass of its own.
    """

    feature_map: FeatureMap
    X: RowBlocks
    Y: Array
    groups: Sequence[Cells]
    penalties: Array
    shares: Array
    bias: bool
    widths: Sequence[int]
    threads: int = 1
    records: Sequence[PassRecord | None] | None = None
    on_all_rows: bool = False


class PrimalSolver(Protocol):
    """Trains a learner on explicit features: what a search with an approximation needs of it.

    ``from_sums`` says that solutions follow from the sums of one pass over the rows, and with them solutions for the
    leading features and squared errors.
    """

    @property
    def from_sums(self) -> bool: ...

    def refuse(self, penalties: Sequence[float]) -> str | None:
        """Why some penalties, or the parameters of the learner, cannot be served; None if they can."""

    def half_width(self, Y: Array) -> float | None:
        """Over how much on both sides of its kinks the loss is smoothed for targets Y; None if it has no kinks."""

    def smoothed_over(self, h: float | None) -> PrimalSolver:
        """The solver with another half width of smoothing; itself for None, and without kinks."""

    def loss(self, Y: Array) -> SmoothLoss:
        """The loss of a row that is minimised for targets Y: the last one, of a loss with kinks."""

    def factors(self, penalties: Array) -> Array:
        """Factors of the sum of the losses beside half of the squared length of the coefficients."""

    def counts(self, y: Array) -> NDArray[np.bool_]:
        """Which rows take part in the problem of a column of targets."""

    def usual_passes(self, columns: float, penalties: int) -> float:
        """Passes over the rows that so many columns of targets, of all rows each, and penalties usually take."""

    def solve(self, problem: FeatureProblem) -> SplitSolutions:
        """The machines of all splits. Splits that cannot be trained on have coefficients of no meaning."""
