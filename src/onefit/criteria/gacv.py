"""Generalised approximate cross-validation of support vector machines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from ..machines.capabilities import Margin
from ..machines.evidence import Evidence
from .base import Criterion


@dataclass(frozen=True)
class GACV(Criterion):
    r"""The hinge loss of one fit, with what leaving a row out would add.

    .. math:: \frac1n \left[ \sum_i \xi_i + 2 \sum_{y_i f_i < -1} \alpha_i K_{ii}
              + \sum_{-1 \le y_i f_i \le 1} \alpha_i K_{ii} \right]

    The constants are as known from the literature, not compared with the source. Rows at a margin of one up to 1e-8
    count as within it: free support vectors are there, up to rounding.

    Cost    O(n), after the fit.
    Oracle  the formula over the rows of another solver's fit; leave-one-out hinge loss is only approximated.
    Laws    at least the empirical hinge risk.
    Source  Wahba, Lin & Zhang (2000).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from onefit import criteria
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([-1, -1, 1, 1])
    >>> criteria.GACV()(X @ X.T, y, SVC(kernel="precomputed", C=10))
    0.25
    """

    name = "gacv"
    reads = ("gram", "margin", "box")
    classes = "two"
    formula = "(1/n) [Σ ξ_i + 2 Σ_{yf<-1} α_i K_ii + Σ_{-1<=yf<=1} α_i K_ii]"
    cost = "one fit, and O(n)"
    estimates = "the leave-one-out hinge loss, approximately"
    use = "small C"
    failures = "grossly too large for large C"

    def path(self, evidence: Evidence) -> Array:
        """The estimate for every candidate."""
        diagonal = evidence.gram.diagonal

        def mean_loss(margin: Margin) -> float:
            inner = margin.labels * margin.values
            factor = np.where(inner < -1.0, 2.0, np.where(inner <= 1.0 + 1e-8, 1.0, 0.0))
            return float((margin.slacks + factor * np.abs(margin.beta) * diagonal).mean())

        return evidence.of_margins(mean_loss)
