r"""Held-out values that are smaller than the rounding of the targets they are computed from.

``f = y - residual`` leaves nothing but rounding where the true value is far below eps |y|: with a kernel so
narrow, or a ridge so large, that other rows hardly count. That rounding has the sign of y, the held-out label,
and a scorer that reads signs or ranks would see it. Such values are computed again without y, from the dual
coefficients after the removal, with w the weights and sums over kept (T) and removed (I) rows:

.. math:: f_i = \sum_T K_{ij} dual_j + b, \qquad
          b = \Big(\sum_T w_j y_j + \sum_I w_i (K dual)_i - 1^T W K dual\Big) \Big/ \sum_T w_j .

The bias is what the sum of the fit's equations over all rows says it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core import Fold, Workspace
from ..linalg.spectrum import EPS, Array, Rows

THRESHOLD = 1e4 * EPS
"""Lost are values that differ from those without any neighbours by less than this share of the largest |y|."""


def lost_values(values: Array, Y: Array, centre: Array | float) -> NDArray[np.bool_]:
    """Which of the values (L, l, c) are at the rounding of y, in any target: shape (L, l).

    ``centre`` is the value without neighbours: zero, or with a bias the mean of the training targets.
    """
    size = THRESHOLD * float(np.abs(Y).max(initial=0.0))
    return np.asarray((np.abs(values - centre) <= size).any(axis=2))


def mean_target(Y: Array, weights: Array | None, bias: bool, rows: Rows) -> Array | float:
    """What a machine predicts that has learned nothing but its bias from ``rows``."""
    if not bias:
        return 0.0
    return np.asarray(np.average(Y[rows], axis=0, weights=None if weights is None else weights[rows]))


def block_values(
    ws: Workspace, rows: Rows, fold: Fold, dual: Array, Y: Array, weights: Array | None, coupling: Array | None
) -> Array:
    """Values (L, len(rows), c) of removed rows from the dual coefficients (L, n, c) after the removal.

    ``coupling`` is ``W^{1/2} K W^{1/2}`` times the unit bias direction, or None without a bias.
    Cost: a block of the Gram matrix, and O(len(rows) n) per ridge and target.
    """
    if coupling is None:
        return np.asarray(ws.problem.gram(ws.kernel, rows, fold.train) @ dual[:, fold.train])
    removed = ws.problem.gram(ws.kernel, fold.removed, fold.train) @ dual[:, fold.train]
    w = np.ones(len(Y)) if weights is None else weights
    total = np.sqrt(w.sum()) * (coupling @ (dual / np.sqrt(w)[:, None]))  # 1' W K dual, shape (L, c)
    kept = w[fold.train]
    bias = (kept @ Y[fold.train] + w[fold.removed] @ removed - total) / kept.sum()
    return np.asarray(removed[:, np.searchsorted(fold.removed, rows)] + bias[:, None, :])
