r"""Iterative refinement of kernel systems with residuals in extended precision, and solvers to refine with.

A column of a batch is one machine: trained on the rows that are ``kept``, with a diagonal ``ridge / weights`` and,
with a bias b, a zero sum of coefficients:

.. math:: (K + \mathrm{diag}(q)) d + b 1 = y, \qquad 1^T d = 0.

An approximate solver is applied to the residual of its own solution again and again. As long as the solver is right to
one digit, the solution becomes right to all of them, because residuals are computed with some 80 bits
(``sliced_product``) and coefficients are kept as unevaluated sums of two doubles. Source: Demmel, Hida, Kahan, Li,
Mukherjee & Riedy (2006), "Error bounds from extra-precise iterative refinement".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from .._arrays import Array, Mask
from .factor import EPS
from .sliced_product import add_exactly, sliced_product

CONTRACTION = 0.25
"""Corrections that do not shrink to this share from one step to the next say that the solver is not right."""

SETTLED = 1e-10
"""Stop where a step changes values by no more than this share of the largest."""

LARGEST_CONDITION = 1 / (16 * EPS)
"""Beyond this condition number a solution in doubles need not have one correct digit to start from."""

_STEPS = 8
"""Corrections at most: of those that shrink as slowly as CONTRACTION allows, eight gain nearly five digits."""


class Solver(Protocol):
    """Approximate solutions of all systems of a batch."""

    def solve(self, R: Array, excess: Array) -> tuple[Array, Array]:
        """(coefficients (m, q), biases (q,)) for right-hand sides R (m, q) and sums of coefficients ``excess`` (q,)."""


@dataclass(frozen=True)
class Refined:
    """Values (r, q) of all rows of K and coefficients (m, q), both of the first step where the others did not settle.

    ``settled`` marks columns whose changes shrank as they should: the last ``change`` (q,) of any of a column's values
    then bounds their error.
    """

    values: Array
    dual: Array
    change: Array
    settled: Mask

    @property
    def error(self) -> Array:
        """The last change and the rounding of the values themselves, shape (q,)."""
        return np.asarray(self.change + 2 * EPS * np.abs(self.values).max(axis=0))


def refine(K: Array, Y: Array, diagonal: Array, kept: Mask, solver: Solver, bias: bool) -> Refined:
    """Solve a batch of systems: K (r, m), of which the first m rows are those of the systems; the rest (m, q).

    Cost: a solution and an extended product with q columns a step, two steps unless the systems are ill-conditioned.
    """
    m, q = Y.shape
    size = np.sqrt(np.abs(K.diagonal()[:m, None]) + diagonal)  # in coordinates of unit diagonal
    Y = np.where(kept, Y, 0.0)
    with np.errstate(all="ignore"):  # what overflows does not settle
        high, intercept = solver.solve(Y, np.zeros(q))
        low, length = np.zeros((m, q)), np.linalg.norm(size * high, axis=0)
        start, values = high, sliced_product(K, high, low) + intercept
        first = values
        shrinking = np.isfinite(values).all(axis=0)
        for _ in range(_STEPS):
            residual = np.where(kept, Y - values[:m] - diagonal * high, 0.0)
            excess = -sliced_product(np.ones((1, m)), high, low)[0] if bias else np.zeros(q)
            correction, more = solver.solve(residual, excess)
            high, low = add_exactly(high, low, correction)
            intercept = intercept + more
            before, values = values, sliced_product(K, high, low) + intercept
            change = np.abs(values - before).max(axis=0)
            before_length, length = length, np.linalg.norm(size * correction, axis=0)
            shrinking &= length <= CONTRACTION * before_length
            settled = shrinking & (change <= SETTLED * np.abs(values).max(axis=0))
            if settled.all() or not shrinking.any():
                break
    return Refined(np.where(settled, values, first), np.where(settled, high, start), change, settled)


class DirectSolver:
    """One system by a factorisation of its own: Cholesky, or Bunch-Kaufman if it is not positive definite.

    The matrix is scaled to a unit diagonal first, so that weights which differ by orders of magnitude do not count as
    ill-conditioning. ``condition`` is the estimated condition number of the scaled matrix, infinite if it is singular.
    """

    def __init__(self, K: Array, diagonal: Array, bias: bool) -> None:
        pivots = np.abs(K.diagonal() + diagonal)
        self.scale = 1.0 / np.sqrt(np.where(pivots > 0, pivots, 1.0))
        A = self._scaled(K, diagonal)
        norm = float(np.linalg.norm(A, 1)) if len(A) else 0.0
        self.swaps: NDArray[np.intc] | None = None
        self.factor, failed = lapack.dpotrf(A, lower=1, overwrite_a=1)
        if failed:
            self.factor, self.swaps, failed = lapack.dsytrf(self._scaled(K, diagonal), lower=1, overwrite_a=1)
        self.condition = np.inf if failed else 1.0 / max(self._reciprocal_condition(norm), float(np.finfo(float).tiny))
        self.response = self._solved(np.ones((len(K), 1))) if bias and not failed else None

    def _scaled(self, K: Array, diagonal: Array) -> Array:
        A = np.array(K, order="F")
        A.flat[:: len(A) + 1] += diagonal
        A *= self.scale[:, None]
        A *= self.scale
        return A

    def _reciprocal_condition(self, norm: float) -> float:
        if self.swaps is None:
            return float(lapack.dpocon(self.factor, norm, uplo="L")[0])
        return float(lapack.dsycon(self.factor, self.swaps, norm, lower=1)[0])

    def _solved(self, R: Array) -> Array:
        scaled = R * self.scale[:, None]
        if self.swaps is None:
            solution = lapack.dpotrs(self.factor, scaled, lower=1)[0]
        else:
            solution = lapack.dsytrs(self.factor, self.swaps, scaled, lower=1)[0]
        return np.asarray(solution * self.scale[:, None])

    def solve(self, R: Array, excess: Array) -> tuple[Array, Array]:
        """By block elimination of the bias."""
        solution = self._solved(R)
        if self.response is None:
            return solution, np.zeros(R.shape[1])
        bias = (solution.sum(axis=0) - excess) / self.response.sum()
        return solution - self.response * bias, bias
