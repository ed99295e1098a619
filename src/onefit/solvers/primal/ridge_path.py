r"""Least squares on explicit features from sums, along a path of ridges.

.. math:: \min_{\beta, b} \sum_i w_i \|y_i - \beta^T z_i - b\|^2 + \alpha \|\beta\|^2
    \quad\Rightarrow\quad (G + \alpha I) \beta = B

with G, B the weighted sums of products of features, and of features and targets; with an unpenalised constant b both
are centred by weighted means.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ...gram.streamed import Sums, symmetric
from ...linalg.unlocked import solve_positive
from ...machines.primal import LinearPath

Array = NDArray[np.float64]

EIGEN_FROM = 20
"""Ridges from which on one eigendecomposition is cheaper than a Cholesky factorisation for each, of 1,000 features."""


def ridge_path(sums: Sums, ridges: Array, *, bias: bool, leading: int | None = None) -> LinearPath:
    """Solve for every ridge from sums of one cell, with the ``leading`` features only if that is given.

    Cost    r³ / 3 for each ridge, or about 9 r³ for any number of them.
    Oracle  scikit-learn's ``Ridge`` on the features.
    """
    r = sums.G.shape[1] if leading is None else leading
    G = symmetric(sums.G[0, :r, :r])
    s, W = sums.H[0, :r, 0], sums.T[0, 0, 0]
    B, t = sums.H[0, :r, 1:].copy(), sums.T[0, 0, 1:]
    if bias:
        G -= np.outer(s / W, s)
        B -= np.outer(s / W, t)
    coef = _by_eigenvectors(G, B, ridges) if len(ridges) >= EIGEN_FROM else _by_cholesky(G, B, ridges)
    intercept = (t - np.einsum("r,lrc->lc", s, coef)) / W if bias else np.zeros((len(ridges), B.shape[1]))
    return LinearPath(coef, intercept)


def _by_cholesky(G: Array, B: Array, ridges: Array) -> Array:
    coef = np.empty((len(ridges), *B.shape))
    for k, ridge in enumerate(ridges):
        A = np.array(G, order="F")
        A[np.diag_indices_from(A)] += ridge
        X = np.array(B, order="F")
        if solve_positive(A, X):
            coef[k] = X
        else:  # the ridge is below the rounding of the sums
            coef[k] = _by_eigenvectors(G, B, ridges[k : k + 1])[0]
    return coef


def _by_eigenvectors(G: Array, B: Array, ridges: Array) -> Array:
    values, vectors = linalg.eigh(G, check_finite=False)
    images = vectors.T @ B  # (r, c)
    shrunk = images / (np.maximum(values, 0.0) + ridges[:, None])[:, :, None]
    return np.asarray(np.matmul(vectors, shrunk))


def squared_errors(sums: Sums, path: LinearPath) -> tuple[Array, Array]:
    r"""(sums of squared errors (L, c) of the rows of a cell, how large the terms are that they are a difference of).

    .. math:: \sum w (y - f)^2 = T_{yy} - 2 (\beta^T H_y + b T_{1y}) + \beta^T G \beta + 2 b \beta^T s + b^2 W

    Cost: 2 r² L c multiplications. Digits cancel where errors are far below the targets: the second number says so.
    """
    r = path.coef.shape[1]
    G, H, T = symmetric(sums.G[0, :r, :r]), sums.H[0, :r], sums.T[0]
    B, b = path.coef, path.intercept
    images = (G @ path.stacked).reshape(r, len(B), -1).transpose(1, 0, 2)
    quadratic = (B * images).sum(axis=1) + b * (2 * np.einsum("lrc,r->lc", B, H[:, 0]) + b * T[0, 0])
    linear = np.einsum("lrc,rc->lc", B, H[:, 1:]) + b * T[0, 1:]
    squares = np.diag(T)[1:]
    return squares - 2 * linear + quadratic, squares + np.abs(quadratic)
