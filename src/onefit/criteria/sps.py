"""Spectral perturbation stability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import Array
from ..kernels import NotDifferentiableError
from ..machines.capabilities import Gradient, symmetric_product
from ..machines.evidence import Evidence
from ._checks import refuse_negative_eigenvalues
from ._mean_losses import empirical_risk
from .base import Criterion, check_factor
from .row_losses import Loss, check_loss


@dataclass(frozen=True)
class SPS(Criterion):
    r"""Empirical risk and the mean change of the eigenvalues when a row is removed.

    .. math:: R_{emp} + \frac{\delta}{n^2} \sum_{ij} |s_j(K) - s_j(K^i)| \quad (exact), \qquad
              R_{emp} + \frac{\delta}{n^2} \sum_{ij} q_{ji}^2 |2 s_j - K_{ii}| \quad (first order)

    The exact double sum is tr K: the eigenvalues interlace, so the absolute values drop. For every kernel with
    K(x, x) = 1 the exact penalty is thus the constant 1/n, and only the first-order one, which the paper computes,
    tells kernels apart: it lies between one and three times the exact one. The paper has no ``delta``;
    that on kernel stability has one (Section VII). Needs a positive semi-definite K. The theorem is one of least
    squares; the paper extends its bound to SVMs, for which the paper on kernel stability compares with this criterion.
    Rows count alike in the risk, whatever they weigh in training.

    Cost    one fit and O(n) exact; one spectrum and O(n²) first order, O(n) for a constant diagonal. A
            K that is not known to be positive semi-definite takes a spectrum in any case.
    Oracle  the eigenvalues of K and of every K^i; a triple loop.
    Laws    the exact penalty is tr K / n²; tr K <= n² (first-order penalty) <= 3 tr K.
    Source  Liu & Liao, Kernel selection with spectral perturbation stability of kernel matrix (2014): equation 2
            (exact), Theorem 3 with equation 6 (first order). The trace is not in it.

    Parameters
    ----------
    exact : bool, default=False
        Whether eigenvalues change exactly, or to first order, as in the paper.
    delta : float or list of float, default=1.0
        Weight of the penalty; of a list a search chooses one by an inner threefold cross-validation.
    loss
        As in ``RKS``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import criteria
    >>> criteria.SPS(exact=True)(np.eye(2), np.array([2.0, 2.0]), KernelRidge(kernel="precomputed"))
    1.5
    """

    exact: bool = False
    delta: Any = 1.0
    loss: Loss | None = None

    name = "sps"
    formula = "R_emp + (δ/n²) Σ q_ji² |2s_j - K_ii|; exact: R_emp + δ tr K / n²"
    cost = "one spectrum, then O(n²) a penalty; exact: one fit"
    estimates = "no error"
    use = "comparison with the paper's tables"
    holds_penalty = True
    failures = "exact: constant for unit-diagonal kernels; first order: falls as a Gaussian narrows"

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", check_factor("delta", self.delta))
        check_loss(self.loss)

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        """The exact form needs no spectrum."""
        return ("gram", "fitted") if self.exact else ("gram", "spectrum", "fitted")

    def path(self, evidence: Evidence) -> Array:
        """Risk plus penalty of every candidate."""
        diagonal = evidence.gram.diagonal  # first: it reads the Gram matrix
        refuse_negative_eigenvalues(evidence, self.name)
        change = float(diagonal.sum()) if self.exact else evidence.once("first order", lambda: _changes(evidence))
        return empirical_risk(evidence, self.loss) + float(self.delta) * change / evidence.n**2

    def tangent(self, evidence: Evidence) -> Gradient:
        """Derivatives with the squared loss of a least-squares machine: one inverse, first order also one spectrum."""
        if self.loss not in (None, "squared") or "smoother" not in evidence.machine.learner.offers:
            raise NotDifferentiableError("Derivatives of sps are those of the squared loss of least-squares machines.")
        inverse = evidence.inverse()
        residuals = inverse.diagonal[:, None] * inverse.dual
        risk = float((residuals**2).mean())
        gram = symmetric_product(inverse.P @ (inverse.diagonal[:, None] * residuals), inverse.dual)
        gram *= -2.0 / residuals.size
        log_ridge = inverse.log_ridge(gram) + 2.0 * risk
        penalty = float(self.delta) / evidence.n**2
        if self.exact:
            gram.flat[:: evidence.n + 1] += penalty
            return Gradient(risk + penalty * float(evidence.gram.diagonal.sum()), gram, log_ridge)
        change, slopes = _changes_and_slopes(evidence.gram.dense())
        return Gradient(risk + penalty * change, gram + penalty * slopes, log_ridge)


def _changes_and_slopes(K: Array) -> tuple[float, Array]:
    r"""``Σ_i [|2K - K_ii I|]_ii`` and its derivative with respect to K, by divided differences of the absolute value.

    With rows q_i of the eigenvectors Q and :math:`a = 2 s - K_{ii}`, the derivative is
    :math:`2 Q G Q^T - \mathrm{diag}(g)`, :math:`G = \sum_i (q_i q_i^T) \circ L_i`,
    :math:`L_i[j, k] = (|a_j| - |a_k|) / (a_j - a_k)`, the sign of :math:`a_j` where they are equal, and
    :math:`g_i = \sum_j q_{ij}^2 \, \mathrm{sign}(a_j)`. Cost: one spectrum, and O(n²) a row.
    """
    values, Q = np.linalg.eigh(K)
    total, G, own = 0.0, np.zeros(K.shape), np.zeros(len(K))
    apart = 2.0 * (values[:, None] - values)
    equal = np.abs(apart) <= 1e-12 * np.abs(values).max(initial=0.0)
    for i, q in enumerate(Q):
        a = 2.0 * values - K[i, i]
        size, sign = np.abs(a), np.sign(a)
        total += float(q**2 @ size)
        own[i] = float(q**2 @ sign)
        divided = np.where(equal, sign[:, None], (size[:, None] - size) / np.where(equal, 1.0, apart))
        G += np.outer(q, q) * divided
    slopes = 2.0 * (Q @ G @ Q.T)
    slopes.flat[:: len(K) + 1] -= own
    return total, np.asarray((slopes + slopes.T) / 2.0)


def _changes(evidence: Evidence) -> float:
    """``Σ_ij q_ji² |2 s_j - K_ii|``."""
    diagonal, spectrum = evidence.gram.diagonal, evidence.spectrum()
    if (diagonal == diagonal[0]).all():
        return float(np.abs(2.0 * evidence.eigenvalues() - diagonal[0]).sum())
    total, step = 0.0, max(1, (1 << 19) // max(1, len(spectrum.values)))
    for start in range(0, evidence.n, step):
        part = slice(start, start + step)
        squares = spectrum.vectors[part] ** 2
        total += float((squares * np.abs(2.0 * spectrum.values - diagonal[part, None])).sum())
        if spectrum.flat is not None:
            rest = np.maximum(1.0 - squares.sum(axis=1), 0.0)
            total += float(rest @ np.abs(2.0 * spectrum.flat - diagonal[part]))
    return total
