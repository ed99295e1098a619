"""One column of the targets: its dual problems, warm-started along the path of penalties.

The full-data problem is solved along the path; each fold starts from it with its rows left out, which takes a few
rounds of the active-set method. Where its own solutions at the last penalties lead nearer (``foresight``), it starts
from them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..core import Ledger
from ..core.machine import NotUnderstoodError
from ..linalg.product import product
from .diagonal import solve_diagonal
from .dual import Array, Dual, Solution
from .dual_solver import DualSolver, indefiniteness
from .foresight import SPARE, Foresight
from .preconditioner import Preconditioner
from .shared_inverse import SharedInverse
from .together import Watch, by_gradients, by_inverse

if TYPE_CHECKING:
    from .exact_run import Run

Rows = NDArray[np.intp]
CHUNK = 16
"""Folds that are solved side by side."""
SHARED_FROM = 250
"""Free coefficients from which on one inverse for all folds is cheaper than a factor for each."""

Solved = Iterator[tuple[int, Solution, Dual]]
Way = Callable[[list[int], float], Solved]
"""Solutions, each with its split and its problem, of some splits at a penalty."""


@dataclass
class Column:
    """One column of the targets: its rows, its part of K, and the starts that the path leaves behind."""

    run: Run
    y: Array
    members: Rows
    number: int = 0
    solver: DualSolver | None = None
    _full: Solution | None = None
    _full_dual: Dual = field(init=False)
    _inverse: SharedInverse | None = None  # on the free coefficients of this full solution, or nearly
    _previous: float = 0.0
    _alone: dict[int, Solution] = field(default_factory=dict)
    _ahead: Foresight = field(default_factory=Foresight)
    _near_K: Preconditioner | None = None  # for conjugate gradients, while these are used
    _slow: bool = False  # conjugate gradients take too long, or find nothing
    _lost: bool = False  # nor do they find rough solutions
    _wild: bool = False  # bounds change too much for steps of all problems at once

    def __post_init__(self) -> None:
        ws = self.run.ws
        self.identity = ws.identity()
        if self.identity is not None:
            self.magnitude = self.identity[0]
            return
        K = ws.stored_gram()
        if len(self.members) < ws.n:
            K = K[np.ix_(self.members, self.members)]
        noise = 0.0 if ws.kernel.positive else indefiniteness(K)
        if noise == np.inf:
            raise NotUnderstoodError(f"{ws.kernel} is not positive semi-definite on these data")
        self.solver = DualSolver(K, noise)
        self.magnitude = self.solver.magnitude

    def solve(self, C: float, watch: Watch | None = None) -> Solved:
        """(split, solution, its problem) of every split that can be trained on and that ``watch`` does not close."""
        numbers, ledger = self.trainable, self.run.ws.problem.ledger
        solutions: dict[int, Solution] = {}
        wrong: list[int] = []
        if watch is None and self._ahead.trusted(C):
            self._inverse = None
            for item in _timed(self._solve_ahead, numbers, C, ledger):
                solutions[item[0]] = item[1]
                yield item
            self._inverse = None
            numbers = [number for number in numbers if number not in solutions]
        if self.identity is None and len(numbers) > 1:
            with ledger.record("full solution"):
                full = self._solve_full(self.run.learner.dual(self.y, C, self.full_weights), C, rough=True)
            if not self._full_dual.bounded(full.beta):
                watch = None  # once solved, larger penalties may have the same solutions
        way = self._solve_apart if self._full is None else partial(self._solve_from_full, watch=watch)
        for number, solution, dual in _timed(way, numbers, C, ledger):
            if self._foreseeable(dual) and self._full is not None:
                solutions[number] = solution
                start = (self._full.beta != 0) & (dual.lower < dual.upper)
                wrong.append(int((start != (solution.beta != 0)).sum()))
            yield number, solution, dual
        if solutions:
            self._ahead.keep(C, solutions, wrong)
        self._previous = C

    def _foreseeable(self, dual: Dual) -> bool:
        """Whether solutions at smaller penalties lead to the next one, and there is memory for them."""
        return not dual.moving and SPARE * len(self.trainable) <= len(self.y)

    def values(self, solution: Solution, rows: Rows) -> Array:
        """Values of some rows of the full data."""
        if self.identity is None and len(self.members) == self.run.ws.n:
            return solution.u[rows] + solution.b
        return self.combination(solution.beta, solution.b, rows)

    def combination(self, beta: Array, b: float, rows: Rows) -> Array:
        """``K beta + b`` at some rows of the full data."""
        ws, support = self.run.ws, np.flatnonzero(beta)
        if self.identity is not None:
            coefficients = np.zeros(ws.n)
            coefficients[self.members] = beta
            rest = self.identity[1] * float(np.abs(beta).sum())
            if rest < np.finfo(np.float64).eps * abs(b) and not coefficients[rows].any():
                return np.full(len(rows), b)
        K = ws.stored_gram()[np.ix_(rows, self.members[support])].astype(np.float64, copy=False)
        return np.asarray(K @ beta[support] + b)

    @cached_property
    def trainable(self) -> list[int]:
        """The splits that can be trained on, whatever the penalty."""
        splits = range(len(self.run.ws.problem.folds))
        return [i for i in splits if self.run.learner.trainable(self.y, self.weights(i))]

    def weights(self, number: int) -> Array:
        """How often and how much each row counts in a split."""
        ws = self.run.ws
        fold = ws.problem.folds.folds[number]
        if fold.given_train is None:
            counts = np.ones(ws.n)
            counts[fold.removed] = 0.0
        else:
            counts = np.bincount(fold.given_train, minlength=ws.n).astype(np.float64)
        given = self.run.targets.fold_weights(number)
        return (counts if given is None else counts * given)[self.members]

    def growth(self, number: int) -> float:
        """What C is multiplied by in a split, where the penalty follows the number of training rows."""
        ws = self.run.ws
        total = ws.problem.total or ws.n
        return total / len(ws.problem.folds.folds[number].train) if self.run.scale_penalty else 1.0

    def dual(self, number: int, C: float) -> Dual:
        """The problem of a split."""
        return self.run.learner.dual(self.y, C * self.growth(number), self.weights(number))

    @cached_property
    def full_weights(self) -> Array:
        """How much each row counts in the full data: as it does on average over the splits that train on it."""
        weights = self.run.targets.weights
        if isinstance(weights, tuple):
            weights = np.sum(weights, axis=0) / np.maximum(np.sum([w > 0 for w in weights], axis=0), 1)
        return (np.ones(self.run.ws.n) if weights is None else weights)[self.members]

    def solve_full(self, dual: Dual, C: float) -> Solution:
        """The solution of a problem on all rows, along a path of penalties."""
        if self.identity is not None:
            return _diagonal_solution(dual, self.identity[0])
        with self.run.ws.problem.ledger.record("full solution"):
            solution = self._solve_full(dual, C)
        self._previous = C
        return solution

    def _solve_full(self, dual: Dual, C: float, rough: bool = False) -> Solution:
        """The problem of all rows, from its solution at the last penalty; a ``rough`` one is to start splits from."""
        assert self.solver is not None
        starts, key = self.run.ws.starts, (type(self.run.learner), self.number, C)
        near, image = self._near(dual)
        solution = self._from_last(dual, near, image)
        if solution is None:
            self._inverse = None
            if not (self._lost if rough and not dual.moving else self._slow) and _many_free(dual, near[0]):
                (solution,) = self._by_gradients([dual], near, image, self.solver.tolerance_of(dual), None, int(rough))
        if solution is None and key in starts:  # from another epsilon, or other weights
            solution = self.solver.solve(dual, dual.within(starts[key]))
        if solution is None:
            start = self._scaled(self._full, C, dual)
            if dual.objective(near[0], image[0]) < dual.objective(*start):
                start = near[0], image[0]
            solution = self.solver.solve(dual, *start, warm=False)
        self._full, self._full_dual, starts[key] = solution, dual, solution.beta
        return solution

    def _near(self, dual: Dual) -> tuple[Array, Array]:
        """A start (1, n) of the full-data problem, and its product with K: the last solution at the bounds of this one.

        Without one, and without bounds that follow the penalty, every row is taken to be inside the margin.
        """
        assert self.solver is not None
        if self._full is not None:
            start = _at_bounds(self._full.beta, self._full_dual, dual)
            return start[None], self._image(start, self._full.beta, self._full.u)[None]
        inside = np.zeros_like(dual.target) if dual.moving else dual.target / (self.magnitude + dual.ridge)
        start = dual.within(inside)
        return start[None], product(self.solver.K, start)[None]

    def _from_last(self, dual: Dual, start: Array, image: Array) -> Solution | None:
        """The full solution from the inverse at the last penalty, if few coefficients rest at bounds that move."""
        assert self.solver is not None
        if self._inverse is None or not dual.like(self._full_dual):
            return None
        if ((start != 0) & ~dual.free(start)).sum() > len(self._inverse.base) // 8:
            return None
        return by_inverse(self._inverse, [dual], start, image, self.solver.tolerance_of(dual))[0]

    def _image(self, start: Array, beta: Array, u: Array) -> Array:
        """``K start`` for coefficients many of which are those of ``beta``, from ``u = K beta``.

        Where those of beta are far larger its rounding would be seen, and the product is a new one. Cost: O(n) for each
        coefficient that is another.
        """
        from ..native.active_set import update  # numba is imported by who needs it

        assert self.solver is not None
        if self.solver.rounding_of(start) < self.solver.rounding_of(beta) / 2:
            return product(self.solver.K, start)
        image, changed = u.copy(), np.flatnonzero(start != beta)
        update(self.solver.K, image, start, beta, changed, len(changed))
        return image

    def _together(
        self,
        duals: list[Dual],
        starts: Array,
        images: Array,
        base: tuple[Dual, Array],
        watch: Watch | None,
        changes: float | None = None,
    ) -> list[Solution | None]:
        """Solutions of several problems at once from starts (t, n).

        None where that fails or does not pay, or ``watch`` closes them. ``base`` are a problem and coefficients that
        are free in most of them, ``changes`` how many bounds will change in each, if that is known.
        """
        assert self.solver is not None
        found: list[Solution | None] = [None] * len(duals)
        if not _many_free(duals[0], starts[0]):
            return found
        tolerance = self.solver.tolerance_of(duals[0])
        if not self._slow and self._inverse is None:  # an inverse at hand is faster
            found = self._by_gradients(duals, starts, images, tolerance, watch, changes=changes)
        left = _unsolved(duals, found, watch)
        if len(left) > 2 and not self._wild and _sharing(duals, starts, base[0]):
            if self.solver.has_workspace:
                self._near_K = None  # its memory is that of the inverse
            self._inverse = self._inverse or self.solver.inverse(*base)
            parts = [duals[k] for k in left], starts[left], images[left], tolerance
            solutions = by_inverse(self._inverse, *parts, watch)
            for k, solution in zip(left, solutions):
                found[k] = solution
            self._wild = len(_unsolved(duals, found, watch)) > len(left) // 2
        return found

    def _by_gradients(
        self,
        duals: list[Dual],
        starts: Array,
        images: Array,
        tolerance: float,
        watch: Watch | None,
        rough: int = 0,
        changes: float | None = None,
    ) -> list[Solution | None]:
        """The same by conjugate gradients; where these are slow or fail, they will be for larger penalties too."""
        assert self.solver is not None
        ridge = min(dual.least_ridge() for dual in duals)
        if self._near_K is None or not self._near_K.resolves(ridge):
            self._near_K = Preconditioner.of(self.solver.K, ridge, duals[0].bias)
        found, slow = by_gradients(self.solver.K, self._near_K, duals, starts, images, tolerance, watch, rough, changes)
        failed = 2 * len(_unsolved(duals, found, watch)) > len(duals)
        self._slow |= bool(slow.any()) or failed
        self._lost |= rough > 0 and failed
        if self._lost:
            self._near_K = None
        return found

    def _scaled(self, last: Solution | None, C: float, dual: Dual) -> tuple[Array, Array]:
        """The last solution in proportion to the penalty: what rested at a bound rests there again."""
        if last is None:
            return np.zeros(len(self.y)), np.zeros(len(self.y))
        factor = C / self._previous if dual.moving else 1.0
        return dual.within(last.beta * factor), last.u * factor

    def _solve_from_full(self, numbers: list[int], C: float, watch: Watch | None) -> Solved:
        """Each split from the full solution: coefficients at a bound stay there, those of left-out rows vanish."""
        assert self._full is not None
        assert self.solver is not None
        full, was = self._full, self._full_dual
        duals = [self.dual(number, C) for number in numbers]
        starts = np.array([_at_bounds(full.beta, was, dual) for dual in duals])
        if watch is not None:
            watch.expect(numbers, duals, starts)
            kept = np.flatnonzero(watch(duals, starts))
            numbers, duals, starts = [numbers[k] for k in kept], [duals[k] for k in kept], starts[kept]
        if not numbers:
            return
        images = np.array([self._image(start, full.beta, full.u) for start in starts])
        found = self._together(duals, starts, images, (was, full.beta), watch)
        left = _unsolved(duals, found, watch)
        for k, solution in enumerate(found):
            if solution is not None:
                yield numbers[k], solution, duals[k]
        if not left:
            return
        self._inverse = None  # its memory is that of other factors
        for k, order in zip(left, self._factors([duals[k] for k in left])):
            if watch is not None and not watch.wants(duals[k]):
                continue
            enough = None if watch is None else partial(watch.enough, duals[k])
            solution = self.solver.solve(duals[k], starts[k], images[k], order=order, enough=enough)
            if solution.converged or watch is None or watch.wants(duals[k]):
                yield numbers[k], solution, duals[k]

    def _solve_ahead(self, numbers: list[int], C: float) -> Solved:
        """The splits that are solved from where their own solutions at the last penalties lead, unless that is slow."""
        assert self.solver is not None
        duals = [self.dual(number, C) for number in numbers]
        lines = [self._ahead.line(number, C) for number in numbers]
        starts = np.array([dual.within(beta) for dual, (beta, _) in zip(duals, lines)])
        images = np.array([self._image(start, *line) for start, line in zip(starts, lines)])
        used = np.sum([dual.lower < dual.upper for dual in duals], axis=0)
        in_most = np.where(2 * (starts != 0).sum(axis=0) > used, self.y, 0.0)
        base = self.run.learner.dual(self.y, C, self.full_weights), in_most
        found = self._together(duals, starts, images, base, None, self._ahead.changes(C))
        alone = found.count(None) < 3 or not _sharing(duals, starts, base[0])
        for k, solution in enumerate(found):
            if solution is None and alone:
                self._inverse = None  # its memory is that of a factor
                solution = self.solver.solve(duals[k], starts[k])
            if solution is not None:
                yield numbers[k], solution, duals[k]

    def _factors(self, duals: list[Dual]) -> Iterable[Rows | None]:
        """Factors of the splits' starts from one factorisation, where splits leave out different rows and no more."""
        assert self._full is not None
        assert self.solver is not None
        full, was = self._full, self._full_dual
        free = was.free(full.beta)
        blocks = [np.flatnonzero(free & (dual.lower == dual.upper)) for dual in duals]
        together = np.concatenate(blocks)
        alike = all(dual.like(was) for dual in duals)
        if len(duals) < 3 or free.sum() < 200 or not alike or len(np.unique(together)) < len(together):
            return repeat(None)
        return self.solver.leave_out(was, full.beta, blocks)

    def _solve_apart(self, numbers: list[int], C: float) -> Solved:
        """A split by itself, from its solution at the last penalty, or in closed form if K is diagonal."""
        for number in numbers:
            dual = self.dual(number, C)
            if self.identity is not None:
                solution = _diagonal_solution(dual, self.identity[0])
            else:
                assert self.solver is not None
                start = self._scaled(self._alone.get(number), C, dual)
                solution = self._alone[number] = self.solver.solve(dual, *start, warm=False)
            yield number, solution, dual


def _timed(way: Way, numbers: list[int], C: float, ledger: Ledger) -> Solved:
    """What ``way`` solves, some splits at a time, with the time that each takes in the ledger."""
    for first in range(0, len(numbers), CHUNK):
        solved = way(numbers[first : first + CHUNK], C)
        while True:
            start = time.perf_counter()
            item = next(solved, None)
            ledger.add("fold solution", item is not None, time.perf_counter() - start)
            if item is None:
                break
            yield item


def _many_free(dual: Dual, start: Array) -> bool:
    """Whether that many coefficients are free that products with all of K pay."""
    return bool(dual.free(start).sum() >= max(200, len(start) // 8))


def _sharing(duals: list[Dual], starts: Array, other: Dual) -> bool:
    """Whether one inverse, with the ridges of another problem, is cheaper for all problems than a factor for each."""
    many = duals[0].free(starts[0]).sum() >= SHARED_FROM
    return bool(many and all(dual.like(other) for dual in duals))


def _unsolved(duals: list[Dual], found: list[Solution | None], watch: Watch | None) -> list[int]:
    """The problems without a solution that are still wanted."""
    return [k for k, dual in enumerate(duals) if found[k] is None and (watch is None or watch.wants(dual))]


def _diagonal_solution(dual: Dual, diagonal: float) -> Solution:
    beta, b = solve_diagonal(dual, diagonal)
    return Solution(beta, diagonal * beta, b, 0.0, True)


def _at_bounds(beta: Array, was: Dual, dual: Dual) -> Array:
    """``beta`` of another problem within the bounds of this one: what rested at a bound rests there."""
    start = dual.within(beta)
    start = np.where(beta == was.upper, dual.upper, start)
    return np.where(beta == was.lower, dual.lower, start)
