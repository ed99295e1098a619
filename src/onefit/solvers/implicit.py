r"""Derivatives of trained machines by the implicit function theorem.

A machine with dual coefficients :math:`\beta` is :math:`f = K \beta + b`. At a solution some coefficients are free, F,
some are at a bound, B, and the others are zero. The free ones satisfy

.. math:: (K_{FF} + D) \beta_F + K_{FB} \beta_B + b = t_F, \qquad \sum_i \beta_i = 0,

with :math:`D = 0` for hinge and epsilon-insensitive losses, and one over the curvature of losses that have one. For a
function L of the values of rows I, with slopes :math:`g = \partial L / \partial f_I`, one solve gives all derivatives:

.. math:: \begin{pmatrix} K_{FF} + D & 1 \\ 1^T & 0 \end{pmatrix} \begin{pmatrix} h \\ h_0 \end{pmatrix}
          = \begin{pmatrix} K_{FI} g \\ 1^T g \end{pmatrix}, \qquad
          \frac{dL}{dK} = \mathrm{sym}(a \beta^T), \quad a = g \text{ on } I, \; -h \text{ on } F.

Valid as long as no coefficient changes from free to bounded or zero, which happens at isolated points of a path of
parameters: L is continuous there and has a kink. Nothing but the two sets, the coefficients and D is asked for.

Cost: one factorisation of size |F| for each split and column.
Source: Chapelle, Vapnik, Bousquet & Mukherjee (2002); Keerthi, Sindhwani & Chapelle (2007).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from .._arrays import Array, Indices
from ..machines.capabilities import Gradient, symmetric_product


@dataclass(frozen=True)
class Stationary:
    """A machine trained on some rows, as the implicit function theorem sees it.

    ``ridge`` and ``tube`` have an entry for each free row: D, and the part of its target that is proportional to the
    tube (``-epsilon sign``). ``growth`` is the power of the penalty that D is proportional to: 1 for a ridge, -1 for C.
    Coefficients at a bound are proportional to C. Without any free row, a bias is the mean of ``kinks``: the rows whose
    losses have a kink at the ends of its interval.
    """

    rows: Indices  # trained on, among all
    beta: Array  # of these rows
    intercept: float
    free: Indices  # among all rows
    ridge: Array
    bias: bool
    growth: int
    tube: Array | None = None
    kinks: Indices | None = None

    def values(self, K: Array, tested: Indices) -> Array:
        """Values of some rows."""
        return np.asarray(K[np.ix_(tested, self.rows)] @ self.beta + self.intercept)

    def pullback(self, K: Array, tested: Indices, slopes: Array) -> tuple[Array, Array, float, float]:
        """(a, coefficients of all rows, dL/dlog penalty, dL/dlog epsilon) for slopes at the tested rows."""
        free = self.free
        h, h0 = self._solve(K, tested, slopes)
        a, beta = np.zeros(len(K)), np.zeros(len(K))
        np.add.at(beta, self.rows, self.beta)
        np.add.at(a, tested, slopes)
        moved = free if self.kinks is None else self.kinks
        np.add.at(a, moved, -h)
        bounded = self.rows[~np.isin(self.rows, free)]
        at_bound = beta[bounded]
        # D and the bounds follow the penalty: D as penalty^growth, a bound as C.
        own = -self.growth * float(h @ (self.ridge * beta[free])) if self.kinks is None else 0.0
        following = float(a @ (K[:, bounded] @ at_bound)) - h0 * float(at_bound.sum())
        log_penalty = own - self.growth * following
        log_epsilon = float(h @ self.tube) if self.tube is not None else 0.0
        return a, beta, log_penalty, log_epsilon

    def _solve(self, K: Array, tested: Indices, slopes: Array) -> tuple[Array, float]:
        """(h, h0) of the adjoint system."""
        if self.kinks is not None:
            return np.full(len(self.kinks), slopes.sum() / len(self.kinks)), 0.0
        m, free = len(self.free), self.free
        system = np.zeros((m + self.bias, m + self.bias))
        system[:m, :m] = K[np.ix_(free, free)]
        system.flat[: m * (m + self.bias) : m + self.bias + 1] += self.ridge
        right = np.zeros(m + self.bias)
        right[:m] = K[np.ix_(free, tested)] @ slopes
        if self.bias:
            system[m, :m] = system[:m, m] = 1.0
            right[m] = slopes.sum()
        solution = _solve_symmetric(system, right)
        return solution[:m], float(solution[m]) if self.bias else 0.0


def _solve_symmetric(system: Array, right: Array) -> Array:
    """The solution; of systems that rounding makes singular (duplicated rows) that of minimum norm."""
    if not len(system):
        return np.empty(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", linalg.LinAlgWarning)
        try:
            return np.asarray(linalg.solve(system, right, assume_a="sym"))
        except (linalg.LinAlgError, linalg.LinAlgWarning):
            return np.asarray(linalg.lstsq(system, right)[0])


@dataclass(frozen=True)
class TrainedSplits:
    """Held-out values of machines that were trained on every split: ``machines[i][k]`` on split i for column k.

    None where a column could not be trained on a split: its values are NaN.
    """

    K: Array
    tested: list[Indices]
    machines: list[list[Stationary | None]]

    @property
    def values(self) -> list[Array]:
        """Values (l, c) of the rows that each split tests."""
        missing = [np.full(len(tested), np.nan) for tested in self.tested]
        return [
            np.column_stack([lost if one is None else one.values(self.K, tested) for one in row])
            for tested, row, lost in zip(self.tested, self.machines, missing)
        ]

    def pullback(self, slopes: list[Array]) -> Gradient:
        """Derivatives of a function of the values; the rank-one terms of all splits are added by one product."""
        left, right, log_penalty, log_epsilon = [], [], 0.0, 0.0
        for tested, row, part in zip(self.tested, self.machines, slopes):
            for column, one in enumerate(row):
                if one is None:
                    continue
                a, beta, penalty, epsilon = one.pullback(self.K, tested, part[:, column])
                left.append(a)
                right.append(beta)
                log_penalty += penalty
                log_epsilon += epsilon
        gram = symmetric_product(np.column_stack(left), np.column_stack(right))
        return Gradient(np.nan, gram, log_penalty, log_epsilon)
