"""Weights of several kernels from their alignment with the target."""

from __future__ import annotations

import numpy as np
from scipy import optimize

from ..kernels import WeightedSum
from ..kernels.rows import Rows
from ..search.gradient import Setting


def alignment_weights(method: str, kernel: WeightedSum, setting: Setting) -> np.ndarray:
    r"""Weights, with sum one, of kernels that are centred and compared with the target.

    "align" takes the alignment of each kernel by itself, ``a_k / |K_k|``; "alignf" the weights that maximise the
    alignment of the sum: :math:`\min_{v \ge 0} v^T M v - 2 v^T a` with :math:`M_{kl} = \langle K_k, K_l \rangle` and
    :math:`a_k = y^T K_k y` of centred matrices (Cortes, Mohri & Rostamizadeh, 2012).

    Cost: O(m² n²) for m kernels, whose matrices are there at once.
    """
    rows, Y = Rows(setting.X), setting.coded.Y
    centred = Y - Y.mean(axis=0)
    grams = [_centred(one.evaluate(rows.fresh)) for one in kernel.kernels]
    a = np.array([float(np.vdot(centred, K @ centred)) for K in grams])
    M = np.array([[float(np.vdot(K, L)) for L in grams] for K in grams])
    norms = np.sqrt(np.maximum(M.diagonal(), np.finfo(np.float64).tiny))
    if method == "align":
        weights = np.maximum(a, 0.0) / norms
    else:
        # min |R v - R^{-T} a|² with RᵀR = M is the same problem; columns are scaled to unit norm first
        unit = M / np.outer(norms, norms)
        values, vectors = np.linalg.eigh(unit)
        kept = values > 1e-12 * values[-1]
        root = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
        right = (vectors[:, kept].T @ (a / norms)) / np.sqrt(values[kept])
        weights = optimize.nnls(root, right)[0] / norms
    if not weights.any():  # no kernel is aligned with the target
        return np.full(len(grams), 1.0 / len(grams))
    return np.asarray(weights / weights.sum())


def _centred(K: np.ndarray) -> np.ndarray:
    means = K.mean(axis=0)
    K -= means
    K -= (means - means.mean())[:, None]
    return K
