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

from ..._arrays import Array, Indices, Mask
from ...data import Fold
from ...gram import Gram
from ...linalg.factor import EPS, Inverse

THRESHOLD = 1e4 * EPS
"""Lost are values that differ from those without any neighbours by less than this share of the largest |y|."""


def lost_values(values: Array, Y: Array, centre: Array | float) -> Mask:
    """Which of the values (L, l, c) are at the rounding of y, each target measured by its own largest value.

    ``centre`` is the value without neighbours: zero, or with a bias the mean of the training targets.
    """
    return np.asarray(np.abs(values - centre) <= THRESHOLD * np.abs(Y).max(axis=0, initial=0.0))


def mean_target(Y: Array, weights: Array | None, bias: bool, rows: Indices) -> Array | float:
    """Prediction of a machine that has learned nothing but its bias from ``rows``."""
    if not bias:
        return 0.0
    return np.asarray(np.average(Y[rows], axis=0, weights=None if weights is None else weights[rows]))


def left_out_values(
    gram: Gram,
    inverse: Inverse,
    scaled_dual: Array,
    residuals: Array,
    Y: Array,
    weights: Array | None,
    coupling: Array | None,
    *,
    resolve: bool = True,
) -> Array:
    """Leave-one-out values (L, n, c) of all rows, with the signs and ranks of small ones.

    ``scaled_dual`` and the leave-one-out ``residuals`` are in coordinates scaled by the square roots of the weights.
    Without ``resolve`` small values are replaced by those of a machine without neighbours.
    """
    w = np.ones((len(Y), 1)) if weights is None else weights[:, None]
    values = np.asarray(Y - residuals / np.sqrt(w))
    centre = 0.0 if coupling is None else ((w * Y).sum(axis=0) - w * Y) / (w.sum() - w)
    lost = lost_values(values, Y, centre)
    if not resolve:
        return np.asarray(np.where(lost, centre, values))
    every = np.flatnonzero(lost.any(axis=(0, 2)))
    step = max(1, len(Y) // (4 * len(values)))  # columns of G: no more than n²/4 numbers at a time
    for start in range(0, len(every), step):
        rows = every[start : start + step]
        repaired = single_values(gram, rows, inverse, scaled_dual, residuals, Y, weights, coupling)
        values[:, rows] = np.where(lost[:, rows], repaired, values[:, rows])
    return values


def block_values(
    gram: Gram, rows: Indices, fold: Fold, dual: Array, Y: Array, weights: Array | None, coupling: Array | None
) -> Array:
    """Values (L, len(rows), c) of removed rows from the dual coefficients (L, n, c) after the removal.

    ``coupling`` is ``W^{1/2} K W^{1/2}`` times the unit bias direction, or None without a bias.
    Cost: a block of the Gram matrix, and O(len(rows) n) per ridge and target.
    """
    if coupling is None:
        return np.asarray(gram.block(rows, fold.train) @ dual[:, fold.train])
    removed = gram.block(fold.removed, fold.train) @ dual[:, fold.train]
    w = np.ones(len(Y)) if weights is None else weights
    total = np.sqrt(w.sum()) * (coupling @ (dual / np.sqrt(w)[:, None]))  # 1' W K dual, shape (L, c)
    kept = w[fold.train]
    bias = (kept @ Y[fold.train] + w[fold.removed] @ removed - total) / kept.sum()
    return np.asarray(removed[:, np.searchsorted(fold.removed, rows)] + bias[:, None, :])


def single_values(
    gram: Gram,
    rows: Indices,
    inverse: Inverse,
    scaled_dual: Array,
    residuals: Array,
    Y: Array,
    weights: Array | None,
    coupling: Array | None,
) -> Array:
    """Leave-one-out values (L, len(rows), c) of several rows, each by itself.

    ``scaled_dual`` and ``residuals`` are in coordinates scaled by the square roots of the weights. Leaving row
    i out changes the others' coefficients by ``-G[:, i] residual_i``, for which columns of G are needed, at
    O(n²) a row and ridge, unless that change is far below the value itself, as for a narrow kernel.
    """
    w = np.ones(gram.n) if weights is None else weights
    K = gram.block(rows, np.arange(gram.n)) * np.sqrt(w)
    K[np.arange(len(rows)), rows] = 0.0
    values: Array = np.asarray(K @ scaled_dual)
    if coupling is None and inverse.definite:
        # |G[j, i]| over j is at most |G| |K_i| |G_ii| in the scaled matrix, and G_ii residual_i = dual_i
        change = inverse.norms()[:, None] * np.sqrt(w[rows]) * (K**2).sum(axis=1)
        if (change[:, :, None] * np.abs(scaled_dual[:, rows]) <= 1e-3 * np.abs(values)).all():
            return np.asarray(values)
    columns = inverse.apply_columns(rows, np.broadcast_to(np.eye(len(rows)), (len(values), len(rows), len(rows))))
    change = np.einsum("rn,lnr->lr", K, columns)
    values = values - change[:, :, None] * residuals[:, rows]
    if coupling is None:
        return values
    response = coupling @ columns  # (L, rows)
    total = (coupling @ scaled_dual)[:, None, :] - response[:, :, None] * residuals[:, rows]
    others = w @ Y - w[rows, None] * Y[rows]
    bias = (others + w[rows, None] * values - np.sqrt(w.sum()) * total) / (w.sum() - w[rows, None])
    return np.asarray(values + bias)
