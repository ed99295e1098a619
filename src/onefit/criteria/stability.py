"""Kernel stability: how much a Gram matrix can change when one row is removed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.evidence import Evidence
from ..core.gram_rows import GramRows
from .base import Array
from .calling import evidence_of


def kernel_stability(K: Any) -> float:
    r"""The empirical kernel stability of a Gram matrix.

    .. math:: \hat\beta = \max_i \|K - K^i\|_2
              = \max_i \tfrac12 \left(|K_{ii}| + \sqrt{K_{ii}^2 + 4 \sum_{j \ne i} K_{ij}^2}\right)

    where K^i is K with row and column i set to zero. The paper prints K_ii, which is wrong for a negative diagonal.
    Its supremum over samples is the same for every kernel with the same largest K(x, x): only this empirical number
    says anything, and for a Gaussian kernel it falls as the width shrinks.

    Cost    O(n²), a pass over the rows.
    Oracle  the largest absolute eigenvalue of every K - K^i.
    Laws    homogeneous in K; of a block-diagonal K the largest of the blocks'; K = c I gives c.
    Source  Liu, Liao, Zhang, Ren & Wang, Kernel stability for model selection in kernel-based algorithms, Theorem 7.

    >>> import numpy as np
    >>> from onefit import criteria
    >>> criteria.kernel_stability(3.0 * np.eye(5))
    3.0
    """
    evidence = evidence_of(K, None, None, None, labels=False, held_out=False)
    return largest_change(evidence.ws.rows())


def largest_change(rows: GramRows) -> float:
    """``kernel_stability`` of a matrix whose rows are at hand."""
    return float(changes(rows).max(initial=0.0))


def changes(rows: GramRows) -> Array:
    """``|K - K^i|_2`` of every row."""
    diagonal = np.abs(rows.diagonal)
    others = np.maximum(rows.totals.squares - diagonal**2, 0.0)
    return np.asarray((diagonal + np.sqrt(diagonal**2 + 4.0 * others)) / 2.0)


def stability_of(evidence: Evidence) -> float:
    """The same, kept for all criteria that ask."""
    return evidence.once("kernel stability", lambda: largest_change(evidence.ws.rows()))
