"""Kernel-target alignment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from ..machines.capabilities import Gradient
from ..machines.evidence import Evidence
from .base import Criterion


@dataclass(frozen=True)
class KTA(Criterion):
    r"""The cosine of the angle between the Gram matrix and that of the labels.

    .. math:: A = \frac{y^T K y}{\|K\|_F \, \|y\|^2}

    Of more than two classes it is the mean over the one-vs-rest problems; in regression y is the target. A constant
    kernel gets ``((n₊ - n₋)/n)²``: 0.64 if one row in ten is of one class. NaN for K = 0.

    Cost    O(n²): one pass, and one product with K.
    Oracle  Frobenius product with the outer product of the labels.
    Laws    invariant to scaling of K and of y; between -1 and 1.
    Source  Cristianini, Shawe-Taylor, Elisseeff & Kandola (2002), Definition 1.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import criteria
    >>> y = np.array([-1, -1, 1, 1])
    >>> criteria.KTA()(np.outer(y, y), y)
    1.0
    """

    name = "kta"
    reads = ("gram", "labels")
    greater_is_better = True
    formula = "yᵀKy / (‖K‖ ‖y‖²)"
    cost = "O(n²)"
    estimates = "no error"
    use = "screening kernels on classes of equal size"
    failures = "rewards the constant kernel on unequal classes"

    def path(self, evidence: Evidence) -> Array:
        """The value of the kernel, once for every candidate: it does not depend on the penalty."""
        assert evidence.labels is not None
        y = evidence.labels.codes
        norm = float(np.sqrt(evidence.gram.squares.sum()))
        length = (y**2).sum(axis=0)
        if norm == 0 or not length.all():
            return np.full(evidence.size, np.nan)
        return np.full(evidence.size, float(((y * evidence.images).sum(axis=0) / (norm * length)).mean()))

    def tangent(self, evidence: Evidence) -> Gradient:
        """``[y yᵀ / N - (yᵀ K y) K / N³] / |y|²`` with ``N = |K|``, the mean over columns of labels."""
        assert evidence.labels is not None
        y = evidence.labels.codes
        return alignment(evidence.gram.dense().copy(), y)


def alignment(K: Array, y: Array) -> Gradient:
    """The alignment of K with columns y (n, c), and its derivative with respect to K, which takes the place of K."""
    unit = y / np.sqrt((y**2).sum(axis=0))
    norm = float(np.linalg.norm(K))
    value = float((unit * (K @ unit)).sum(axis=0).mean()) / norm
    K *= -value / norm**2
    K += (unit @ unit.T) / (norm * y.shape[1])
    return Gradient(value, K)
