r"""Derivatives of least-squares machines: held-out values and functions of the inverse.

With :math:`P = (K + \gamma V^{-1})^{-1}`, V the weights of the rows, projected by
:math:`P - P 1 1^T P / 1^T P 1` where there is a bias, the dual coefficients are :math:`\alpha = P Y` and
:math:`dP = -P\,dK\,P`. The residuals of a held-out fold I are :math:`r_I = (P_{II})^{-1} \alpha_I`, and

.. math:: \frac{dL}{dK} = -\mathrm{sym} \sum_I (P_{:I} u_I) (\alpha - P_{:I} r_I)^T, \qquad
          u_I = (P_{II})^{-1} \frac{\partial L}{\partial r_I}.

Cost: one inverse for all folds, O(n²) and O(l³) for a fold of l rows, and one product of n x t matrices.
Oracle: ``solvers.implicit`` on machines that are trained on every split; central differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from ..._arrays import Array, Indices
from ...data import Folds, Targets
from ...gram import Gram
from ...machines.capabilities import Gradient, HeldOutTangent, RidgeInverse, symmetric_product
from ..implicit import Stationary, TrainedSplits


@dataclass(frozen=True)
class HeldOutByInverse:
    """Held-out values of all splits from the inverse of all rows."""

    inverse: RidgeInverse
    folds: Folds

    @cached_property
    def _blocks(self) -> list[tuple[Array, Array]]:
        """Of every split (inverse of P_II, residuals r_I) for the rows I that it removes."""
        P, dual = self.inverse.P, self.inverse.dual
        found: list[tuple[Array, Array]] = []
        for fold in self.folds:
            Q: Array = np.asarray(np.linalg.inv(P[np.ix_(fold.removed, fold.removed)]), dtype=np.float64)
            found.append((Q, Q @ dual[fold.removed]))
        return found

    @property
    def values(self) -> list[Array]:
        """Values (l, c) of the rows that each split tests."""
        Y = self.inverse.Y
        return [
            Y[fold.test] - residuals[fold.test_in_removed] for fold, (_, residuals) in zip(self.folds, self._blocks)
        ]

    def pullback(self, slopes: list[Array]) -> Gradient:
        """Derivatives of a function of the values."""
        P, dual = self.inverse.P, self.inverse.dual
        c, t = dual.shape[1], len(self.folds)
        U, B = np.empty((len(P), t, c)), np.empty((len(P), t, c))
        for k, (fold, (Q, residuals), part) in enumerate(zip(self.folds, self._blocks, slopes)):
            by_residual = np.zeros(residuals.shape)
            np.add.at(by_residual, fold.test_in_removed, -part)
            columns = P[:, fold.removed]
            U[:, k] = columns @ (Q @ by_residual)
            B[:, k] = dual - columns @ residuals
            B[fold.removed, k] = 0.0
        gram = symmetric_product(U.reshape(len(P), -1), B.reshape(len(P), -1))
        gram *= -1.0
        return Gradient(np.nan, gram, self.inverse.log_ridge(gram))


@dataclass(frozen=True)
class LeftOutByInverse:
    """Leave-one-out values of all rows from the diagonal of the inverse."""

    inverse: RidgeInverse
    folds: Folds

    @property
    def _order(self) -> Indices:
        return np.array([fold.test[0] for fold in self.folds])

    @property
    def values(self) -> list[Array]:
        """Values (1, c) of the row that each split tests."""
        found = self.inverse.Y - self.inverse.dual / self.inverse.P.diagonal()[:, None]
        return [found[[row]] for row in self._order]

    def pullback(self, slopes: list[Array]) -> Gradient:
        """``-sym((P u) dualᵀ) + P diag(Σ u r) P`` with r the residuals and u the slopes over the diagonal of P."""
        P, dual = self.inverse.P, self.inverse.dual
        by_residual = np.empty(dual.shape)
        by_residual[self._order] = -np.concatenate(slopes)
        own = P.diagonal()[:, None]
        u = by_residual / own
        gram = symmetric_product(P @ u, dual)
        gram *= -1.0
        gram += (P * (u * dual / own).sum(axis=1)) @ P
        return Gradient(np.nan, gram, self.inverse.log_ridge(gram))


def square_tangent(gram: Gram, targets: Targets, ridge: float, bias: bool, shares: list[float]) -> HeldOutTangent:
    """Held-out values with derivatives; ``shares`` are the factors on the ridge of every split.

    From one inverse where splits remove rows, weights are positive and the ridge is that of all of them; otherwise from
    a training on every split.
    """
    folds = gram.problem.folds
    if folds.removable and targets.shared and len(set(shares)) == 1 and ridge > 0:
        inverse = RidgeInverse.of(gram, targets, ridge * shares[0], bias, definite=False)
        return LeftOutByInverse(inverse, folds) if folds.leave_one_out else HeldOutByInverse(inverse, folds)
    K = gram.dense()
    machines = []
    for number in range(len(folds)):
        weights = targets.split_weights(gram.problem, number)
        rows = np.flatnonzero(weights > 0)
        diagonal = ridge * shares[number] / weights[rows]
        machines.append(_trained(K, targets.Y, rows, diagonal, bias))
    return TrainedSplits(K, [fold.test for fold in folds], machines)


def _trained(K: Array, Y: Array, rows: Indices, diagonal: Array, bias: bool) -> list[Stationary | None]:
    """The machines of all columns on some rows: every coefficient is free."""
    m, c = len(rows), Y.shape[1]
    system = np.zeros((m + bias, m + bias))
    system[:m, :m] = K[np.ix_(rows, rows)] + np.diag(diagonal)
    system[m:, :m] = system[:m, m:] = 1.0
    right = np.zeros((m + bias, c))
    right[:m] = Y[rows]
    solution = linalg.solve(system, right, assume_a="sym")
    intercepts = solution[m] if bias else np.zeros(c)
    return [Stationary(rows, solution[:m, k], float(intercepts[k]), rows, diagonal, bias, growth=1) for k in range(c)]
