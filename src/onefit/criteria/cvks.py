"""Cross-validation and kernel stability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._arrays import Array
from ..machines.contract import Series
from ..machines.evidence import Evidence
from ._mean_losses import mean_loss
from .base import Criterion, check_factor
from .row_losses import Loss, check_aggregate, check_loss
from .stability import check_norm, stability_of


@dataclass(frozen=True)
class CVKS(Criterion):
    r"""Cross-validation and kernel stability.

    .. math:: CV_k + \frac{\eta}{n} \hat\beta

    The cross-validated ``loss`` is one of those of ``CV``. None is the loss of the machine: squared for least squares,
    hinge for support vector classification (of several classes the mean over the pairs that a row's class is in),
    epsilon-insensitive for support vector regression. Held-out values are exact, or with ``order`` those of the
    influence-function series of that order (Section VI of the paper), as in ``BIF``. The paper averages the folds'
    means, ``aggregate="folds"``. In a search tested rows count by their ``sample_weight`` where they do
    in one by ``CV`` with the same ``loss``.

    Cost    that of exact cross-validation, and a pass over K.
    Oracle  retraining on every fold, and the largest eigenvalue of every K - K^i.
    Laws    eta = 0 is cross-validation with the same loss.
    Source  Liu, Liao, Zhang, Ren & Wang, Kernel stability for model selection in kernel-based algorithms: equation 6;
            Remark 2 for the norms.

    Parameters
    ----------
    eta : float or list of float, default=0.5
        Weight of the penalty; of a list a search chooses one by an inner threefold cross-validation.
    scale_penalty, aggregate
        As in ``CV``.
    loss : {"error", "squared", "hinge", "absolute"} or callable, default=None
        Loss to average; None is the loss of the machine.
    norm : {"spectral", "trace", "frobenius"}, default="spectral"
        Norm of the stability: see ``kernel_stability``.
    order : int or float, default=None
        Order of the influence-function series that held-out values are taken from; None: they are exact.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import criteria
    >>> criteria.CVKS(eta=1.0)(np.eye(2), np.array([2.0, 2.0]), KernelRidge(kernel="precomputed"), cv=2)
    4.5
    """

    eta: Any = 2.0**-1
    scale_penalty: bool = False
    aggregate: str = "points"
    loss: Loss | None = None
    norm: str = "spectral"
    order: float | None = None

    name = "cvks"
    formula = "CV + (η/n) β̂"
    cost = "that of CV, and O(n²)"
    estimates = "no error"
    use = "cross-validation with a preference between kernels that it cannot tell apart"
    failures = "the scale of K and of the loss have to match η"

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", check_factor("eta", self.eta))
        check_aggregate(self.aggregate)
        check_loss(self.loss)
        check_norm(self.norm)
        self._series()  # checks the order

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        """Exact cross-validation needs no series."""
        return ("gram", "heldout") if self.order is None else ("gram", "heldout", "series")

    def _series(self) -> Series | None:
        return None if self.order is None else Series(self.order)

    def path(self, evidence: Evidence) -> Array:
        """Held-out loss plus penalty of every candidate."""
        penalty = float(self.eta) / evidence.n * stability_of(evidence, self.norm)  # first: it reads the Gram matrix
        held = evidence.held(self._series(), self.scale_penalty)
        return mean_loss(evidence, held, self.loss, self.aggregate, evidence.machine.learner.loss) + penalty
