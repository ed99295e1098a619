"""Principal eigenvalue proportion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import Array
from ..machines.evidence import Evidence
from ._eigenvalue_sums import check_components, head_and_tail
from .base import Criterion


@dataclass(frozen=True)
class PEP(Criterion):
    r"""Principal eigenvalue proportion: the share of the trace that the t leading eigenvalues hold.

    .. math:: PEP_t = \sum_{j \le t} s_j / \sum_j s_j

    Negative eigenvalues count as zero; NaN for K = 0.

    The four papers only cite it, the one on the spectral measure in Section 1. The formula is as known from the
    literature, not compared with the source, and ⌊√n⌋ is a choice made here.

    Cost    one spectrum.
    Oracle  all eigenvalues.
    Laws    invariant to scaling of K; 1 if the rank is at most t; PEP = ER / (1 + ER).
    Source  Liu, Liao, Lin, Yue & Wang, Infinite kernel learning: generalization bounds and algorithms, and
            Generalization analysis for ranking using integral operator, both AAAI 2017.

    Parameters
    ----------
    components : int, "sqrt" or list of these, default="sqrt"
        Number t of leading eigenvalues; "sqrt" is ⌊√n⌋.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import criteria
    >>> criteria.PEP(components=1)(np.diag([3.0, 1.0]), None)
    0.75
    """

    components: Any = "sqrt"

    name = "pep"
    reads = ("spectrum",)
    greater_is_better = True
    formula = "Σ_{j<=t} s_j / Σ s_j"
    cost = "one spectrum"
    estimates = "no error"
    use = "comparison; how fast a spectrum decays"
    failures = "reads no labels: prefers the widest kernel"

    def __post_init__(self) -> None:
        object.__setattr__(self, "components", check_components(self.components))

    def path(self, evidence: Evidence) -> Array:
        """The value of the kernel, once for every candidate: it does not depend on the penalty."""
        head, tail = head_and_tail(evidence, self.components)
        return np.full(evidence.size, head / (head + tail) if head > 0 else np.nan)
