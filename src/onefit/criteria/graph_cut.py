"""The normalised cut between two classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._calling import evidence_of
from ._checks import class_indicator


def ncut(K: Any, y: Any, *, per_class: bool = False) -> float:
    r"""The normalised cut between the classes of a graph whose similarities are a Gram matrix.

    .. math:: \mathrm{Ncut} = \frac{y^T L y}{y^T D y} = \frac{4 \, \mathrm{cut}}{\mathrm{vol}_+ + \mathrm{vol}_-},
              \qquad L = D - K, \quad D = \mathrm{diag}(K 1)

    with y = ±1, cut the sum of K between the classes and vol the sum of the degrees D of a class. This is how the paper
    on the spectral measure writes it. The normalised cut of Shi & Malik, ``per_class=True``, is

    .. math:: \mathrm{cut} / \mathrm{vol}_+ + \mathrm{cut} / \mathrm{vol}_-,

    which is never smaller, and equal only if both classes have the same volume; classes of equal size need not.

    Cost    O(n²), a pass over the rows and one product.
    Oracle  sums over all pairs of rows.
    Laws    invariant to scaling of K; Ncut = 1 - n SM for the unweighted spectral measure of degree one and any class
            sizes, 1 - (n/4) SM for the weighted one and classes of equal size. The paper prints 1 - (n/2) SM.
    Source  Li, Liu, Lin, Yue & Wang, Efficient kernel selection via spectral analysis, Section 4, "Connections to Graph
            Cut" (not numbered); Shi & Malik (2000).

    Parameters
    ----------
    K : array of shape (n, n)
        Gram matrix without negative entries.
    y : array of shape (n,)
        Labels of two classes.
    per_class : bool, default=False
        Whether the cut is divided by the volume of each class.

    Returns
    -------
    float
        Smaller is better: 0 if no similarity crosses the classes.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import criteria
    >>> criteria.ncut(np.ones((4, 4)), [0, 0, 1, 1])
    1.0
    """
    evidence = evidence_of(K, y, None, None, labels=True, held_out=False)
    positive = class_indicator(evidence, "normalised cut")
    rows = evidence.gram
    degrees = rows.sums
    rounding = evidence.n * np.finfo(np.float64).eps * float(np.abs(rows.diagonal).max(initial=0.0))
    if float(rows.smallest.min(initial=0.0)) < -rounding:
        raise ValueError("The normalised cut needs a Gram matrix without negative entries.")
    volume, other = float(degrees[positive].sum()), float(degrees[~positive].sum())
    if volume <= 0 or other <= 0:
        raise ValueError("The normalised cut of a class without any similarity is not defined.")
    cut = float(evidence.class_sums[~positive, 0].sum())
    return cut / volume + cut / other if per_class else 4.0 * cut / (volume + other)
