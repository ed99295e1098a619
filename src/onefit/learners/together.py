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

from ..native.narrow import narrow_product
from ..native.ready import make_ready
from ..native.sets import change_sets, tell_bias
from ..native.systems import update_each
from .chosen_rows import ChosenRows
from .dual import ROUNDING, Array, Dual, Solution, are_free
from .gradient_step import LEAPS, GradientStep
from .shared_inverse import SharedInverse

CHECKS = 6
"""Steps from an inverse, each of which is many leaps, after which problems are given up."""
BLUR = 1e-9
"""Error of ``K beta``, relative to its spread, that is small enough: it may be far below the targets."""
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
    chosen: ChosenRows,
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
    step = GradientStep(chosen, duals)
    batch.run(step, LEAPS)
    if duals[0].moving or chosen.near.kind is np.float64:
        chosen.release()  # other rows will be free next time; or the part is as large as a factor
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
        make_ready(K)
        self.K, self.duals, self.tolerance, self.watch = K, duals, tolerance, watch
        self.solutions: list[Solution | None] = [None] * len(duals)
        self.bias, self.epsilon, self.target = duals[0].bias, duals[0].epsilon, duals[0].target
        self.lower = np.array([dual.lower for dual in duals])
        self.upper = np.array([dual.upper for dual in duals])
        self.ridge = np.array([dual.ridge for dual in duals])
        self.beta, self.u = starts.copy(), images.copy()
        self.before = self.beta  # the last step
        self.free = are_free(self.beta, self.lower, self.upper, self.epsilon)
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
            self._sharpen(settled)
        for k in np.flatnonzero(self.rough):
            settled[k] = changes[k] <= SETTLING * np.count_nonzero(self.free[k])
        for k in np.flatnonzero(settled):
            beta, u = self.beta[k].copy(), self.u[k].copy()
            error = float(self.error[k]) if self.rough[k] else 0.0
            found = Solution(beta, u, float(b[k]), float(residual[k]), converged=True, error=error)
            self.solutions[self.numbers[k]] = found
        self.keep(~settled & self.free.any(axis=1))
        if self.watch is not None and len(self.numbers):
            self.keep(self.watch([self.duals[k] for k in self.numbers], self.beta))

    def _sharpen(self, settled: NDArray[np.bool_]) -> None:
        """``u`` in double precision where its error would be seen in how values differ."""
        blurred = settled & (self.error > 0)
        if blurred.any():
            blurred[blurred] = self.error[blurred] > BLUR * np.ptp(self.u[blurred], axis=1)
            self.renew(blurred)


def images_of(K: Array, B: Array) -> Array:
    """``K`` times the rows of B, as rows and in their precision."""
    out = np.empty((len(B), len(K)), dtype=B.dtype)
    narrow_product(K, B, out)
    return out


def images_of_few(K: Array, B: Array) -> Array:
    """The same for rows with many zeros. Cost: O(n) for each other entry."""
    out = np.zeros((len(B), len(K)))
    update_each(K, out, B, np.zeros_like(out), np.ones(len(B), dtype=bool))
    return out
