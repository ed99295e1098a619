"""Bayesian regularisation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.evidence import Evidence
from ..core.machine import LEAST_SQUARES
from ..kernels import Kernel
from .base import Array, Criterion

FLOOR = 0.5 * 0.01**2
"""Of Ω: one parameter within a hundredth of one."""


@dataclass(frozen=True)
class BR(Criterion):
    r"""Leave-one-out with a prior over the kernel parameters, its strength integrated out.

    .. math:: \frac n2 \log Q + \frac d2 \log \Omega, \qquad
              Q = \tfrac12 \sum_i r_i^2, \quad \Omega = \tfrac12 \|\theta\|^2

    over leave-one-out residuals r and :math:`\theta`, the natural logarithms of the d kernel parameters: every
    ``gamma`` and ``degree`` of the kernel. A Gram matrix that is given has none (d = 0). Ω vanishes at gamma = 1, which
    would win whatever the data say: it is no less than ``FLOOR``. Of c targets there are n c residuals. The constants
    are as known from the literature, not compared with the source.

    Cost    as LOO.
    Oracle  n fits.
    Laws    with d = 0 a monotone function of the squared-error LOO.
    Source  Cawley & Talbot (2007).
    """

    name = "br"
    reads = ("smoother",)
    learners = (LEAST_SQUARES,)
    formula = "(n/2) log ½Σr_i² + (d/2) log ½‖θ‖², θ = log of gamma and degree"
    cost = "one factorisation, then O(n²) a penalty"
    estimates = "no error"
    use = "many kernel parameters, which leave-one-out would overfit"
    failures = "prefers parameters near one; of little meaning for a single parameter"

    def path(self, evidence: Evidence) -> Array:
        """Misfit and complexity of every candidate."""
        residuals = evidence.smoother().left_out
        count = residuals.shape[1] * residuals.shape[2]
        misfit = (residuals**2).sum(axis=(1, 2)) / 2
        theta = np.log(kernel_parameters(evidence.ws.kernel))
        complexity = len(theta) / 2 * np.log(max(float(theta @ theta) / 2, FLOOR))
        with np.errstate(divide="ignore"):  # nothing missed: minus infinity
            return np.asarray(count / 2 * np.log(misfit) + complexity)


def kernel_parameters(kernel: Kernel) -> Array:
    """Every positive ``gamma`` and ``degree`` of a kernel and of those it is made of.

    >>> from onefit.kernels import Gaussian, Polynomial
    >>> kernel_parameters(Gaussian(2.0) + Polynomial(degree=3, gamma=0.5)).tolist()
    [2.0, 0.5, 3.0]
    """
    found = []
    for name in ("gamma", "degree"):
        value = getattr(kernel, name, None)
        if isinstance(value, int | float) and value > 0:
            found.append(float(value))
    for name in ("left", "right", "kernel"):
        part = getattr(kernel, name, None)
        if isinstance(part, Kernel):
            found.extend(kernel_parameters(part).tolist())
    return np.array(found)
