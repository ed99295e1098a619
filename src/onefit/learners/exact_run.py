"""Exact out-of-fold values of support vector machines, column by column along the path of penalties."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..data import Targets
from ..gram import Gram
from ..machines.contract import HeldOut, OnTrain
from .bias import undetermined_bias
from .column import Column
from .dual import Array, Dual, Solution

if TYPE_CHECKING:
    from .support_vector import SupportVectorLearner

EPS = float(np.finfo(np.float64).eps)

AMPLIFICATION = 1000.0
"""Error of a value, in violations of the conditions of optimality: an estimate, not a proof. Of 6,790 random problems
(Gaussian, linear and polynomial kernels, C from 1e-6 to 1e5, scales of the features over 2.5 decades) compared with
solutions in extended precision, about one in a thousand exceeded the bound that is made of these two constants."""

ROUNDINGS = 10.0
"""Error of a value, in roundings of ``K beta``: see AMPLIFICATION."""


@dataclass
class Run:
    """One pass over the penalties for every column of the targets."""

    learner: SupportVectorLearner
    gram: Gram
    targets: Targets
    penalties: Array
    scale_penalty: bool
    on_train: OnTrain | None

    def all_columns(self) -> HeldOut:
        folds, L, c = self.gram.problem.folds, len(self.penalties), self.targets.Y.shape[1]
        self.values = [np.full((L, len(fold.test), c), np.nan) for fold in folds]
        self.train = None
        if self.on_train is not None:
            self.train = [np.full((L, len(fold.train), c), np.nan) for fold in folds]
        self.error, self.failed, self.exact = np.zeros(L), np.zeros(L, dtype=bool), not self.gram.single
        self.rounded = np.zeros(L, dtype=bool)
        self.slack = np.zeros((len(folds), L, c))
        for column in range(c):
            self._column(column)
        if self.on_train is not None and self.train is not None:
            for number, part in enumerate(self.train):
                self.on_train(number, np.arange(L), part)
        test = self.values
        if folds.leave_one_out:
            order = np.argsort([fold.test[0] for fold in folds])
            test = [np.concatenate([test[i] for i in order], axis=1)]
        reason = "the solver did not converge"
        return HeldOut(
            test, self.error, self.failed, exact=self.exact, reason=reason, rounded=self.rounded, bias_slack=self.slack
        )

    def _column(self, column: int) -> None:
        """Solve one column along the path; once no bound is felt, a larger C changes nothing."""
        y = np.ascontiguousarray(self.targets.Y[:, column])
        rows = self.learner.rows(y)
        problem = Column(self, y[rows], rows, column)
        for k, C in enumerate(self.penalties):
            felt, following = False, float(self.penalties[k + 1]) if k + 1 < len(self.penalties) else None
            for number, solution, dual in problem.solve(float(C), following=following):
                felt |= dual.bounded(solution.beta)
                self._keep(k, column, number, solution, dual, problem)
            if not felt:
                self._repeat(k, column)
                return

    def _keep(self, k: int, column: int, number: int, solution: Solution, dual: Dual, problem: Column) -> None:
        fold = self.gram.problem.folds.folds[number]
        if (interval := undetermined_bias(dual, solution)) is not None:
            solution = replace(solution, b=sum(interval) / 2)
            self.slack[number, k, column] = (interval[1] - interval[0]) / 2
        self.values[number][k, :, column] = problem.values(solution, fold.test)
        if not solution.converged:
            self.failed[k] = True
        if problem.solver is not None and problem.solver.is_rounded(dual, solution.beta):
            self.rounded[k] = True
        self.error[k] = max(self.error[k], self._error(solution, dual, problem))
        if self.train is not None:
            self.train[number][k, :, column] = problem.values(solution, fold.train)

    def _error(self, solution: Solution, dual: Dual, problem: Column) -> float:
        """How far a value of the solution may be from that of the exact one, given its bias is determined.

        The smaller of two bounds. The duality gap proves a ball around the solution; a bias follows the values at the
        free coefficients, hence twice its radius. That proof is a square root, so that it never falls below some
        1e-7 for C = 1; AMPLIFICATION violations and ROUNDINGS roundings are a far smaller estimate.
        """
        ball = np.sqrt(max(0.0, dual.gap(solution.beta, solution.u, solution.b)) * problem.magnitude)
        rounding = 0.0
        if problem.solver is not None:
            rounding = problem.solver.rounding_of(solution.beta)
        if self.gram.single:
            rounding += float(np.finfo(np.float32).eps) * problem.magnitude * float(np.abs(solution.beta).sum())
        largest = float(np.abs(solution.u).max(initial=0.0)) + abs(solution.b)
        estimate = AMPLIFICATION * solution.violation + ROUNDINGS * rounding
        return float(min((1 + dual.bias) * ball + rounding, estimate) + 8 * EPS * largest)

    def _repeat(self, k: int, column: int) -> None:
        """Give all larger penalties the values of the k-th."""
        for part in (*self.values, *(self.train or ())):
            part[k + 1 :, :, column] = part[k, :, column]
        self.failed[k + 1 :] |= self.failed[k]
        self.rounded[k + 1 :] |= self.rounded[k]
        self.error[k + 1 :] = np.maximum(self.error[k + 1 :], self.error[k])
        self.slack[:, k + 1 :, column] = self.slack[:, [k], column]
