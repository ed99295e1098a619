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

LIMIT = 0.1
"""Steps, for each row, from which on conjugate gradients are slower than factors: O(n²) a step against O(n³)."""
LEAST = 60
"""They are faster up to so many, however few rows there are."""
MOVING_LIMIT = 45
"""The same where bounds follow the penalty: more of them change, and each time steps are made anew."""
LOOK = 8
"""Steps after which it is judged whether they will be fast enough."""
MOVING = 3e-2
"""What they leave of a residual at most."""
TELLING = 1e9
"""Residual, in tolerances, that is small enough to tell which bounds change."""
SINGLE = 1e-5
"""What they leave at least in single precision: not much less can be reached."""
FEW = 2
"""Changes of bounds after which the next step is likely to be the last but for digits."""

WHOLE = 0.95
"""Share of the rows from which on it does not pay to leave the others out."""
ALONE = 0.7
"""The same for a problem alone, or two."""
SEVERAL = 3
"""Problems that are more."""
UNSEEN = 0.4
"""Error of ``K beta``, in tolerances, that is small enough for a solution."""
BLUR = 1e-9
"""The same relative to the spread of ``K beta``, which is far below the targets where the penalty is small."""
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
    rough: int = 0,
    changes: float | None = None,
    error: float = 0.0,
) -> tuple[list[Solution | None], NDArray[np.bool_]]:
    """Solutions of problems that differ in their bounds and ridges, from starts (t, n) and their products with K.

    None in place of a solution that was not found. The last ``rough`` ones are to start from: they need no digits, and
    a few bounds may be wrong. ``changes`` says how many bounds of the others are expected to change, from starts whose
    products with K are not precise; ``error`` is that of these products otherwise. Also returns for which of them
    conjugate gradients are too slow, but for rough solutions.
    """
    batch, precise = Batch(K, duals, starts, images, tolerance, watch, rough), len(duals) - rough
    batch.error[:] = error
    if changes is not None:
        batch.changes[:precise], batch.error[:precise] = int(changes), np.inf
    limit = MOVING_LIMIT if duals[0].moving else max(LEAST, int(LIMIT * len(K)))
    step = GradientStep(near, min(dual.least_ridge() for dual in duals), len(duals), limit)
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
    settle, products with K are in single precision too. Rows that are free in no problem are left out.
    """

    def __init__(self, near: Preconditioner, ridge: float, t: int, limit: int) -> None:
        self.near, self.made, self.slow = near.for_ridges(ridge), 0, np.zeros(t, dtype=bool)
        self.limit, self.rounding = limit, near.rounding  # the latter is computed once for all C
        self.rows = np.arange(near.G.shape[1])  # those that are not left out
        self.part, self.others = self.near, near.K[:0]  # the same for them, and what the others see of them
        r, n = self.near.G.shape
        self.t, self.inside = t, np.zeros(n, dtype=bool)
        self.scale, self.inner, self.factors = np.empty((t, n)), np.empty((t, r, r)), np.empty((t, r, r))

    def __call__(self, batch: Batch) -> bool:
        """Whether it could be made."""
        from ..native.gradients import projected_gradients  # numba is imported by who needs it
        from ..native.systems import take_systems

        self._refresh(batch)
        self._choose_rows(np.asarray(batch.free.any(axis=0)))
        self._prepare(batch)
        near, rows, missing, which = self.part, self.rows, batch.missing(), batch.numbers
        missing[np.abs(missing) <= ROUNDING * np.abs(batch.beta).sum(axis=1)] = 0.0
        scale, ridge, right, x, image = np.empty((5, len(which), len(rows)))
        free = np.empty((len(which), len(rows)), dtype=bool)
        size = take_systems(  # whose sizes single precision may not have room for
            rows, near.unit, batch.target, batch.epsilon, batch.u, batch.beta, batch.side, missing,
            batch.ridge, batch.free, self.scale[which], ridge, free, scale, right,
        )  # fmt: skip
        goal = 0.5 * batch.tolerance / near.unit / size
        rough = np.minimum(0.1 * batch.changes / free.sum(axis=1), MOVING)  # no digits while bounds change
        rough = np.minimum(rough, TELLING * batch.tolerance / near.unit / size)
        if near.kind is np.float32:
            rough = np.maximum(rough, SINGLE)
        solved, needed = projected_gradients(
            near.K, near.rows, near.columns, scale, self.factors[which], ridge, right, free, missing / size, batch.bias,
            goal, rough, self.limit, LOOK, batch.rough, x, image,
        )  # fmt: skip
        self.made += 1
        self.slow[which] |= ~solved | (needed > self.limit)
        if not (solved | batch.rough).all():
            return False
        self._follow(batch, x, image, size)
        batch.keep(solved)
        return True

    def _refresh(self, batch: Batch) -> None:
        """``u`` in double precision where bounds have settled and its error would be most of what a step leaves."""
        seen = batch.error > np.maximum(UNSEEN * batch.tolerance, SINGLE * batch.residual)
        batch.renew(seen & (batch.changes <= FEW) & ~batch.rough)

    def _choose_rows(self, wanted: NDArray[np.bool_]) -> None:
        """Leave out what is free nowhere, if that are more than a few."""
        if not (wanted & ~self.inside).any():
            return
        self.inside |= wanted
        self.part, self.others = self.near, self.near.K[:0]  # the old parts make room for new ones
        if self.inside.mean() > (WHOLE if self.t >= SEVERAL else ALONE):
            self.inside[:] = True
        self.rows = rows = np.flatnonzero(self.inside)
        if len(rows) < len(self.inside):
            self.part, self.others = self.near.on(rows), self.near.between(rows, np.flatnonzero(~self.inside))

    def _prepare(self, batch: Batch) -> None:
        """The preconditioners of the problems whose free coefficients have changed."""
        near, first = self.near, self.made == 0
        changed = np.ones(len(batch.free), dtype=bool) if first else batch.changes > 0
        numbers = batch.numbers[changed]
        if not len(numbers):
            return
        scale = near.scales(batch.ridge[changed] / near.unit, batch.free[changed])
        if len(near.G):
            known = () if first else (self.scale[numbers], self.inner[numbers])
            self.inner[numbers] = inner = near.inner(scale, *known)
            self.factors[numbers] = np.linalg.cholesky(inner).transpose(0, 2, 1)
        self.scale[numbers] = scale

    def _follow(self, batch: Batch, x: Array, image: Array, size: Array) -> None:
        """Take a step; u in double precision where bounds seem to have settled and single would be seen."""
        from ..native.panels import product
        from ..native.systems import add_images, put_steps

        near, unit = self.near, self.near.unit * size
        length, total = put_steps(self.rows, x, size, batch.beta)
        batch.error += self.rounding * unit * length
        settling = ((batch.changes <= FEW) | (self.made > LEAPS // 2)) & ~batch.rough
        again = settling & (batch.error > UNSEEN * batch.tolerance)
        batch.renew(again)
        which, others = np.flatnonzero(~again), np.flatnonzero(~self.inside)
        parts = unit[which], near.shift * (size * total)[which], batch.u
        add_images(which, self.rows, image[which], *parts)
        if len(which) and len(others):
            there = np.empty((len(which), len(others)), dtype=near.kind)
            product(self.others, x[which].astype(near.kind), there)
            add_images(which, others, there, *parts)


KEPT = (
    *("lower", "upper", "ridge", "before", "beta", "u", "free", "side"),
    *("numbers", "changes", "residual", "error", "rough"),
)
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
        rough: int = 0,
    ) -> None:
        from ..native.ready import make_ready

        make_ready(K)
        self.K, self.duals, self.tolerance, self.watch = K, duals, tolerance, watch
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
        self.rough = self.numbers >= len(duals) - rough
        self.changes = (~self.free & (self.lower < self.upper)).sum(axis=1)  # those of the last step, or to come
        self.residual = np.full(len(duals), np.inf)  # after the last step
        self.error = np.zeros(len(duals))  # of u, but for rounding of double precision
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

    def missing(self) -> Array:
        """What a step has to add to the sums of the coefficients."""
        return np.asarray(-self.beta.sum(axis=1)) if self.bias else np.zeros(len(self.beta))

    def renew(self, which: NDArray[np.bool_]) -> None:
        """``u`` of some problems in double precision."""
        if which.any():
            self.u[which], self.error[which] = images_of(self.K, self.beta[which]), 0.0

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Go on with some of the problems only."""
        if not kept.all():
            for name in KEPT:
                setattr(self, name, getattr(self, name)[kept])

    def _settle(self) -> None:
        """Change the free sets after a step; put away what is solved."""
        from ..native.sets import change_sets, tell_bias

        t = len(self.numbers)
        b, residual, changes = np.empty(t), np.empty(t), np.empty(t, dtype=np.intp)
        change_sets(
            self.K, self.ridge, self.target, self.epsilon, self.lower, self.upper, self.bias, self.tolerance,
            self.before, self.beta, self.u, self.free, self.side, b, residual, changes,
        )  # fmt: skip
        self.changes, self.residual = changes, residual
        settled = (changes == 0) & ~self.rough
        if settled.any():
            rounding = ROUNDING * self.roots.max() * (np.abs(self.beta) @ self.roots)
            settled &= residual + self.error <= np.maximum(self.tolerance, rounding)
            settled &= tell_bias(self.epsilon, self.lower, self.upper, self.beta, self.free)
        enough = self.rough & (changes <= SETTLING * self.free.sum(axis=1))
        blurred = settled & (self.error > 0)
        blurred[blurred] = self.error[blurred] > BLUR * np.ptp(self.u[blurred], axis=1)
        self.renew(blurred)
        settled |= enough
        for k in np.flatnonzero(settled):
            beta, u = self.beta[k].copy(), self.u[k].copy()
            error = float(self.error[k]) if enough[k] else 0.0
            found = Solution(beta, u, float(b[k]), float(residual[k]), converged=True, error=error)
            self.solutions[self.numbers[k]] = found
        self.keep(~settled & self.free.any(axis=1))
        if self.watch is not None and len(self.numbers):
            self.keep(self.watch([self.duals[k] for k in self.numbers], self.beta))


def images_of_few(K: Array, B: Array) -> Array:
    """The same for rows with many zeros. Cost: O(n) for each other entry."""
    from ..native.active_set import update

    out, zero = np.zeros((len(B), len(K))), np.zeros(len(K))
    for image, row in zip(out, B):
        places = np.flatnonzero(row)
        update(K, image, row, zero, places, len(places))
    return out


def images_of(K: Array, B: Array) -> Array:
    """``K`` times the rows of B, as rows and in their precision."""
    from ..native.narrow import narrow_product

    out = np.empty((len(B), len(K)), dtype=B.dtype)
    narrow_product(K, B, out)
    return out
