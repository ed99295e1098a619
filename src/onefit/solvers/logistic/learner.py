r"""Kernel logistic regression.

.. math:: \min_{f, b} \tfrac12 \|f\|^2 + \sum_i u_i \log(1 + e^{-y_i (f(x_i) + b)}), \qquad u_i = C w_i

The solution is :math:`f = \sum_j a_j k(x_j, \cdot)` with :math:`a_i = u_i y_i \sigma(-y_i f_i)`, and with a bias
:math:`\sum_i a_i = 0`. Newton's method takes the residual r of these equations and the curvature
:math:`D_i = u_i \sigma(f_i) \sigma(-f_i)` to the step (x, d) of (a, b):

.. math:: x + D (K x + d 1) = -r.

A row that is held out is a row with u = 0: all splits are problems with the same K and other weights. Each starts from
the solution on all rows, and its steps keep the curvature of that one, from which the inverse for a split follows by
leaving out rows: O(n²) for a step, no factorisation. Steps contract as long as values change little; splits whose
steps do not shrink by half have Newton's method of their own.

Source: Green & Yandell (1985); Rasmussen & Williams (2006), Algorithm 3.1, for the symmetric form of the step.
Oracle: minimisation of the objective by L-BFGS; retraining on every split; the path's Taylor coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._arrays import Array, Indices
from ...data import Targets
from ...gram import Gram
from ...losses.taylor import FrozenSlope
from ...machines.capabilities import HeldOutTangent
from ...machines.contract import HeldOut, Judge, OnTrain, Series
from ..primal.in_memory import fitted_on_features, held_out_by_solver
from ..primal.iterative import ByNewton
from ..primal.series import series_on_features
from .newton import LOSS, TOLERANCE, Apply, CurvedInverse, Solution, newton_step, rounding_of, solve
from .tangent import logistic_tangent

WORTH = 4.0
"""Sum of (training rows / n)³ over the splits above which they are solved from the solution on all rows: from seven
folds on. Five folds of 400 rows take as long as by Newton's method for each split, ten take half as long."""


class _LeftOut:
    """``M`` of several splits without their rows ``removed``, each a column, from the inverse G of all rows."""

    def __init__(self, G: Array, S: Array, removed: list[Indices]) -> None:
        self.G, self.removed, self.S = G, removed, np.repeat(S[:, None], len(removed), axis=1)
        for k, rows in enumerate(removed):
            self.S[rows, k] = 0.0
        self.inverses = [np.linalg.inv(G[np.ix_(rows, rows)]) for rows in removed]

    def apply(self, V: Array) -> Array:
        """``M V`` for V (n, t), whose columns belong to the splits."""
        out = self.G @ (self.S * V)
        for k, (rows, inverse) in enumerate(zip(self.removed, self.inverses)):
            out[:, k] -= self.G[:, rows] @ (inverse @ out[rows, k])
        return np.asarray(self.S * out)

    def of(self, columns: Indices) -> _LeftOut:
        """Some of the splits only."""
        part = object.__new__(_LeftOut)
        part.G, part.S = self.G, self.S[:, columns]
        part.removed, part.inverses = [self.removed[k] for k in columns], [self.inverses[k] for k in columns]
        return part


@dataclass(frozen=True)
class Logistic:
    """The learner: targets are -1 and +1, a column for each class that is set against the rest."""

    bias: bool = True
    name = "kernel logistic regression"
    offers = frozenset({"fitted", "series"})
    primal = ByNewton(10, LOSS)  # passes for penalties a factor of ten apart, wide and narrow kernels: 9 to 11
    certifies = False
    several_outputs = False

    def loss(self, y: Array, f: Array) -> Array:
        """``log(1 + exp(-y f))``."""
        return LOSS.value(y, f)

    def trainable(self, y: Array, weights: Array) -> bool:
        """Whether the rows of positive weight are of both classes."""
        return bool(((y > 0) & (weights > 0)).any() and ((y < 0) & (weights > 0)).any())

    def squares(self, columns: int) -> int:
        """Gram matrix, factor or inverse of the system, and some columns of each for many splits."""
        return 3

    def fitted(self, gram: Gram, targets: Targets, penalties: Array) -> Array:
        """Values of all rows (L, n, c) by the machine trained on all rows; NaN where it was not found."""
        if gram.Z is not None:
            return fitted_on_features(self, gram, targets, penalties)
        K, values = gram.dense(), np.full((len(penalties), *targets.Y.shape), np.nan)
        weights = targets.whole_weights
        weights = np.ones(gram.n) if weights is None else weights
        for column in range(targets.Y.shape[1]):
            y, start = targets.Y[:, column], None
            for k, C in enumerate(penalties):
                with gram.problem.ledger.record("full solution"):
                    found = solve(K, y, C * weights, self.bias, start)
                start = found.a, found.b
                if found.converged:
                    values[k, :, column] = found.f
        return values

    def tangent(self, gram: Gram, targets: Targets, penalty: float, *, scale_penalty: bool = False) -> HeldOutTangent:
        """Held-out values for one C, with derivatives."""
        return logistic_tangent(gram, targets, penalty, self.bias, scale_penalty)

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
        """Out-of-fold values for every C, from small to large, and split; NaN where a split lacks one of two classes.

        The sum of the whole ``series`` is exact, unless its curvature is frozen: then it is one Newton step.
        """
        with gram.problem.ledger.record("heldout"):
            if series is not None and series.order == np.inf and not series.frozen:
                series = None
            if gram.Z is not None:
                options: dict[str, Any] = {"scale_penalty": scale_penalty, "on_train": on_train}
                if series is not None:
                    return series_on_features(self, gram, targets, penalties, series, **options)
                return held_out_by_solver(self, gram, targets, penalties, **options)
            return _Run(self, gram, targets, penalties, scale_penalty, series, on_train).all_columns()


@dataclass
class _Run:
    """One pass over the penalties for every column of the targets."""

    learner: Logistic
    gram: Gram
    targets: Targets
    penalties: Array
    scale_penalty: bool
    series: Series | None
    on_train: OnTrain | None

    def all_columns(self) -> HeldOut:
        folds, L, c = self.gram.problem.folds, len(self.penalties), self.targets.Y.shape[1]
        self.K = self.gram.dense()
        self.magnitude = float(np.abs(self.K.diagonal()).max(initial=0.0))
        self.test = [np.full((L, len(fold.test), c), np.nan) for fold in folds]
        self.train = None
        if self.on_train is not None:
            self.train = [np.full((L, len(fold.train), c), np.nan) for fold in folds]
        self.error = np.zeros(L) if self.series is None else np.full(L, np.nan)
        self.failed, self.rounded = np.zeros(L, dtype=bool), np.zeros(L, dtype=bool)
        for column in range(c):
            self._column(column)
        if self.on_train is not None and self.train is not None:
            for number, part in enumerate(self.train):
                self.on_train(number, np.arange(L), part)
        test, reason = folds.pooled(self.test), "Newton's method did not converge"
        return HeldOut(test, self.error, self.failed, self.series is None, reason, rounded=self.rounded)

    def _weights(self, number: int) -> Array:
        """How much each row counts in a split, in units of C."""
        return self.targets.split_weights(self.gram.problem, number, self.scale_penalty)

    def _column(self, column: int) -> None:
        self.column, self.y = column, np.ascontiguousarray(self.targets.Y[:, column])
        everything = range(len(self.gram.problem.folds))
        splits = [number for number in everything if self.learner.trainable(self.y, self._weights(number))]
        sizes = np.array([self.gram.problem.folds.training_sizes[number] for number in splits])
        if self.series is not None or float(((sizes / self.gram.n) ** 3).sum()) > WORTH:
            self._from_all_rows(splits)
        else:
            for number in splits:
                self._by_itself(number)

    def _by_itself(self, number: int) -> None:
        """One split along the path, by its own factorisations."""
        weights, start = self._weights(number), None
        for k, C in enumerate(self.penalties):
            start = self._solve(k, number, C * weights, start)

    def _solve(self, k: int, number: int, u: Array, start: tuple[Array, float] | None) -> tuple[Array, float]:
        with self.gram.problem.ledger.record("fold solution"):
            found = solve(self.K, self.y, u, self.learner.bias, start)
        self.failed[k] |= not found.converged
        self.rounded[k] |= found.rounded
        self.error[k] = max(self.error[k], found.error)
        self._keep(k, number, found.f)
        return found.a, found.b

    def _keep(self, k: int, number: int, f: Array) -> None:
        fold = self.gram.problem.folds.folds[number]
        self.test[number][k, :, self.column] = f[fold.test]
        if self.train is not None:
            self.train[number][k, :, self.column] = f[fold.train]

    def _from_all_rows(self, splits: list[int]) -> None:
        """All splits from the solution on all rows, as many at a time as take little memory beside K."""
        n, start = self.gram.n, None
        weights = self.targets.mean_weights
        weights = np.ones(n) if weights is None else weights
        orders = 1 if self.series is None or self.series.order == np.inf else int(self.series.order)
        at_once = max(1, n // (16 * orders))
        parts = [splits[first : first + at_once] for first in range(0, len(splits), at_once)]
        for k, C in enumerate(self.penalties):
            with self.gram.problem.ledger.record("full solution"):
                full = solve(self.K, self.y, C * weights, self.learner.bias, start)
            start = full.a, full.b
            self.failed[k] |= not full.converged
            self.rounded[k] |= full.rounded
            if full.converged:
                self._one_penalty(k, C, parts, full, C * weights)

    def _one_penalty(self, k: int, C: float, parts: list[list[int]], full: Solution, u: Array) -> None:
        """The splits in parts, from the solution on all rows, whose weights are u."""
        G, S = CurvedInverse(self.K, u * LOSS.curvature(self.y, full.f)).inverse()
        slow = []
        for splits in parts:
            V = np.column_stack([C * self._weights(number) for number in splits])
            slow += self._some_splits(k, splits, full, u, V, G, S)
        del G  # before there are other factors
        for number in slow:
            self._solve(k, number, C * self._weights(number), (full.a, full.b))

    def _some_splits(
        self, k: int, splits: list[int], full: Solution, u: Array, V: Array, G: Array, S: Array
    ) -> list[int]:
        """Values of some splits, whose rows have the weights V (n, t) in place of u; those not found are returned."""
        if self.series is not None and self.series.order < np.inf:
            F = full.f[:, None] + self._terms(full, u, V, G, S, int(self.series.order))
        else:
            left_out = _LeftOut(G, S, [np.flatnonzero((v == 0) & (S > 0)) for v in V.T])
            if self.series is None:
                return self._exactly(k, splits, full, V, left_out)
            F = self._newton_steps(full, V, left_out, alike=bool(((u[:, None] == V) | (V == 0)).all()))
        for number, f in zip(splits, F.T):
            self._keep(k, number, f)
        return []

    def _exactly(self, k: int, splits: list[int], full: Solution, V: Array, left_out: _LeftOut) -> list[int]:
        """Steps with the curvature of all rows while each is at most half of the one before; the other splits."""
        y, bias, K = self.y[:, None], self.learner.bias, self.K
        A, b = np.repeat(full.a[:, None], len(splits), axis=1), np.full(len(splits), full.b)
        F = np.repeat(full.f[:, None], len(splits), axis=1)
        last, open_ = np.full(len(splits), np.inf), np.arange(len(splits))
        given_up = []
        while len(open_):
            part = left_out if len(open_) == len(splits) else left_out.of(open_)
            R = A[:, open_] + V[:, open_] * LOSS.slope(y, F[:, open_])
            X, d = newton_step(part.apply, K @ R, R, A[:, open_].sum(axis=0), bias)
            with np.errstate(invalid="ignore", over="ignore"):
                A[:, open_] += X
                b[open_] += d
                values = K @ A[:, open_] + b[open_]
                change = np.abs(values - F[:, open_])
            F[:, open_], size = values, change.max(axis=0)
            change[V[:, open_] == 0] = 0.0  # rows that are held out have no curvature
            curved = change.max(axis=0)
            slow = ~(curved <= np.minimum(last[open_] / 2, 1.0))
            largest = np.abs(values).max(axis=0)
            rounding = np.array([rounding_of(self.magnitude, A[:, j], b[j]) for j in open_])
            done = ~slow & (size <= TOLERANCE * largest + rounding)
            given_up += [splits[j] for j in open_[slow]]
            for j, error in zip(open_[done], (size + rounding)[done]):
                self.error[k] = max(self.error[k], error)
                self._keep(k, splits[j], F[:, j])
            last[open_], open_ = curved, open_[~(slow | done)]
        return given_up

    def _newton_steps(self, full: Solution, V: Array, left_out: _LeftOut, alike: bool) -> Array:
        """Values (n, t) after one Newton step of each split; ``alike`` says that rows are left out and no more."""
        D, slope = LOSS.curvature(self.y, full.f)[:, None] * V, -LOSS.slope(self.y, full.f)[:, None]
        R = full.a[:, None] - V * slope

        def apply(B: Array) -> Array:
            if alike:
                return left_out.apply(B)
            return np.column_stack([CurvedInverse(self.K, curvature).apply(b) for curvature, b in zip(D.T, B.T)])

        X, d = newton_step(apply, self.K @ R, R, full.a.sum(), self.learner.bias)
        return np.asarray(full.f[:, None] + self.K @ X + d)

    def _terms(self, full: Solution, u: Array, V: Array, G: Array, S: Array, order: int) -> Array:
        r"""The influence-function series without its first term, (n, t).

        Along the path of weights :math:`u - \epsilon (u - v)` the solution is :math:`f(\epsilon) = \sum_s T_s
        \epsilon^s`, and its value at one is that of the split. With the coefficients
        :math:`a = -(u - \epsilon (u - v)) \, l'(f(\epsilon))`, whose derivatives of the loss are those of
        ``losses.taylor``, every term solves the same linear system. Cost: O(n² t) for each of the terms.
        """
        drop, y = u[:, None] - V, self.y[:, None]
        f = np.repeat(full.f[:, None], V.shape[1], axis=1)
        frozen = self.series is not None and self.series.frozen
        slopes = FrozenSlope(LOSS.curvature(y, f)) if frozen else LOSS.taylor(y, f)
        slope, total, S = LOSS.slope(y, f), np.zeros(V.shape), S[:, None]
        apply: Apply = lambda B: S * (G @ (S * B))  # noqa: E731
        for _ in range(order):
            r = u[:, None] * slopes.rest() - drop * slope
            x, d = newton_step(apply, self.K @ r, r, 0.0, self.learner.bias)
            term = self.K @ x + d
            slope = slopes.add(term)
            total += term
        return total
