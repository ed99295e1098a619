"""How several dual problems on one matrix are solved at once, and what is learned of that along a path of penalties."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .chosen_rows import ChosenRows
from .dual import Array, Dual, Solution
from .dual_solver import DualSolver
from .preconditioner import Preconditioner
from .shared_inverse import SharedInverse
from .together import Watch, by_gradients, by_inverse, images_of

SHARED_FROM = 250
"""Free coefficients from which on one inverse for all problems is cheaper than a factor for each."""


@dataclass
class Problems:
    """Problems on one matrix: their starts (t, n), the products of these with K, and the error of those products."""

    duals: list[Dual]
    starts: Array
    images: Array
    error: float = 0.0  # beyond rounding

    def and_also(self, other: Problems) -> Problems:
        """These, and others after them."""
        starts, images = np.vstack([self.starts, other.starts]), np.vstack([self.images, other.images])
        return Problems(self.duals + other.duals, starts, images, max(self.error, other.error))

    def part(self, which: list[int]) -> Problems:
        """Some of them."""
        return Problems([self.duals[k] for k in which], self.starts[which], self.images[which], self.error)

    def sharp(self, K: Array) -> Problems:
        """The same with products that have no error."""
        return self if self.error == 0 else replace(self, images=images_of(K, self.starts), error=0.0)

    def many_free(self) -> bool:
        """Whether that many coefficients are free that products with all of K pay."""
        return bool(self.duals[0].free(self.starts[0]).sum() >= max(200, len(self.starts[0]) // 8))

    def sharing(self, other: Dual) -> bool:
        """Whether one inverse, with the ridges of another problem, is cheaper for all than a factor for each."""
        many = self.duals[0].free(self.starts[0]).sum() >= SHARED_FROM
        return bool(many and all(dual.like(other) for dual in self.duals))

    def unsolved(self, found: list[Solution | None], watch: Watch | None) -> list[int]:
        """Those without a solution that are still wanted."""
        return [k for k, dual in enumerate(self.duals) if found[k] is None and (watch is None or watch.wants(dual))]


@dataclass
class Prepared:
    """The full-data problem of the next penalty, to be solved roughly beside the splits of this one."""

    C: float
    problem: Problems
    solution: Solution | None = None
    tried: bool = False
    slow: bool = False  # conjugate gradients will be, for its splits


@dataclass
class Group:
    """The ways to solve several problems at once, and which of them have proved slow at smaller penalties."""

    solver: DualSolver
    inverse: SharedInverse | None = None  # on the free coefficients of the last full solution, or nearly
    slow: bool = False  # conjugate gradients take too long, or find nothing
    lost: bool = False  # nor do they find rough solutions
    _wild: bool = False  # bounds change too much for steps of all problems at once
    _chosen: ChosenRows | None = None  # for conjugate gradients, while these are used

    def solve(
        self,
        problems: Problems,
        base: tuple[Dual, Array],
        watch: Watch | None,
        changes: float | None = None,
        beside: Prepared | None = None,
    ) -> list[Solution | None]:
        """Solutions, None where that fails or does not pay, or ``watch`` closes them.

        ``base`` are a problem and coefficients that are free in most of them, ``changes`` how many bounds will change
        in each, if that is known. ``beside`` them another is solved, once, where that costs little.
        """
        found: list[Solution | None] = [None] * len(problems.duals)
        if not problems.many_free():
            return found
        if not self.slow and self.inverse is None:  # an inverse at hand is faster
            found = self._by_gradients(problems, watch, changes, None if beside is None or beside.tried else beside)
        left = problems.unsolved(found, watch)
        if left and self._chosen is not None:
            self._chosen.release()  # inverses and factors need memory
        if len(left) > 2 and not self._wild and problems.sharing(base[0]):
            if self.solver.has_workspace:
                self._chosen = None  # its memory is that of the inverse
            self.inverse = self.inverse or self.solver.inverse(*base)
            some = problems.part(left)
            for k, solution in zip(left, self.from_inverse(some, watch)):
                found[k] = solution
            self._wild = len(problems.unsolved(found, watch)) > len(left) // 2
        return found

    def from_inverse(self, problems: Problems, watch: Watch | None = None) -> list[Solution | None]:
        """Solutions from the inverse that is at hand."""
        assert self.inverse is not None
        tolerance, problems = self.solver.tolerance_of(problems.duals[0]), problems.sharp(self.solver.K)
        return by_inverse(self.inverse, problems.duals, problems.starts, problems.images, tolerance, watch)

    def roughly(self, problem: Problems) -> Solution | None:
        """A solution of one problem to start others from."""
        (solution,), slow = self._gradients(problem, None, 1)
        self.slow |= bool(slow[0]) or solution is None
        self.lost |= solution is None
        if self.lost:
            self._chosen = None
        return solution

    def precisely(self, problem: Problems) -> Solution | None:
        """A solution of one problem."""
        return self._by_gradients(problem, None)[0]

    def _by_gradients(
        self, problems: Problems, watch: Watch | None, changes: float | None = None, beside: Prepared | None = None
    ) -> list[Solution | None]:
        """The same by conjugate gradients; where these are slow or fail, they will be for larger penalties too."""
        count, rough = len(problems.duals), int(beside is not None)
        both = problems if beside is None else problems.and_also(beside.problem)
        found, slow = self._gradients(both, watch, rough, changes)
        failed = 2 * len(problems.unsolved(found[:count], watch)) > count
        self.slow |= bool(slow[:count].any()) or failed
        if beside is not None:
            beside.solution, beside.tried, beside.slow = found[-1], True, bool(slow[-1])
        return found[:count]

    def _gradients(
        self, problems: Problems, watch: Watch | None, rough: int, changes: float | None = None
    ) -> tuple[list[Solution | None], NDArray[np.bool_]]:
        ridge = min(dual.least_ridge for dual in problems.duals)
        if self._chosen is None or not self._chosen.near.resolves(ridge):
            self._chosen = ChosenRows(Preconditioner.of(self.solver.K, ridge, problems.duals[0].bias))
        parts = problems.duals, problems.starts, problems.images, self.solver.tolerance_of(problems.duals[0])
        return by_gradients(self.solver.K, self._chosen, *parts, watch, rough, changes, problems.error)
