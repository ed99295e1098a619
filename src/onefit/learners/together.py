r"""Dual problems on one matrix, solved side by side.

Newton steps as in ``native.active_set.leap``, but of several problems at once, without a factorisation for each: by
conjugate gradients, each step of which is one product of K with a narrow matrix and which take some ten steps for
narrow kernels and small penalties; or from one inverse (``shared_inverse``). What does not settle within a few
steps is left to the solver that factorises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..linalg.product import product
from .dual import Array, Dual, Solution
from .shared_inverse import SharedInverse

LEAPS = 12
ROUNDING = 16 * np.finfo(np.float64).eps
"""Of ``K beta``, relative to the coefficients times the norms of the rows."""

LOOK = 8
"""Steps after which it is judged whether conjugate gradients will be fast enough."""

Step = Callable[[Array, NDArray[np.bool_], Array, bool], Array | None]
"""From right-hand sides, free rows and sums (see ``SharedInverse.step``) to Newton steps, None if there are none."""


class Watch(Protocol):
    """Closes problems whose solution is known well enough: they are not solved any further."""

    def expect(self, splits: list[int], duals: list[Dual], starts: Array) -> None:
        """Say to which splits some problems belong, and where they start (n, t)."""

    def __call__(self, duals: list[Dual], betas: Array) -> NDArray[np.bool_]:
        """Look at approximate coefficients (n, t) of some problems: which of them are still open?"""

    def wants(self, dual: Dual) -> bool:
        """Whether a problem is still open."""


def by_gradients(
    K: Array, duals: list[Dual], starts: Array, tolerance: float, watch: Watch | None = None
) -> list[Solution | None] | None:
    """Solutions of problems that differ in their bounds and ridges, from starts (n, t), one column each.

    None in place of a solution that was not found; None altogether if conjugate gradients are too slow on this K.
    """
    batch = _Batch(K, duals, starts, tolerance, watch)

    def step(right: Array, free: NDArray[np.bool_], missing: Array, bias: bool) -> Array | None:
        rough = 1e-4 if batch.moving else 0.0  # no use in digits while bounds change
        return _projected_gradients(K, batch.ridge, right, free, missing, bias, tolerance, rough)

    return batch.solutions if batch.run(step) else None


def by_inverse(
    shared: SharedInverse, duals: list[Dual], starts: Array, tolerance: float, watch: Watch | None = None
) -> list[Solution | None]:
    """The same for problems with the ridges of ``shared``, by its steps."""
    batch = _Batch(shared.K, duals, starts, tolerance, watch)
    batch.run(shared.step)
    return batch.solutions


@dataclass
class _Batch:
    """The problems that are not solved yet: columns of arrays (n, t)."""

    K: Array
    duals: list[Dual]
    starts: Array
    tolerance: float
    watch: Watch | None = None

    def __post_init__(self) -> None:
        duals = self.duals
        self.solutions: list[Solution | None] = [None] * len(duals)
        self.bias, self.epsilon = duals[0].bias, duals[0].epsilon
        self.target = duals[0].target[:, None]
        self.lower = np.column_stack([dual.lower for dual in duals])
        self.upper = np.column_stack([dual.upper for dual in duals])
        self.ridge = np.column_stack([dual.ridge for dual in duals])
        self.beta = self.starts.copy()
        self.free = np.column_stack([dual.free(start) for dual, start in zip(duals, self.beta.T)])
        self.side = np.where(self.beta > 0, 1.0, -1.0)
        self.numbers = np.arange(len(duals))
        self.moving = True
        self.roots = np.sqrt(np.abs(np.diagonal(self.K)).astype(np.float64))
        self._keep(np.asarray(self.free.any(axis=0)))
        self.u = product(self.K, self.beta)

    def run(self, step: Step) -> bool:
        """Steps until all are settled, or enough are made; False if one could not be made."""
        for _ in range(LEAPS):
            if not len(self.numbers):
                break
            if not self._leap(step):
                return False
        return True

    def _leap(self, solve: Step) -> bool:
        """A Newton step of every problem, then all changes of bounds at once."""
        right = -(self._gradient() + self.side * self.epsilon) * self.free
        missing = -self.beta.sum(axis=0) if self.bias else np.zeros(len(self.numbers))
        step = solve(right, self.free, missing, self.bias)
        if step is None:
            return False
        before = self.beta
        self.beta = before + step
        self.u = product(self.K, self.beta)
        gradient = self._gradient()
        b = np.zeros(len(self.numbers))
        if self.bias:
            b = -((gradient + self.side * self.epsilon) * self.free).sum(axis=0) / self.free.sum(axis=0)
        over, end = self._over(before)
        rising, gaining = self._gaining(gradient + b)
        residual = np.abs((gradient + self.side * self.epsilon + b) * self.free).max(axis=0)
        rounding = ROUNDING * self.roots.max() * (self.roots @ np.abs(self.beta))
        self.moving = bool((over | gaining).any())
        settled = ~(over | gaining).any(axis=0) & (residual <= np.maximum(self.tolerance, rounding)) & self._inside()
        for k in np.flatnonzero(settled):
            beta, u = np.ascontiguousarray(self.beta[:, k]), np.ascontiguousarray(self.u[:, k])
            self.solutions[self.numbers[k]] = Solution(beta, u, float(b[k]), float(residual[k]), True)
        self.beta = np.where(over, end, self.beta)
        self.side = np.where(gaining, np.where((self.beta > 0) | ((self.beta == 0) & rising), 1.0, -1.0), self.side)
        self.free = (self.free & ~over) | gaining
        self._keep(~settled & self.free.any(axis=0))
        if self.watch is not None and len(self.numbers):
            self._keep(self.watch([self.duals[k] for k in self.numbers], self.beta))
        self.u = product(self.K, self.beta)
        return True

    def _gradient(self) -> Array:
        return np.asarray(self.u + self.ridge * self.beta - self.target)

    def _over(self, before: Array) -> tuple[NDArray[np.bool_], Array]:
        """Which free coefficients have met an end of their piece, and that end."""
        upwards = self.beta > before
        high = np.where((self.epsilon > 0) & (self.side < 0), 0.0, self.upper)
        low = np.where((self.epsilon > 0) & (self.side > 0), 0.0, self.lower)
        met = np.where(upwards, self.beta >= high, self.beta <= low)
        return self.free & met, np.where(upwards, high, low)

    def _gaining(self, gradient: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """(which would gain by rising, which resting coefficients would gain by moving at all)."""
        rising = gradient + np.where(self.beta >= 0, self.epsilon, -self.epsilon)
        falling = gradient + np.where(self.beta > 0, self.epsilon, -self.epsilon)
        rise = (self.beta < self.upper) & (rising < -self.tolerance)
        fall = (self.beta > self.lower) & (falling > self.tolerance)
        return rise, ~self.free & (self.lower < self.upper) & (rise | fall)

    def _inside(self) -> NDArray[np.bool_]:
        """Which problems have a free coefficient that is clearly away from its bounds, to tell the bias."""
        near = 1e-9 * np.abs(self.beta).sum(axis=0)
        away = self.free & (self.beta > self.lower + near) & (self.beta < self.upper - near)
        return np.asarray((away & ((np.abs(self.beta) > near) | (self.epsilon == 0))).any(axis=0))

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        if not kept.all():
            for name in ("lower", "upper", "ridge", "beta", "free", "side"):
                setattr(self, name, getattr(self, name)[:, kept])
            self.numbers = self.numbers[kept]


def _projected_gradients(
    K: Array,
    ridge: Array,
    right: Array,
    free: NDArray[np.bool_],
    missing: Array,
    bias: bool,
    tolerance: float,
    rough: float,
) -> Array | None:
    """Conjugate gradients for ``(K + D) x = right`` on each column's free rows, with a bias up to a constant and with
    the sums of x given by ``missing``; None as soon as they seem to need too many steps for ``tolerance``, even if a
    residual of ``rough`` times the first is enough.
    """
    count = free.sum(axis=0)

    def project(values: Array) -> Array:
        values *= free
        return values - free * (values.sum(axis=0) / count) if bias else values

    x = free * (missing / count) if bias else np.zeros_like(right)
    r = project(right - (product(K, x) + ridge * x))
    p, size = r, (r * r).sum(axis=0)
    goal = count * (0.01 * tolerance) ** 2
    first, limit = np.maximum(size, goal), 10 + len(K) // 100
    for step in range(1, limit + 1):
        if (size <= np.maximum(goal, rough**2 * first)).all():
            return np.asarray(x)
        q = project(product(K, p) + ridge * p)
        curvature = (p * q).sum(axis=0)
        length = np.divide(size, curvature, out=np.zeros_like(size), where=curvature > 0)
        x = x + length * p
        r = r - length * q
        new = (r * r).sum(axis=0)
        if step == LOOK:
            shrunk = np.log(np.maximum(new, goal) / first) / step
            wanted = np.log(goal / first)
            if (wanted < shrunk * limit).any():
                return None
        p = r + np.divide(new, size, out=np.zeros_like(size), where=size > 0) * p
        size = new
    return None
