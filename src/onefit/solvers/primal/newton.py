r"""Newton's method on explicit features, for all splits of a cross-validation from sums over the rows.

.. math:: \min_{\beta, b} \tfrac12 \|\beta\|^2 + C \sum_i w_i\, l(y_i, \beta^T z_i + b)

One problem with all rows is solved first. The sums of its gradient and Hessian over cells of rows give the gradient and
Hessian of every split at that solution, and so each split's first Newton step without another pass: this is the
influence-function series of infinite order. Further passes, with products but few sums of squares, make every split
exact: their gradients are computed anew, and their Hessians corrected by the rows whose curvature has changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...gram.cells import Cells
from ...gram.feature_map import FeatureMap
from ...gram.streamed import RowBlocks, symmetric
from ...linalg.unlocked import add_squares
from ...losses.margin import SmoothLoss
from .row_sums import FeatureRows, LabelledRows, RowSum, Summand, Totals, labels_of

Array = NDArray[np.float64]

DECREMENT = 1e-18
"""Squared Newton decrement at which a problem is solved. The objective is strongly convex in the coefficients: decision
values are then known to 1e-9 of the lengths of the features."""

ROUGH = 1e-6
"""Squared Newton decrement from which on steps without progress may be rounding."""

START = 1e-3
"""Squared Newton decrement, relative to the objective, at which the problem of all rows is near enough for the splits
to start from: nearer starts saved them no pass, and took a third more passes of all rows."""

FIRST_RISE = 2.0
"""Factor by which the first step of a split may raise its objective: further steps undo a small rise sooner than steps
that are halved (33 passes instead of 51), but not one by orders of magnitude."""

MOST_PASSES = 60
"""Passes after which a problem is given up; most take between four and ten."""

STALLED = 3
"""Passes in a row without progress after which what is left is rounding."""


@dataclass(frozen=True)
class NewtonSolutions:
    """Parameters (splits, q) of all splits: coefficients, then the constant if there is one; ``decrement`` (splits,).

    ``passes`` is how often the rows were gone through.
    """

    parameters: Array
    decrement: Array
    passes: int


@dataclass
class MarginProblem:
    """One loss, penalty and column of labels on the cells of some splits."""

    rows: LabelledRows
    cells: Cells
    loss: SmoothLoss
    C: float
    bias: bool
    passes: int = 0

    @property
    def feature_map(self) -> FeatureMap:
        """The features of the rows."""
        return self.rows.features.feature_map

    @property
    def penalty(self) -> Array:
        """The diagonal of the quadratic penalty: the constant is free."""
        diagonal = np.ones(self.feature_map.width + self.bias)
        if self.bias:
            diagonal[-1] = 0.0
        return diagonal

    @cached_property
    def _lower(self) -> Array | None:
        """A factor by which sums over the rows are whitened, instead of the features; None if that does not pay."""
        many = len(self.rows.labels.y) > 8 * self.cells.count * self.feature_map.width
        return self.feature_map.whitening if many else None

    def _unwhitened(self, thetas: Array) -> Array:
        """Parameters (t, q) for features before whitening, with the same values."""
        if self._lower is None:
            return thetas
        found, r = thetas.copy(), len(self._lower)
        found[:, :r] = linalg.solve_triangular(self._lower, thetas[:, :r].T, lower=True, trans="T").T
        return found

    def _whitened(self, gradients: Array) -> Array:
        """Sums (…, q) over products with whitened features from those with features before whitening, in place."""
        if self._lower is not None:
            r = len(self._lower)
            columns = gradients[..., :r].reshape(-1, r).T
            gradients[..., :r] = linalg.solve_triangular(self._lower, columns, lower=True).T.reshape(
                gradients[..., :r].shape
            )
        return gradients

    def _whitened_on_both_sides(self, hessians: Array) -> Array:
        """Sums (…, q, q) over products of whitened features with each other, in place."""
        if self._lower is not None and len(hessians):
            hessians[...] = self._whitened(self._whitened(hessians).swapaxes(-1, -2).copy())
        return hessians

    def sum(self, summand: Summand, *, whitened: bool = False) -> Totals:
        """A sum over the rows that count, of features that are ``whitened``, or such as sums are whitened of."""
        self.passes += 1
        return self.rows.sum(RowSum(summand, whitened or self._lower is None, self.bias, self.C))

    def of_cells(self, theta: Array) -> tuple[Array, Array, Array]:
        """(losses (k,), gradients (k, q), Hessians (k, q, q)) of the cells at one point, without the penalty."""
        (inner,) = self._unwhitened(theta[None])
        losses, gradients, hessians = self.sum(_CellSums(self.loss, inner, self.cells.count)).sums
        hessians = np.array([symmetric(hessian) for hessian in hessians])
        return losses, self._whitened(gradients), self._whitened_on_both_sides(hessians)

    def of_splits(
        self, thetas: Array, share: Array, near: Array | None, fresh: Sequence[bool]
    ) -> tuple[Array, Array, dict[int, Array]]:
        """(losses (t,), gradients (t, q), corrections {split: (q, q)}) of splits at a point each, without the penalty.

        Corrections are the changes of the Hessians since the point ``near``, of the splits for which they are wanted;
        without such a point they are the Hessians.
        """
        wanted = np.flatnonzero(fresh)
        start = None if near is None else self._unwhitened(near[None])[0]
        summand = _SplitSums(self.loss, self._unwhitened(thetas), share, start, wanted)
        losses, gradients, corrections = self.sum(summand).sums
        corrections = self._whitened_on_both_sides(corrections)
        return losses, self._whitened(gradients), dict(zip(wanted.tolist(), corrections))

    def along(self, thetas: Array, steps: Array, share: Array, sizes: Array) -> Array:
        """Losses (t, sizes) of splits at several points of a line each, without the penalty."""
        (losses,) = self.sum(_LineSums(self.loss, self._unwhitened(thetas), self._unwhitened(steps), share, sizes)).sums
        return losses

    def weight(self, share: Array) -> Array:
        """C times the weights of all rows of each split."""
        labels = self.rows.labels
        return np.asarray(self.C * share @ np.bincount(labels.cell, labels.counts * labels.weights, self.cells.count))


@dataclass(frozen=True)
class _CellSums:
    """Losses, gradients and the upper triangles of Hessians of the cells at one point."""

    loss: SmoothLoss
    theta: Array
    count: int

    def zeros(self) -> Totals:
        k, q = self.count, len(self.theta)
        return Totals((np.zeros(k), np.zeros((k, q)), np.zeros((k, q, q))))

    def add(self, totals: Totals, Z: Array, y: Array, cell: NDArray[np.intp], weights: Array) -> None:
        losses, gradients, hessians = totals.sums
        f, k = Z @ self.theta, self.count
        losses += np.bincount(cell, weights * self.loss.value(y, f), k)
        gradients += (weights * self.loss.slope(y, f) * (cell == np.arange(k)[:, None])) @ Z
        curvature = weights * self.loss.curvature(y, f)
        for number in np.unique(cell):
            rows = np.flatnonzero((cell == number) & (curvature > 0))
            scaled = Z[rows]
            scaled *= np.sqrt(curvature[rows])[:, None]
            add_squares(hessians[number], scaled)


@dataclass(frozen=True)
class _SplitSums:
    """Losses and gradients of splits at a point each, and changes of the Hessians of those ``wanted``."""

    loss: SmoothLoss
    thetas: Array
    share: Array
    near: Array | None
    wanted: NDArray[np.intp]

    def zeros(self) -> Totals:
        t, q = self.thetas.shape
        return Totals((np.zeros(t), np.zeros((t, q)), np.zeros((len(self.wanted), q, q))))

    def add(self, totals: Totals, Z: Array, y: Array, cell: NDArray[np.intp], weights: Array) -> None:
        losses, gradients, corrections = totals.sums
        F = Z @ self.thetas.T  # (l, t)
        factor = weights[:, None] * self.share[:, cell].T
        losses += (factor * self.loss.value(y[:, None], F)).sum(axis=0)
        gradients += (factor * self.loss.slope(y[:, None], F)).T @ Z
        before = np.zeros(len(y)) if self.near is None else self.loss.curvature(y, Z @ self.near)
        for k, i in enumerate(self.wanted):
            change = factor[:, i] * (self.loss.curvature(y, F[:, i]) - before)
            rows = np.flatnonzero(change)
            corrections[k] += Z[rows].T @ (change[rows][:, None] * Z[rows])


@dataclass(frozen=True)
class _LineSums:
    """Losses of splits at several points of a line each."""

    loss: SmoothLoss
    thetas: Array
    steps: Array
    share: Array
    sizes: Array

    def zeros(self) -> Totals:
        return Totals((np.zeros((len(self.thetas), len(self.sizes))),))

    def add(self, totals: Totals, Z: Array, y: Array, cell: NDArray[np.intp], weights: Array) -> None:
        (losses,) = totals.sums
        F, D, factor = Z @ self.thetas.T, Z @ self.steps.T, weights[:, None] * self.share[:, cell].T
        for k, size in enumerate(self.sizes):
            losses[:, k] += (factor * self.loss.value(y[:, None], F + size * D)).sum(axis=0)


def solve_splits_by_newton(
    rows: LabelledRows,
    cells: Cells,
    loss: SmoothLoss,
    C: float,
    *,
    bias: bool,
    ratios: Array,
    start: Array | None = None,
) -> tuple[NewtonSolutions, Array]:
    """(solutions of the splits of some cells, that of all their rows: the start for a larger C).

    ``ratios`` multiply C in each split. Cost: a few passes with one weighted sum of squares, n r² multiplications, and
    a few with products only, 4 n r for each split.
    """
    problem = MarginProblem(rows, cells, loss, C, bias)
    share = cells.share * ratios[:, None]
    whole = share[0] if len(share) == 1 else (cells.share.max(axis=0) > 0).astype(np.float64)
    theta = np.zeros(len(problem.penalty)) if start is None else start.copy()
    theta, sums = _minimise_whole(problem, theta, whole, exact=len(share) == 1)
    thetas, decrement = _minimise_splits(problem, theta, share, sums)
    return NewtonSolutions(thetas, decrement, problem.passes), theta


def _minimise_whole(
    problem: MarginProblem, theta: Array, share: Array, *, exact: bool
) -> tuple[Array, tuple[Array, Array, Array]]:
    """(the minimiser for all cells, sums of the cells there), by Newton's method with step halving."""
    best, previous, step = np.inf, theta, np.zeros_like(theta)
    for _ in range(MOST_PASSES):
        sums = problem.of_cells(theta)
        losses, gradients, hessians = sums
        objective = float(0.5 * problem.penalty @ theta**2 + share @ losses)
        if objective > best + 1e-12 * abs(best):
            step /= 2
            theta = previous - step
            continue
        gradient = problem.penalty * theta + share @ gradients
        step = _newton_step(np.tensordot(share, hessians, axes=1), problem.penalty, gradient)
        if gradient @ step <= (DECREMENT if exact else START * max(1.0, objective)):
            break
        best, previous, theta = objective, theta, theta - step
    return theta, sums


def _minimise_splits(
    problem: MarginProblem, theta: Array, share: Array, sums: tuple[Array, Array, Array]
) -> tuple[Array, Array]:
    """(parameters (t, q), squared Newton decrements (t,)) of all splits, from the sums of the cells at ``theta``."""
    penalty, (losses, gradients, hessians) = problem.penalty, sums
    splits = [_Split(np.tensordot(row, hessians, axes=1), penalty, problem.loss.piecewise) for row in share]
    for split, loss, gradient in zip(splits, share @ losses, share @ gradients):
        split.begin(theta, loss, penalty * theta + gradient)
    for _ in range(MOST_PASSES):
        left = [i for i, split in enumerate(splits) if not split.done]
        if not left:
            break
        points, fresh = np.array([splits[i].theta for i in left]), [splits[i].fresh for i in left]
        losses, slopes, corrections = problem.of_splits(points, share[left], theta, fresh)
        for k, i in enumerate(left):
            splits[i].advance(losses[k], slopes[k], corrections.get(k))
    return np.array([split.best for split in splits]), np.array([split.decrement for split in splits])


class _Split:
    """Newton's method with step halving for one split.

    The Hessian is that of the start, and computed anew (``fresh``) where its curvature is known to change for few rows
    only, or where steps no longer gain a digit.
    """

    def __init__(self, hessian: Array, penalty: Array, always_fresh: bool) -> None:
        self._start, self._hessian, self._penalty = hessian, hessian, penalty
        self.fresh, self._always = always_fresh, always_fresh
        self.decrement, self._stalled, self.done = np.inf, 0, False

    def begin(self, theta: Array, loss: float, gradient: Array) -> None:
        """Take the first step, from a point with this loss and gradient of the objective."""
        self._objective = FIRST_RISE * float(0.5 * self._penalty @ theta**2 + loss)
        self.best, self._step = theta, _newton_step(self._hessian, self._penalty, gradient)
        self.theta = theta - self._step

    def advance(self, loss: float, gradient: Array, correction: Array | None) -> None:
        """Take another step, by the loss and its gradient at the point; half a step back where the objective rose."""
        objective = float(0.5 * self._penalty @ self.theta**2 + loss)
        if objective > self._objective + 1e-12 * abs(self._objective):
            self._step = self._step / 2
            self.theta = self.best - self._step  # with a fresh Hessian if one was wanted: that of the start led too far
            self._stop_if_stalled(False)
            return
        if correction is not None:
            self._hessian = self._start + correction
        gradient = self._penalty * self.theta + gradient
        step = _newton_step(self._hessian, self._penalty, gradient)
        found = max(0.0, float(gradient @ step))
        progress, was_fresh = found < 0.1 * self.decrement, correction is not None
        self.best, self._objective, self.decrement = self.theta, objective, min(found, self.decrement)
        if found <= DECREMENT:
            self.best, self.done = self.theta - step, True  # the step is at hand, and gains digits
            return
        self.fresh = self._always or not progress
        self._stop_if_stalled(progress or not was_fresh or found > ROUGH)
        self._step, self.theta = step, self.theta - step

    def _stop_if_stalled(self, progress: bool) -> None:
        """Take note of steps without progress: after some of them what is left is rounding."""
        self._stalled = 0 if progress else self._stalled + 1
        self.done = self._stalled >= (STALLED if self.decrement < ROUGH else MOST_PASSES)


def _newton_step(H: Array, penalty: Array, gradient: Array) -> Array:
    """``(H + penalty)⁻¹ gradient``; without rows that curve the constant keeps its place."""
    A = H + np.diag(penalty)
    try:
        return np.asarray(linalg.cho_solve(linalg.cho_factor(A, check_finite=False), gradient, check_finite=False))
    except linalg.LinAlgError:
        A[-1, -1] += max(1e-10 * float(np.trace(A)) / len(A), np.finfo(np.float64).tiny)
        return np.asarray(linalg.solve(A, gradient, assume_a="sym", check_finite=False))


def columns_by_newton(
    feature_map: FeatureMap,
    X: RowBlocks,
    Y: Array,
    groups: Sequence[Cells],
    penalties: Array,
    loss: SmoothLoss,
    *,
    bias: bool,
    ratios: Array,
    threads: int = 1,
) -> tuple[Array, Array, int]:
    """(parameters (splits, L, q, c), squared decrements (splits, L, c), passes) for all penalties and columns.

    Each column is a path of penalties from small to large, each starting at the solution of the one before.
    """
    q, passes = feature_map.width + bias, 0
    parameters = np.zeros((len(ratios), len(penalties), q, Y.shape[1]))
    decrement = np.zeros((len(ratios), len(penalties), Y.shape[1]))
    shown = FeatureRows(feature_map, X, threads)
    for cells in groups:
        splits = np.array(cells.splits)
        for c in range(Y.shape[1]):
            rows, start = LabelledRows(shown, labels_of(Y[:, c], cells)), None
            for k, C in enumerate(penalties):
                found, start = solve_splits_by_newton(
                    rows, cells, loss, float(C), bias=bias, ratios=ratios[splits], start=start
                )
                parameters[splits, k, :, c], decrement[splits, k, c] = found.parameters, found.decrement
                passes += found.passes
    return parameters, decrement, passes
