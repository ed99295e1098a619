"""Out-of-fold values of least squares on explicit features in memory, from sums over their rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...data import Folds, Targets
from ...gram.cells import divide_rows
from ...gram.feature_map import IdentityMap
from ...linalg.factor import EPS
from ...machines.contract import HeldOut, OnTrain
from ...machines.primal import LinearPath
from .least_squares import solve_splits

Array = NDArray[np.float64]

MOST_CELLS = 64
"""Cells of rows whose m x m sums are in memory at a time; further splits take another pass over the rows."""

SAFETY = 4
"""How much larger errors may be than the estimate from typical rows (see ``_rounding``): of 72 random paths with ridges
from 1e-9, compared with extended precision, the largest error was 0.64 times the estimate."""


def held_out_on_features(
    Z: Array,
    folds: Folds,
    targets: Targets,
    ridges: Array,
    *,
    bias: bool,
    shares: Sequence[float],
    on_train: OnTrain | None = None,
) -> HeldOut:
    """Values of the tested rows of every split, for positive ridges times the ``shares`` of the splits.

    Cost    n m² once for disjoint test sets, m³ / 3 for each ridge and split (``ridge_path``), n m for each ridge.
    Oracle  scikit-learn's ``Ridge`` on the features of every split.
    """
    # the constant takes up any shift of features and targets: around their means sums lose no digits to it
    shift = np.asarray(targets.Y.mean(axis=0) if bias else np.zeros(targets.Y.shape[1]))
    Z, Y = np.ascontiguousarray(Z - Z.mean(axis=0) if bias else Z), targets.Y - shift
    solutions = solve_splits(
        IdentityMap(Z.shape[1]), Z, Y, divide_rows(folds, targets, MOST_CELLS), ridges, bias=bias,
        widths=[Z.shape[1]], shares=shares,
    ).splits  # fmt: skip
    parts, error = [], np.zeros(len(ridges))
    for number, (fold, solution, share) in enumerate(zip(folds, solutions, shares)):
        (path,) = solution.paths
        values = path.values(Z[fold.test] @ path.stacked) + shift
        parts.append(values)
        weights = targets.fold_weights(number)
        largest = np.maximum(np.abs(values).max(axis=(1, 2), initial=0.0), np.abs(targets.Y).max(initial=0.0))
        error = np.maximum(error, _rounding(Z, weights, path, ridges * share) + 16 * EPS * largest)
        if on_train is not None:
            on_train(number, np.arange(len(ridges)), path.values(Z[fold.train] @ path.stacked) + shift)
    return HeldOut(parts, error, np.zeros(len(ridges), dtype=bool), exact=True)


def _rounding(Z: Array, weights: Array | None, path: LinearPath, ridges: Array) -> Array:
    r"""Estimated error (L,) of values, for rows that look like those trained on.

    Sums G have errors :math:`\delta G` of :math:`\epsilon \|Z\|^2`, and values of
    :math:`z^T (G + \alpha I)^{-1} \delta G \beta`; over n training rows the mean of
    :math:`\|(G + \alpha I)^{-1} z\|^2` is at most :math:`m / (4 \alpha n)`.
    """
    squares = np.einsum("ij,ij->i", Z, Z)
    size = float(squares.sum() if weights is None else squares @ weights)
    length = np.sqrt((path.coef**2).sum(axis=1).max(axis=1))  # (L,)
    return np.asarray(SAFETY * EPS * size * length * np.sqrt(Z.shape[1] / (4 * ridges * len(Z))))
