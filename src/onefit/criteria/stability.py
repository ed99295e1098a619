"""Kernel stability: how much a Gram matrix can change when one row is removed."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Array
from ..gram.contract import Gram
from ..machines.evidence import Evidence
from ._calling import evidence_of

NORMS = ("spectral", "trace", "frobenius")


def check_norm(norm: str) -> None:
    """Refuse what is not the name of a matrix norm."""
    if norm not in NORMS:
        raise ValueError(f"norm must be one of {', '.join(map(repr, NORMS))}, got {norm!r}.")


def kernel_stability(K: Any, norm: str = "spectral") -> float:
    r"""The empirical kernel stability of a Gram matrix.

    .. math:: \hat\beta = \max_i \|K - K^i\|_2
              = \max_i \tfrac12 \left(|K_{ii}| + \sqrt{K_{ii}^2 + 4 \sum_{j \ne i} K_{ij}^2}\right)

    where K^i is K with row and column i set to zero (equation 4 of the paper). The paper prints K_ii, which is wrong
    for a negative diagonal. Remark 2 of the paper allows other norms,

    .. math:: \|K - K^i\|_* = \sqrt{K_{ii}^2 + 4 \sum_{j \ne i} K_{ij}^2}, \qquad
              \|K - K^i\|_F = \sqrt{K_{ii}^2 + 2 \sum_{j \ne i} K_{ij}^2},

    and prints neither closed form. They follow from the proof of Theorem 7: K - K^i has two eigenvalues that are not
    zero, of opposite signs, with sum K_ii and product :math:`-\sum_{j \ne i} K_{ij}^2`.

    The supremum over samples is the same for every kernel with the same largest K(x, x): only this empirical number
    says anything, and for a Gaussian kernel it falls as the width shrinks.

    Cost    O(n²), a pass over the rows.
    Oracle  all eigenvalues of every K - K^i.
    Laws    homogeneous in K; of a block-diagonal K the largest of the blocks'; K = c I gives c; spectral <= Frobenius
            <= trace <= twice the spectral norm.
    Source  Liu, Liao, Zhang, Ren & Wang, Kernel stability for model selection in kernel-based algorithms: Definition 2,
            Remark 2, Theorem 7.

    Parameters
    ----------
    K : array of shape (n, n)
        Gram matrix.
    norm : {"spectral", "trace", "frobenius"}, default="spectral"
        Norm of K - K^i.

    Returns
    -------
    float
        The largest norm over all rows; 0 for K = 0.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import criteria
    >>> criteria.kernel_stability(3.0 * np.eye(5))
    3.0
    >>> criteria.kernel_stability(np.ones((3, 3)), norm="trace")
    3.0
    """
    check_norm(norm)
    evidence = evidence_of(K, None, None, None, labels=False, held_out=False)
    return stability_of(evidence, norm)


def changes(gram: Gram, norm: str = "spectral") -> Array:
    """The norm of ``K - K^i`` for every row i (n,)."""
    diagonal = np.abs(gram.diagonal)
    others = np.maximum(gram.squares - diagonal**2, 0.0)
    if norm == "frobenius":
        return np.asarray(np.sqrt(diagonal**2 + 2.0 * others))
    trace = np.sqrt(diagonal**2 + 4.0 * others)
    return np.asarray(trace if norm == "trace" else (diagonal + trace) / 2.0)


def stability_of(evidence: Evidence, norm: str = "spectral") -> float:
    """``kernel_stability`` of the evidence's Gram matrix, computed once for all criteria that ask."""
    key = ("kernel stability", norm)
    return evidence.once(key, lambda: float(changes(evidence.gram, norm).max(initial=0.0)))
