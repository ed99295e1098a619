"""Solving dual problems on one Gram matrix, from any start to one tolerance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..linalg.lapack import cholesky_in_place
from ..linalg.leave_out import leave_out_factors
from ..linalg.product import product
from ..native.active_set import active_set
from ..native.factor import gather
from ..native.leap import leap
from ..native.ready import make_ready
from ..native.smo import smo
from .dual import ROUNDING, TOLERANCE, Array, Dual, Solution
from .shared_inverse import SharedInverse

Rows = NDArray[np.intp]
Enough = Callable[[Array], bool]
"""Whether coefficients are good enough."""

SEEN = 1e-4
"""Bound of the rounding of ``K beta``, relative to the targets, from which on a sixth digit of values may be wrong."""

EPS = np.finfo(np.float64).eps
ROUNDS = 400
ATTEMPTS = 4
COARSE = 100.0
"""Rounding, in tolerances, from which on solutions that meet it are polished."""
FINER = 64.0
"""How far below the bound of rounding that is tried: rounding seldom adds up."""
POLISHES = 12
"""Rounds for it."""
SLICE = 16
"""Rounds after which it is asked whether they are enough."""
LEAPS = 6
LEAP_FROM = 100
"""Free coefficients from which on a new factor may be cheaper than changing some of them one by one."""
FEW = 1 / 70
"""Share of the free coefficients below which changing them one by one is cheaper."""
MANY = 0.6
"""Changes, as a share of the last leap's or of the free coefficients, from which on leaps do not lead anywhere."""


@dataclass
class _State:
    """Where a solve stands: ``F[:m]`` are the free coefficients, on the pieces ``side``; jitter of their factor.

    ``rounding`` is how much of u may be rounding, that of larger coefficients on the way included.
    """

    beta: Array
    u: Array
    F: Rows
    m: int
    side: Array
    jitter: float
    rounding: float
    settled: bool = False


@dataclass
class DualSolver:
    """One matrix K (n x n, read only, in double or single precision) and the work space of one thread: another n x n,
    touched as far as needed.

    ``noise`` is how far K may be from positive semi-definite, if more than by rounding (see ``indefiniteness``).
    """

    K: NDArray[Any]
    noise: float = 0.0
    tolerance: float = TOLERANCE
    max_rounds: int | None = None
    _U: Array | None = field(default=None, repr=False)
    _sizes: tuple[Array, float, float] | None = field(default=None, repr=False)  # of the last targets
    _left: tuple[Dual, Rows, float] | None = field(default=None, repr=False)
    """The problem whose factor is in the work space, its free coefficients in that order, the factor's jitter."""

    def __post_init__(self) -> None:
        diagonal = np.abs(np.diagonal(self.K)).astype(np.float64)
        self.magnitude = float(diagonal.max(initial=0.0))
        self._roots = np.sqrt(diagonal)
        if self.K.dtype == np.float32:
            self.noise = max(self.noise, float(np.finfo(np.float32).eps) * np.sqrt(len(diagonal)) * self.magnitude)

    def solve(
        self,
        dual: Dual,
        beta: Array,
        u: Array | None = None,
        *,
        warm: bool = True,
        order: Rows | None = None,
        enough: Enough | None = None,
    ) -> Solution:
        """The solution from a start ``beta`` within the bounds, and ``u = K beta`` if that is known.

        A ``warm`` start goes to the active-set method at once, a cold one makes SMO steps first, and so does one that
        fails. ``order`` are the free coefficients of the start if ``leave_out`` has just factorised them. ``enough``
        is asked now and then whether to stop.
        Cost: O(m³) for m free coefficients, then see ``native.active_set``.
        """
        make_ready(self.K)
        self._left = None
        beta = beta.copy()
        u = product(self.K, beta) if u is None else u.copy()
        parts = (self.K, dual.ridge, dual.target, dual.epsilon, dual.lower, dual.upper, dual.bias)
        tolerance = self.tolerance_of(dual)
        jitter = self._jitter(dual.bias)
        start, total = beta.copy(), 0
        for attempt in range(ATTEMPTS if self.max_rounds is None else 1):
            if attempt or not warm:
                smo(*parts, beta, u, 1e-3 * tolerance / self.tolerance, len(beta) * (1 + 10 * attempt))
                order = None
            state = self._prepare(dual, beta, u, jitter, order)
            self._leap(parts, dual, state)
            b, violation, rounds, done = self._make_rounds(parts, dual, state, enough)
            total += rounds
            if done is None:
                return Solution(beta, u, b, violation, False, total)
            if done and np.isfinite(beta).all():
                self._left = (dual, state.F, state.jitter)
                return Solution(beta, u, b, violation, True, total)
            if not np.isfinite(beta).all():
                beta[:] = start
            u[:] = product(self.K, beta)
            jitter *= 1000  # K is less definite than it seemed: safer steps
        return Solution(beta, u, b, violation, False, total)

    def _make_rounds(
        self, parts: tuple[Any, ...], dual: Dual, state: _State, enough: Enough | None
    ) -> tuple[float, float, int, bool | None]:
        """The active-set method in slices: (bias, violation, rounds, whether it is done; None if they are enough)."""
        rounds, limit, tolerance = 0, self.max_rounds or ROUNDS, self.tolerance_of(dual)
        while True:
            most = min(limit - rounds, SLICE if enough else limit)
            b, violation, made, done = self._go_on(parts, dual, state, max(tolerance, state.rounding), most)
            rounds, now = rounds + made, self.rounding_of(state.beta)
            loose = done and tolerance < state.rounding and now < state.rounding / 2
            finished = done and not loose
            if finished and state.rounding > COARSE * tolerance:
                b, violation = self._polish(parts, dual, state, b, violation)
            if finished or rounds >= limit:
                return b, violation, rounds, finished
            if loose:
                state.rounding, state.u[:] = now, product(self.K, state.beta)
            elif enough is not None and enough(state.beta):
                return b, violation, rounds, None

    def _go_on(
        self, parts: tuple[Any, ...], dual: Dual, state: _State, tolerance: float, most: int
    ) -> tuple[float, float, int, bool]:
        """At most so many rounds of the active-set method: (bias, violation, rounds, whether that is tolerable)."""
        b, violation, made, done, state.m = active_set(
            *parts, self._constant(dual.bias), state.jitter, state.beta, state.u, state.F, state.m, state.side, self._U,
            state.settled, tolerance, most,
        )  # fmt: skip
        state.settled = False
        return b, violation, made, done

    def _polish(
        self, parts: tuple[Any, ...], dual: Dual, state: _State, b: float, violation: float
    ) -> tuple[float, float]:
        """Digits that rounding has cost on the way, by Newton steps from a new product with K: (bias, violation).

        A violation that may be rounding can still be larger than the rounding that is left in the end.
        """
        beta, u = state.beta.copy(), state.u.copy()
        state.u[:] = product(self.K, beta)
        finer = max(self.tolerance_of(dual), state.rounding / FINER)
        new_b, new_violation, _, _ = self._go_on(parts, dual, state, finer, POLISHES)
        if new_violation <= state.rounding and np.isfinite(state.beta).all():
            return new_b, new_violation
        state.beta[:], state.u[:] = beta, u
        return b, violation

    def tolerance_of(self, dual: Dual) -> float:
        """The violation at which a problem counts as solved, apart from rounding of ``K beta``.

        Relative to the spread of the targets, since a bias takes up what they have in common.
        """
        if self._sizes is None or self._sizes[0] is not dual.target:
            self._sizes = dual.target, *_sizes(dual.target)
        _, largest, half = self._sizes
        spread = half if dual.bias else largest
        return max(self.tolerance * max(spread, dual.epsilon), 4 * EPS * largest)

    def rounding_of(self, beta: Array) -> float:
        """How much of ``K beta`` may be rounding."""
        return float(self.rounding_of_each(beta))

    def rounding_of_each(self, beta: Array) -> Array:
        """The same for coefficients (t, n) of several problems."""
        return np.asarray(ROUNDING * np.sqrt(self.magnitude) * (np.abs(beta) @ self._roots))

    def is_rounded(self, dual: Dual, beta: Array) -> bool:
        """Whether values are so small beside the coefficients that their rounding may be seen."""
        return self.rounding_of(beta) > SEEN / self.tolerance * self.tolerance_of(dual)

    def leave_out(self, dual: Dual, beta: Array, blocks: list[Rows]) -> Iterator[Rows | None]:
        """Factorise the free coefficients of ``beta`` without those of each block, all for about the price of three.

        After each, ``solve`` has to be called with the ``order`` that is yielded (None: no factor) before the next.
        """
        self._left = None
        free = np.flatnonzero(dual.free(beta))
        place = np.full(len(beta), -1)
        place[free] = np.arange(len(free))
        constant, ridge = self._constant(dual.bias), dual.ridge + self._jitter(dual.bias)

        def take(rows: Rows, columns: Rows) -> Array:
            block = self.K[np.ix_(free[rows], free[columns])].astype(np.float64, copy=False)
            block += constant
            if rows is columns:
                block.flat[:: len(rows) + 1] += ridge[free[rows]]
            return block

        inner = [place[block][place[block] >= 0] for block in blocks]
        for order in leave_out_factors(take, len(free), inner, self._workspace()):
            yield None if order is None else free[order]

    def inverse(self, dual: Dual, beta: Array) -> SharedInverse:
        """The inverse on the free coefficients of ``beta``, from their factor if the last solve has left it behind.

        Cost: O(m³), m² doubles.
        """
        free, factor, jitter = np.flatnonzero(dual.free(beta)), None, self._jitter(dual.bias)
        if self._left is not None and self._left[0] is dual:
            order = self._left[1][: len(free)]
            if np.array_equal(np.sort(order), free):
                free, jitter, factor = order, self._left[2], self._U
        return SharedInverse(self.K, dual.ridge, free, self._constant(dual.bias), jitter, factor)

    def inverse_of(self, ridge: Array, rows: Rows, bias: bool) -> SharedInverse:
        """The inverse of ``K + diag(ridge)``, with a bias plus a constant, on some rows."""
        return SharedInverse(self.K, ridge, rows, self._constant(bias), self._jitter(bias))

    def _constant(self, bias: bool) -> float:
        return self.magnitude if bias else 0.0

    def _jitter(self, bias: bool) -> float:
        rounding = len(self.K) * EPS * (self.magnitude + self._constant(bias))
        return max(self.noise, rounding, 1e-150)  # of a zero matrix: its inverse can still be squared

    @property
    def has_workspace(self) -> bool:
        """Whether the work space of factors has been needed yet."""
        return self._U is not None

    def _workspace(self) -> Array:
        if self._U is None:
            self._U = np.empty(self.K.shape, dtype=np.float64)
        return self._U

    def _prepare(self, dual: Dual, beta: Array, u: Array, jitter: float, order: Rows | None) -> _State:
        """The free coefficients and their factor: that at hand, or a new one."""
        free = np.flatnonzero(dual.free(beta))
        known = order is not None and len(order) == len(free) and np.array_equal(np.sort(order), free)
        F = np.empty(len(beta), dtype=np.intp)
        F[: len(free)] = order if known and order is not None else free
        state = _State(beta, u, F, len(free), np.where(beta > 0, 1.0, -1.0), jitter, self.rounding_of(beta))
        if not known:
            self._factorise(dual, state)
        return state

    def _factorise(self, dual: Dual, state: _State) -> None:
        """Put the factor of the free coefficients into the work space, with as much jitter as that takes."""
        U = self._workspace()
        while True:
            gather(self.K, state.F, state.m, self._constant(dual.bias), dual.ridge + state.jitter, U)
            if cholesky_in_place(U, state.m):
                return
            state.jitter *= 100

    def _leap(self, parts: tuple[Any, ...], dual: Dual, state: _State) -> None:
        """Change many coefficients at once while that saves more than a factor costs; the last leap may be undone."""
        last = state.m
        for _ in range(LEAPS):
            if state.m < LEAP_FROM:
                return
            before = state.beta.copy(), state.u.copy(), state.F.copy(), state.m, state.side.copy()
            m, changes = leap(*parts, state.beta, state.u, state.F, state.m, self._U, state.side)
            if changes == 0:
                state.settled = True
                return
            if not FEW * state.m < changes < MANY * last:
                state.beta[:], state.u[:], state.F[:], state.m, state.side[:] = before
                return
            last, state.m, state.rounding = changes, m, max(state.rounding, self.rounding_of(state.beta))
            self._factorise(dual, state)


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


def _sizes(target: Array) -> tuple[float, float]:
    """The largest target, and half of how far they reach."""
    return (float(np.abs(target).max()), float(np.ptp(target)) / 2) if len(target) else (0.0, 0.0)
