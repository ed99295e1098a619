"""One front door to the factorisations of a Gram matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .inverse import CholeskyFamily
from .spectrum import EPS, Array, SpectralInverse, Spectrum, frobenius_norm
from .structure import component_spectrum, low_rank_spectrum, without

Factor = Spectrum | CholeskyFamily


def structured(K: Array, null: Array | None, positive: bool, rank: float = np.inf) -> Spectrum | None:
    """The spectrum of a K that is nearly diagonal or of low rank, or None if it is neither.

    ``rank`` is an upper bound of K's that is known beforehand.
    """
    spectrum = component_spectrum(K)
    if spectrum is None and positive:
        spectrum = low_rank_spectrum(K, rank)
    return spectrum if spectrum is None or null is None else without(spectrum, null)


def unit_bias(n: int, scale: Array | None) -> Array:
    """The constant function in coordinates scaled by ``scale``, at unit length."""
    direction = np.ones(n) if scale is None else scale
    return np.asarray(direction / np.linalg.norm(direction))


def singular(factor: Factor, ridges: Array) -> NDArray[np.bool_]:
    """Which of ``K + ridge I`` are singular to working precision: ``min |s + ridge| <= eps |K|``.

    A ridge of no more than ``eps |K|`` does not count: then K itself must be regular, and its smallest
    eigenvalue, known to ``n eps |K|`` only, has to exceed that. A Cholesky factorisation finds out by itself.
    """
    if isinstance(factor, CholeskyFamily):
        return np.zeros(len(ridges), dtype=bool)
    rounding_unit = EPS * max(factor.norm, factor.magnitude)
    tolerance = np.where(ridges <= rounding_unit, len(factor.vectors) * rounding_unit, rounding_unit)
    return np.asarray(smallest_pivots(factor, ridges) <= tolerance)


def harmless(factor: Factor, ridges: Array, bad: NDArray[np.bool_]) -> Array:
    """The ridges, with singular ones replaced by some that can be computed with: their results are not used."""
    norm = 1.0 if isinstance(factor, CholeskyFamily) else factor.norm or 1.0
    return np.where(bad, 2.0 * norm, ridges)


def pseudo_inverse(spectrum: Spectrum, ridges: Array) -> SpectralInverse:
    """Of singular ``K + ridge I``: pivots up to ``n eps |K + ridge I|`` are rounding, as in ``numpy.linalg.lstsq``.

    The norm is that before any projection, by which the rounding is not made smaller.
    """
    largest = _pivots(spectrum, ridges).max(axis=1, initial=spectrum.magnitude)
    return SpectralInverse(spectrum, ridges, negligible=len(spectrum.vectors) * EPS * largest)


def smallest_pivots(factor: Factor, ridges: Array) -> Array:
    """``min |s + ridge|`` over the spectrum; of a positive definite matrix at least the ridge."""
    if isinstance(factor, CholeskyFamily):
        return ridges
    return np.asarray(_pivots(factor, ridges).min(axis=1, initial=np.inf))


def _pivots(spectrum: Spectrum, ridges: Array) -> Array:
    """``|s + ridge|`` of all distinct eigenvalues, for every ridge."""
    eigenvalues = spectrum.values if spectrum.flat is None else np.append(spectrum.values, spectrum.flat)
    return np.asarray(np.abs(eigenvalues + ridges[:, None]))


def rounding(factor: Factor, ridges: Array) -> Array:
    """Relative size of rounding and neglected parts in a solution: ``(10 eps |K| + error) / min |s + ridge|``."""
    with np.errstate(divide="ignore", invalid="ignore"):  # no pivot, no digits
        return np.asarray(inaccuracy(factor) / smallest_pivots(factor, ridges))


def inaccuracy(factor: Factor) -> float:
    """How far the factor may be from that of K: ``10 eps |K| + error``, K before any projection."""
    if isinstance(factor, CholeskyFamily):
        return 10 * EPS * frobenius_norm(factor.K)
    return 10 * EPS * max(factor.norm, factor.magnitude) + factor.error
