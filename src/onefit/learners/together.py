r"""Dual problems on one matrix, solved side by side.

Newton steps as in ``native.leap``, but of several problems at once, without a factorisation for each: by
conjugate gradients, each step of which is one product of K with a narrow matrix and which take some ten steps for
narrow kernels and for large ridges; or from one inverse (``shared_inverse``). What does not settle within a few
steps is left to the solver that factorises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .dual import Array, Dual, Solution
from .preconditioner import Preconditioner
from .shared_inverse import SharedInverse

LEAPS = 12
"""Steps by conjugate gradients after which problems are given up."""
CHECKS = 6
"""The same for steps from an inverse, each of which is many leaps."""
ROUNDING = 16 * np.finfo(np.float64).eps
"""Of ``K beta``, relative to the coefficients times the norms of the rows."""

LIMIT = 55
"""Steps from which on conjugate gradients are slower than factors."""
LOOK = 8
"""Steps after which it is judged whether they will be fast enough."""
MOVING = 3e-2
"""What they leave of a residual at most."""
TELLING = 1e8
"""Residual, in tolerances, that is small enough to tell which bounds change."""
SINGLE = 1e-5
"""What they leave at least in single precision: not much less can be reached."""
FEW = 2
"""Changes of bounds after which the next step is likely to be the last but for digits."""

SETTLING = 0.05
"""Share of the free coefficients whose bounds may change after a rough solution."""


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
    K: Array,
    near: Preconditioner,
    duals: list[Dual],
    starts: Array,
    images: Array,
    tolerance: float,
    watch: Watch | None = None,
    rough: bool = False,
) -> tuple[list[Solution | None], bool]:
    """Solutions of problems that differ in their bounds and ridges, from starts (t, n) and their products with K.

    None in place of a solution that was not found. ``rough`` ones are to start from: they need no digits, and a few
    bounds may be wrong. Also returns whether conjugate gradients are too slow on this K, for all but rough solutions.
    """
    batch = Batch(K, duals, starts, images, tolerance, watch, rough)
    step = GradientStep(near, len(duals))
    batch.run(step, LEAPS)
    return batch.solutions, step.slow


def by_inverse(
    shared: SharedInverse, duals: list[Dual], starts: Array, images: Array, tolerance: float, watch: Watch | None = None
) -> list[Solution | None]:
    """The same for problems with the ridges of ``shared``, by its leaps."""
    batch = Batch(shared.K, duals, starts, images, tolerance, watch)

    def step(batch: Batch) -> bool:
        parts = (batch.gradient(), batch.epsilon, batch.lower, batch.upper, batch.bias, batch.missing())
        possible = shared.leaps(*parts, tolerance, batch.beta, batch.free, batch.side)
        batch.keep(possible & batch.free.any(axis=1))
        batch.u = images_of(batch.K, batch.beta)
        return True

    batch.run(step, CHECKS)
    return batch.solutions


class GradientStep:
    """Newton steps of a batch by conjugate gradients, in single precision where that is enough.

    What they are applied to is the gradient in double precision, so that a few steps have all digits. Before bounds
    settle, products with K are those of the conjugate gradients too.
    """

    def __init__(self, near: Preconditioner, t: int) -> None:
        n, r = len(near.K), len(near.G)
        self.near, self.made, self.slow = near, 0, False
        self.scale, self.factors, self.known = np.empty((t, n)), np.empty((t, r, r)), np.zeros(t, dtype=bool)

    def __call__(self, batch: Batch) -> bool:
        """Whether it could be made."""
        from ..native.gradients import projected_gradients  # numba is imported by who needs it

        near, missing = self.near, batch.missing()
        ridge, right = batch.ridge / near.unit, batch.right() / near.unit
        self._prepare(batch, ridge)
        missing[np.abs(missing) <= ROUNDING * np.abs(batch.beta).sum(axis=1)] = 0.0
        size = np.maximum(np.abs(right).max(axis=1), np.abs(missing))  # which single precision may not have room for
        size[size == 0] = 1.0
        goal = 0.5 * batch.tolerance / np.sqrt(len(near.K)) / near.unit / size
        rough = np.minimum(0.1 * batch.changes / batch.free.sum(axis=1), MOVING)  # no digits while bounds change
        rough = np.minimum(rough, TELLING * batch.tolerance / near.unit / size)
        if near.kind is np.float32:
            rough = np.maximum(rough, SINGLE)
        x, image = np.empty_like(right), np.empty_like(right)
        solved, needed = projected_gradients(
            near.K, near.rows, near.columns, self.scale[batch.numbers], self.factors[batch.numbers], ridge,
            right / size[:, None], batch.free, missing / size, batch.bias, goal, rough, LIMIT, LOOK, batch.rough,
            x, image,
        )  # fmt: skip
        self.made, self.slow = self.made + 1, self.slow or needed > LIMIT or not solved
        batch.beta += size[:, None] * x
        batch.u += near.unit * size[:, None] * image
        batch.exact = (batch.changes <= FEW) | (self.made > LEAPS // 2)
        if batch.exact.any():
            batch.u[batch.exact] = images_of(batch.K, batch.beta[batch.exact])
        return bool(solved)

    def _prepare(self, batch: Batch, ridge: Array) -> None:
        """The preconditioners of the problems whose free coefficients have changed."""
        new = (batch.changes > 0) | ~self.known[batch.numbers]
        if new.any():
            numbers = batch.numbers[new]
            self.scale[numbers], self.factors[numbers] = self.near.parts(ridge[new], batch.free[new])
            self.known[numbers] = True


KEPT = ("lower", "upper", "ridge", "before", "beta", "u", "free", "side", "numbers", "changes", "exact")
"""What a batch has one row of for each problem."""


class Batch:
    """The problems that are not solved yet: rows of arrays (t, n)."""

    def __init__(
        self,
        K: Array,
        duals: list[Dual],
        starts: Array,
        images: Array,
        tolerance: float,
        watch: Watch | None = None,
        rough: bool = False,
    ) -> None:
        from ..native.ready import make_ready

        make_ready(K)
        self.K, self.duals, self.tolerance, self.watch, self.rough = K, duals, tolerance, watch, rough
        self.solutions: list[Solution | None] = [None] * len(duals)
        self.bias, self.epsilon, self.target = duals[0].bias, duals[0].epsilon, duals[0].target
        self.lower = np.array([dual.lower for dual in duals])
        self.upper = np.array([dual.upper for dual in duals])
        self.ridge = np.array([dual.ridge for dual in duals])
        self.beta, self.u = starts.copy(), images.copy()
        self.before = self.beta  # the last step
        self.free = np.array([dual.free(start) for dual, start in zip(duals, self.beta)])
        self.side = np.where(self.beta > 0, 1.0, -1.0)
        self.numbers = np.arange(len(duals))
        self.changes = (~self.free & (self.lower < self.upper)).sum(axis=1)  # those of the last step, or to come
        self.exact = np.ones(len(duals), dtype=bool)  # whether u is, but for rounding of double precision
        self.roots = np.sqrt(np.abs(np.diagonal(self.K)).astype(np.float64))
        self.keep(np.asarray(self.free.any(axis=1)))

    def run(self, step: Callable[[Batch], bool], most: int) -> None:
        """Steps until all are settled, or enough are made, or one could not be made.

        A step moves the free coefficients to their minimum and u with them, or gives up problems.
        """
        for _ in range(most):
            if not len(self.numbers):
                break
            self.before = self.beta.copy()
            if not step(self):
                break
            self._settle()

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
            for name in KEPT:
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
        self.changes = changes
        if self.rough:
            settled = changes <= SETTLING * self.free.sum(axis=1)
            self.u[settled] = images_of(self.K, self.beta[settled])
        else:
            settled = self.exact & (changes == 0) & (residual <= np.maximum(self.tolerance, rounding))
        if settled.any() and not self.rough:
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
