"""One column of the targets - a pair of classes, or a regression - and its dual problems on all rows and on splits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from ..._arrays import Array, Indices
from ._fold_removal import update_images
from .chunking import chunked_path
from .conjugate_gradients import COUPLED, FREE_SHARE, coupling, narrow_path, solve_by_conjugate_gradients
from .diagonal import diagonal_solution, solve_diagonal
from .dual import EPS, Dual, Solution
from .fold_removal import SharedInverse, Watch
from .solver import PathSolution, Solver, block, solver_of, solver_on

if TYPE_CHECKING:
    from .held_out import Run

Solved = Iterator[tuple[int, Solution, Dual]]
"""(split, its solution, its problem)."""

SMALL = 1e4 * EPS
"""Products ``K beta``, relative to the coefficients, that may be rounding of larger ones that were subtracted again."""

SCARCE = 16
"""Rows for each coefficient that is not zero from which on it pays to look for their entries of K."""

APART_BELOW = 600
"""Rows below which a path for each split costs less than a path on all rows and folds removed from it."""

CHUNKS_FROM = 1000
"""Training rows from which on a working set is tried: fewer have all entries of K within milliseconds."""

MANY_SPLITS = 20
"""Splits above which each starts from the solution on all rows, however few rows there are."""

REMOVAL_FROM = 300
"""Free coefficients from which on one inverse for a few splits is cheaper than a factor for each."""

REMOVAL_SHARE = 0.4
"""Share of the support vectors that is free from which on it is so: where most rest at a bound, splits free many
others, which the inverse does not know (ten splits, 2,000 rows: 0.34 against 0.06 s at 253 of 673, 0.06 against 0.10 s
at 468 of 1,108). With a hundred splits a whole search takes 1.2 to 2.3 times as long without this rule."""

NEARLY_DIAGONAL = 0.005
"""Coupling up to which the solution for a diagonal K is a good start."""

NARROW_FROM = 500
"""Training rows from which on narrow kernels are looked for: factors of fewer take a few milliseconds."""

CHUNK = 16
"""Splits that are solved together: their arrays are small beside K."""


@dataclass(frozen=True)
class SplitPath:
    """The path of one split, on its training rows: ``rows`` of the data are where coefficients may differ from zero."""

    rows: Indices
    solver: Solver  # on these rows
    unit: Dual  # for a penalty of one
    path: PathSolution
    working: Indices | None = None  # the same rows among the training rows; None: all of them

    @property
    def betas(self) -> Array:
        """Coefficients of ``rows`` (L, m)."""
        return self.path.betas if self.working is None else self.path.betas[:, self.working]


class Subproblem:
    """The rows that take part in one column of the targets, their part of K, and the full-data solution."""

    def __init__(self, run: Run, y: Array, members: Indices, number: int = 0) -> None:
        self.run, self.y, self.members, self.number = run, y, members, number
        self.identity = run.gram.identity()
        self._full: tuple[Solution, Dual] | None = None
        self._inverse: SharedInverse | None = None
        self._penalty = 0.0
        self._smo_start: tuple[Dual, Array] | None = None  # a problem, and where SMO has brought it

    @cached_property
    def K(self) -> Array:
        """The Gram matrix of all members."""
        K = self.run.gram.dense()
        return K if len(self.members) == len(K) else np.ascontiguousarray(block(K, self.members, self.members))

    @cached_property
    def solver(self) -> Solver:
        """The solver of problems on all members."""
        return solver_of(self.run.gram, self.K)

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
        return self.run.gram.problem.growth(number) if self.run.scale_penalty else 1.0

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

    def split_path(self, number: int) -> SplitPath:
        """The path of a split: on a growing working set where that may spare most entries of K, else on all rows."""
        gram, weights = self.run.gram, self.weights(number)
        used = np.flatnonzero(weights > 0)
        rows, penalties = self.members[used], self.run.penalties * self.growth(number)
        unit = self.run.learner.dual(np.ascontiguousarray(self.y[used]), 1.0, weights[used])
        if gram.untouched and gram.positive and len(rows) >= CHUNKS_FROM:
            chunk = chunked_path(lambda some, others: gram.block(rows[some], rows[others]), unit, penalties)
            if chunk is not None:
                return SplitPath(rows[chunk.working], chunk.solver, unit, chunk.path, chunk.working)
            if not gram.problem.keep_bases and self.run.targets.Y.shape[1] == 1:
                solver = solver_of(gram, gram.part(rows).dense())
                return SplitPath(rows, solver, unit, solve_along_path(solver, unit, penalties))
        several = len(self.trainable) > 1  # a part of K that several splits read is gathered once, and stays in cache
        solver = solver_of(gram, block(self.K, used, used)) if several else solver_on(gram, rows)
        return SplitPath(rows, solver, unit, solve_along_path(solver, unit, penalties))

    # All splits from the full-data solution

    def solve_full(self, dual: Dual, C: float) -> Solution:
        """The solution of a problem on all rows, along a path of penalties: each starts from the last one."""
        if self.identity is not None:
            return diagonal_solution(dual, self.identity[0])
        with self.run.gram.problem.ledger.record("full solution"):
            beta, u, warm = self._start(dual, C)
            solution = self.solver.solve(dual, beta, u, warm=warm)
        self._know(solution, dual, C)
        return solution

    def _start(self, dual: Dual, C: float) -> tuple[Array, Array | None, bool]:
        """(coefficients, their product with K if known, whether they are a warm start) of a problem on all rows."""
        if self._smo_start is not None and self._smo_start[0] is dual:
            return self._smo_start[1], None, False
        start = self.run.gram.starts.get(self._key(C))
        if start is not None:  # from another epsilon, or other weights
            return dual.within(start), None, True
        if self._full is None:
            return np.zeros(len(self.y)), np.zeros(len(self.y)), False
        last, growth = self._full[0], C / self._penalty if dual.moving else 1.0
        return dual.within(last.beta * growth), None, False  # ``last.u`` times growth would have its rounding grow too

    def _know(self, solution: Solution, dual: Dual, C: float) -> None:
        """Keep the full-data solution: the next penalty, other learners and the splits start from it."""
        self._full, self._penalty, self._inverse = (solution, dual), C, None
        self.run.gram.starts[self._key(C)] = solution.beta

    def _key(self, C: float) -> tuple[type, int, float]:
        return type(self.run.learner), self.number, C

    def solve(self, C: float, watch: Watch | None = None) -> Solved:
        """Every split that can be trained on and that ``watch`` does not close, from the full-data solution.

        Where K is a multiple of the identity, each is a closed form.
        """
        if self.identity is not None:
            for number in self.trainable:
                dual = self.dual(number, C)
                yield number, diagonal_solution(dual, self.identity[0]), dual
            return
        whole = self.run.learner.dual(self.y, C, self.full_weights)
        if watch is None and (solved := self._solve_by_conjugate_gradients(whole, C)) is not None:
            yield from solved
            return
        self.solve_full(whole, C)
        ledger = self.run.gram.problem.ledger
        for first in range(0, len(self.trainable), CHUNK):
            solutions, start = self._remove_folds(self.trainable[first : first + CHUNK], C, watch), time.perf_counter()
            for item in solutions:  # one at a time: what is done with it may close others
                ledger.add("fold solution", 1, time.perf_counter() - start)
                yield item
                start = time.perf_counter()

    def _solve_by_conjugate_gradients(self, whole: Dual, C: float) -> Solved | None:
        """The full data and all splits by conjugate gradients, where rows are weakly coupled and many of them free."""
        n, numbers, K = len(self.y), self.trainable, self.solver.K
        if not 2 < len(numbers) <= MANY_SPLITS:
            return None
        strength = coupling(K, whole.ridge, whole.bias)
        if strength > (n / COUPLED) ** 2:
            return None
        duals = [whole, *(self.dual(number, C) for number in numbers)]
        if strength <= NEARLY_DIAGONAL:
            starts = np.array([solve_diagonal(dual, self.solver.magnitude)[0] for dual in duals])
        else:
            beta, u, warm = self._start(whole, C)
            u = K @ beta if u is None else u
            if not warm:
                self.solver.take_smo_steps(whole, beta, u)
                self._smo_start = whole, beta
            starts = np.array([_at_bounds(beta, whole, dual) for dual in duals])
        if whole.free(starts[0]).sum() < FREE_SHARE * n:
            return None
        ledger, images = self.run.gram.problem.ledger, starts @ K
        with ledger.record("full solution"):
            full, *found = solve_by_conjugate_gradients(K, duals, starts, images)
        if full is None:
            return None
        self._know(full, whole, C)
        return self._finish_apart(numbers, duals[1:], found, starts[1:], images[1:])

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
        yield from self._finish_apart(numbers, duals, found, starts, images, watch)

    def _finish_apart(
        self, numbers: list[int], duals: list[Dual], found: list[Solution | None], starts: Array, images: Array,
        watch: Watch | None = None,
    ) -> Solved:  # fmt: skip
        """The solutions that are found, and each other one by itself from its start."""
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
        free = int(was.free(full.beta).sum())
        enough = free >= REMOVAL_FROM or (free > 0 and len(self.trainable) > MANY_SPLITS)
        most = bool(free >= REMOVAL_SHARE * np.count_nonzero(full.beta))
        return len(duals) > 2 and enough and most and all(dual.like(was) for dual in duals)

    # Values

    def values(self, solution: Solution, rows: Indices) -> Array:
        """Values of some rows of the full data."""
        return self.values_of(solution.u, solution.beta, solution.b, rows)

    def values_of(self, u: Array, beta: Array, b: float, rows: Indices) -> Array:
        """``K beta + b`` at some rows of the full data, where ``u = K beta`` is known at the members."""
        if self.identity is None and len(self.members) == self.run.gram.n:
            return self.with_small_digits(u[rows], beta, b, rows)
        return self.combination(beta, b, rows)

    def with_small_digits(self, u: Array, beta: Array, b: float, rows: Indices) -> Array:
        """``u + b`` from ``u = K beta`` at some rows, small u computed anew: updates left rounding only."""
        values, cancelled = u + b, np.abs(u) <= SMALL * self.magnitude * np.abs(beta).max(initial=0.0)
        if cancelled.any():  # a row that was left out had its own part of u, which was subtracted again
            values[cancelled] = self.combination(beta, b, rows[cancelled])
        return values

    def combination(self, beta: Array, b: float, rows: Indices) -> Array:
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


def solve_along_path(solver: Solver, unit: Dual, penalties: Array) -> PathSolution:
    """Solutions for ascending penalties, ``unit`` for one: conjugate gradients on narrow kernels, else factors."""
    few = solver.noise > 0 or len(unit.target) < NARROW_FROM
    path = None if few else narrow_path(solver, unit, penalties)
    return solver.path(unit, penalties) if path is None else path


def _at_bounds(beta: Array, was: Dual, dual: Dual) -> Array:
    """``beta`` of another problem within the bounds of this one: coefficients that rested at a bound rest there."""
    start = dual.within(beta)
    start = np.where(beta == was.upper, dual.upper, start)
    return np.where(beta == was.lower, dual.lower, start)
