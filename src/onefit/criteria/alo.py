"""Approximate leave-one-out: one Newton step from the full solution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from ..machines.contract import Series
from ..machines.evidence import Evidence
from ._mean_losses import left_out_loss, mean_loss
from .base import Criterion
from .row_losses import Loss, check_loss


@dataclass(frozen=True)
class ALO(Criterion):
    r"""Leave-one-out by one Newton step from the full solution.

    .. math:: f_i + \frac{h_i g_i}{1 - w_i h_i}, \qquad g = l', \; w = l'', \quad
              h = \mathrm{diag}\, K (2\gamma I + \mathrm{diag}(w) K)^{-1}

    The averaged ``loss`` is that of ``CV``. For machines of least squares the objective is quadratic: the step is exact
    and this is LOO. Losses of machines with kinks are smoothed over ``h`` on both sides of them, as in BIF; rows that
    change their side when another one is left out are what the step does not see. Of the logistic loss it does not see
    that curvatures change.

    Cost    one fit, and O(m³) for the m rows at which the loss is curved.
    Oracle  dense matrices; n fits.
    Laws    the sum of the BIF series with as many folds as rows, but for the logistic loss; its first term is the
            infinitesimal jackknife.
    Source  Rad & Maleki (2018); Wang et al. (2018).
            Numbers of their equations were not at hand.

    Parameters
    ----------
    h
        As in ``BIF``.
    loss
        As in ``CV``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import criteria
    >>> criteria.ALO()(np.eye(3), np.array([1.0, 2.0, 2.0]), KernelRidge(kernel="precomputed"))
    3.0
    """

    h: float | None = None
    loss: Loss | None = None

    name = "alo"
    reads = ("series", "left_out")
    formula = "(1/n) Σ loss(y_i, f_i + h_i g_i / (1 - w_i h_i))"
    cost = "one fit, then O(n²) a penalty; SVM: O(m³) for m curved rows"
    estimates = "leave-one-out, exactly for the square loss"
    use = "leave-one-out of support vector machines at the price of one fit"
    failures = "rows that change their side of a kink; small C and narrow kernels"

    def __post_init__(self) -> None:
        Series(np.inf, self.h)  # checks h
        check_loss(self.loss)

    def path(self, evidence: Evidence) -> Array:
        """The mean loss on rows that were left out."""
        if "smoother" in evidence.machine.learner.offers:
            return left_out_loss(evidence, self.loss)
        held = evidence.left_out_by_series(Series(np.inf, self.h, frozen=True))
        return mean_loss(evidence, held, self.loss, "points")
