"""Dual problems on one Gram matrix: from any start, along a path of penalties, or from an inverse of all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..._arrays import Array, Indices, Mask
from ..._exceptions import NotUnderstoodError
from ...gram import Gram
from ...linalg.lapack import cholesky_in_place
from ._smo import smo_steps
from ._solver import ROUGH, ROUNDS, DualSolver, gather
from .bias import AT_BOUND
from .dual import EPS, ROUNDING, TOLERANCE, Dual, Solution
from .fold_removal import SharedInverse

Enough = Callable[[Array], bool]
"""Whether coefficients are good enough."""

SEEN = 1e-4
"""Bound of the rounding of ``K beta``, relative to the targets, from which on a sixth digit of values may be wrong."""

SLICE = 16
"""Rounds of the active-set method after which it is asked whether they are enough."""


@dataclass(frozen=True)
class PathSolution:
    """Solutions along ascending penalties; from position ``solved`` on they are those of the last one solved."""

    betas: Array  # (L, n)
    images: Array  # (L, n): K beta
    biases: Array  # (L,)
    violations: Array  # (L,)
    gaps: Array  # (L,): primal less dual values
    converged: Mask  # (L,)
    determined: Mask  # (L,): whether a free coefficient tells the bias
    solved: int

    def at(self, k: int) -> Solution:
        """The solution at one penalty."""
        k = min(k, self.solved - 1)
        parts = float(self.biases[k]), float(self.violations[k]), bool(self.converged[k])
        return Solution(self.betas[k], self.images[k], *parts)


class Solver:
    """One matrix K (n, n), read only, and the work space of one thread: another n x n doubles, touched as needed.

    ``noise`` is how far K may be from positive semi-definite, if more than by rounding (see ``indefiniteness``).
    """

    def __init__(self, K: Array, noise: float = 0.0) -> None:
        self._compiled = DualSolver(K, noise)
        self.K, self.noise = np.asarray(self._compiled.K), noise
        self.magnitude: float = self._compiled.magnitude
        self._last: tuple[Dual, Array] | None = None  # the problem whose factor is in the work space, its solution

    def solve(
        self,
        dual: Dual,
        beta: Array,
        u: Array | None = None,
        *,
        warm: bool = True,
        enough: Enough | None = None,
        tolerance: float = TOLERANCE,
        max_rounds: int | None = None,
    ) -> Solution:
        """The solution from a start ``beta`` within the bounds, and ``u = K beta`` if that is known.

        A ``warm`` start goes to Newton's method at once, a cold one makes SMO steps first. ``enough`` is asked now and
        then whether to stop. Cost: O(m³) for m free coefficients, then see ``_active_set.pyx``.
        """
        beta, u, self._last = beta.copy(), self.K @ beta if u is None else u.copy(), None
        absolute, first = dual.relative_tolerance(tolerance), max_rounds if enough is None else SLICE
        b, violation, rounds, done = self._compiled.solve(
            dual, beta, u, absolute, warm=warm, newton=enough is None, max_rounds=first
        )
        while enough is not None and not done:
            if enough(beta):
                return Solution(beta, u, b, violation, False, rounds)
            if rounds > ROUNDS:
                return self.solve(dual, dual.within(beta), warm=False)
            b, violation, more, done = self._compiled.go_on(dual, beta, u, absolute, SLICE)
            rounds += more
        self._last = (dual, beta) if done else None
        return Solution(beta, u, b, violation, done, rounds)

    def take_smo_steps(self, dual: Dual, beta: Array, u: Array) -> None:
        """SMO steps from a cold start, in place: as many as ``solve`` makes. Cost: O(n²)."""
        smo_steps(
            self.K, dual.ridge, dual.target, dual.epsilon, dual.lower, dual.upper, dual.bias, beta, u,
            dual.relative_tolerance(ROUGH), max(len(beta) // 2, 1),
        )  # fmt: skip

    def path(self, unit: Dual, penalties: Array) -> PathSolution:
        """Solutions for ascending penalties; ``unit`` is the problem for a penalty of one.

        Cost: for each penalty as ``solve``, from the solution of the last one.
        """
        L, n = len(penalties), len(self.K)
        betas, images = np.empty((L, n)), np.empty((L, n))
        numbers, marks, self._last = np.empty((3, L)), np.zeros((2, L), dtype=np.int8), None
        solved = self._compiled.solve_path(unit, penalties, unit.tolerance, betas, images, *numbers, *marks, AT_BOUND)
        for part in (betas, images, numbers.T, marks.T):
            part[solved:] = part[solved - 1]
        biases, violations, gaps = numbers
        converged, determined = marks.view(np.bool_)
        return PathSolution(betas, images, biases, violations, gaps, converged, determined, solved)

    @cached_property
    def roots(self) -> Array:
        """Norms of the rows in feature space."""
        return np.asarray(np.sqrt(np.abs(np.diagonal(self.K))))

    def rounding_of(self, beta: Array) -> Array:
        """How much of ``K beta`` may be rounding, for coefficients (n,) or (…, n)."""
        return np.asarray(ROUNDING * np.sqrt(self.magnitude) * (np.abs(beta) @ self.roots))

    def is_rounded(self, dual: Dual, beta: Array) -> Mask:
        """Whether values are so small beside the coefficients that their rounding may be seen."""
        return np.asarray(self.rounding_of(beta) > SEEN / TOLERANCE * dual.tolerance)

    def inverse(self, dual: Dual, beta: Array) -> SharedInverse:
        """The inverse on the free coefficients of ``beta``, from their factor if the last solve has left it behind.

        Cost: O(m³), m² doubles.
        """
        if self._last is not None and self._last[0] is dual and self._last[1] is beta:
            order = self._compiled.order
            if np.array_equal(np.sort(order), np.flatnonzero(dual.free(beta))):
                factor, jitter = self._compiled.last_factor(), self._compiled.last_jitter
                return SharedInverse(self.K, dual.ridge, order, self._constant(dual.bias), jitter, factor)
        return self.inverse_of(dual.ridge, np.flatnonzero(dual.free(beta)), dual.bias)

    def inverse_of(self, ridge: Array, rows: Indices, bias: bool) -> SharedInverse:
        """The inverse of ``K + diag(ridge)``, with a bias plus a constant, on some rows."""
        return SharedInverse(self.K, ridge, rows, self._constant(bias), self.jitter(bias))

    def jitter(self, bias: bool) -> float:
        """The number that is added to the diagonal of factors, so that rounding leaves them definite."""
        return float(self._compiled.jitter(bias))

    def _constant(self, bias: bool) -> float:
        return self.magnitude if bias else 0.0


def solver_on(gram: Gram, rows: Indices) -> Solver:
    """The solver of problems on some rows of a Gram matrix; a NotUnderstoodError if that is clearly indefinite."""
    K = gram.dense()
    return solver_of(gram, K if len(rows) == gram.n else block(K, rows, rows))


def solver_of(gram: Gram, K: Array) -> Solver:
    """The solver of problems on K, a part of a Gram matrix; a NotUnderstoodError if K is clearly indefinite."""
    noise = 0.0 if gram.positive else indefiniteness(K)
    if noise == np.inf:
        raise NotUnderstoodError(f"{gram.kernel} is not positive semi-definite on these data")
    return Solver(K, noise)


def block(K: Array, rows: Indices, columns: Indices) -> Array:
    """``K[rows, columns]``: a view if both are consecutive, else a copy."""
    if _consecutive(rows) and _consecutive(columns):
        return K[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return np.asarray(gather(K, rows, columns))


def _consecutive(rows: Indices) -> bool:
    return len(rows) > 0 and rows[-1] - rows[0] == len(rows) - 1 and bool((np.diff(rows) == 1).all())


def indefiniteness(K: Array) -> float:
    """How much has to be added to the diagonal to make K positive definite, to a factor of 32: 0 is rounding.

    Infinite if more than 1e-5 of the largest entry (about what single precision leaves). Cost: O(n³), n² doubles.
    """
    n, largest = len(K), float(np.abs(np.diagonal(K)).max(initial=0.0))
    if largest == 0.0:
        return np.inf if K.any() else 0.0
    amount, work = n * EPS * largest, np.empty((n, n))
    first = amount
    while amount <= 1e-5 * largest:
        work[:] = K
        work.flat[:: n + 1] += amount
        if cholesky_in_place(work, n):
            return 0.0 if amount == first else amount
        amount *= 32
    return np.inf
