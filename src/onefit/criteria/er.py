"""Eigenvalue ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import Array
from ..machines.evidence import Evidence
from ._eigenvalue_sums import check_components, head_and_tail
from ._mean_losses import empirical_risk
from .base import Criterion, check_factor


@dataclass(frozen=True)
class ER(Criterion):
    r"""Empirical risk and the inverse of the eigenvalue ratio.

    .. math:: R_{emp} + \eta / ER_t, \qquad ER_t = \sum_{j \le t} s_j / \sum_{j > t} s_j

    If the rank is at most t the ratio is infinite and the risk alone remains; NaN for K = 0.

    The four papers print no formula of it: the one on the spectral measure compares with it (Section 5), says that it
    has two parameters (Section 1), and gives no value of either. The formula is as known from the literature, not
    compared with the source, and ⌊√n⌋ and η = 1 are choices made here.

    Cost    one spectrum, then O(n²) a penalty.
    Oracle  all eigenvalues, and a fit.
    Laws    the penalty is invariant to scaling of K.
    Source  Liu & Liao, Eigenvalues ratio for kernel selection of kernel methods, AAAI 2015.

    Parameters
    ----------
    components : int, "sqrt" or list of these, default="sqrt"
        Number t of leading eigenvalues; "sqrt" is ⌊√n⌋.
    eta : float or list of float, default=1.0
        Weight of the penalty; of a list a search chooses one by an inner threefold cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import criteria
    >>> K, y, ridge = np.diag([3.0, 1.0]), np.array([2.0, 2.0]), KernelRidge(kernel="precomputed")
    >>> round(criteria.ER(components=1)(K, y, ridge), 4)
    0.9583
    """

    components: Any = "sqrt"
    eta: Any = 1.0

    name = "er"
    reads = ("spectrum", "smoother")
    formula = "R_emp + η Σ_{j>t} s_j / Σ_{j<=t} s_j"
    cost = "one spectrum, then O(n²) a penalty"
    estimates = "no error"
    use = "comparison with the papers' tables"
    failures = "two parameters of its own; prefers wide kernels for large η"

    def __post_init__(self) -> None:
        object.__setattr__(self, "components", check_components(self.components))
        object.__setattr__(self, "eta", check_factor("eta", self.eta))

    def path(self, evidence: Evidence) -> Array:
        """Risk plus penalty of every candidate."""
        head, tail = head_and_tail(evidence, self.components)
        penalty = float(self.eta) * tail / head if head > 0 else np.nan
        return empirical_risk(evidence) + penalty
