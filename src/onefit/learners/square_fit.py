"""Training a least-squares machine along a path of ridges on one Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ..core import Ledger
from ..linalg.cost import INVERSE, SPECTRUM
from ..linalg.factor import harmless, inaccuracy, pseudo_inverse, rounding, singular, structured, unit_bias
from ..linalg.spectrum import EPS, Array, Spectrum, decompose, frobenius_norm


@dataclass(frozen=True)
class FitPath:
    """Solutions for L ridges: ``dual`` (L, n, c), ``intercept`` (L, c)."""

    dual: Array
    intercept: Array
    error: Array  # (L,) size of rounding in a prediction, relative to the largest value
    singular: NDArray[np.bool_]  # (L,) no unique solution: NaN, or the solution of minimum norm

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
    """Solve ``(K + ridge W^{-1}) dual + b = Y`` for every ridge. K is overwritten.

    Rows of weight zero get a zero coefficient and no say. Singular systems have no solution, or with ``minimum_norm``
    their least-squares solution of minimum norm, in coordinates scaled by the square roots of the weights.

    Cost: O(n³/3) a ridge by Cholesky, or one eigendecomposition for all of them where that is cheaper.
    """
    ledger = Ledger() if ledger is None else ledger
    if weights is not None and not (weights > 0).all():
        return _without_zero_weights(K, Y, ridges, weights, bias, positive, minimum_norm, ledger)
    scale = None if weights is None else np.sqrt(weights)
    if scale is not None:
        K *= scale[:, None]
        K *= scale
    scaled = Y if scale is None else Y * scale[:, None]
    null = unit_bias(len(K), scale) if bias else None
    spectrum = structured(K, null, positive)
    path = None
    if spectrum is None and len(ridges) * INVERSE / 3 < SPECTRUM:
        path = _by_cholesky(K, scaled, ridges, null, ledger)
    if path is None:
        if spectrum is None:
            with ledger.record("eigendecomposition"):
                spectrum = decompose(K, null, positive)
        path = _by_spectrum(spectrum, scaled, ridges, minimum_norm)
    length = np.sqrt(len(K)) if scale is None else np.linalg.norm(scale)
    dual = path.dual if scale is None else path.dual * scale[:, None]
    error = path.error if scale is None else path.error * (scale.max() / scale.min())
    return FitPath(dual, path.intercept / length, error, path.singular)


def _without_zero_weights(
    K: Array, Y: Array, ridges: Array, weights: Array, bias: bool, positive: bool, minimum_norm: bool, ledger: Ledger
) -> FitPath:
    used = np.flatnonzero(weights > 0)
    if not len(used):
        raise ValueError("All sample weights are zero: there is nothing to train on.")
    inner = fit_path(
        K[np.ix_(used, used)],
        Y[used],
        ridges,
        weights=weights[used],
        bias=bias,
        positive=positive,
        minimum_norm=minimum_norm,
        ledger=ledger,
    )
    dual = np.zeros((len(ridges), *Y.shape))
    dual[:, used] = inner.dual
    return FitPath(dual, inner.intercept, inner.error, inner.singular)


def _by_spectrum(spectrum: Spectrum, Y: Array, ridges: Array, minimum_norm: bool) -> FitPath:
    """In scaled coordinates; the intercept is that of the unit constant function."""
    bad = singular(spectrum, ridges)
    usable = harmless(spectrum, ridges, bad)
    ((_, inverse),) = spectrum.inverses(usable)
    dual, error = inverse.apply(Y), rounding(spectrum, usable)
    dual[bad] = np.nan
    if minimum_norm and bad.any():
        inverse = pseudo_inverse(spectrum, ridges[bad])
        dual[bad], error[bad] = inverse.apply(Y), inaccuracy(spectrum) * inverse.norms()
    intercept = np.zeros((len(ridges), Y.shape[1]))
    if spectrum.null is not None and spectrum.coupling is not None:
        intercept = spectrum.null @ Y - spectrum.coupling @ dual
    return FitPath(dual, intercept, error, bad)


def _by_cholesky(K: Array, Y: Array, ridges: Array, null: Array | None, ledger: Ledger) -> FitPath | None:
    """In scaled coordinates; None if some ``K + ridge I`` is not positive definite."""
    n, c = Y.shape
    right = Y if null is None else np.column_stack([Y, null])
    dual, intercept = np.empty((len(ridges), n, c)), np.zeros((len(ridges), c))
    size = EPS * frobenius_norm(K)
    if ridges.min() <= size:  # too small to make K positive definite
        return None
    for k, ridge in enumerate(ridges):
        A = K.T.copy(order="F")
        A.flat[:: n + 1] += ridge
        try:
            with ledger.record("cholesky"):
                factor = linalg.cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            return None
        solution = linalg.cho_solve(factor, right, check_finite=False)
        dual[k] = solution[:, :c]
        if null is not None:
            intercept[k] = (null @ dual[k]) / (null @ solution[:, c])
            dual[k] -= np.outer(solution[:, c], intercept[k])
    return FitPath(dual, intercept, 10 * size / ridges, np.zeros(len(ridges), dtype=bool))
