"""Centred kernel-target alignment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from ..machines.capabilities import Gradient
from ..machines.evidence import Evidence
from .base import Criterion
from .kta import alignment

_CANCELLED = 1e-4
"""Share of the squared norm of K below which that of the centred matrix is not taken as a difference of sums."""

_CONSTANT = 1e-10
"""Share of the norm of K at which the centred matrix is rounding only."""


@dataclass(frozen=True)
class CKTA(Criterion):
    r"""Alignment of the centred Gram matrix with the centred labels.

    .. math:: A_c = \frac{y^T K_c y}{\|K_c\|_F \, \|C y\|^2}, \qquad K_c = C K C, \quad C = I - 11^T/n

    NaN where there is nothing left to align: a constant kernel (``|K_c| <= 1e-10 |K|``) or constant labels. Several
    classes and regression as in KTA.

    Cost    O(n²): one pass and one product with K, another pass for kernels that are nearly constant.
    Oracle  dense centring.
    Laws    invariant to scaling and centring of K, to scaling of y and to adding a constant to it.
    Source  Cortes, Mohri & Rostamizadeh (2012), Definition 4.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import criteria
    >>> y = np.array([-1, -1, 1, 1])
    >>> round(criteria.CKTA()(np.outer(y, y) + 5.0, y), 12)
    1.0
    """

    name = "ckta"
    reads = ("gram", "labels")
    greater_is_better = True
    formula = "yᵀK_c y / (‖K_c‖ ‖Cy‖²), K_c = CKC"
    cost = "O(n²)"
    estimates = "no error"
    use = "screening kernels, also in regression; combining kernels"
    failures = "blind to the penalty; undefined for constant kernels and labels"

    def path(self, evidence: Evidence) -> Array:
        """The value of the kernel, once for every candidate: it does not depend on the penalty."""
        assert evidence.labels is not None
        rows, n, y = evidence.gram, evidence.n, evidence.labels.codes
        centred = y - y.mean(axis=0)
        length = (centred**2).sum(axis=0)
        sums, whole = rows.sums, float(rows.squares.sum())
        forms = (centred * (evidence.images - np.outer(sums, y.mean(axis=0)))).sum(axis=0)
        squares = whole - 2.0 * float(sums @ sums) / n + (float(sums.sum()) / n) ** 2
        if squares < _CANCELLED * whole:
            squares, forms = rows.centred(y)
        if squares <= _CONSTANT**2 * whole or (length <= 1e-24 * (y**2).sum(axis=0)).any():
            return np.full(evidence.size, np.nan)
        return np.full(evidence.size, float((forms / (np.sqrt(squares) * length)).mean()))

    def tangent(self, evidence: Evidence) -> Gradient:
        """``[y_c y_cᵀ / N - (y_cᵀ K y_c) K_c / N³] / |y_c|²`` with ``N = |K_c|``, the mean over columns of labels."""
        assert evidence.labels is not None
        y = evidence.labels.codes
        means = evidence.gram.sums / evidence.n
        gram = evidence.gram.dense() - means
        gram -= (means - means.mean())[:, None]
        return alignment(gram, y - y.mean(axis=0))
