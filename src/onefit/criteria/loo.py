"""Leave-one-out cross-validation of least-squares machines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from ..machines import Exactness
from ..machines.capabilities import Gradient
from ..machines.evidence import Evidence
from ._mean_losses import held_out_gradient, left_out_loss
from .base import Criterion
from .row_losses import Loss, check_loss


@dataclass(frozen=True)
class LOO(Criterion):
    r"""Leave-one-out cross-validation, exact, from one fit.

    .. math:: \frac1n \sum_i \mathrm{loss}(y_i, y_i - r_i), \qquad r_i = \frac{y_i - f_i}{1 - H_{ii}}

    Labels are read from values that have the right signs however small they are, which y_i - r_i has not. The held-out
    errors are not weighted, whatever the rows weigh in training.

    Cost    one factorisation, then O(n²) a penalty; O(n²) more for each value below rounding (narrow kernels).
    Oracle  n fits.
    Laws    equals CV with as many folds as rows.
    Source  Cawley & Talbot (2004); Cawley (2006).
            Numbers of their equations were not at hand.

    Parameters
    ----------
    scale_penalty : bool, default=False
        Whether to train with (n-1)/n of the ridge.
    loss : {"error", "squared", "hinge", "absolute"} or callable, default=None
        Loss to average, as in ``CV``. "squared" is PRESS / n, of classes with targets -1 and +1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import criteria
    >>> criteria.LOO()(np.eye(3), np.array([1.0, 2.0, 2.0]), KernelRidge(kernel="precomputed"))
    3.0
    """

    scale_penalty: bool = False
    loss: Loss | None = None

    name = "loo"
    reads = ("smoother", "left_out")
    revision = 2  # 1 lost the signs of values far below the targets
    formula = "(1/n) Σ loss(y_i, y_i - r_i), r_i = (y_i - f_i) / (1 - H_ii)"
    cost = "one factorisation, then O(n²) a penalty"
    exactness = Exactness.EXACT
    estimates = "leave-one-out, exactly"
    use = "regression with few rows"
    failures = "large variance; duplicated rows leak"

    def __post_init__(self) -> None:
        check_loss(self.loss)

    def path(self, evidence: Evidence) -> Array:
        """The mean loss on rows that were left out."""
        share = (evidence.n - 1) / evidence.n if self.scale_penalty else 1.0
        return left_out_loss(evidence, self.loss, share)

    def tangent(self, evidence: Evidence) -> Gradient:
        """The mean loss with derivatives, from one inverse."""
        share = (evidence.n - 1) / evidence.n if self.scale_penalty else 1.0
        tested = list(np.arange(evidence.n)[:, None])
        return held_out_gradient(evidence, evidence.left_out_tangent(share), tested, self.loss, "points")
