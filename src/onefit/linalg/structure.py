"""Gram matrices whose spectrum costs next to nothing: nearly diagonal ones, and those of low rank.

Both ends of a width grid are of this kind: a very narrow Gaussian kernel gives the identity, or a few small
groups of close points; a very wide one gives a matrix of low numerical rank.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import csgraph

from .._arrays import Array
from .factor import EPS
from .spectrum import Spectrum, decompose

LARGEST_RANK = 1 / 8
"""Only ranks up to this share of n are worth their own route."""

LARGEST_GROUPED = 1 / 2
"""Only if at most this share of the points is in a component with others do components pay."""

_PROBE = 32
"""Pivots after which a factorisation is given up if the trace does not shrink fast enough for a low rank."""


def structured(K: Array, null: Array | None, positive: bool, rank: float = np.inf) -> Spectrum | None:
    """The spectrum of a K that is nearly diagonal or of low rank, or None if it is neither.

    ``rank`` is an upper bound of K's that is known beforehand.
    """
    spectrum = component_spectrum(K)
    if spectrum is None and positive:
        spectrum = low_rank_spectrum(K, rank)
    return spectrum if spectrum is None or null is None else without(spectrum, null)


def identity_spectrum(n: int, value: float, error: float) -> Spectrum:
    """The spectrum of ``value * I``: nothing is computed. ``error`` bounds what was neglected."""
    return Spectrum(np.empty(0), np.empty((n, 0)), value, error=error)


def component_spectrum(K: Array) -> Spectrum | None:
    """The spectrum of a K that falls into small components once entries below machine precision are dropped.

    Entries of at most ``eps * K_ii`` off the diagonal count as zero. Each connected component of the others
    is decomposed by itself; points alone in theirs share the flat eigenvalue ``K_ii``.

    Returns None unless K has a constant diagonal, at most n other entries in a triangle, and the components of
    two or more points hold at most n/2
    of them. The neglected entries perturb K by no more than ``n eps K_ii``, the ``error`` of the result.

    Cost: O(n²) to look, O(Σ m³) for components of m points.
    """
    n = len(K)
    diagonal = K.diagonal()
    value = float(diagonal[0])
    if not np.all(diagonal == value):
        return None
    edges = _entries_above(K, EPS * abs(value), limit=n)
    if edges is None:
        return None
    _, labels = csgraph.connected_components(edges, directed=False)
    grouped = np.flatnonzero(np.bincount(labels)[labels] > 1)
    if len(grouped) > LARGEST_GROUPED * n:
        return None
    order = grouped[np.argsort(labels[grouped], kind="stable")]
    values, vectors = np.empty(len(order)), np.zeros((n, len(order)))
    boundaries = np.flatnonzero(np.diff(labels[order], prepend=-1, append=-1))
    for start, stop in itertools.pairwise(boundaries):
        members = order[start:stop]
        part = decompose(K[np.ix_(members, members)])
        values[start:stop] = part.values
        vectors[members, start:stop] = part.vectors
    return Spectrum(values, vectors, value, error=n * EPS * abs(value))


def without(spectrum: Spectrum, null: Array) -> Spectrum:
    r"""The spectrum on the complement of the unit vector v = ``null``, of a matrix with a flat remainder.

    With the orthonormal :math:`[v, Q] R = [v, U]`, on the complement of v

    .. math:: K = \kappa I + Q \, R_{22} \, \mathrm{diag}(s - \kappa) \, R_{22}^T \, Q^T,

    so one eigendecomposition of size p and a QR factorisation are enough. Cost O(n p²).
    """
    if spectrum.flat is None:
        raise ValueError("only a spectrum with a flat remainder can be projected afterwards")
    U, excess = spectrum.vectors, spectrum.values - spectrum.flat
    coupling = spectrum.flat * null + U @ (excess * (null @ U))
    if not len(excess):
        return replace(spectrum, null=null, coupling=coupling)
    Q, R = linalg.qr(np.column_stack([null, U]), mode="economic", check_finite=False)
    inner = decompose((R[1:, 1:] * excess) @ R[1:, 1:].T)
    values = inner.values + spectrum.flat
    vectors = np.ascontiguousarray(Q[:, 1:] @ inner.vectors)
    return Spectrum(values, vectors, spectrum.flat, null, coupling, spectrum.error, spectrum.norm)


def _entries_above(K: Array, threshold: float, limit: int) -> sparse.coo_array | None:
    """The off-diagonal pattern of ``|K| > threshold``, or None as soon as it has more than ``limit`` pairs."""
    n = len(K)
    rows, columns, found = [], [], 0
    step = max(1, (1 << 16) // n)  # an ordinary matrix is told from its first rows
    for start in range(0, n, step):
        block = np.abs(K[start : start + step]) > threshold
        block[np.arange(len(block)), np.arange(start, start + len(block))] = False
        found += int(np.count_nonzero(block))
        if found > 2 * limit:
            return None
        i, j = np.nonzero(block)
        rows.append(i + start)
        columns.append(j)
    i, j = np.concatenate(rows), np.concatenate(columns)
    return sparse.coo_array((np.ones(len(i)), (i, j)), shape=(n, n))


def low_rank_spectrum(K: Array, rank: float = np.inf) -> Spectrum | None:
    r"""The spectrum of a positive semi-definite K of rank at most n/8 to machine precision, or None.

    Cholesky factorisation with diagonal pivoting, stopped when the trace of what remains is at most
    ``10 n eps max K_ii``; that trace bounds the neglected part, which is itself positive semi-definite, in
    every unitarily invariant norm. It is the ``error`` of the result. The factor's singular values and
    left singular vectors are the spectrum.

    Gives up after 32 columns if the trace, falling on at this rate, would not get there by n/8, unless the
    ``rank`` is known to be that small: the remainder of a matrix of full rank falls ever more slowly.

    Cost: O(n r²) for rank r, and O(32² n) where K is of full rank.
    """
    most = int(LARGEST_RANK * len(K))
    factor = _pivoted_cholesky(K, most, probe=rank > most)
    if factor is None:
        return None
    L, remainder = factor
    if not L.shape[1]:
        return identity_spectrum(len(K), 0.0, remainder)
    vectors, singular, _ = linalg.svd(L, full_matrices=False, overwrite_a=True, check_finite=False)
    return Spectrum(singular**2, np.ascontiguousarray(vectors), 0.0, error=remainder)


def _pivoted_cholesky(K: Array, most: int, probe: bool) -> tuple[Array, float] | None:
    """L (n x r) with ``K - L Lᵀ`` of trace at most the tolerance, and that trace; None if r > most."""
    n = len(K)
    remaining = K.diagonal().copy()
    tolerance = 10.0 * n * EPS * float(remaining.max(initial=0.0))
    start = trace = float(remaining.sum())
    L = np.zeros((n, most), order="F")
    for column in range(most + 1):
        if trace <= tolerance:
            return L[:, :column], max(trace, 0.0)
        if column == most:
            return None
        if probe and column == _PROBE and start / trace < (start / tolerance) ** (_PROBE / most):
            return None
        pivot = int(np.argmax(remaining))
        if remaining[pivot] <= 0:
            return None
        new = K[pivot] - L[:, :column] @ L[pivot, :column]
        new /= np.sqrt(remaining[pivot])
        L[:, column] = new
        remaining -= new**2
        remaining[pivot] = 0.0
        np.maximum(remaining, 0.0, out=remaining)
        trace = float(remaining.sum())
    return None
