r"""Support vector machines on explicit features: Newton's method on losses whose kinks are smoothed, step by step.

A loss that is quadratic within h of its kinks is minimised for h = 1, then for smaller ones, each from the solution
before. Only rows within h of a kink curve, so that Hessians of all splits are cheap. The slopes at the solution are
coefficients of the dual problem of the loss itself, and the gap between both objectives bounds how far the solution is
from that of the loss with kinks: :math:`\|\beta - \beta^*\|^2 \le 2\, gap`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...gram.cells import Cells
from ...gram.feature_map import FeatureMap
from ...gram.streamed import RowBlocks
from ...losses.margin import SmoothedHingeLoss
from ...losses.residual import SmoothedTubeLoss
from .newton import DECREMENT, MarginProblem
from .row_sums import FeatureRows, LabelledRows, Totals, labels_of

Array = NDArray[np.float64]
SmoothedLoss = SmoothedHingeLoss | SmoothedTubeLoss

WIDTHS = (1.0, 0.3, 0.1, 0.03)
"""Widths of smoothing before the last one, relative to the margin, or to the spread of the targets."""

STEPS: Array = np.ldexp(1.0, -np.arange(1, 25))
"""Parts of a Newton step that are tried where the whole step does not decrease the objective."""

MOST_STEPS = 100
"""Newton steps, at most, for each width of smoothing."""

ROUGH = 1e-6
"""Squared Newton decrement, relative to the objective, at which the next width of smoothing begins."""


FLAT = 1e-12
"""Slope of the objective along the constant, relative to C times the weights of all rows, that is rounding."""

EDGE = 1e-6
"""Share of h within which a row at the edge of the smoothed part of its loss still counts as outside of it."""


@dataclass(frozen=True)
class SmoothedSolutions:
    """Parameters (splits, q), squared Newton decrements and duality gaps of the loss with kinks (splits,)."""

    parameters: Array
    decrement: Array
    gap: Array
    passes: int


def solve_smoothed(
    rows: LabelledRows,
    cells: Cells,
    losses: Sequence[SmoothedLoss],
    C: float,
    *,
    bias: bool,
    ratios: Array,
    start: Array | None = None,
) -> SmoothedSolutions:
    """Solutions of all splits of some cells for the last of some ``losses``, each the start for the next.

    Cost: some ten passes over the rows with products, and sums of squares of the few rows near a kink.
    """
    share = cells.share * ratios[:, None]
    q = rows.features.feature_map.width + bias
    thetas, passes = np.zeros((len(share), q)) if start is None else start.copy(), 0
    decrement = np.full(len(share), np.inf)
    for loss in losses:
        problem = MarginProblem(rows, cells, loss, C, bias)
        thetas, decrement = _minimise(problem, thetas, share, exact=loss is losses[-1])
        passes += problem.passes
    problem = MarginProblem(rows, cells, losses[-1], C, bias)
    gap, shift = _gap(problem, thetas, share, losses[-1])
    if bias:
        thetas[:, -1] += shift
    return SmoothedSolutions(thetas, decrement, gap, passes + problem.passes)


def _minimise(problem: MarginProblem, thetas: Array, share: Array, *, exact: bool) -> tuple[Array, Array]:
    """(minimisers (t, q), squared decrements (t,)) by Newton's method with a line search where it is needed."""
    penalty, t = problem.penalty, len(share)
    losses, gradients, hessians = problem.of_splits(thetas, share, None, [True] * t)
    objective = losses + 0.5 * thetas**2 @ penalty
    decrement, stalled = np.full(t, np.inf), np.zeros(t, dtype=bool)
    floor = 1e-3 * problem.weight(share)
    for _ in range(MOST_STEPS):
        steps = np.array([
            _step(hessians[i], penalty, penalty * thetas[i] + gradients[i], floor[i]) for i in range(t)
        ])  # fmt: skip
        decrement = np.einsum("ij,ij->i", penalty * thetas + gradients, steps)
        left = ~stalled & (decrement > (DECREMENT if exact else ROUGH * np.maximum(1.0, objective)))
        if not left.any():
            break
        trial = np.where(left[:, None], thetas - steps, thetas)
        losses, gradients, hessians = problem.of_splits(trial, share, None, [True] * t)
        found = losses + 0.5 * trial**2 @ penalty
        worse = left & ~(found <= objective - 1e-4 * decrement)
        if worse.any():
            trial, moved = _line_search(problem, thetas, steps, share, objective, trial, worse)
            stalled |= worse & ~moved
            losses, gradients, hessians = problem.of_splits(trial, share, None, [True] * t)
            found = losses + 0.5 * trial**2 @ penalty
        thetas, objective = trial, found
    return thetas, np.maximum(decrement, 0.0)


def _line_search(
    problem: MarginProblem,
    thetas: Array,
    steps: Array,
    share: Array,
    objective: Array,
    trial: Array,
    worse: NDArray[np.bool_],
) -> tuple[Array, NDArray[np.bool_]]:
    """(points with the best part of a step for the splits where the whole was ``worse``, which splits moved)."""
    losses = problem.along(thetas, -steps, share, STEPS)  # (t, sizes)
    points = thetas[:, None] - STEPS[:, None] * steps[:, None]  # (t, sizes, q)
    values = losses + 0.5 * points**2 @ problem.penalty
    best = values.argmin(axis=1)
    rows = np.arange(len(thetas))
    moved = values[rows, best] < objective
    chosen = np.where(moved[:, None], points[rows, best], thetas)
    return np.where(worse[:, None], chosen, trial), moved


def _step(H: Array, penalty: Array, gradient: Array, floor: float) -> Array:
    """A Newton step; the constant, along which a loss with kinks may be linear, curves by ``floor`` at least."""
    A = H + np.diag(penalty)
    if penalty[-1] == 0.0:
        A[-1, -1] = max(A[-1, -1], floor) * (1.0 + 1e-12)
    return np.asarray(linalg.solve(A, gradient, assume_a="pos", check_finite=False))


def _gap(problem: MarginProblem, thetas: Array, share: Array, loss: SmoothedLoss) -> tuple[Array, Array]:
    """(duality gaps (t,) of the loss with kinks at the solutions of the smoothed one, shifts (t,) of their constants).

    Where no row is near a kink, as for small C, the objective is the same for an interval of constants. Its middle is
    taken, as by the dual solvers: then a solution does not depend on where it was started from.
    """
    totals = problem.sum(_GapSums(loss, thetas, share), whitened=True)
    (primal, dual, slopes), (down, up) = totals.sums, totals.least
    gap = np.maximum(0.0, primal - dual + thetas**2 @ problem.penalty)
    ends = np.array([up, -down])  # (2, t)
    flat = np.isfinite(ends).all(axis=0) & (np.abs(slopes) <= FLAT * problem.weight(share))
    return gap, np.where(flat, ends, 0.0).mean(axis=0)


@dataclass(frozen=True)
class _GapSums:
    """Primal and dual losses and slopes of splits, and how far their values may go before a row comes near a kink."""

    loss: SmoothedLoss
    thetas: Array
    share: Array

    def zeros(self) -> Totals:
        t = len(self.share)
        return Totals((np.zeros(t), np.zeros(t), np.zeros(t)), (np.full(t, np.inf), np.full(t, np.inf)))

    def add(self, totals: Totals, Z: Array, y: Array, cell: NDArray[np.intp], weights: Array) -> None:
        (primal, dual, slopes), (down, up), loss = totals.sums, totals.least, self.loss
        F, factor = Z @ self.thetas.T, weights[:, None] * self.share[:, cell].T
        primal += (factor * loss.kinked.value(y[:, None], F)).sum(axis=0)
        slope = loss.slope(y[:, None], F)
        dual += (factor * loss.dual(y[:, None], slope)).sum(axis=0)
        slopes += (factor * np.round(slope)).sum(axis=0)  # away from the kinks
        for kink in loss.kinks(y[:, None]):
            for least, room in zip((down, up), _room(F - kink, loss.h)):
                np.minimum(least, np.where(factor > 0, room, np.inf).min(axis=0, initial=np.inf), out=least)


def _room(distance: Array, h: float) -> tuple[Array, Array]:
    """How far values may go (down, up) before they come within h of a kink, at this ``distance`` above it."""
    inside = np.abs(distance) < (1.0 - EDGE) * h
    down = np.where(distance > 0, np.maximum(0.0, distance - h), np.inf)
    up = np.where(distance < 0, np.maximum(0.0, -distance - h), np.inf)
    return np.where(inside, 0.0, down), np.where(inside, 0.0, up)


def hinge_stages(h: float = 0.01) -> list[SmoothedLoss]:
    """The hinge loss smoothed over less and less, at last over ``h``."""
    return [SmoothedHingeLoss(width) for width in (*(w for w in WIDTHS if w > h), h)]


def tube_stages(epsilon: float, spread: float, h: float | None = None) -> list[SmoothedLoss]:
    """The epsilon-insensitive loss of targets with this standard deviation, at last smoothed over h (epsilon / 100)."""
    h = 0.01 * epsilon if h is None else h
    wider = [w * spread for w in WIDTHS if w * spread > h]
    return [*(SmoothedTubeLoss(max(epsilon, width), width) for width in wider), SmoothedTubeLoss(epsilon, h)]


def columns_smoothed(
    feature_map: FeatureMap,
    X: RowBlocks,
    Y: Array,
    groups: Sequence[Cells],
    penalties: Array,
    losses: Sequence[SmoothedLoss],
    *,
    bias: bool,
    ratios: Array,
    pairs: bool,
    threads: int = 1,
) -> tuple[Array, Array, Array, int]:
    """(parameters (splits, L, q, c), squared decrements and duality gaps (splits, L, c), passes) of all columns.

    With ``pairs`` of classes, rows whose label is zero in a column do not count there.
    """
    shape, passes = (len(ratios), len(penalties), Y.shape[1]), 0
    parameters = np.zeros((*shape[:2], feature_map.width + bias, shape[2]))
    decrement, gap = np.zeros(shape), np.zeros(shape)
    shown = FeatureRows(feature_map, X, threads)
    for cells in groups:
        splits = np.array(cells.splits)
        for c in range(shape[2]):
            rows, start = LabelledRows(shown, labels_of(Y[:, c], cells, all_count=not pairs)), None
            for k, C in enumerate(penalties):
                found = solve_smoothed(rows, cells, losses, float(C), bias=bias, ratios=ratios[splits], start=start)
                start, passes = found.parameters, passes + found.passes
                parameters[splits, k, :, c] = found.parameters
                decrement[splits, k, c], gap[splits, k, c] = found.decrement, found.gap
    return parameters, decrement, gap, passes
