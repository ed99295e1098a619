"""The distance of two class means in feature space."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._calling import evidence_of
from ._checks import class_indicator, refuse_indefinite


def mean_discrepancy(K: Any, y: Any) -> float:
    r"""The distance between the means of two classes in the feature space of a kernel.

    .. math:: MD = \left\| \frac1{n_+} \sum_{y_i = +} \phi(x_i) - \frac1{n_-} \sum_{y_i = -} \phi(x_i) \right\|
              = \sqrt{w^T K w}, \qquad w_i = 1/n_+ \text{ or } -1/n_-

    The estimate includes the pairs of a row with itself: it is the biased one of the maximum mean discrepancy. Zero is
    returned where rounding makes the square negative.

    Cost    O(n²), two passes over the rows.
    Oracle  explicit features.
    Laws    MD(c K) = √c MD(K); K + c is K; n MD² / Σ K_ij is the weighted spectral measure of degree one, of any class
            sizes. The paper prints MD in place of n MD², for a K with Σ K_ij = 1.
    Source  Li, Liu, Lin, Yue & Wang, Efficient kernel selection via spectral analysis, Section 4, "Connections to Mean
            Discrepancy" (not numbered); Gretton, Borgwardt, Rasch, Schölkopf & Smola (2007).

    Parameters
    ----------
    K : array of shape (n, n)
        Positive semi-definite Gram matrix.
    y : array of shape (n,)
        Labels of two classes.

    Returns
    -------
    float
        Larger is better; not invariant to scaling of K.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import criteria
    >>> criteria.mean_discrepancy(np.outer([1.0, 3.0, 4.0, 8.0], [1.0, 3.0, 4.0, 8.0]), ["a", "a", "b", "b"])
    4.0
    """
    evidence = evidence_of(K, y, None, None, labels=True, held_out=False)
    refuse_indefinite(evidence, "mean discrepancy")
    positive = class_indicator(evidence, "mean discrepancy")
    size = int(positive.sum())
    weights = np.where(positive, 1.0 / size, -1.0 / (evidence.n - size))
    _, forms = evidence.gram.centred(weights[:, None])  # weights sum to zero: centring K changes nothing
    return math.sqrt(max(float(forms[0]), 0.0))
