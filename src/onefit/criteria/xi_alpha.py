"""The xi-alpha estimate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from ..machines.evidence import Evidence
from .base import Criterion


@dataclass(frozen=True)
class XiAlpha(Criterion):
    r"""An upper bound of the leave-one-out error from the slacks and coefficients of one fit.

    .. math:: \frac1n \#\{i : \rho \, \alpha_i R^2 + \xi_i \ge 1\}, \qquad
              R^2 = \max_{ij} (K_{ii} - K_{ij})

    ``rho=2`` is what the proof needs; SVMlight's default of one is no bound. The proof lets the bias take up a constant
    in K. Without a bias, :math:`R^2 = \max_i K_{ii}`, and one is enough: leaving row i out changes
    :math:`y_i f(x_i)` by :math:`\alpha_i K_{ii}` at most (Jaakkola & Haussler, 1999).

    Cost    O(n²), after the fit.
    Oracle  leave-one-out fits, which it is never below.
    Laws    grows with rho.
    Source  Joachims (2000).
            Numbers of their equations were not at hand.

    Parameters
    ----------
    rho : float, default=2.0
        Factor of the coefficients; with less than two it need not be a bound.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from onefit import criteria
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([-1, -1, 1, 1])
    >>> criteria.XiAlpha()(X @ X.T, y, SVC(kernel="precomputed", C=10))
    0.5
    """

    rho: float = 2.0

    name = "xi_alpha"
    reads = ("gram", "margin", "box")
    classes = "two"
    formula = "(1/n) #{i: ρ α_i R² + ξ_i >= 1}"
    cost = "one fit, and O(n²)"
    estimates = "leave-one-out, from above"
    use = "a quick bound for text and other linear kernels"
    failures = "pessimistic: often near the share of support vectors"

    def __post_init__(self) -> None:
        if not self.rho > 0:
            raise ValueError(f"rho must be positive, got {self.rho!r}.")

    def path(self, evidence: Evidence) -> Array:
        """The bound for every candidate."""
        rows = evidence.gram
        smallest = rows.smallest if evidence.machine.learner.bias else 0.0
        factor = self.rho * float((rows.diagonal - smallest).max())
        return evidence.of_margins(lambda margin: float((factor * np.abs(margin.beta) + margin.slacks >= 1).mean()))
