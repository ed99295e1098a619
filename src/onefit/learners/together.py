r"""Dual problems on one matrix, solved side by side.

Newton steps as in ``native.leap``, but of several problems at once, without a factorisation for each: by
conjugate gradients, each step of which is one product of K with a narrow matrix and which take some ten steps for
narrow kernels and small penalties; or from one inverse (``shared_inverse``). What does not settle within a few
steps is left to the solver that factorises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .dual import Array, Dual, Solution
from .shared_inverse import SharedInverse

LEAPS = 12
"""Steps by conjugate gradients after which problems are given up."""
CHECKS = 6
"""The same for steps from an inverse, each of which is many leaps."""
ROUNDING = 16 * np.finfo(np.float64).eps
"""Of ``K beta``, relative to the coefficients times the norms of the rows."""

LOOK = 8
"""Steps after which it is judged whether conjugate gradients will be fast enough."""


class Watch(Protocol):
    """Closes problems whose solution is known well enough: they are not solved any further."""

    def expect(self, splits: list[int], duals: list[Dual], starts: Array) -> None:
        """Say to which splits some problems belong, and where they start (t, n)."""

    def __call__(self, duals: list[Dual], betas: Array) -> NDArray[np.bool_]:
        """Look at approximate coefficients (t, n) of some problems: which of them are still open?"""

    def enough(self, dual: Dual, beta: Array) -> bool:
        """Look at one of them: is it closed now?"""

    def wants(self, dual: Dual) -> bool:
        """Whether a problem is still open."""


def by_gradients(
    K: Array, duals: list[Dual], starts: Array, images: Array, tolerance: float, watch: Watch | None = None
) -> list[Solution | None] | None:
    """Solutions of problems that differ in their bounds and ridges, from starts (t, n) and their products with K.

    None in place of a solution that was not found; None altogether if conjugate gradients are too slow on this K.
    """
    from ..native.gradients import projected_gradients  # numba is imported by who needs it

    def step(batch: Batch) -> bool:
        rough = 1e-4 if batch.moving else 0.0  # no use in digits while bounds change
        x, limit = np.empty_like(batch.beta), 10 + len(K) // 100
        parts = (batch.K, batch.ridge, batch.right(), batch.free, batch.missing(), batch.bias)
        solved: bool = projected_gradients(*parts, 0.01 * tolerance, rough, limit, LOOK, x)
        batch.beta += x
        return solved

    batch = Batch(K, duals, starts, images, tolerance, watch)
    return batch.solutions if batch.run(step, LEAPS) else None


def by_inverse(
    shared: SharedInverse, duals: list[Dual], starts: Array, images: Array, tolerance: float, watch: Watch | None = None
) -> list[Solution | None]:
    """The same for problems with the ridges of ``shared``, by its leaps."""
    batch = Batch(shared.K, duals, starts, images, tolerance, watch)

    def step(batch: Batch) -> bool:
        parts = (batch.gradient(), batch.epsilon, batch.lower, batch.upper, batch.bias, batch.missing())
        possible = shared.leaps(*parts, tolerance, batch.beta, batch.free, batch.side)
        batch.keep(possible & batch.free.any(axis=1))
        return True

    batch.run(step, CHECKS)
    return batch.solutions


class Batch:
    """The problems that are not solved yet: rows of arrays (t, n)."""

    def __init__(
        self, K: Array, duals: list[Dual], starts: Array, images: Array, tolerance: float, watch: Watch | None = None
    ) -> None:
        from ..native.ready import make_ready

        make_ready(K)
        self.K, self.duals, self.tolerance, self.watch = K, duals, tolerance, watch
        self.solutions: list[Solution | None] = [None] * len(duals)
        self.bias, self.epsilon, self.target = duals[0].bias, duals[0].epsilon, duals[0].target
        self.lower = np.array([dual.lower for dual in duals])
        self.upper = np.array([dual.upper for dual in duals])
        self.ridge = np.array([dual.ridge for dual in duals])
        self.beta, self.u = starts.copy(), images
        self.before = self.beta  # the last step
        self.free = np.array([dual.free(start) for dual, start in zip(duals, self.beta)])
        self.side = np.where(self.beta > 0, 1.0, -1.0)
        self.numbers = np.arange(len(duals))
        self.moving = True
        self.roots = np.sqrt(np.abs(np.diagonal(self.K)).astype(np.float64))
        self.keep(np.asarray(self.free.any(axis=1)))

    def run(self, step: Callable[[Batch], bool], most: int) -> bool:
        """Steps until all are settled, or enough are made; False if one could not be made.

        A step moves the free coefficients to their minimum, or gives up problems.
        """
        for _ in range(most):
            if not len(self.numbers):
                break
            self.before = self.beta.copy()
            if not step(self):
                return False
            self.u = images_of(self.K, self.beta)
            self._settle()
        return True

    def gradient(self) -> Array:
        """Of the quadratic part."""
        return np.asarray(self.u + self.ridge * self.beta - self.target)

    def right(self) -> Array:
        """The right sides of the systems of the free coefficients."""
        return np.asarray(-(self.gradient() + self.side * self.epsilon) * self.free)

    def missing(self) -> Array:
        """What a step has to add to the sums of the coefficients."""
        return np.asarray(-self.beta.sum(axis=1)) if self.bias else np.zeros(len(self.beta))

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Go on with some of the problems only."""
        if not kept.all():
            for name in ("lower", "upper", "ridge", "before", "beta", "u", "free", "side", "numbers"):
                setattr(self, name, getattr(self, name)[kept])

    def _settle(self) -> None:
        """Change the free sets after a step; put away what is solved."""
        from ..native.sets import change_sets

        t = len(self.numbers)
        b, residual, changes = np.empty(t), np.empty(t), np.empty(t, dtype=np.intp)
        change_sets(
            self.K, self.ridge, self.target, self.epsilon, self.lower, self.upper, self.bias, self.tolerance,
            self.before, self.beta, self.u, self.free, self.side, b, residual, changes,
        )  # fmt: skip
        rounding = ROUNDING * self.roots.max() * (np.abs(self.beta) @ self.roots)
        self.moving = bool(changes.any())
        settled = (changes == 0) & (residual <= np.maximum(self.tolerance, rounding))
        if settled.any():
            settled &= self._inside()
        for k in np.flatnonzero(settled):
            beta, u = self.beta[k].copy(), self.u[k].copy()
            self.solutions[self.numbers[k]] = Solution(beta, u, float(b[k]), float(residual[k]), True)
        self.keep(~settled & self.free.any(axis=1))
        if self.watch is not None and len(self.numbers):
            self.keep(self.watch([self.duals[k] for k in self.numbers], self.beta))

    def _inside(self) -> NDArray[np.bool_]:
        """Which problems have a free coefficient that is clearly away from its bounds, to tell the bias."""
        near = 1e-9 * np.abs(self.beta).sum(axis=1, keepdims=True)
        away = self.free & (self.beta > self.lower + near) & (self.beta < self.upper - near)
        return np.asarray((away & ((np.abs(self.beta) > near) | (self.epsilon == 0))).any(axis=1))


def images_of_few(K: Array, B: Array) -> Array:
    """The same for rows with many zeros. Cost: O(n) for each other entry."""
    from ..native.active_set import update

    out, zero = np.zeros((len(B), len(K))), np.zeros(len(K))
    for image, row in zip(out, B):
        places = np.flatnonzero(row)
        update(K, image, row, zero, places, len(places))
    return out


def images_of(K: Array, B: Array) -> Array:
    """``K`` times the rows of B, as rows."""
    from ..native.narrow import narrow_product

    out = np.empty((len(B), len(K)))
    narrow_product(K, B, out)
    return out
