"""The marginal likelihood of a Gaussian process."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from ..machines.capabilities import Gradient
from ..machines.evidence import Evidence
from ._checks import indefinite
from .base import Criterion, Situation


@dataclass(frozen=True)
class LML(Criterion):
    r"""Log marginal likelihood of the Gaussian process whose mean the machine predicts.

    .. math:: -\tfrac12 y^T A^{-1} y - \tfrac12 \log\det A - \tfrac n2 \log 2\pi, \qquad A = K + \alpha W^{-1}

    The ridge is the variance of the noise, that of row i divided by its weight. Several targets are independent:
    their values add up. A machine with a bias has an improper prior and is refused.

    Cost    one spectrum, then O(n²) a penalty.
    Oracle  the density of a multivariate normal.
    Laws    invariant to rotations of (K, y); K and alpha times c, y times √c subtract (n/2) log c.
    Source  Rasmussen & Williams (2006), 2.30.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import criteria
    >>> round(criteria.LML()(np.zeros((2, 2)), np.zeros(2), KernelRidge(kernel="precomputed", alpha=1.0)), 6)
    -1.837877
    """

    name = "lml"
    reads = ("spectrum", "smoother")
    greater_is_better = True
    logarithmic = True
    formula = "-½ yᵀA⁻¹y - ½ log det A - (n/2) log 2π, A = K + αI"
    cost = "one spectrum, then O(n²) a penalty"
    estimates = "the likelihood of the data"
    use = "regression with Gaussian noise whose variance alpha means"
    failures = "the scale of K and alpha must be right; wrong for classes"

    def check(self, situation: Situation) -> None:
        """Refuse machines with a bias."""
        super().check(situation)
        if situation.learner is not None and situation.learner.bias:
            raise ValueError(
                "The criterion lml is defined for machines without bias: KernelRidge, or fit_intercept=False."
            )

    def path(self, evidence: Evidence) -> Array:
        """The likelihood of every candidate."""
        machine = evidence.machine
        weights = machine.targets.whole_weights
        eigenvalues = evidence.eigenvalues(weights)
        if eigenvalues[-1] < 0:
            raise indefinite(self.name)
        smoother = evidence.smoother()
        w = np.ones((evidence.n, 1)) if weights is None else weights[:, None]
        forms = (w * machine.targets.Y * smoother.unit_residuals).sum(axis=1)  # yᵀA⁻¹y, (E, c)
        determinants = np.log(eigenvalues[:, None] + _usable(smoother.ridges)).sum(axis=1) - np.log(w).sum()
        return np.asarray((-0.5 * (forms + determinants + evidence.n * np.log(2 * np.pi))).sum(axis=1))

    def tangent(self, evidence: Evidence) -> Gradient:
        """``dL/dK = (dual dualᵀ - c P) / 2`` for c targets, P the inverse of A."""
        inverse = evidence.inverse()
        P, dual, Y = inverse.P, inverse.dual, inverse.Y
        n, c = Y.shape
        gram = dual @ dual.T
        gram -= c * P
        gram *= 0.5
        value = -0.5 * (float((Y * dual).sum()) + c * (inverse.log_determinant + n * np.log(2 * np.pi)))
        return Gradient(value, gram, inverse.log_ridge(gram))


def _usable(ridges: Array) -> Array:
    """Ridges of zero are singular unless K is regular: kept from log(0), their forms are NaN."""
    return np.where(ridges > 0, ridges, np.finfo(np.float64).tiny)
