"""Empirical risk and kernel stability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._arrays import Array
from ..machines.evidence import Evidence
from ._mean_losses import empirical_risk
from .base import Criterion, check_factor
from .row_losses import Loss, check_loss
from .stability import check_norm, stability_of


@dataclass(frozen=True)
class RKS(Criterion):
    r"""Empirical risk and kernel stability.

    .. math:: R_{emp} + \frac{\eta}{n} \hat\beta

    The risk averages ``loss``, one of those of ``CV``. None is the loss of the machine: squared for least squares (the
    mean over one-vs-rest columns), hinge for support vector classification (of several classes the mean over the pairs
    that a row's class is in), epsilon-insensitive for support vector regression. Rows count alike, whatever they weigh
    in training.

    Cost    one fit and a pass over K.
    Oracle  a fit, and the largest eigenvalue of every K - K^i.
    Laws    eta = 0 is the empirical risk.
    Source  Liu, Liao, Zhang, Ren & Wang, Kernel stability for model selection in kernel-based algorithms: equation 5;
            Remark 2 for the norms.

    Parameters
    ----------
    eta : float or list of float, default=0.25
        Weight of the penalty; of a list a search chooses one by an inner threefold cross-validation.
    loss : {"error", "squared", "hinge", "absolute"} or callable, default=None
        Loss of the risk; None is the loss of the machine.
    norm : {"spectral", "trace", "frobenius"}, default="spectral"
        Norm of the stability: see ``kernel_stability``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import criteria
    >>> criteria.RKS(eta=1.0)(np.eye(2), np.array([2.0, 2.0]), KernelRidge(kernel="precomputed"))
    1.5
    """

    eta: Any = 2.0**-2
    loss: Loss | None = None
    norm: str = "spectral"

    name = "rks"
    reads = ("gram", "fitted")
    formula = "R_emp + (η/n) β̂"
    cost = "one fit, and O(n²)"
    estimates = "no error"
    use = "kernels with the same diagonal, at the price of one fit"
    failures = "β̂ falls as a Gaussian narrows and R_emp too: prefers narrow kernels"

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", check_factor("eta", self.eta))
        check_loss(self.loss)
        check_norm(self.norm)

    def path(self, evidence: Evidence) -> Array:
        """Risk plus penalty of every candidate."""
        penalty = float(self.eta) / evidence.n * stability_of(evidence, self.norm)
        return empirical_risk(evidence, self.loss) + penalty
