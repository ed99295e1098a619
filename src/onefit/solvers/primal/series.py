r"""Held-out values by the Bouligand influence function (BIF) series on explicit features, with m x m systems.

.. math:: \min_{\beta, b} \tfrac12 \|\beta\|^2 + \sum_i u_i \, l(y_i, e_i^T \theta), \qquad
          e_i = (z_i, 1), \quad \theta = (\beta, b)

A split has the weights v in place of u: zero for rows that it leaves out, and where the penalty is on the *mean* loss
n / (n - l) times as large for the others, which is the corrected weight of the papers' contamination. Along
:math:`u - \epsilon (u - v)` the solution is :math:`\sum_s \theta_s \epsilon^s`, and with the Taylor coefficients
:math:`P_s = w T_s + h_s` of the slopes (``losses.taylor``)

.. math:: (I_\beta + E^T \mathrm{diag}(u w) E) \, \theta_s = -E^T (u h_s - (u - v) P_{s-1}), \qquad T_s = E \theta_s,

with :math:`I_\beta` the identity without the place of b. One matrix serves all splits and orders. The whole series of
a loss whose curvature is frozen is one Newton step of every split. It is the series of ``svm.series``,
``logistic.learner`` and ``least_squares.series`` on :math:`K = Z Z^T`.

Cost    n m² + m³ / 3 for each penalty and column; for each split and order n m, or l m where the penalty stays and the
        curvature is frozen; the whole series as much for all splits together, and m³ / 3 for each, m² l for one that
        leaves out few rows. Memory: two arrays as large as Z, some m x m arrays, three arrays of n for each order.
Source  Liu, Liao, Jiang, Ding, Lin & Wang, fast cross-validation by BIF; their weight -1/(t-1) is right for equal
        folds only. Oracle: the dense series.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ..._arrays import Array, Indices
from ...data import Targets
from ...gram import Gram
from ...losses.margin import SmoothLoss
from ...losses.taylor import FrozenSlope
from ...machines.contract import HeldOut, OnTrain, Series
from .in_memory import REASON, PrimalLearner, split_shares, trained_on_all, untrainable

BestConstant = Callable[[Array, Array, Array], float]
"""(targets, weights, values) to the best constant to add to the values, in the middle of its interval."""

WORTH = 4
"""Features for each row, at least, from which on the factor of all rows serves splits that leave out few of them."""

ROUNDED = 1e-14
"""Relative difference of the shares of their weights that rows keep up to which these are equal."""

POLISH = 2
"""Newton steps that take the rounding of sums out of the solution on all rows; for a square loss they find it."""


def series_on_features(
    learner: PrimalLearner,
    gram: Gram,
    targets: Targets,
    penalties: Array,
    series: Series,
    *,
    scale_penalty: bool = False,
    on_train: OnTrain | None = None,
    best_constant: BestConstant | None = None,
) -> HeldOut:
    """Values of the tested rows of every split by the series; NaN where a split cannot be trained on.

    ``best_constant`` is asked for the constant where no row curves. Nothing is known of the error of the values.
    """
    assert gram.Z is not None
    primal, folds, L = learner.primal.smoothed_over(series.h), gram.problem.folds, len(penalties)
    centre = gram.Z.mean(axis=0) if learner.bias else np.zeros(gram.Z.shape[1])
    Z = np.ascontiguousarray(gram.Z - centre) if learner.bias else gram.Z  # around it sums lose no digits to a constant
    starts, failed = trained_on_all(primal, learner.bias, Z, targets, penalties)
    E = np.column_stack([Z, np.ones(len(Z))]) if learner.bias else Z
    del Z
    test = [np.full((L, len(fold.test), targets.Y.shape[1]), np.nan) for fold in folds]
    train = [np.full((L, len(fold.train), targets.Y.shape[1]), np.nan) for fold in folds if on_train is not None]
    lacking = [untrainable(learner, folds, targets, number) for number in range(len(folds))]
    rows = _RowWeights(gram, targets, split_shares(gram, scale_penalty))
    loss, factors = primal.loss(targets.Y), primal.factors(penalties)
    for k, c in np.ndindex(L, targets.Y.shape[1]):
        y = np.ascontiguousarray(targets.Y[:, c])
        C = factors[k] * primal.counts(y)
        expansion = Expansion(E, centre, y, loss, C * rows.whole, learner.bias, series, starts[k, :, c], best_constant)
        for number, fold in enumerate(folds):
            if lacking[number][c]:
                continue
            theta = expansion.of_split(C * rows.of_split(number))
            failed[k] |= bool(np.isnan(theta).any())
            test[number][k, :, c] = E[fold.test] @ theta
            if on_train is not None:
                train[number][k, :, c] = E[fold.train] @ theta
    if on_train is not None:
        for number, part in enumerate(train):
            on_train(number, np.arange(L), part)
    return HeldOut(folds.pooled(test), np.full(L, np.nan), failed, False, REASON)


@dataclass(frozen=True)
class _RowWeights:
    """How much each row counts, in units of C: among all rows, and in a split."""

    gram: Gram
    targets: Targets
    shares: Array

    @property
    def whole(self) -> Array:
        """As much as on average over the splits that train on a row."""
        weights = self.targets.mean_weights
        return np.ones(self.gram.n) if weights is None else weights

    def of_split(self, number: int) -> Array:
        """As much as in one split, where C may grow as rows are left out."""
        counts, given = self.gram.problem.folds.folds[number].counts, self.targets.fold_weights(number)
        return np.asarray((counts if given is None else counts * given) / self.shares[number])


class Expansion:
    """The series around the solution on all rows, which have the weights u, for one loss and column of targets.

    ``E`` are features less their ``centre``, and a constant if there is a bias.
    """

    def __init__(
        self,
        E: Array,
        centre: Array,
        y: Array,
        loss: SmoothLoss,
        u: Array,
        bias: bool,
        series: Series,
        start: Array,
        best_constant: BestConstant | None = None,
    ) -> None:
        self.E, self.centre, self.y, self.u, self.bias, self.series = E, centre, y, u, bias, series
        self.best_constant = best_constant
        self.penalty = np.ones(E.shape[1])
        if bias:
            self.penalty[-1] = 0.0
        self.theta, f = start, E @ start
        self.curvature = loss.curvature(y, f)
        self.curved = (self.curvature > 0) & (u > 0)
        self.H = self._squares(u, self.curved)
        self.solve = self._solver(self.H) if self.curved.any() or not bias else None
        for _ in range(POLISH if self.solve is not None else 0):
            assert self.solve is not None
            self.theta = self.theta - self.solve(self.penalty * self.theta + E.T @ (u * loss.slope(y, f)))
            f = E @ self.theta
        self.f, self.slope, self.loss = f, loss.slope(y, f), loss
        self.gradient = self.penalty * self.theta + E.T @ (u * self.slope)

    def of_split(self, v: Array) -> Array:
        """The parameters (q,) of a split whose rows have the weights v; NaN where they are not determined."""
        kept = self.curved if self.series.order < np.inf else self.curved & (v > 0)
        if self.bias and not kept.any():
            return self._without_curvature(v)
        return self._finite(v) if self.series.order < np.inf else self._newton(v, kept)

    def _finite(self, v: Array) -> Array:
        """The sum of the terms up to the order."""
        if self.solve is None:
            return np.full_like(self.theta, np.nan)
        drop, frozen = self.u - v, self.series.frozen or self.loss.piecewise
        rows = np.flatnonzero(drop) if frozen else np.arange(len(v))  # others are zero on the right side
        E, u, drop = (self.E, self.u, drop) if len(rows) == len(v) else (self.E[rows], self.u[rows], drop[rows])
        slopes = FrozenSlope(self.curvature[rows]) if frozen else self.loss.taylor(self.y[rows], self.f[rows])
        slope, total = self.slope[rows], self.theta.copy()
        for _ in range(int(self.series.order)):
            theta = self.solve(E.T @ (drop * slope - u * slopes.rest()))
            slope = slopes.add(E @ theta)
            total += theta
        return total

    def _newton(self, v: Array, kept: NDArray[np.bool_]) -> Array:
        """One Newton step of the split, with the curvature of the solution on all rows."""
        left_out = self.curved & ~kept
        changed = np.flatnonzero(v != self.u)
        if self.solve is not None and not v[changed].any() and WORTH * len(changed) < len(self.theta):
            step = self._without_rows(changed)
            if step is not None:
                return self.theta - step
        growth = v[kept] / self.u[kept]
        alike = len(growth) > 0 and np.ptp(growth) <= ROUNDED * growth[0]
        if alike and 2 * np.count_nonzero(left_out) < np.count_nonzero(self.curved):
            H = growth[0] * (self.H - self._squares(self.u, left_out))
        else:
            H = self._squares(v, kept)
        solve = self._solver(H)
        if solve is None:
            return np.full_like(self.theta, np.nan)
        return self.theta - solve(self.penalty * self.theta + self.E.T @ (v * self.slope))

    def _without_rows(self, rows: Indices) -> Array | None:
        """The Newton step of a split that leaves out few rows, from the factor of all; None if it is not determined.

        Cost: O(m² l) for l rows.
        """
        assert self.solve is not None
        gradient = self.gradient - self.E[rows].T @ (self.u[rows] * self.slope[rows])
        W = self.E[rows] * np.sqrt(self.u[rows] * self.curvature[rows])[:, None]
        B, step = self.solve(W.T), self.solve(gradient)
        inner = _cholesky(np.eye(len(rows)) - W @ B)
        return None if inner is None else np.asarray(step + B @ inner(W @ step))

    def _without_curvature(self, v: Array) -> Array:
        """Coefficients of slopes that stay as they are, and the best constant for them.

        The slopes need not add up to zero, so that it matters that features are those of K, not around their centre.
        """
        pull = v * self.slope
        theta = -(self.E.T @ pull)
        theta[:-1] -= self.centre * pull.sum()
        theta[-1] = 0.0
        theta[-1] = np.nan if self.best_constant is None else self.best_constant(self.y, v, self.E @ theta)
        return np.asarray(theta)

    def _squares(self, weights: Array, rows: NDArray[np.bool_]) -> Array:
        """``Eᵀ diag(weights curvature) E`` over some rows."""
        E = self.E[rows]
        E *= np.sqrt(weights[rows] * self.curvature[rows])[:, None]
        return np.asarray(E.T @ E)

    def _solver(self, H: Array) -> Callable[[Array], Array] | None:
        """Solutions of systems with H and the penalty; None if they are not determined."""
        return _cholesky(H + np.diag(self.penalty))


def _cholesky(A: Array) -> Callable[[Array], Array] | None:
    """Solutions of systems with A; None if it is not positive definite."""
    try:
        factor = linalg.cho_factor(A, check_finite=False)
    except linalg.LinAlgError:
        return None
    return lambda right: np.asarray(linalg.cho_solve(factor, right, check_finite=False))
