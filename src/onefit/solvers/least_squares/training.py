"""Training a least-squares machine along a path of ridges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._arrays import Array, Mask
from ...gram import DenseGram, Gram
from ...linalg.factor import NotPositiveDefiniteError
from ...resources import Ledger


@dataclass(frozen=True)
class FitPath:
    """Solutions for L ridges: ``dual`` (L, n, c), ``intercept`` (L, c)."""

    dual: Array
    intercept: Array
    error: Array  # (L,) size of rounding in a prediction, relative to the largest value
    singular: Mask  # (L,) no unique solution: NaN, or the solution of minimum norm

    def predict(self, K: Array) -> Array:
        """Values (L, rows, c) from the kernel between new rows and the training rows."""
        return np.asarray(K @ self.dual + self.intercept[:, None, :])


def fit_path(
    K: Array,
    Y: Array,
    ridges: Array,
    *,
    weights: Array | None = None,
    bias: bool = False,
    positive: bool = False,
    minimum_norm: bool = False,
    ledger: Ledger | None = None,
) -> FitPath:
    """``fit_gram`` of a Gram matrix that is given as an array, and overwritten.

    Rows of weight zero get a zero coefficient and no say.
    """
    if weights is None or (weights > 0).all():
        gram = DenseGram.of_matrix(K, positive, ledger)
        return fit_gram(gram, Y, ridges, weights=weights, bias=bias, minimum_norm=minimum_norm)
    used = np.flatnonzero(weights > 0)
    if not len(used):
        raise ValueError("All sample weights are zero: there is nothing to train on.")
    gram = DenseGram.of_matrix(K[np.ix_(used, used)], positive, ledger)
    inner = fit_gram(gram, Y[used], ridges, weights=weights[used], bias=bias, minimum_norm=minimum_norm)
    dual = np.zeros((len(ridges), *Y.shape))
    dual[:, used] = inner.dual
    return FitPath(dual, inner.intercept, inner.error, inner.singular)


def fit_gram(
    gram: Gram, Y: Array, ridges: Array, *, weights: Array | None, bias: bool, minimum_norm: bool = False
) -> FitPath:
    """Solve ``(K + ridge W^{-1}) dual + b = Y`` for every ridge; weights are positive.

    Singular systems have no solution, or with ``minimum_norm`` their least-squares solution of minimum norm, in
    coordinates scaled by the square roots of the weights.

    Cost: of a dense K O(n³/3) a ridge, or 4/3 n³ for many; an eigendecomposition where K + ridge I is not definite.
    """
    scale = np.ones(gram.n) if weights is None else np.sqrt(weights)
    scaled = Y if weights is None else Y * scale[:, None]
    try:
        solved = gram.factor(weights, bias, "inverse").solve(scaled, ridges, minimum_norm=minimum_norm)
    except NotPositiveDefiniteError:
        solved = gram.factor(weights, bias, "spectrum").solve(scaled, ridges, minimum_norm=minimum_norm)
    dual = solved.dual if weights is None else solved.dual * scale[:, None]
    error = solved.error if weights is None else solved.error * (scale.max() / scale.min())
    return FitPath(dual, solved.bias / np.linalg.norm(scale), error, solved.singular)
