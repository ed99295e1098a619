"""Approximate leave-one-out: one Newton step from the full solution."""

from __future__ import annotations

from dataclasses import dataclass

from ..core import Exactness
from ..core.evidence import Evidence
from ..core.machine import LEAST_SQUARES
from .base import Array, Criterion
from .leave_one_out import left_out_loss


@dataclass(frozen=True)
class ALO(Criterion):
    r"""Leave-one-out by one Newton step from the full solution.

    .. math:: f_i + \frac{h_i g_i}{1 - w_i h_i}, \qquad g = l', \; w = l'', \quad
              h = \mathrm{diag}\, K (2\gamma I + \mathrm{diag}(w) K)^{-1}

    For the square loss the objective is quadratic: the step is exact and this is LOO.

    Cost    one factorisation, then O(n²) a penalty.
    Oracle  dense matrices; n fits.
    Laws    the limit of BIF with as many folds as rows, whose first term is the infinitesimal jackknife.
    Source  Rad & Maleki (2018); Wang et al. (2018).
    """

    name = "alo"
    reads = ("smoother",)
    learners = (LEAST_SQUARES,)
    formula = "(1/n) Σ loss(y_i, f_i + h_i g_i / (1 - w_i h_i))"
    cost = "one factorisation, then O(n²) a penalty"
    exactness = Exactness.EXACT
    estimates = "leave-one-out, exactly for the square loss"
    use = "comparison; the same as LOO for least squares"
    failures = "as LOO"

    def path(self, evidence: Evidence) -> Array:
        """The mean loss on rows that were left out."""
        return left_out_loss(evidence, evidence.smoother().left_out)
