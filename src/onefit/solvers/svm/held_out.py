"""Exact out-of-fold values of support vector machines, column by column along the path of penalties."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..._arrays import Array, Indices
from ...data import Targets
from ...gram import Gram
from ...machines.contract import HeldOut, OnTrain
from .bias import undetermined_bias
from .dual import EPS, Dual, Solution
from .solver import Solver, block
from .subproblem import MANY_SPLITS, SplitPath, Subproblem

if TYPE_CHECKING:
    from .learner import SupportVectorLearner

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
        self.error, self.failed, self.exact = np.zeros(L), np.zeros(L, dtype=bool), True
        self.rounded = np.zeros(L, dtype=bool)
        self.slack = np.zeros((len(folds), L, c))
        self._weights: dict[int, Array] = {}
        for column in range(c):
            y = np.ascontiguousarray(self.targets.Y[:, column])
            rows = self.learner.rows(y)
            self._column(Subproblem(self, y[rows], rows, column), column)
        if self.on_train is not None and self.train is not None:
            for number, part in enumerate(self.train):
                self.on_train(number, np.arange(L), part)
        test, reason = folds.pooled(self.values), "the solver did not converge"
        return HeldOut(
            test, self.error, self.failed, exact=self.exact, reason=reason, rounded=self.rounded, bias_slack=self.slack
        )

    def weights(self, number: int) -> Array:
        """How often and how much each row counts in a split; kept where splits are few: many columns ask for them."""
        found = self._weights.get(number)
        if found is None:
            found = self.targets.split_weights(self.gram.problem, number)
            if len(self.gram.problem.folds) <= MANY_SPLITS:
                self._weights[number] = found
        return found

    def _column(self, problem: Subproblem, column: int) -> None:
        """Solve one column along the path of penalties, by the cheapest way that its splits allow."""
        if problem.splits_apart:
            for number in problem.trainable:
                self._split(problem, number, column)
        else:
            self._all_splits(problem, column)

    def _all_splits(self, problem: Subproblem, column: int) -> None:
        """All splits penalty by penalty; once no bound is felt, a larger C changes nothing."""
        for k, C in enumerate(self.penalties):
            felt = False
            for number, solution, dual in problem.solve(float(C)):
                felt |= dual.bounded(solution.beta)
                self._keep(k, column, number, solution, dual, problem)
            if not felt:
                self._repeat(k, column)
                return

    def _split(self, problem: Subproblem, number: int, column: int) -> None:
        """One split along a path of its own; held-out values of all penalties by one product."""
        start = time.perf_counter()
        split = problem.split_path(number)
        solver, unit, path, betas = split.solver, split.unit, split.path, split.betas
        self.gram.problem.ledger.add("fold solution", path.solved, time.perf_counter() - start)
        fold, growth, biases = self.gram.problem.folds.folds[number], problem.growth(number), path.biases.copy()
        for k in np.flatnonzero(~path.determined) if unit.bias and not unit.ridge.any() else ():
            interval = undetermined_bias(unit.at(growth * float(self.penalties[k])), path.at(int(k)))
            if interval is not None:
                biases[k], self.slack[number, k, column] = sum(interval) / 2, (interval[1] - interval[0]) / 2
        largest = np.abs(path.images).max(axis=1) + np.abs(path.biases)
        error = _error_of_values(path.gaps, path.violations, largest, betas, unit.bias, solver)
        self.error = np.maximum(self.error, error)
        self.values[number][:, :, column] = self._products(split, fold.test) + biases[:, None]
        if self.train is not None:
            self.train[number][:, :, column] = self._products(split, fold.train) + biases[:, None]
        self.failed |= ~path.converged
        self.rounded |= solver.is_rounded(unit, betas)

    def _products(self, split: SplitPath, rows: Indices) -> Array:
        """``K beta`` at some rows for all penalties; of support vectors only if these are few, or K is not at hand."""
        support, untouched = np.flatnonzero(split.betas.any(axis=0)), self.gram.untouched
        betas, members = split.betas, split.rows
        if untouched or 2 * len(support) < len(members):
            betas, members = betas[:, support], members[support]
        return betas @ (self.gram.block(rows, members) if untouched else block(self.gram.dense(), rows, members)).T

    def _keep(self, k: int, column: int, number: int, solution: Solution, dual: Dual, problem: Subproblem) -> None:
        """Write down the values of one split at one penalty, and what is known of their error."""
        fold = self.gram.problem.folds.folds[number]
        if (interval := undetermined_bias(dual, solution)) is not None:
            solution = replace(solution, b=sum(interval) / 2)
            self.slack[number, k, column] = (interval[1] - interval[0]) / 2
        self.values[number][k, :, column] = problem.values(solution, fold.test)
        if self.train is not None:
            self.train[number][k, :, column] = problem.values(solution, fold.train)
        self.failed[k] |= not solution.converged
        solver = None if problem.identity is not None else problem.solver
        if solver is not None:
            self.rounded[k] |= bool(solver.is_rounded(dual, solution.beta))
        largest = np.abs(solution.u).max(initial=0.0) + abs(solution.b)
        error = 8 * EPS * largest  # of a closed form
        if solver is not None:
            gap = dual.gap(solution.beta, solution.u, solution.b)
            error = _error_of_values(gap, solution.violation, largest, solution.beta, dual.bias, solver)
        self.error[k] = max(self.error[k], float(error))

    def _repeat(self, k: int, column: int) -> None:
        """Give all larger penalties the values of the k-th."""
        for part in (*self.values, *(self.train or ())):
            part[k + 1 :, :, column] = part[k, :, column]
        self.failed[k + 1 :] |= self.failed[k]
        self.rounded[k + 1 :] |= self.rounded[k]
        self.error[k + 1 :] = np.maximum(self.error[k + 1 :], self.error[k])
        self.slack[:, k + 1 :, column] = self.slack[:, [k], column]


def _error_of_values(
    gap: Array | float, violation: Array | float, largest: Array | float, beta: Array, bias: bool, solver: Solver
) -> Array:
    """How far values of solutions may be from those of exact ones, given their bias is determined.

    The smaller of two bounds. The duality gap proves a ball around the solution; a bias follows the values at the free
    coefficients, hence twice its radius. That proof is a square root, so that it never falls below some 1e-7 for C = 1;
    AMPLIFICATION violations and ROUNDINGS roundings are a far smaller estimate. ``largest`` is the largest value.
    """
    rounding = solver.rounding_of(beta)
    ball = (1 + bias) * np.sqrt(np.maximum(0.0, gap) * solver.magnitude) + rounding
    estimate = AMPLIFICATION * violation + ROUNDINGS * rounding
    return np.asarray(np.minimum(ball, estimate) + 8 * EPS * largest)
