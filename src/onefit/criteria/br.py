"""Bayesian regularisation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from ..kernels import Kernel
from ..machines.evidence import Evidence
from .base import Criterion

FLOOR = 0.5 * 0.01**2
"""Least Ω of logarithms: that of one parameter within a hundredth of one, where the logarithm vanishes."""


@dataclass(frozen=True)
class BR(Criterion):
    r"""Leave-one-out with a prior over the kernel parameters, its strength integrated out.

    .. math:: \frac n2 \log Q + \frac d2 \log \Omega, \qquad
              Q = \tfrac12 \sum_i r_i^2, \quad \Omega = \tfrac12 \|\theta\|^2

    over leave-one-out residuals r and the d kernel parameters :math:`\theta`: every ``gamma`` and ``degree`` of the
    kernel. A Gram matrix that is given has none (d = 0). Of c targets there are n c residuals.

    ``theta="log"`` takes the natural logarithms of the parameters. Ω then vanishes at gamma = 1, which would win
    whatever the data say: it is no less than ``FLOOR``. ``theta="linear"`` takes the parameters themselves, the
    inverse squared widths of Gaussian kernels, so that the prior prefers wide kernels.

    The paper on kernel stability compares with this criterion (Section VII) and says that it regularises leave-one-out
    of least squares; none of the four papers prints its formula or says which of the two codings Cawley & Talbot use.
    The constants are as known from the literature, not compared with the source.

    Cost    as LOO.
    Oracle  n fits.
    Laws    with d = 0 a monotone function of the squared-error LOO.
    Source  Cawley & Talbot, Preventing over-fitting during model selection via Bayesian regularisation of the
            hyper-parameters, Journal of Machine Learning Research 8 (2007).

    Parameters
    ----------
    theta : {"log", "linear"}, default="log"
        Parameters of the prior: logarithms of the kernel's parameters, or the parameters themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import criteria
    >>> criteria.BR()(np.eye(2), np.array([1.0, 1.0]), KernelRidge(kernel="precomputed"))
    0.0
    """

    theta: str = "log"

    name = "br"
    reads = ("smoother",)
    formula = "(n/2) log ½Σr_i² + (d/2) log ½‖θ‖², θ = gamma and degree, or their logarithms"
    cost = "one factorisation, then O(n²) a penalty"
    estimates = "no error"
    use = "many kernel parameters, which leave-one-out would overfit"
    failures = "prefers parameters near one, or near zero; of little meaning for a single parameter"

    def __post_init__(self) -> None:
        if self.theta not in ("log", "linear"):
            raise ValueError(f'theta must be "log" or "linear", got {self.theta!r}.')

    def path(self, evidence: Evidence) -> Array:
        """Misfit and complexity of every candidate."""
        residuals = evidence.smoother().left_out
        count = residuals.shape[1] * residuals.shape[2]
        misfit = (residuals**2).sum(axis=(1, 2)) / 2
        complexity = self._complexity(_kernel_parameters(evidence.gram.kernel))
        with np.errstate(divide="ignore"):  # nothing missed: minus infinity
            return np.asarray(count / 2 * np.log(misfit) + complexity)

    def _complexity(self, parameters: Array) -> float:
        """``(d/2) log Ω``."""
        half = len(parameters) / 2
        if self.theta == "log" or not half:
            theta = np.log(parameters)
            return half * math.log(max(float(theta @ theta) / 2, FLOOR))
        return half * (2 * math.log(math.hypot(*parameters)) - math.log(2))  # squares of tiny ones would underflow


def _kernel_parameters(kernel: Kernel) -> Array:
    """Every positive ``gamma`` and ``degree`` of a kernel and of those it is made of.

    >>> from onefit.kernels import Gaussian, Polynomial
    >>> _kernel_parameters(Gaussian(2.0) + Polynomial(degree=3, gamma=0.5)).tolist()
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
            found.extend(_kernel_parameters(part).tolist())
    return np.array(found)
