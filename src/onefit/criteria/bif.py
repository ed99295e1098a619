"""Cross-validation by Bouligand influence functions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from ..kernels import NotDifferentiableError
from ..machines.capabilities import Gradient
from ..machines.contract import Series
from ..machines.evidence import Evidence
from ._mean_losses import held_out_gradient, mean_loss
from .base import Criterion
from .row_losses import Loss, check_aggregate, check_loss


@dataclass(frozen=True)
class BIF(Criterion):
    """t-fold cross-validation approximated by the influence-function series of order r.

    For the square loss the series converges to exact cross-validation wherever no fold exceeds half of the
    data, geometrically but slowly for small penalties; ``order=np.inf`` is its sum. The paper prints the
    weight -1/(t-1), right for equal folds only; here it is that of each fold's size. Where the system of all rows is
    singular there is no series, and values are those of training.

    Losses of support vector machines are smoothed around their kinks. The rows at which the loss is curved are frozen:
    even the whole series is one Newton step of each fold, not exact. The logistic loss has derivatives of all orders,
    which enter by products of lower terms; its whole series is exact.

    Cost    one fit and O(r l_i²) per fold; O(r n²) with ``scale_penalty``.
    Oracle  dense matrix powers; the paper's operators.
    Source  Liu, Liao, Jiang, Ding, Lin & Wang, Fast cross-validation for kernel-based algorithms: equation 5, and for
            the square loss equations 7 to 10.

    Parameters
    ----------
    order : int or float, default=5
        Number of terms of the series; ``np.inf`` is its sum.
    h : float, default=None
        Half width over which kinks of a loss are smoothed. None: 0.01 for the hinge loss, a hundredth of epsilon
        for regression, nothing for the squared hinge loss.
    start : {"smoothed", "plug-in"}, default="smoothed"
        Solution that the series starts from: of the smoothed loss, or of the loss itself, as in the paper.
    scale_penalty, aggregate, loss
        As in ``CV``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import criteria
    >>> K, y, ridge = np.ones((4, 4)), np.array([1.0, 2.0, 3.0, 4.0]), KernelRidge(kernel="precomputed")
    >>> [round(criteria.BIF(order=order)(K, y, ridge, cv=2), 4) for order in (1, 5, np.inf)]
    [2.7, 3.6938, 3.7222]
    >>> round(criteria.CV()(K, y, ridge, cv=2), 4)
    3.7222
    """

    order: float = 5
    h: float | None = None
    start: str = "smoothed"
    scale_penalty: bool = False
    aggregate: str = "points"
    loss: Loss | None = None

    name = "bif"
    reads = ("heldout", "series")
    scores = True
    formula = "CV with f without a fold replaced by f + T_1 + … + T_r"
    cost = "one fit, then O(r l_i²) a fold and penalty"
    estimates = "cross-validation, with an error bound for the square loss"
    use = "studying the series; exact CV costs the same for least squares"
    failures = "slow convergence for small penalties; none for folds above n/2 with scale_penalty"

    def __post_init__(self) -> None:
        check_aggregate(self.aggregate)
        check_loss(self.loss)
        Series(self.order, self.h, self.start)  # checks them

    @property
    def series(self) -> Series:  # type: ignore[override]
        """The influence-function series that the learner is asked for."""
        return Series(self.order, self.h, self.start)

    def path(self, evidence: Evidence) -> Array:
        """The mean loss on held-out rows."""
        held = evidence.held(self.series, self.scale_penalty)
        return mean_loss(evidence, held, self.loss, self.aggregate)

    def tangent(self, evidence: Evidence) -> Gradient:
        """Derivatives of the whole series of least squares, which is exact cross-validation."""
        if self.order != np.inf or "smoother" not in evidence.machine.learner.offers:
            raise NotDifferentiableError("Derivatives of bif are those of order=np.inf and of least-squares machines.")
        tested = [fold.test for fold in evidence.gram.problem.folds]
        return held_out_gradient(evidence, evidence.tangent(self.scale_penalty), tested, self.loss, self.aggregate)
