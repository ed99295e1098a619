"""The span estimate of the leave-one-out error of a support vector machine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import Array, Indices
from ..machines.capabilities import Margin
from ..machines.evidence import Evidence
from .base import Criterion

RIDGE = 1e-12
"""Ridge of the span's linear system, relative to the diagonal of K: duplicated support vectors make it singular."""


@dataclass(frozen=True)
class Span(Criterion):
    r"""Leave-one-out errors if no support vector changed its state.

    .. math:: \frac1n \sum_p 1[y_p f(x_p) - \alpha_p S_p^2 < 0]

    f is the machine of K + D, on its rows: for the squared hinge loss y f = 1 at every support vector.
    With :math:`\tilde K = \begin{pmatrix} K_{FF} + D & 1 \\ 1^T & 0 \end{pmatrix}` on the free support vectors F (no
    border without a bias; D = 1/(2C) for the squared hinge loss), :math:`S_p^2 = 1/(\tilde K^{-1})_{pp}` for free p,
    :math:`K_{pp} - v^T \tilde K^{-1} v` with v = (K_Fp, 1) for bounded p, and 0 elsewhere. For K = 0, and
    with a bias but no free support vectors, it is the training error, f = 0 read as ``predict`` reads it; a single free
    one with a bias has no others to span it: S² is infinite.

    Cost    O(m³) for m free support vectors, after the fit.
    Oracle  dense inverses; leave-one-out fits of the squared hinge loss wherever no support vector changes its state.
    Laws    no more than one; for the squared hinge loss exact where the support vectors stay the same.
    Source  Vapnik & Chapelle (2000); Chapelle, Vapnik, Bousquet & Mukherjee (2002).
            Numbers of their equations were not at hand.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from onefit import criteria
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([-1, -1, 1, 1])
    >>> criteria.Span()(X @ X.T, y, SVC(kernel="precomputed", C=10))
    0.5
    """

    name = "span"
    reads = ("gram", "margin")
    classes = "two"
    formula = "(1/n) #{p: y_p f_p < α_p S_p²}"
    cost = "one fit, and O(m³) for m free support vectors"
    estimates = "leave-one-out, approximately"
    use = "leave-one-out of a support vector machine at the price of one fit"
    failures = "support vectors that change their state; an error rate, so it has steps"

    def path(self, evidence: Evidence) -> Array:
        """The estimate for every candidate."""
        return evidence.of_margins(lambda margin: _share_of_errors(evidence.gram.dense(), margin))


def _share_of_errors(K: Array, margin: Margin) -> float:
    if (margin.bias and not len(margin.free)) or not K.diagonal().any():
        return float(((margin.values > 0) != (margin.labels > 0)).mean())
    left_out = margin.labels * (margin.values + margin.ridge * margin.beta)  # f in the space of K + D
    moved = margin.beta != 0
    left_out[moved] -= np.abs(margin.beta[moved]) * squared_spans(K, margin)[moved]
    return float((left_out < 0).mean())


def squared_spans(K: Array, margin: Margin) -> Array:
    """``S_p²`` of every row (n,)."""
    spans, free = np.zeros(len(K)), margin.free
    size = float(np.abs(K.diagonal()).max(initial=0.0))
    if (margin.bias and not len(free)) or size == 0.0:
        return spans
    inverse = _inverse(K, margin, free, size)
    own = inverse.diagonal()[: len(free)]
    alone = (own <= 0) | (margin.bias and len(free) == 1)
    spans[free] = np.where(alone, np.inf, 1.0 / np.where(alone, 1.0, own))
    bounded = np.setdiff1d(np.flatnonzero(margin.beta), free)
    v = np.ones((len(inverse), len(bounded)))
    v[: len(free)] = K[np.ix_(free, bounded)]
    spans[bounded] = np.maximum(K.diagonal()[bounded] - (v * (inverse @ v)).sum(axis=0), 0.0)
    return spans


def _inverse(K: Array, margin: Margin, free: Indices, size: float) -> Array:
    m = len(free)
    system = np.zeros((m + margin.bias, m + margin.bias))
    system[:m, :m] = K[np.ix_(free, free)] + np.diag(margin.ridge[free] + RIDGE * size)
    system[m:, :m] = system[:m, m:] = 1.0
    return np.asarray(np.linalg.inv(system), dtype=np.float64)
