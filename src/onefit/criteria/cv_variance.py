"""Cross-validation and an estimate of its variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import Array
from ..machines.evidence import Evidence
from ._mean_losses import check_correlation, fold_means, fold_moments, tested_share
from .base import Criterion, check_factor
from .row_losses import Loss, check_loss


@dataclass(frozen=True)
class CVVariance(Criterion):
    r"""Cross-validation and an estimate of its variance.

    .. math:: CV_k + \eta \left[\frac1k v + \left(1 - \frac1k\right) c\right], \qquad
              v = \frac{S^2}{1 - \rho}, \quad c = \rho v

    with the mean of the folds' mean losses as :math:`CV_k` (``loss`` and weights of rows as in ``CV``), the sample
    variance S² of these means, and the ``correlation`` ρ of two folds.

    In the paper the variance is that of :math:`CV_k` over samples S of n rows from the distribution of the data,
    :math:`E_S [CV_k(S) - E_S CV_k(S)]^2`. The paper says that it cannot be computed, since the distribution is
    unknown, and replaces it by kernel stability (``CVKS``), through Theorem 5, which is false. With the variance v of
    one fold and the covariance c of two it is the bracket above. One sample of data tells v - c only, which S²
    estimates without bias. The default ρ is the share of the rows that a split tests, 1/k: the correction of Nadeau &
    Bengio. It makes the bracket :math:`S^2 (1/k + 1/(k-1))`. Folds that are independent have ρ = 0.

    Of repeated cross-validation all folds count as k.

    Cost    that of exact cross-validation.
    Oracle  retraining on every fold.
    Laws    eta = 0 is cross-validation that averages folds; with squared error V(c y) = c² CV + c⁴ (V - CV) for V(y).
    Source  Liu, Liao, Zhang, Ren & Wang, Kernel stability for model selection in kernel-based algorithms, Section V
            (not numbered); Nadeau & Bengio (2003) for the correlation.

    Parameters
    ----------
    eta : float or list of float, default=1.0
        Weight of the penalty; of a list a search chooses one by an inner threefold cross-validation.
    correlation : float, default=None
        Correlation of two folds' errors, from 0 up to 1; None: the share of the rows that a split tests.
    scale_penalty, loss
        As in ``CV``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import criteria
    >>> K, y = np.zeros((4, 4)), np.array([1.0, 1.0, 3.0, 3.0])  # errors of two folds: 1 and 9
    >>> criteria.CVVariance(eta=0.125, correlation=0.0)(K, y, KernelRidge(kernel="precomputed"), cv=2)
    7.0
    """

    eta: Any = 1.0
    correlation: float | None = None
    scale_penalty: bool = False
    loss: Loss | None = None

    name = "cv_variance"
    reads = ("heldout",)
    formula = "CV + η (v/k + (1 - 1/k) c), v and c the variance and covariance of folds"
    cost = "that of CV"
    estimates = "the error on new data, with a penalty for its uncertainty"
    use = "comparison with CVKS, which has kernel stability in place of the variance"
    failures = "the variance of k numbers is noisy; the correlation of folds is supposed, not estimated"

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", check_factor("eta", self.eta))
        check_correlation(self.correlation)
        check_loss(self.loss)

    def path(self, evidence: Evidence) -> Array:
        """Mean and penalty of every candidate."""
        held = evidence.held(None, self.scale_penalty)
        means = fold_means(evidence, held, self.loss)
        k = means.shape[1]
        if k < 2:
            evidence.reasons.append("the variance of cross-validation needs two splits or more")
            return np.full(evidence.size, np.nan)
        share = tested_share(held) if self.correlation is None else self.correlation
        variance, covariance = fold_moments(means, share)
        return np.asarray(means.mean(axis=1) + float(self.eta) * (variance / k + (1 - 1 / k) * covariance))
