r"""Held-out residuals by the Bouligand influence function (BIF) series, for the square loss.

The series of order r for a fold that removes the rows I, with the hat matrix ``H = I - ridge G`` of the
full-data fit and its residuals ``e = y - f = ridge dual``:

.. math:: y - f^{(r)} = \sum_{s=0}^{r} (H \Delta)^s e.

Penalty on a *sum* of losses: Δ is one on I and zero elsewhere, so that the series lives in the block H_II.
Penalty on a *mean* of losses (the papers): Δ is one on I and -l/(n-l) elsewhere; the papers print -1/(t-1),
which is right for equal folds only. Terms are built by recursion; the derivatives B_s of the paper, which
grow like s!, are never formed. The sum to infinity is exact cross-validation.

Source: Liu, Liao, Jiang, Ding, Lin & Wang, fast cross-validation by BIF. Oracle: the dense matrix powers, and for
r = infinity really retraining.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import Array, Indices
from ...linalg.factor import Inverse


def sum_loss_series(inverse: Inverse, dual: Array, rows: Indices, order: int) -> tuple[Array, Array]:
    """Residuals of the held-out rows (L, l, c) at a fixed ridge, and a bound on their error (L,).

    The bound is the geometric tail ``rho^(r+1) / (1 - rho) |e_I|`` with rho the norm of H_II, infinite
    where the series does not converge. Cost O(l² n + r l² c) per ridge.
    """
    residuals = np.empty((len(inverse.ridges), len(rows), dual.shape[-1]))
    bounds = np.empty(len(inverse.ridges))
    for k, (ridge, block) in enumerate(zip(inverse.ridges, inverse.blocks(rows))):
        hat = -ridge * block
        hat.flat[:: len(rows) + 1] += 1.0
        term = ridge * dual[k, rows]
        size = float(np.linalg.norm(term, axis=0).max(initial=0.0))
        total = term.copy()
        for _ in range(order):
            term = hat @ term
            total += term
        residuals[k] = total
        rho = float(np.abs(np.linalg.eigvalsh(hat)).max())
        bounds[k] = size * rho ** (order + 1) / (1.0 - rho) if rho < 1 else np.inf
    return residuals, bounds


def sum_loss_tail(inverse: Inverse, residuals: Array, rows: Indices, order: int) -> Array:
    r"""How far a series is from its sum on the held-out rows, :math:`H_{II}^{r+1} (y - f^{(-I)})_I` (L, l, c).

    ``residuals`` are the exact ones. With the exact values, this gives those of the series without a difference to y.
    """
    tail = np.empty_like(residuals)
    for k, (ridge, block) in enumerate(zip(inverse.ridges, inverse.blocks(rows))):
        term = residuals[k]
        for _ in range(order + 1):
            term = term - ridge * (block @ term)
        tail[k] = term
    return tail


def mean_loss_series(
    inverse: Inverse, dual: Array, rows: Indices, order: int, norms: Array, null: Array | None
) -> tuple[Array, Array]:
    r"""Residuals of the held-out rows (L, l, c) when their removal rescales the penalty, and a bound (L,).

    ``inverse`` and ``dual`` belong to the full-data ridge n λ; ``norms`` are the largest eigenvalues
    ``s_1 / (s_1 + ridge)`` of H on the complement of ``null``, the direction of an unpenalised bias.

    The bound is :math:`\rho^r / (1 - \rho) \, \|H^{1/2} \Delta e\|`, with rho at least the norm of
    :math:`H^{1/2} \Delta H^{1/2}`. Cost O(r n² c) per ridge.
    """
    n = dual.shape[1]
    share = len(rows) / (n - len(rows))
    delta = np.full((n, 1), -share)
    delta[rows] = 1.0
    ridges = inverse.ridges[:, None, None]
    term = ridges * dual
    total = term[:, rows].copy()
    driven = delta * term
    sizes = np.sqrt(np.maximum((driven * _hat(inverse, driven)).sum(axis=1), 0.0)).max(axis=1)
    for _ in range(order):
        term = _hat(inverse, delta * term)
        total += term[:, rows]
    rho = _contraction(inverse, delta, max(1.0, share) * norms, null)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        bounds = np.where(rho < 1, sizes * rho**order / (1.0 - rho), np.inf)
    return total, bounds


def _hat(inverse: Inverse, B: Array) -> Array:
    """``H B`` for B of shape (L, n, c)."""
    return B - inverse.ridges[:, None, None] * inverse.apply(B)


def _contraction(inverse: Inverse, delta: Array, norms: Array, null: Array | None) -> Array:
    r"""An upper bound of :math:`\|H^{1/2} \Delta H^{1/2}\|` for every ridge, shape (L,).

    Without a bias it is ``max(1, l/(n-l)) h_1``. With one, H is 1 along v = ``null``: split the space into v
    and its complement; the norm is at most that of the 2 x 2 matrix of the blocks' norms.
    """
    if null is None:
        return norms
    along = float(np.abs((null**2 * delta[:, 0]).sum()))
    driven = (delta[:, 0] * null)[None, :, None]
    off = driven - null[None, :, None] * (null @ driven[0, :, 0])
    across = np.maximum((off * _hat(inverse, np.repeat(off, len(norms), axis=0))).sum(axis=(1, 2)), 0.0)
    middle, half = (along + norms) / 2, (along - norms) / 2
    return np.asarray(middle + np.sqrt(half**2 + across))
