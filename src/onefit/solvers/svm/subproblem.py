"""One column of the targets - a pair of classes, or a regression - and its dual problems on all rows and on splits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ._fold_removal import update_images
from .diagonal import solve_diagonal
from .dual import EPS, Array, Dual, Solution
from .fold_removal import SharedInverse, Watch
from .solver import PathSolution, Solver, block, solver_on

if TYPE_CHECKING:
    from .held_out import Run

Rows = NDArray[np.intp]
Solved = Iterator[tuple[int, Solution, Dual]]
"""(split, its solution, its problem)."""

SMALL = 1e4 * EPS
"""Products ``K beta``, relative to the coefficients, that may be rounding of larger ones that were subtracted again."""

SCARCE = 16
"""Rows for each coefficient that is not zero from which on it pays to look for their entries of K."""

APART_BELOW = 600
"""Rows below which a path for each split costs less than a path on all rows and folds removed from it."""

MANY_SPLITS = 20
"""Splits above which each starts from the solution on all rows, however few rows there are."""

REMOVAL_FROM = 100
"""Free coefficients from which on one inverse for all splits is cheaper than a factor for each."""

CHUNK = 16
"""Splits that are solved together: their arrays are small beside K."""


class Subproblem:
    """The rows that take part in one column of the targets, their part of K, and the full-data solution."""

    def __init__(self, run: Run, y: Array, members: Rows, number: int = 0) -> None:
        self.run, self.y, self.members, self.number = run, y, members, number
        self.identity = run.gram.identity()
        self._full: tuple[Solution, Dual] | None = None
        self._inverse: SharedInverse | None = None
        self._penalty = 0.0

    @cached_property
    def solver(self) -> Solver:
        """The solver of problems on all members."""
        return solver_on(self.run.gram, self.members)

    @property
    def magnitude(self) -> float:
        """The largest diagonal entry of K."""
        return self.identity[0] if self.identity is not None else self.solver.magnitude

    # Weights and problems

    @cached_property
    def trainable(self) -> list[int]:
        """The splits that can be trained on, whatever the penalty."""
        splits = range(len(self.run.gram.problem.folds))
        return [i for i in splits if self.run.learner.trainable(self.y, self.weights(i))]

    def weights(self, number: int) -> Array:
        """How often and how much each row counts in a split."""
        return self.run.weights(number)[self.members]

    def growth(self, number: int) -> float:
        """The factor of C in a split, where the penalty follows the number of training rows."""
        gram = self.run.gram
        total = gram.problem.total or gram.n
        return total / len(gram.problem.folds.folds[number].train) if self.run.scale_penalty else 1.0

    def dual(self, number: int, C: float) -> Dual:
        """The problem of a split."""
        return self.run.learner.dual(self.y, C * self.growth(number), self.weights(number))

    @cached_property
    def full_weights(self) -> Array:
        """How much each row counts in the full data: as it does on average over the splits that train on it."""
        weights = self.run.targets.mean_weights
        return (np.ones(self.run.gram.n) if weights is None else weights)[self.members]

    # A path for each split

    @property
    def splits_apart(self) -> bool:
        """Whether every split is solved along a path of its own, without the full-data problem."""
        few = len(self.trainable) <= MANY_SPLITS and len(self.members) < APART_BELOW
        return self.identity is None and (few or len(self.trainable) < 2)

    def split_path(self, number: int) -> tuple[Rows, Solver, Dual, PathSolution]:
        """(training rows, solver on them, problem for a penalty of one, its solutions) of a split."""
        weights = self.weights(number)
        used = np.flatnonzero(weights > 0)
        rows = self.members[used]
        solver = solver_on(self.run.gram, rows)
        unit = self.run.learner.dual(np.ascontiguousarray(self.y[used]), 1.0, weights[used])
        return rows, solver, unit, solver.path(unit, self.run.penalties * self.growth(number))

    def diagonal_solution(self, dual: Dual) -> Solution:
        """The closed form where K is a multiple of the identity."""
        assert self.identity is not None
        beta, b = solve_diagonal(dual, self.identity[0])
        return Solution(beta, self.identity[0] * beta, b, 0.0, True)

    # All splits from the full-data solution

    def solve_full(self, dual: Dual, C: float) -> Solution:
        """The solution of a problem on all rows, along a path of penalties: each starts from the last one."""
        if self.identity is not None:
            return self.diagonal_solution(dual)
        with self.run.gram.problem.ledger.record("full solution"):
            key, beta, u, warm = (type(self.run.learner), self.number, C), np.zeros(len(self.y)), None, False
            start = self.run.gram.starts.get(key)
            if start is not None:  # from another epsilon, or other weights
                beta, warm = dual.within(start), True
            elif self._full is not None:
                last, growth = self._full[0], C / self._penalty if dual.moving else 1.0
                beta, u = dual.within(last.beta * growth), last.u * growth
            solution = self.solver.solve(dual, beta, u, warm=warm)
        self._full, self._penalty, self._inverse = (solution, dual), C, None
        self.run.gram.starts[key] = solution.beta
        return solution

    def solve(self, C: float, watch: Watch | None = None) -> Solved:
        """Every split that can be trained on and that ``watch`` does not close, from the full-data solution.

        Where K is a multiple of the identity, each is a closed form.
        """
        if self.identity is not None:
            for number in self.trainable:
                dual = self.dual(number, C)
                yield number, self.diagonal_solution(dual), dual
            return
        self.solve_full(self.run.learner.dual(self.y, C, self.full_weights), C)
        ledger = self.run.gram.problem.ledger
        for first in range(0, len(self.trainable), CHUNK):
            solutions, start = self._remove_folds(self.trainable[first : first + CHUNK], C, watch), time.perf_counter()
            for item in solutions:  # one at a time: what is done with it may close others
                ledger.add("fold solution", 1, time.perf_counter() - start)
                yield item
                start = time.perf_counter()

    def _remove_folds(self, numbers: list[int], C: float, watch: Watch | None) -> Solved:
        """Coefficients at a bound stay there, those of rows that a split leaves out vanish; then Newton's method."""
        assert self._full is not None
        full, was = self._full
        duals = [self.dual(number, C) for number in numbers]
        starts = np.array([_at_bounds(full.beta, was, dual) for dual in duals])
        if watch is not None:
            watch.expect(numbers, duals, starts)
            kept = np.flatnonzero(watch(duals, starts))
            numbers, duals, starts = [numbers[k] for k in kept], [duals[k] for k in kept], starts[kept]
        if not numbers:
            return
        images = np.tile(full.u, (len(duals), 1))
        update_images(self.solver.K, images, starts, np.tile(full.beta, (len(duals), 1)))
        found: list[Solution | None] = [None] * len(duals)
        if self._removal_pays(duals):
            if self._inverse is None:
                self._inverse = self.solver.inverse(was, full.beta)
            found = self._inverse.solve(duals, starts, images.copy(), watch)
        for k, (number, dual) in enumerate(zip(numbers, duals)):
            solution = found[k]
            if solution is None and (watch is None or watch.wants(dual)):
                enough = None if watch is None else partial(watch.enough, dual)
                solution = self.solver.solve(dual, starts[k], images[k], enough=enough)
                if not (solution.converged or watch is None or watch.wants(dual)):
                    solution = None
            if solution is not None:
                yield number, solution, dual

    def _removal_pays(self, duals: list[Dual]) -> bool:
        """Whether one inverse serves all splits, and is cheaper than a factor for each."""
        assert self._full is not None
        full, was = self._full
        many = len(self.trainable) > MANY_SPLITS or was.free(full.beta).sum() >= REMOVAL_FROM
        return bool(len(duals) > 2 and many and was.free(full.beta).any() and all(dual.like(was) for dual in duals))

    # Values

    def values(self, solution: Solution, rows: Rows) -> Array:
        """Values of some rows of the full data."""
        if self.identity is None and len(self.members) == self.run.gram.n:
            return self.with_small_digits(solution.u[rows], solution.beta, solution.b, rows)
        return self.combination(solution.beta, solution.b, rows)

    def with_small_digits(self, u: Array, beta: Array, b: float, rows: Rows) -> Array:
        """``u + b`` from ``u = K beta`` at some rows, small u computed anew: updates left rounding only."""
        values, lost = u + b, np.abs(u) <= SMALL * self.magnitude * np.abs(beta).max(initial=0.0)
        if lost.any():  # a row that was left out had its own part of u, which was subtracted again
            values[lost] = self.combination(beta, b, rows[lost])
        return values

    def combination(self, beta: Array, b: float, rows: Rows) -> Array:
        """``K beta + b`` at some rows of the full data."""
        gram = self.run.gram
        if self.identity is not None and not np.isin(rows, self.members[beta != 0]).any():
            rest = self.identity[1] * float(np.abs(beta).sum())
            if rest < EPS * abs(b):
                return np.full(len(rows), b)
        K, support = gram.dense(), np.flatnonzero(beta)
        if SCARCE * len(support) < gram.n or len(self.members) < gram.n:
            return np.asarray(block(K, rows, self.members[support]) @ beta[support] + b)
        return np.asarray(K[rows] @ beta + b)


def _at_bounds(beta: Array, was: Dual, dual: Dual) -> Array:
    """``beta`` of another problem within the bounds of this one: coefficients that rested at a bound rest there."""
    start = dual.within(beta)
    start = np.where(beta == was.upper, dual.upper, start)
    return np.where(beta == was.lower, dual.lower, start)
