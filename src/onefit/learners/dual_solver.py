"""Solving dual problems on one Gram matrix, from any start to one tolerance."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..linalg.lapack import cholesky_in_place
from .dual import Array, Dual, Solution

TOLERANCE = 1e-10
"""Violation of the conditions of optimality, relative to the targets, at which a problem counts as solved."""

EPS = np.finfo(np.float64).eps
ROUNDS = 400
ATTEMPTS = 4


@dataclass
class DualSolver:
    """One matrix K (n x n, read only) and the work space of one thread: another n x n, touched as far as needed.

    ``noise`` is how far K may be from positive semi-definite, if more than by rounding (see ``indefiniteness``).
    """

    K: Array
    noise: float = 0.0
    tolerance: float = TOLERANCE
    max_rounds: int | None = None
    _U: Array | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        diagonal = np.abs(np.diagonal(self.K)).astype(np.float64)
        self.magnitude = float(diagonal.max(initial=0.0))
        self._roots = np.sqrt(diagonal)

    def solve(self, dual: Dual, beta: Array, u: Array | None = None, *, warm: bool = True) -> Solution:
        """The solution from a start ``beta`` within the bounds, and ``u = K beta`` if that is known.

        A ``warm`` start goes to the active-set method at once, a cold one makes SMO steps first, and so does one that
        fails. Cost: O(m³) for m free coefficients, then see ``native.active_set``.
        """
        from ..native.active_set import SNAP, active_set  # numba is imported by who needs it
        from ..native.compiling import announce
        from ..native.smo import smo

        announce(active_set)
        beta, u = self._start(dual, beta, u)
        parts = (self.K, dual.ridge, dual.target, dual.epsilon, dual.lower, dual.upper, dual.bias)
        constant = self.magnitude if dual.bias else 0.0
        scale = max(float(np.abs(dual.target).max(initial=0.0)), dual.epsilon)
        jitter = max(self.noise, len(beta) * EPS * (self.magnitude + constant), np.finfo(np.float64).tiny)
        for attempt in range(ATTEMPTS if self.max_rounds is None else 1):
            if attempt or not warm:
                smo(*parts, beta, u, 1e-3 * scale, len(beta) * (1 + 10 * attempt))
            F, m, jitter = self._factorise(dual, beta, constant, jitter)
            rounding = 2 * SNAP * np.sqrt(self.magnitude) * float(self._roots @ np.abs(beta))
            tol = max(self.tolerance * scale, rounding)
            b, violation, _, done = active_set(
                *parts, constant, jitter, beta, u, F, m, self._U, tol, self.max_rounds or ROUNDS
            )
            if done and (not dual.bias or abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()):
                return Solution(beta, u, b, violation, True)
            beta, u = self._start(dual, beta, None)
            jitter *= 1000  # K is less definite than it seemed: safer steps
        return Solution(beta, u, b, violation, False)

    def _start(self, dual: Dual, beta: Array, u: Array | None) -> tuple[Array, Array]:
        """A start whose sum is zero where it has to be, and its image under K, both to be written to."""
        u = np.asarray(self.K @ beta, dtype=np.float64) if u is None else u.copy()
        start = dual.balanced(beta, u)
        moved = np.flatnonzero(start != beta)
        if len(moved):
            u += (start[moved] - beta[moved]) @ self.K[moved]
        return start.copy(), u

    def _factorise(
        self, dual: Dual, beta: Array, constant: float, jitter: float
    ) -> tuple[NDArray[np.intp], int, float]:
        """(free indices, their number, jitter that was needed); their factor is in the work space."""
        from ..native.factor import gather

        n = len(beta)
        if self._U is None:
            self._U = np.empty((n, n))
        F = np.empty(n, dtype=np.intp)
        free = np.flatnonzero(dual.free(beta))
        m = len(free)
        F[:m] = free
        while True:
            gather(self.K, F, m, constant, dual.ridge + jitter, self._U)
            if cholesky_in_place(self._U, m):
                return F, m, jitter
            jitter *= 100


def indefiniteness(K: Array) -> float:
    """How much has to be added to the diagonal to make K positive definite, to a factor of 32: 0 is rounding.

    Infinite if more than 1e-5 of the largest entry (about what single precision leaves). Cost: O(n³), n² doubles.
    """
    n, largest = len(K), float(np.abs(np.diagonal(K)).max(initial=0.0))
    amount, work = n * EPS * largest, np.empty((n, n))
    first = amount
    while amount <= 1e-5 * largest:
        work[:] = K
        work.flat[:: n + 1] += amount
        if cholesky_in_place(work, n):
            return 0.0 if amount == first else amount
        amount *= 32
    return 0.0 if largest == 0 and not K.any() else np.inf
