"""Newton steps of several dual problems by conjugate gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..native.gradients import invert_each, projected_gradients
from ..native.panels import product
from ..native.systems import add_images, put_steps, take_systems
from .chosen_rows import ChosenRows
from .dual import ROUNDING, Array, Dual

if TYPE_CHECKING:
    from .together import Batch

LEAPS = 12
"""Steps by conjugate gradients after which problems are given up."""
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
UNSEEN = 0.4
"""Error of ``K beta``, in tolerances, that is small enough for a solution."""


class GradientStep:
    """Newton steps of a batch by conjugate gradients, in single precision where that is enough.

    What they are applied to is the gradient in double precision, so that a few steps have all digits. Before bounds
    settle, products with K are in single precision too. Rows that are free in no problem are left out.
    """

    def __init__(self, chosen: ChosenRows, duals: list[Dual]) -> None:
        near, t = chosen.near, len(duals)
        self.chosen, self.near = chosen, near.for_ridges(min(dual.least_ridge for dual in duals))
        self.inherited = False  # whether the chosen rows are those of other problems
        self.limit = MOVING_LIMIT if duals[0].moving else max(LEAST, int(LIMIT * near.n))
        self.rounding = near.rounding  # computed once for all C
        self.t, self.made, self.slow = t, 0, np.zeros(t, dtype=bool)
        r, n = self.near.G.shape
        self.scale, self.inner, self.inverses = np.empty((t, n)), np.empty((t, r, r)), np.empty((t, r, r))

    def __call__(self, batch: Batch) -> bool:
        """Whether it could be made."""
        self._refresh(batch)
        self._choose_rows(np.asarray(batch.free.any(axis=0)))
        self._prepare(batch)
        near, rows, missing, which = self.chosen.part(self.near), self.chosen.rows, batch.missing(), batch.numbers
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
            near.K, near.rows, near.columns, scale, self.inverses[which], ridge, right, free, missing / size,
            batch.bias, goal, rough, self.limit, LOOK, batch.rough, x, image,
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
        """Rows of other problems are left for fewer ones after the first step, when most bounds have changed."""
        changed = self.chosen.cover(wanted, self.t, anew=self.made == 1 and self.inherited)
        if self.made == 0:
            self.inherited = not changed

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
            invert_each(inner)
            self.inverses[numbers] = inner
        self.scale[numbers] = scale

    def _follow(self, batch: Batch, x: Array, image: Array, size: Array) -> None:
        """Take a step; u in double precision where bounds seem to have settled and single would be seen."""
        near, chosen, unit = self.near, self.chosen, self.near.unit * size
        length, total = put_steps(chosen.rows, x, size, batch.beta)
        batch.error += self.rounding * unit * length
        settling = ((batch.changes <= FEW) | (self.made > LEAPS // 2)) & ~batch.rough
        again = settling & (batch.error > UNSEEN * batch.tolerance)
        batch.renew(again)
        which, others = np.flatnonzero(~again), chosen.left_out
        parts = unit[which], near.shift * (size * total)[which], batch.u
        add_images(which, chosen.rows, image[which], *parts)
        if len(which) and len(others):
            there = np.empty((len(which), len(others)), dtype=near.kind)
            product(chosen.others, x[which].astype(near.kind), there)
            add_images(which, others, there, *parts)
