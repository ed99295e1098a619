"""Held-out values of support vector machines, with their derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._arrays import Array, Indices
from ..._exceptions import NotUnderstoodError
from ...data import Targets
from ...gram import Gram
from ..implicit import Stationary, TrainedSplits
from .bias import best_bias, kinks
from .training import fit_columns

if TYPE_CHECKING:
    from .dual import Dual
    from .learner import SupportVectorLearner


AT_BOUND = 1e-9
"""Distance from a bound, as a share of the box, within which a coefficient is there but for rounding."""


def support_vector_tangent(
    learner: SupportVectorLearner, gram: Gram, targets: Targets, C: float, scale_penalty: bool
) -> TrainedSplits:
    """Held-out values with derivatives, from a training on every split."""
    K, folds, machines = gram.dense(), gram.problem.folds, []
    for number in range(len(folds)):
        weights = targets.split_weights(gram.problem, number, scale_penalty)
        machines.append([_trained(learner, K, y, C, weights, gram.positive) for y in targets.Y.T])
    return TrainedSplits(K, [fold.test for fold in folds], machines)


def _trained(
    learner: SupportVectorLearner, K: Array, y: Array, C: float, weights: Array, positive: bool
) -> Stationary | None:
    members = learner.rows(y)
    rows = members[weights[members] > 0]
    if not learner.trainable(y[rows], weights[rows]):
        return None
    part = K[np.ix_(rows, rows)]
    fit = fit_columns(learner, part.copy(), y[rows][:, None], C, weights[rows], positive=positive)
    if not fit.converged:
        raise NotUnderstoodError("the solver did not converge")
    beta, dual = fit.dual[:, 0], learner.dual(y[rows], C, weights[rows])
    away = AT_BOUND * np.minimum(dual.upper - dual.lower, 1.0 + np.abs(beta).max())
    free = (beta > dual.lower + away) & (beta < dual.upper - away)
    if dual.epsilon > 0:
        free &= np.abs(beta) > away
    b = float(fit.intercept[0])
    if learner.bias and not free.any():
        places, tube = _ends(dual, part @ beta)
        return Stationary(rows, beta, b, rows[:0], np.empty(0), True, growth=-1, tube=tube, kinks=rows[places])
    tube = -dual.epsilon * np.sign(beta[free])
    return Stationary(rows, beta, b, rows[free], dual.ridge[free], learner.bias, growth=-1, tube=tube)


def _ends(dual: Dual, u: Array) -> tuple[Indices, Array]:
    """Where the interval of optimal biases ends: (the two rows whose losses have a kink there, their tubes)."""
    places, _ = kinks(dual)
    places = places - np.tile(u, len(places) // len(u))
    numbers = np.array([int(np.abs(places - end).argmin()) for end in best_bias(dual, u)])
    tube = np.where(numbers < len(u), -1.0, 1.0) * dual.epsilon
    return numbers % len(u), tube
