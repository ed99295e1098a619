"""Choice of landmarks among the rows of the data: nested, so that the first m' of them are a choice of m'."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import linalg

from .._arrays import Array, Indices
from ..kernels import Kernel

RESERVOIR = 10
"""Rows among which a landmark is chosen, for each landmark: more rows change the choice hardly, and cost more."""

SMALLEST_RESERVOIR = 5000
"""Rows, at least, among which landmarks are chosen."""

LARGEST_FACTOR = 1 << 27
"""Numbers, at most, of the factor that pivots are drawn with, sampled rows times landmarks: 1 GiB. From 3,664 landmarks
on each is therefore chosen among fewer rows."""

PROPOSALS = 128
"""Pivots that are proposed at a time."""

EXHAUSTED = 1e-13
"""Share of the trace below which what is left of a kernel is rounding: further pivots would mean nothing."""

COMPARED = 64
"""Rows on which kernels are compared to find one of middle width, and of which diagonals are taken at a time."""


def reservoir(n: int, n_landmarks: int, rng: np.random.RandomState) -> Indices:
    """Row numbers, ascending, of a uniform sample that landmarks are chosen from."""
    wanted = min(RESERVOIR * n_landmarks, max(n_landmarks, LARGEST_FACTOR // n_landmarks))
    size = min(n, max(wanted, SMALLEST_RESERVOIR))
    return np.sort(rng.choice(n, size, replace=False)).astype(np.intp)


def choose(method: str, X: Any, kernel: Kernel, n_landmarks: int, rng: np.random.RandomState) -> Indices:
    """The numbers of rows of X (N, d) that become landmarks, in order of importance."""
    m = min(n_landmarks, X.shape[0])
    if method == "uniform":
        return rng.permutation(X.shape[0])[:m].astype(np.intp)
    if method == "kmeans":
        from sklearn.cluster import kmeans_plusplus  # 60 ms of import that few searches need

        return np.asarray(kmeans_plusplus(X, m, random_state=rng)[1], dtype=np.intp)
    bound = kernel.bound(X.shape[1])

    def between(rows: Indices, columns: Indices) -> Array:
        return bound.evaluate(lambda base: base(X[rows], X[columns]))

    parts = [np.arange(first, min(first + COMPARED, X.shape[0])) for first in range(0, X.shape[0], COMPARED)]
    diagonal = np.concatenate([np.diag(between(part, part)) for part in parts])
    return randomly_pivoted_cholesky(between, diagonal, m, rng)


def randomly_pivoted_cholesky(
    between: Callable[[Indices, Indices], Array], diagonal: Array, m: int, rng: np.random.RandomState
) -> Indices:
    r"""Rows drawn with probability proportional to the diagonal of what is left of K after those drawn before.

    ``between(rows, columns)`` are entries of K. Pivots are proposed in blocks from the diagonal at the beginning of
    the block, and each is accepted with the ratio of its present to its proposed diagonal, so that they are
    distributed as if they were drawn one by one. Rows without anything left are drawn uniformly at the end.

    Cost    O(N m²) operations, nearly all in matrix products, and N m entries of K, for N rows.
    Oracle  the residual diagonal of the chosen rows, by solving with ``K[S, S]``.
    Source  Chen, Epperly, Tropp & Webber, CPAM 2025; Epperly, Tropp & Webber, arXiv 2410.03969 (rejection in blocks).
    """
    N = len(diagonal)
    F = np.empty((N, m))  # K is approximated by F Fᵀ
    left = np.maximum(diagonal.astype(np.float64), 0.0)  # K may be indefinite: factorising it says so
    floor = EXHAUSTED * float(left.sum())
    chosen: list[int] = []
    everything = np.arange(N, dtype=np.intp)
    while len(chosen) < m and left.sum() > floor:
        k = len(chosen)
        proposed = rng.choice(N, PROPOSALS, p=left / left.sum()).astype(np.intp)
        H = between(proposed, proposed) - F[proposed, :k] @ F[proposed, :k].T
        accepted, factor = _accept(H, left[proposed], m - k, rng)
        rows = proposed[accepted]
        G = between(everything, rows) - F[:, :k] @ F[rows, :k].T
        F[:, k : k + len(rows)] = linalg.solve_triangular(factor, G.T, lower=True, check_finite=False).T
        left -= (F[:, k : k + len(rows)] ** 2).sum(axis=1)
        left[rows] = 0.0
        np.maximum(left, 0.0, out=left)
        chosen += rows.tolist()
    rest = rng.permutation(np.setdiff1d(everything, chosen))[: m - len(chosen)]
    return np.concatenate([np.array(chosen, dtype=np.intp), rest]).astype(np.intp)


def _accept(H: Array, proposed: Array, limit: int, rng: np.random.RandomState) -> tuple[list[int], Array]:
    """(positions of accepted proposals, the Cholesky factor of their residual kernel); H is overwritten."""
    accepted: list[int] = []
    columns: list[Array] = []
    for i, uniform in enumerate(rng.uniform(size=len(H))):
        if len(accepted) < limit and uniform * proposed[i] < H[i, i] and H[i, i] > 1e-12 * proposed[i]:
            column = H[:, i] / np.sqrt(H[i, i])
            column[:i] = 0.0
            H[i:, i:] -= np.outer(column[i:], column[i:])
            accepted.append(i)
            columns.append(column)
    return accepted, np.column_stack(columns)[accepted]


def middle_kernel(kernels: Sequence[Kernel], X: Any) -> Kernel:
    """The kernel whose similarity of different rows is the median one: of a grid of widths, one from its middle.

    Similarity is measured on a few rows of X, relative to the diagonal. Cost: 64² entries for each kernel.
    """
    few = X[: min(COMPARED, X.shape[0])]
    similarity = []
    for kernel in kernels:
        K = kernel.bound(few.shape[1]).evaluate(lambda base: base(few))
        scale = np.sqrt(np.abs(np.diag(K))) + np.finfo(np.float64).tiny
        similarity.append(float(np.mean(K / np.outer(scale, scale))))
    return kernels[int(np.argsort(similarity, kind="stable")[(len(kernels) - 1) // 2])]
