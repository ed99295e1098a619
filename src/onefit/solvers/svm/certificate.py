r"""Bounds on the solution that a feasible dual point proves.

For a positive semi-definite kernel, coefficients within their bounds (summing to zero with a bias) and any bias,

.. math:: \|w(\beta) - w^*\|^2 \le P - D,

the duality gap: a sum of non-negative terms (``Dual.gap``). Without a bias that is an interval for every value,
:math:`|f(x) - f^*(x)| \le \sqrt{gap \, K(x, x)}`. An unpenalised bias is where the slope of the losses crosses zero
(``learners.bias``), which is monotone in every kink; seen from x, the kink of row i lies at
:math:`t_i + u(x) - u_i` and moves by at most :math:`\sqrt{gap} \, \|\phi(x) - \phi(x_i)\|`. So the crossing with all
kinks moved down and that with all moved up enclose every optimal value at x. With the largest distance in place of each
that takes O(1) for each x; where it does not tell the sign, one look at the slope at zero does, in O(n).

Oracle: really retraining, with the reference's own radius added.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._arrays import Array, Indices, Mask
from .bias import best_bias, kinks
from .dual import ROUNDING, Dual

Distances = Callable[[Indices], Array]
"""From positions among some rows to their distances to all rows of the problem, (positions, n)."""

TINY = np.finfo(np.float64).tiny

WORTH = 0.25
"""Share of the radius below which a value is not worth another look with each row's own distance."""


def feasible(dual: Dual, beta: Array) -> Array:
    """Coefficients near ``beta`` within the bounds, and summing to zero if there is a bias.

    What the sum lacks is taken from free coefficients, where it costs least, then from all of one sign.
    """
    beta = dual.within(beta)
    if not dual.bias:
        return beta
    for rows in (dual.free(beta), np.ones(len(beta), dtype=bool)):
        excess = float(beta.sum())
        end = dual.lower if excess > 0 else dual.upper
        most = float(np.abs(beta).max(initial=0.0))
        room = np.where(rows, np.minimum(np.abs(end - beta), most), 0.0)
        if room.sum() > 0:
            beta = beta - np.sign(excess) * room * min(1.0, abs(excess) / float(room.sum()))
    return dual.within(beta)


@dataclass(frozen=True)
class Proof:
    """Intervals for the values of some rows, and the bias in their middle."""

    lower: Array
    upper: Array
    b: float


@dataclass(frozen=True)
class GapBall:
    """A feasible point of a dual problem and the radius around it that its gap proves."""

    dual: Dual
    u: Array
    lowest: float
    highest: float
    radius: float
    rounding: float

    @classmethod
    def around(cls, dual: Dual, beta: Array, u: Array, roots: Array) -> GapBall:
        """``u = K beta``; ``roots`` of the diagonal of K tell how much of it, and of a value, may be rounding."""
        lowest, highest = best_bias(dual, u) if dual.bias else (0.0, 0.0)
        rounding = ROUNDING * float(roots.max()) * float(roots @ np.abs(beta))
        of_bias = ROUNDING * float(np.abs(dual.target).max(initial=0.0)) if dual.bias else 0.0
        sizes = np.where(np.isfinite(dual.upper - dual.lower), dual.upper - dual.lower, np.abs(beta))
        gap = dual.gap(beta, u, (lowest + highest) / 2) + rounding * float(sizes.sum())
        return cls(dual, u, lowest, highest, float(np.sqrt(gap)), 2 * rounding + of_bias)

    @property
    def b(self) -> float:
        """The bias."""
        return (self.lowest + self.highest) / 2

    def intervals(self, values: Array, diagonal: Array, reach: float, distances: Distances) -> Proof:
        """For rows with ``values`` u(x) and ``diagonal`` K(x, x).

        ``reach`` bounds the distance of any row to any other; ``distances`` gives those of the chosen ones, and is
        asked for where they may tell a value's sign.
        """
        if not self.dual.bias:
            radius = self.radius * np.sqrt(diagonal) + self.rounding
            return Proof(values - radius, values + radius, 0.0)
        far = self.radius * reach + self.rounding
        lower, upper = values + self.lowest - far, values + self.highest + far
        open_ = (lower < 0) & (upper >= 0) & (np.abs(values + self.b) > WORTH * far)
        if open_.any() and not self.dual.ridge.any():
            chosen = np.flatnonzero(open_)
            above, below = self._signs(values[chosen], distances(chosen))
            lower[chosen[above]], upper[chosen[below]] = TINY, -TINY
        return Proof(lower, upper, self.b)

    def _signs(self, values: Array, distances: Array) -> tuple[Mask, Mask]:
        """(surely positive, surely negative), with each row's own distance (chosen, n): on which side of zero are
        the crossings? Cost: O(n) for each.
        """
        places, drops = kinks(self.dual)
        copies = len(places) // len(self.u)
        seen = values[:, None] + (places - np.tile(self.u, copies))
        moved = np.tile(self.radius * distances + self.rounding, copies)
        total = float(self.dual.upper.sum())
        sure = 1e-12 * total
        return (seen - moved <= 0) @ drops < total - sure, (seen + moved < 0) @ drops > total + sure
