"""One column of the targets: its dual problems, warm-started along the path of penalties.

The full-data problem is solved along the path; each fold starts from it with its rows left out, which takes a few
rounds of the active-set method. Where its own solutions at the last penalties lead nearer (``foresight``), it starts
from them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._exceptions import NotUnderstoodError
from ..linalg.product import product
from ..native.narrow import row_products
from ..native.systems import update_each
from ..resources import Ledger
from .diagonal import solve_diagonal
from .dual import Array, Dual, Solution
from .dual_solver import DualSolver, indefiniteness
from .foresight import SPARE, Foresight
from .group import Group, Prepared, Problems
from .small_values import THRESHOLD
from .together import Watch

if TYPE_CHECKING:
    from .exact_run import Run

Rows = NDArray[np.intp]
EPS = np.finfo(np.float64).eps
CHUNK = 16
"""Folds that are solved side by side."""
SCARCE = 16
"""Rows for each coefficient that is not zero from which on it pays to look for their entries of K."""

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
    _group: Group = field(init=False)
    _previous: float = 0.0
    _alone: dict[int, Solution] = field(default_factory=dict)
    _foresight: Foresight = field(default_factory=Foresight)
    _prepared: Prepared | None = None
    _weights: dict[int, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        gram = self.run.gram
        self.identity = gram.identity()
        if self.identity is not None:
            self.magnitude = self.identity[0]
            return
        K = gram.stored()
        if len(self.members) < gram.n:
            K = K[np.ix_(self.members, self.members)]
        noise = 0.0 if gram.kernel.positive else indefiniteness(K)
        if noise == np.inf:
            raise NotUnderstoodError(f"{gram.kernel} is not positive semi-definite on these data")
        self.solver = DualSolver(K, noise)
        self.magnitude, self._group = self.solver.magnitude, Group(self.solver)

    def solve(self, C: float, watch: Watch | None = None, following: float | None = None) -> Solved:
        """(split, solution, its problem) of every split that can be trained on and that ``watch`` does not close.

        The penalty ``following`` this one, if it is known, is prepared on the way.
        """
        numbers, ledger = self.trainable, self.run.gram.problem.ledger
        solutions: dict[int, Solution] = {}
        wrong: list[int] = []
        if watch is None and self._foresight.trusted(C):
            self._group.inverse = None
            for item in _timed(self._solve_ahead, numbers, C, ledger):
                solutions[item[0]] = item[1]
                yield item
            self._group.inverse = None
            numbers = [number for number in numbers if number not in solutions]
        if self.identity is None and len(numbers) > 1:
            with ledger.record("full solution"):
                full = self._solve_full(self.run.learner.dual(self.y, C, self.full_weights), C, rough=True)
            if not self._full_dual.bounded(full.beta):
                watch = None  # once solved, larger penalties may have the same solutions
            self._prepare(following if watch is None else None)
        else:
            self._prepared = None
        way = self._solve_apart if self._full is None else partial(self._solve_from_full, watch=watch)
        for number, solution, dual in _timed(way, numbers, C, ledger):
            if self._foreseeable(dual) and self._full is not None:
                solutions[number] = solution
                start = (self._full.beta != 0) & (dual.lower < dual.upper)
                wrong.append(int(np.count_nonzero(start != (solution.beta != 0))))
            yield number, solution, dual
        if solutions:
            self._foresight.keep(C, solutions, wrong)
        self._previous = C

    def _foreseeable(self, dual: Dual) -> bool:
        """Whether solutions at smaller penalties lead to the next one, and there is memory for them."""
        return not dual.moving and SPARE * len(self.trainable) <= len(self.y)

    def values(self, solution: Solution, rows: Rows) -> Array:
        """Values of some rows of the full data."""
        if self.identity is None and len(self.members) == self.run.gram.n:
            return self.with_small_digits(solution.u[rows], solution.beta, solution.b, rows)
        return self.combination(solution.beta, solution.b, rows)

    def with_small_digits(self, u: Array, beta: Array, b: float, rows: Rows) -> Array:
        """``u + b`` from ``u = K beta`` at some rows, small u computed anew: updates left rounding only."""
        values, lost = u + b, np.abs(u) <= THRESHOLD * self.magnitude * np.abs(beta).max(initial=0.0)
        if lost.any():  # a row that was left out had its own part of u, which was subtracted again
            values[lost] = self.combination(beta, b, rows[lost])
        return values

    def combination(self, beta: Array, b: float, rows: Rows) -> Array:
        """``K beta + b`` at some rows of the full data."""
        gram, coefficients = self.run.gram, beta
        if len(self.members) < gram.n:
            coefficients = np.zeros(gram.n)
            coefficients[self.members] = beta
        if self.identity is not None and not coefficients[rows].any():
            rest = self.identity[1] * float(np.abs(beta).sum())
            if rest < EPS * abs(b):
                return np.full(len(rows), b)
        K, support = gram.stored(), np.flatnonzero(beta)
        if SCARCE * len(support) < gram.n:
            return np.asarray(K[np.ix_(rows, self.members[support])].astype(np.float64, copy=False) @ beta[support] + b)
        values = np.empty(len(rows))
        row_products(K, rows, coefficients, values)
        return values + b

    @cached_property
    def trainable(self) -> list[int]:
        """The splits that can be trained on, whatever the penalty."""
        splits = range(len(self.run.gram.problem.folds))
        return [i for i in splits if self.run.learner.trainable(self.y, self.weights(i))]

    def weights(self, number: int) -> Array:
        """How often and how much each row counts in a split; kept where that takes little memory beside K."""
        found = self._weights.get(number)
        if found is None:
            found = self._count(number)
            if SPARE * len(self.run.gram.problem.folds) <= len(self.y):
                self._weights[number] = found
        return found

    def _count(self, number: int) -> Array:
        counts = self.run.gram.problem.folds.folds[number].counts
        given = self.run.targets.fold_weights(number)
        return (counts if given is None else counts * given)[self.members]

    def growth(self, number: int) -> float:
        """What C is multiplied by in a split, where the penalty follows the number of training rows."""
        gram = self.run.gram
        total = gram.problem.total or gram.n
        return total / len(gram.problem.folds.folds[number].train) if self.run.scale_penalty else 1.0

    def duals(self, numbers: Sequence[int], C: float) -> Dual:
        """The problems of some splits, as one of several."""
        growths, weights = ([of(number) for number in numbers] for of in (self.growth, self.weights))
        return self.run.learner.dual(self.y, C * np.array(growths)[:, None], np.array(weights))

    @cached_property
    def full_weights(self) -> Array:
        """How much each row counts in the full data: as it does on average over the splits that train on it."""
        weights = self.run.targets.mean_weights
        return (np.ones(self.run.gram.n) if weights is None else weights)[self.members]

    def solve_full(self, dual: Dual, C: float) -> Solution:
        """The solution of a problem on all rows, along a path of penalties."""
        if self.identity is not None:
            return _diagonal_solution(dual, self.identity[0])
        with self.run.gram.problem.ledger.record("full solution"):
            solution = self._solve_full(dual, C)
        self._previous = C
        return solution

    def _solve_full(self, dual: Dual, C: float, rough: bool = False) -> Solution:
        """The problem of all rows, from its solution at the last penalty; a ``rough`` one is to start splits from."""
        prepared = self._take_prepared(C) if rough else None
        solution = prepared or self._solve_full_anew(dual, C, rough)
        self._full, self._full_dual = solution, dual
        self.run.gram.starts[type(self.run.learner), self.number, C] = solution.beta
        return solution

    def _solve_full_anew(self, dual: Dual, C: float, rough: bool) -> Solution:
        """The same by the first way that finds it."""
        assert self.solver is not None
        problem = self._full_problem(dual)
        solution = self._from_last(problem)
        if solution is None:
            self._group.inverse = None
            solution = self._from_gradients(problem, rough)
        if solution is not None:
            return solution
        if self._full is not None and self._full.error > 0:
            self._full = replace(self._full, u=product(self.solver.K, self._full.beta), error=0.0)
            problem = self._full_problem(dual)
        start = self.run.gram.starts.get((type(self.run.learner), self.number, C))
        if start is not None:  # from another epsilon, or other weights
            return self.solver.solve(dual, dual.within(start))
        scaled, last = self._scaled(self._full, C, dual), (problem.starts[0], problem.images[0])
        better = last if dual.objective(*last) < dual.objective(*scaled) else scaled
        return self.solver.solve(dual, *better, warm=False)

    def _prepare(self, C: float | None) -> None:
        """Have the full-data problem of the next penalty solved beside the splits, unless its bounds follow that."""
        self._prepared = None
        if C is not None and not self._full_dual.moving:
            self._prepared = Prepared(C, self._full_problem(self.run.learner.dual(self.y, C, self.full_weights)))

    def _take_prepared(self, C: float) -> Solution | None:
        """The rough solution that was found beside the splits of the last penalty."""
        prepared, self._prepared = self._prepared, None
        if prepared is None or prepared.C != C or not prepared.tried:
            return None
        self._group.inverse = None
        self._group.slow |= prepared.slow
        self._group.lost |= prepared.solution is None
        return prepared.solution

    def _from_gradients(self, problem: Problems, rough: bool) -> Solution | None:
        """The full solution by conjugate gradients, where these are fast enough."""
        given_up = self._group.lost if rough and not problem.duals[0].moving else self._group.slow
        if given_up or not problem.many_free():
            return None
        return self._group.roughly(problem) if rough else self._group.precisely(problem)

    def _full_problem(self, dual: Dual) -> Problems:
        """The full-data problem, from the last solution at the bounds of this one.

        Without one, and without bounds that follow the penalty, every row is taken to be inside the margin.
        """
        assert self.solver is not None
        if self._full is not None:
            start = _at_bounds(self._full.beta, self._full_dual, dual)
            image = self._images(start[None], self._full.beta[None], self._full.u[None])
            return Problems([dual], start[None], image, self._full.error)
        inside = np.zeros_like(dual.target) if dual.moving else dual.target / (self.magnitude + dual.ridge)
        start = dual.within(inside)
        return Problems([dual], start[None], product(self.solver.K, start)[None])

    def _from_last(self, problem: Problems) -> Solution | None:
        """The full solution from the inverse at the last penalty, if few coefficients rest at bounds that move."""
        (dual,), (start,), inverse = problem.duals, problem.starts, self._group.inverse
        if inverse is None or not dual.like(self._full_dual):
            return None
        if ((start != 0) & ~dual.free(start)).sum() > len(inverse.base) // 8:
            return None
        return self._group.from_inverse(problem)[0]

    def _images(self, starts: Array, beta: Array, u: Array) -> Array:
        """``K`` times coefficients (t, n) many of which are those of ``beta``, from the products ``u`` of these.

        Where those of beta are far larger their rounding would be seen, and products are new ones. Cost: O(n) for each
        coefficient that is another.
        """
        assert self.solver is not None
        images, before = np.empty_like(starts), np.empty_like(starts)  # one for each start
        images[:], before[:] = u, beta
        anew = self.solver.rounding_of_each(starts) < self.solver.rounding_of_each(before) / 2
        update_each(self.solver.K, images, starts, before, ~anew)
        for k in np.flatnonzero(anew):
            images[k] = product(self.solver.K, starts[k])
        return images

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
        together = self.duals(numbers, C)
        duals, starts = together.each(), _at_bounds(full.beta, was, together)
        if watch is not None:
            watch.expect(numbers, duals, starts)
            kept = np.flatnonzero(watch(duals, starts))
            numbers, duals, starts = [numbers[k] for k in kept], [duals[k] for k in kept], starts[kept]
        if not numbers:
            return
        images = self._images(starts, full.beta, full.u)
        problems = Problems(duals, starts, images, full.error)
        found = self._group.solve(problems, (was, full.beta), watch, beside=self._prepared)
        left = problems.unsolved(found, watch)
        for k, solution in enumerate(found):
            if solution is not None:
                yield numbers[k], solution, duals[k]
        if not left:
            return
        self._group.inverse = None  # its memory is that of other factors
        images = problems.sharp(self.solver.K).images
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
        together = self.duals(numbers, C)
        duals = together.each()
        lines = [self._foresight.line(number, C) for number in numbers]
        betas, u = np.array([beta for beta, _ in lines]), np.array([image for _, image in lines])
        starts = together.within(betas)
        images = self._images(starts, betas, u)
        used = together.lower < together.upper
        in_most = np.where(2 * (starts != 0).sum(axis=0) > used.sum(axis=0), self.y, 0.0)
        base = self.run.learner.dual(self.y, C, self.full_weights), in_most
        problems = Problems(duals, starts, images)
        found = self._group.solve(problems, base, None, self._foresight.changes(C))
        alone = found.count(None) < 3 or not problems.sharing(base[0])
        for k, solution in enumerate(found):
            if solution is None and alone:
                self._group.inverse = None  # its memory is that of a factor
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
        for number, dual in zip(numbers, self.duals(numbers, C).each()):
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


def _diagonal_solution(dual: Dual, diagonal: float) -> Solution:
    beta, b = solve_diagonal(dual, diagonal)
    return Solution(beta, diagonal * beta, b, 0.0, True)


def _at_bounds(beta: Array, was: Dual, dual: Dual) -> Array:
    """``beta`` of another problem within the bounds of this one, or of several: what rested at a bound rests there."""
    start = dual.within(beta)
    start = np.where(beta == was.upper, dual.upper, start)
    return np.where(beta == was.lower, dual.lower, start)
