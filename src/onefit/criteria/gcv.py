"""Generalised cross-validation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from ..machines.capabilities import Gradient, symmetric_product
from ..machines.evidence import Evidence
from .base import Criterion


@dataclass(frozen=True)
class GCV(Criterion):
    r"""Leave-one-out with every leverage replaced by their mean.

    .. math:: V = \frac{n^{-1} \|(I - H) y\|^2}{(n^{-1} \mathrm{tr}(I - H))^2}

    H is the hat matrix, that of the machine with bias where there is one. The ridge cancels, so that a ridge of zero
    has a value where K is regular. Of several targets it is the mean.

    Cost    one factorisation, then O(n²) a penalty.
    Oracle  a dense hat matrix.
    Laws    V(c y) = c² V(y); with a bias V(y + c) = V(y); equals the squared-error LOO where all leverages are equal.
    Source  Golub, Heath & Wahba (1979), equation 1.4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import criteria
    >>> criteria.GCV()(np.eye(3), np.array([1.0, 2.0, 2.0]), KernelRidge(kernel="precomputed"))
    3.0
    """

    name = "gcv"
    reads = ("smoother",)
    formula = "mean((y - f)²) / mean(1 - H_ii)²"
    cost = "one factorisation, then O(n²) a penalty"
    estimates = "leave-one-out, approximately"
    use = "choosing the penalty of smooth regressions"
    failures = "undersmooths now and then; squared error also for classes"

    def path(self, evidence: Evidence) -> Array:
        """The mean over the targets."""
        smoother = evidence.smoother()
        slack = smoother.unit_slacks.mean(axis=1)  # (E, c)
        return np.asarray(((smoother.unit_residuals**2).mean(axis=1) / slack**2).mean(axis=1))

    def tangent(self, evidence: Evidence) -> Gradient:
        r"""With weights V: ``N = Σ (dual / V)² / n``, ``t = tr(P V^{-1}) / n``, V = N / t², from one inverse.

        ``dN/dK = -(2/n) sym((P V^{-2} dual) dualᵀ)`` and ``dt/dK = -(1/n) P V^{-1} P``.
        """
        inverse, n = evidence.inverse(), evidence.n
        P, dual, v = inverse.P, inverse.dual, (inverse.ridge / inverse.diagonal)[:, None]
        c = dual.shape[1]
        misfit = float(((dual / v) ** 2).sum()) / (n * c)
        slack = float((P.diagonal() / v[:, 0]).mean())
        gram = symmetric_product(P @ (dual / v**2), dual)
        gram *= -2.0 / (n * c * slack**2)
        gram += (2.0 * misfit / (n * slack**3)) * ((P / v[:, 0]) @ P)
        return Gradient(misfit / slack**2, gram, inverse.log_ridge(gram))
