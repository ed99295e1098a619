"""Quantities that machines give to criteria: values and coefficients on all rows, and derivatives in adjoint form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from ..data import Targets
from ..gram import Gram
from ..linalg.inverse import mirror_upper
from ..linalg.lapack import cholesky_in_place, invert_in_place

Array = NDArray[np.float64]

CAPABILITIES = {
    "fitted": "values of the rows that it is trained on",
    "smoother": "values that are linear in the targets",
    "series": "an influence-function series",
    "margin": "a margin between two classes",
    "box": "coefficients that are bounded by C",
    "ball": "a hard margin in the feature space of K + D",
}
"""Capabilities that a learner may offer to criteria besides out-of-fold values, as messages name them.

A criterion that reads one of these is defined for the learners that offer it."""

OF_MATRICES = frozenset({"margin", "box", "ball"})
"""Capabilities that take the n x n Gram matrix: coefficients of dual problems, which explicit features do not have."""


def at_penalties(values: Array, chosen: NDArray[np.intp]) -> Array:
    """Values of E candidates (E, m, c) from those at L penalties (L, m, c), or (L, m, 1) for all columns.

    ``chosen`` (E, c) are the positions of the candidates' penalties, one for each column.
    """
    values = np.broadcast_to(values, (*values.shape[:2], chosen.shape[1]))
    return values.transpose(0, 2, 1)[chosen, np.arange(chosen.shape[1])].transpose(0, 2, 1)


@dataclass(frozen=True)
class Smoother:
    """A machine that is linear in its targets, for L ridges: fitted values f = H y.

    Residuals and ``1 - H_ii`` are kept divided by the ridge, so that both survive a ridge of zero. ``left_out`` are
    exact leave-one-out residuals, NaN where a row cannot be left out. ``failed`` marks ridges without a unique
    solution. ``left_out_values`` are the leave-one-out predictions where they were asked for: small ones have signs
    and digits, which ``y`` less a residual has not.
    """

    ridges: Array  # (L, 1, c): those of each column
    unit_residuals: Array  # (L, n, c): (y - f) / ridge
    unit_slacks: Array  # (L, n, c): (1 - H_ii) / ridge
    left_out: Array  # (L, n, c)
    failed: NDArray[np.bool_]  # (L,)
    left_out_values: Array | None = None  # (L, n, c)

    @property
    def residuals(self) -> Array:
        """``y - f`` of the rows trained on (L, n, c)."""
        return np.asarray(self.ridges * self.unit_residuals)

    def of_columns(self, chosen: NDArray[np.intp]) -> Smoother:
        """For other ridges, among these, in each column: ``chosen`` (E, c) are their positions."""
        return Smoother(
            at_penalties(self.ridges, chosen),
            at_penalties(self.unit_residuals, chosen),
            at_penalties(self.unit_slacks, chosen),
            at_penalties(self.left_out, chosen),
            np.asarray(self.failed[chosen].any(axis=1)),
            None if self.left_out_values is None else at_penalties(self.left_out_values, chosen),
        )


@dataclass(frozen=True)
class Ball:
    """The smallest ball around all rows in a feature space: its centre is the mean of the rows with ``weights``."""

    squared_radius: float
    weights: Array  # (n,), with sum one
    ridge: Array  # (n,): what is added to the diagonal of K


@dataclass(frozen=True)
class Margin:
    """A support vector machine on all rows, for one penalty and one pair of classes, or one regression.

    ``beta`` has the sign of the label; rows of neither class have none, and the label zero. ``ridge`` is what the dual
    problem adds to the diagonal of K (squared hinge loss).
    """

    labels: Array  # (n,)
    beta: Array  # (n,)
    intercept: float
    values: Array  # (n,): f of every row
    upper: Array  # (n,): bounds of |beta|
    ridge: Array  # (n,)
    bias: bool
    converged: bool

    @property
    def free(self) -> NDArray[np.intp]:
        """Rows whose coefficient is between its bounds."""
        return np.flatnonzero((self.beta != 0) & (np.abs(self.beta) < self.upper))

    @property
    def slacks(self) -> Array:
        """``max(0, 1 - y f)``."""
        return np.maximum(0.0, 1.0 - self.labels * self.values)


def fitted_values(margins: list[Margin]) -> Array:
    """Values (n, c) of the machines of all columns; NaN in those that did not converge."""
    return np.column_stack([margin.values if margin.converged else margin.values * np.nan for margin in margins])


@dataclass(frozen=True)
class RidgeInverse:
    """``P = (K + ridge / weights)^{-1}``, on the complement of the constant function with a bias; ``dP = -P dK P``.

    ``dual`` are the coefficients, ``diagonal`` is what is on the diagonal besides K: ``ridge / weights``.
    ``log_determinant`` is that of the matrix without the constraint of a bias; NaN if the matrix is not positive
    definite.
    """

    P: Array
    Y: Array
    ridge: float
    diagonal: Array
    log_determinant: float

    @classmethod
    def of(cls, gram: Gram, targets: Targets, ridge: float, bias: bool, *, definite: bool = True) -> RidgeInverse:
        """Factorise and invert; a ``LinAlgError`` if the matrix is singular, or not positive definite and asked to be.

        Cost: O(n³) for a Cholesky factorisation and what follows from it; six times that for an indefinite matrix.
        """
        weights = targets.whole_weights
        diagonal = np.full(gram.n, ridge) if weights is None else ridge / weights

        def shifted() -> Array:
            matrix = np.array(gram.dense(), dtype=np.float64, order="C")
            matrix.flat[:: len(matrix) + 1] += diagonal
            return matrix

        P, log_determinant = shifted(), np.nan
        with gram.problem.ledger.record("cholesky"):
            if cholesky_in_place(P, len(P)):
                log_determinant = 2.0 * float(np.log(P.diagonal()).sum())
                invert_in_place(P, factorised=True)
            elif definite or gram.positive:
                raise np.linalg.LinAlgError("K + alpha I is not positive definite to working precision")
            else:
                P = np.asarray(np.linalg.inv(shifted()), dtype=np.float64)
        mirror_upper(P)
        if bias:
            sums = P.sum(axis=1)
            total = sums.sum()
            sums /= np.sqrt(abs(total))
            # P - sums sumsᵀ / total, in place: P.T is in Fortran's order
            blas.dger(-np.sign(total), sums, sums, a=P.T, overwrite_a=True)
        return cls(P, targets.Y, ridge, diagonal, log_determinant)

    @cached_property
    def dual(self) -> Array:
        """Coefficients (n, c) of the machine trained on all rows."""
        return np.asarray(self.P @ self.Y)

    def log_ridge(self, gram: Array) -> float:
        """``dL/dlog ridge`` from ``dL/dK``: the ridge is on the diagonal of what is inverted."""
        return float(gram.diagonal() @ self.diagonal)


@dataclass(frozen=True)
class Gradient:
    """A value L and its derivatives with respect to the Gram matrix and the regularisation.

    ``gram`` is ``dL/dK`` (n, n), symmetric: a change dK of the Gram matrix changes L by ``Σ gram_ij dK_ij``. A kernel
    turns it into derivatives of its parameters (``Kernel.pullback``). ``log_penalty`` is the derivative with respect to
    the logarithm of the ridge, or of C, ``log_epsilon`` that of the tube of support vector regression.
    """

    value: float
    gram: Array
    log_penalty: float = 0.0
    log_epsilon: float = 0.0


class HeldOutTangent(Protocol):
    """Held-out values of one machine, and how they depend on the Gram matrix and the penalty."""

    @property
    def values(self) -> list[Array]:
        """Values (l, c) of the rows that each split tests."""

    def pullback(self, slopes: list[Array]) -> Gradient:
        """Derivatives of a function of the values whose derivatives with respect to them are ``slopes``."""


def symmetric_product(left: Array, right: Array) -> Array:
    """``(left rightᵀ + right leftᵀ) / 2`` of matrices (n, k)."""
    half = blas.dsyr2k(0.5, left.T, right.T, trans=True, lower=True)  # its transpose has the upper triangle
    mirror_upper(half.T)
    return np.asarray(half.T)
