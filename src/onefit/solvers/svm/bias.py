r"""The best bias for given coefficients.

With ``u = K beta`` fixed, the primal problem is convex in the bias alone. Its slope is
:math:`-\sum_i \beta_i(b)`, where :math:`\beta_i(b)`, the coefficient that row i would answer b with, falls from the
upper to the lower bound: at once at a kink of its loss, or along a line if the loss is curved.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._arrays import Array
from .diagonal import biases
from .dual import Dual, Solution, shrink

AT_BOUND = 1e-9
"""Distance from a bound, as a share of the box, within which a coefficient may be there but for rounding: bounds that
are products of weights add up to zero only up to that."""


def best_bias(dual: Dual, u: Array) -> tuple[float, float]:
    """The interval of optimal biases, mostly a single point. Cost: O(n log n)."""
    used = dual.lower < dual.upper
    if dual.ridge[used].any():
        return _roots(dual, u)
    places, drops = kinks(dual)
    lo, hi = crossing((places - np.tile(u, len(places) // len(u)))[None], drops, float(dual.upper.sum()))
    return float(lo[0]), float(hi[0])


def undetermined_bias(dual: Dual, solution: Solution) -> tuple[float, float] | None:
    """The interval of optimal biases if it has a length, else None.

    That takes a solution without any free coefficient. Which point of the interval a solver returns is then up to its
    rounding. Cost: O(n), and O(n log n) where no coefficient is free.
    """
    if not dual.bias or dual.least_ridge > 0:
        return None
    away = AT_BOUND * (dual.upper - dual.lower)
    inside = (solution.beta > dual.lower + away) & (solution.beta < dual.upper - away)
    if dual.epsilon > 0:
        inside &= np.abs(solution.beta) > away
    if inside.any():
        return None
    lo, hi = best_bias(dual, solution.u)
    return (lo, hi) if hi > lo else None


def _roots(dual: Dual, u: Array) -> tuple[float, float]:
    """The bias of a curved loss: Newton's method on a falling, piecewise linear sum, or a search over its pieces."""
    away, b = dual.target - u, 0.0
    size = float(np.abs(away).max())
    for _ in range(20):
        soft = shrink(away - b, dual.epsilon)
        soft[np.abs(soft) <= 1e-12 * size] = 0.0
        answers = dual.within(soft / dual.ridge)
        steepness = float((1.0 / dual.ridge[dual.free(answers) & (answers != 0)]).sum())
        if steepness == 0:  # flat: there may be more than one
            break
        step = float(answers.sum()) / steepness
        if abs(step) <= 8 * np.finfo(np.float64).eps * max(abs(b), size):
            return b + step, b + step
        b += step
    return biases(replace(dual, target=away), 0.0)


def kinks(dual: Dual) -> tuple[Array, Array]:
    """(targets less tube, one after the other; by how much coefficients fall there): one or two for each row."""
    if dual.epsilon == 0:
        return dual.target, dual.upper - dual.lower
    places = np.concatenate([dual.target - dual.epsilon, dual.target + dual.epsilon])
    return places, np.concatenate([dual.upper, -dual.lower])


def crossing(places: Array, drops: Array, total: float) -> tuple[Array, Array]:
    """Where a sum that starts at ``total`` and falls by ``drops`` at ``places`` (rows, kinks) crosses zero.

    Cost: O(k log k) for k kinks.
    """
    order = np.argsort(places, axis=1)
    fallen = np.cumsum(drops[order], axis=1)
    rounding = 8 * np.finfo(np.float64).eps * len(drops) * total
    rows = np.arange(len(places))
    last = places.shape[1] - 1
    # the first kink at which the sum is not positive any more, and the first at which it is negative
    first = np.minimum((fallen < total - rounding).sum(axis=1), last)
    second = np.minimum((fallen <= total + rounding).sum(axis=1), last)
    return places[rows, order[rows, first]], places[rows, order[rows, second]]
