r"""Newton's method for kernel logistic regression with given weights: see ``logistic.learner`` for the equations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve
from scipy.special import expit

from ..._arrays import Array
from ..._exceptions import NotUnderstoodError
from ...linalg.inverse import mirror_upper
from ...linalg.lapack import cholesky_in_place, invert_in_place
from ...losses.margin import LogisticLoss

Apply = Callable[[Array], Array]
_Point = tuple[Array, float, Array]
"""(coefficients, bias, values), or how they change."""

LOSS = LogisticLoss()

EPS = float(np.finfo(np.float64).eps)

TOLERANCE = 1e-10
"""Newton step, relative to the largest value, at which a solution is found: what is left is less than the step."""

ROUNDS = 100
"""Newton steps after which a solution is given up: from zero, problems take between four and twenty."""

TRUSTED = 0.5
"""Change of values up to which no line search is needed: the curvature at other values changes by less than e^0.5."""

REUSED = 0.01
"""Change of values up to which the next step keeps the factorisation, which then contracts by about as much."""

ROUNDINGS = 4 * EPS
"""Error of ``K a + b``, relative to the sum of the sizes of its terms."""

SIX_DIGITS = 1e-6
"""Rounding, relative to the largest value, from which on values are said to be rounded."""


@dataclass(frozen=True)
class Solution:
    """Coefficients, bias and values of all rows; ``error`` is that of the values, with rounding."""

    a: Array
    b: float
    f: Array
    error: float
    rounded: bool
    rounds: int
    converged: bool


class CurvedInverse:
    """``M = (K + D^{-1})^{-1}`` on the rows with curvature D, else zero, from a factor of ``I + S K S``, S = √D."""

    def __init__(self, K: Array, D: Array) -> None:
        self.n, self.rows = len(K), np.flatnonzero(D > 0)
        self.S = np.sqrt(D[self.rows])
        self.factor = K[np.ix_(self.rows, self.rows)]
        self.factor *= self.S[:, None]
        self.factor *= self.S
        self.factor.flat[:: len(self.rows) + 1] += 1.0
        if not cholesky_in_place(self.factor, len(self.rows)):
            raise NotUnderstoodError("the kernel is not positive semi-definite on these data")

    def apply(self, V: Array) -> Array:
        """``M V`` for V (n,) or (n, t)."""
        S = self.S if V.ndim == 1 else self.S[:, None]
        out = np.zeros(V.shape)
        out[self.rows] = S * cho_solve((self.factor.T, True), S * V[self.rows], check_finite=False)
        return out

    def inverse(self) -> tuple[Array, Array]:
        """``(I + S K S)^{-1}`` (n, n) and S (n,), zero in rows without curvature; the factor is overwritten."""
        invert_in_place(self.factor, factorised=True)
        mirror_upper(self.factor)
        S = np.zeros(self.n)
        S[self.rows] = self.S
        if len(self.rows) == self.n:
            return self.factor, S
        G = np.eye(self.n)
        G[np.ix_(self.rows, self.rows)] = self.factor
        return G, S


def probability(f: Array) -> Array:
    """``1 / (1 + exp(-f))``: a function of ours, since processes cannot be sent SciPy's."""
    return np.asarray(expit(f))


def newton_step(apply: Apply, image: Array, r: Array, total: Array | float, bias: bool) -> tuple[Array, Array]:
    """(x, d) with ``x + D (K x + d 1) = -r`` and, with a bias, ``sum(x) = -total``; ``image`` is ``K r``."""
    y = apply(image)
    d = np.zeros(r.shape[1:])
    if bias:
        constant = apply(np.ones(r.shape))
        d = (total - r.sum(axis=0) + y.sum(axis=0)) / constant.sum(axis=0)
        y -= d * constant
    return y - r, d


def solve(
    K: Array,
    y: Array,
    u: Array,
    bias: bool,
    start: tuple[Array, float] | None = None,
    *,
    tolerance: float = TOLERANCE,
    max_rounds: int = ROUNDS,
) -> Solution:
    """Newton's method with a line search, from zero or a nearby solution (a, b). Rows with u = 0 are only predicted.

    Cost: O(n³) for each factorisation; steps that are small already keep the last one.
    """
    a, b = (np.zeros(len(y)), 0.0) if start is None else start
    f, size, step, curved = K @ a + b, np.inf, 0.0, None
    magnitude = float(np.abs(K.diagonal()).max(initial=0.0))
    for rounds in range(1, max_rounds + 1):
        r = a + u * LOSS.slope(y, f)
        image = K @ r
        if curved is None or size > REUSED:
            curved = None  # its factor is as large as K
            curved = CurvedInverse(K, u * LOSS.curvature(y, f))
        x, d = newton_step(curved.apply, image, r, a.sum(), bias)
        change = K @ x + d
        size, share = float(np.abs(change).max(initial=0.0)), 1.0
        if not np.isfinite(size):
            break
        if size > TRUSTED:
            slope = float(image @ x + d * (r - a).sum())
            share = _line_search(y, u, (a, b, f), (x, float(d), change), slope)
        a, b = a + share * x, b + share * float(d)
        f, step = K @ a + b, share * size
        if share == 1.0 and size <= tolerance * float(np.abs(f).max(initial=0.0)) + rounding_of(magnitude, a, b):
            return _found(a, b, f, step, magnitude, rounds)
    return Solution(a, b, f, np.inf, False, max_rounds, False)


def rounding_of(magnitude: float, a: Array, b: float) -> float:
    return ROUNDINGS * (magnitude * float(np.abs(a).sum()) + abs(b))


def _found(a: Array, b: float, f: Array, step: float, magnitude: float, rounds: int) -> Solution:
    rounding = rounding_of(magnitude, a, b)
    rounded = rounding > SIX_DIGITS * float(np.abs(f).max(initial=0.0))
    return Solution(a, b, f, step + rounding, rounded, rounds, True)


def _line_search(y: Array, u: Array, point: _Point, direction: _Point, slope: float) -> float:
    """The first of 1, 1/2, 1/4 … that lowers the objective by Armijo's rule."""
    a, b, f = point
    x, d, change = direction

    def objective(share: float) -> float:
        values, bias = f + share * change, b + share * d
        return float((a + share * x) @ (values - bias)) / 2 + float(u @ np.logaddexp(0.0, -y * values))

    before, share = objective(0.0), 1.0
    while share > EPS and not objective(share) <= before + 1e-4 * share * slope + EPS * abs(before):
        share /= 2
    return share
