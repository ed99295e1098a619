"""Held-out values of kernel logistic regression, with their derivatives."""

from __future__ import annotations

import numpy as np

from ..._arrays import Array
from ..._exceptions import NotUnderstoodError
from ...data import Targets
from ...gram import Gram
from ..implicit import Stationary, TrainedSplits
from .newton import LOSS, solve

FLAT = 1e12
"""One over the curvature of a row's loss, in units of the diagonal of K, from which on its coefficient is frozen."""


def logistic_tangent(gram: Gram, targets: Targets, C: float, bias: bool, scale_penalty: bool) -> TrainedSplits:
    """Held-out values of logistic regression with derivatives, from a training on every split."""
    K, folds, machines = gram.dense(), gram.problem.folds, []
    size = float(np.abs(K.diagonal()).max(initial=0.0))
    for number in range(len(folds)):
        u = C * targets.split_weights(gram.problem, number, scale_penalty)
        machines.append([_trained_logistic(K, y, u, bias, size) for y in targets.Y.T])
    return TrainedSplits(K, [fold.test for fold in folds], machines)


def _trained_logistic(K: Array, y: Array, u: Array, bias: bool, size: float) -> Stationary | None:
    rows = np.flatnonzero(u > 0)
    if len(np.unique(np.sign(y[rows]))) < 2:
        return None
    found = solve(K, y, u, bias)
    if not found.converged:
        raise NotUnderstoodError("Newton's method did not converge")
    curvature = u[rows] * LOSS.curvature(y[rows], found.f[rows])
    free = curvature * FLAT * size > 1.0
    return Stationary(rows, found.a[rows], found.b, rows[free], 1.0 / curvature[free], bias, growth=-1)
