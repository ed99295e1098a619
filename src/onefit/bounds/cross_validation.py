"""Bounds on the variance of cross-validation, and on the error of its approximation by a series."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

from ..criteria._calling import evidence_of
from ..criteria._mean_losses import check_correlation, fold_means, fold_moments
from ..criteria.row_losses import Loss, check_loss
from ._checks import check_positive, check_rows


@dataclass(frozen=True)
class FoldMoments:
    """Moments of the errors of folds: the arguments of ``cv_variance``.

    Informative as far as the correlation of folds that ``cv_moments`` supposes is right.

    Attributes
    ----------
    k : int
        Number of folds.
    mean : float
        Mean error of a fold, which is that of cross-validation.
    variance : float
        Variance of one fold's error.
    covariance : float
        Covariance of two folds' errors.

    Examples
    --------
    >>> from onefit import bounds
    >>> moments = bounds.FoldMoments(k=5, mean=0.2, variance=0.01, covariance=0.002)
    >>> round(bounds.cv_variance(moments.k, moments.variance, moments.covariance), 6)
    0.0036
    """

    k: int
    mean: float
    variance: float
    covariance: float


def series_error(order: int, rho: float, *, largest: float, ridge: float, start: float) -> float:
    r"""Error of the influence-function series of kernel ridge regression, at most.

    .. math:: \|f^{(r)} - f^{CV}\|_2 \le \sqrt{h_1} \, \frac{\rho^r}{1 - \rho} \, \|H^{1/2} \Delta_i (y - f)\|_2,
              \qquad h_1 = \frac{s_1}{s_1 + n\lambda}

    ``rho`` is the spectral radius of H Δ_i, ``largest`` the largest eigenvalue s_1 of K, ``ridge`` nλ, and ``start``
    the last norm. Infinite for rho >= 1. In place of the paper's Theorem 1, which assumes bounded derivatives of all
    orders: they grow like s! (t-1)^s rho^s, and with the first one alone it claims 2e-7 where the error is 0.36.
    Informative: it falls as the error does, and can come close to it.

    Parameters
    ----------
    order : int
        Order r of the series.
    rho : float
        Spectral radius of H Δ_i.
    largest : float
        Largest eigenvalue of K.
    ridge : float
        Ridge nλ.
    start : float
        Norm of H^(1/2) Δ_i (y - f).

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> series_error(1, 0.5, largest=1.0, ridge=3.0, start=2.0)
    1.0
    """
    check_positive(ridge=ridge)
    if order < 0 or rho < 0 or largest < 0 or start < 0:
        raise ValueError("order, rho, largest and start must not be negative.")
    if rho >= 1:
        return math.inf
    return math.sqrt(largest / (largest + ridge)) * rho**order / (1 - rho) * start


def cv_variance(k: int, fold_variance: float, fold_covariance: float) -> float:
    r"""The variance of k-fold cross-validation from that of one fold's error and the covariance of two folds'.

    .. math:: \mathrm{var}(CV_k) = \tfrac1k \mathrm{var}(\text{fold}) + (1 - \tfrac1k) \, \mathrm{cov}(\text{two folds})

    An identity for folds of equal size, exact at any n. The paper's Theorems 5 and 6 bound the variance by the
    stability of the loss instead and are false: a constant kernel of 1e-6 has a bound of 7e-14 and a variance of
    1.2e-2, that of y² over n. Stability controls the covariance only. ``cv_moments`` estimates the arguments from data.

    Parameters
    ----------
    k : int
        Number of folds.
    fold_variance : float
        Variance of one fold's error.
    fold_covariance : float
        Covariance of two folds' errors.

    Returns
    -------
    float
        The variance.

    Examples
    --------
    >>> cv_variance(4, 8.0, 0.0)
    2.0
    """
    check_rows(k)
    if fold_variance < 0 or abs(fold_covariance) > fold_variance:
        raise ValueError("The covariance of two folds cannot exceed the variance of one, which is not negative.")
    return fold_variance / k + (1 - 1 / k) * fold_covariance


def cv_moments(
    K: Any,
    y: Any,
    estimator: Any,
    *,
    k: int = 5,
    repeats: int = 10,
    correlation: float | None = None,
    random_state: Any = None,
    scale_penalty: bool = False,
    loss: Loss | None = None,
) -> FoldMoments:
    r"""Estimate the variance of one fold's error and the covariance of two folds' by repeated cross-validation.

    .. math:: \hat v = \frac{S^2}{1 - \rho}, \quad \hat c = \rho \hat v, \qquad
              S^2 = \frac1R \sum_{r=1}^R \frac1{k-1} \sum_{i=1}^k (e_{ri} - \bar e_r)^2

    over the errors :math:`e_{ri}` of k folds in each of R repetitions. Variances here are those over samples of n rows
    from the distribution of the data, as in Section V of the paper on kernel stability. Repeating the partition of one
    sample does not tell them: S² estimates v - c without bias, and no universal unbiased estimator of the variance of
    cross-validation exists (Bengio & Grandvalet 2004, as the paper recalls). The ``correlation`` ρ = c/v is therefore
    supposed. The default 1/k, the share of the rows that a fold tests, is the correction of Nadeau & Bengio (2003);
    if folds are in truth independent, it makes ``cv_variance`` too large by the factor (2k - 1)/(k - 1). Informative as
    to the order of magnitude. Repetitions reduce the noise of S², which has k - 1 degrees of freedom otherwise.

    Parameters
    ----------
    K : array of shape (n, n)
        Gram matrix.
    y : array of shape (n,)
        Target.
    estimator : estimator with kernel="precomputed"
        Machine that is cross-validated, exactly.
    k : int, default=5
        Number of folds; of a classifier they are stratified.
    repeats : int, default=10
        Number R of random partitions.
    correlation : float, default=None
        Correlation ρ of two folds' errors, from 0 up to 1. None: 1/k.
    random_state : int, RandomState instance or None, default=None
        Draws the partitions.
    scale_penalty : bool, default=False
        Whether the penalty follows the number of training rows, as in ``criteria.CV``.
    loss : {"error", "squared", "hinge", "absolute"} or callable(y, f), default=None
        Loss that a fold averages, as in ``criteria.CV``. None: wrong labels, or the squared error of a regression.

    Returns
    -------
    FoldMoments
        Moments of the mean loss of a fold.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import bounds
    >>> y = np.ones(20)
    >>> found = bounds.cv_moments(np.zeros((20, 20)), y, KernelRidge(kernel="precomputed"))
    >>> found
    FoldMoments(k=5, mean=1.0, variance=0.0, covariance=0.0)
    >>> bounds.cv_variance(found.k, found.variance, found.covariance)
    0.0
    """
    check_rows(k)
    check_correlation(correlation)
    check_loss(loss)
    splitter = RepeatedStratifiedKFold if is_classifier(estimator) else RepeatedKFold
    cv = splitter(n_splits=k, n_repeats=repeats, random_state=random_state)
    evidence = evidence_of(K, y, estimator, cv, labels=False, held_out=True)
    held = evidence.held(None, scale_penalty)
    means = fold_means(evidence, held, loss)[0]
    if np.isnan(means).any():
        raise ValueError(f"Cross-validation of {estimator}: {evidence.reasons[0]}.")
    variances, covariances = fold_moments(means.reshape(repeats, k), 1.0 / k if correlation is None else correlation)
    return FoldMoments(k, float(means.mean()), float(variances.mean()), float(covariances.mean()))
