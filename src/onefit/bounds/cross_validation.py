"""What can be said of cross-validation and of its approximation by a series."""

from __future__ import annotations

import math

from .checks import check_positive, check_rows


def series_error(order: int, rho: float, *, largest: float, ridge: float, start: float) -> float:
    r"""Error of the influence-function series of kernel ridge regression, at most.

    .. math:: \|f^{(r)} - f^{CV}\|_2 \le \sqrt{h_1} \, \frac{\rho^r}{1 - \rho} \, \|H^{1/2} \Delta_i (y - f)\|_2,
              \qquad h_1 = \frac{s_1}{s_1 + n\lambda}

    ``rho`` is the spectral radius of H Δ_i, ``largest`` the largest eigenvalue s_1 of K, ``ridge`` nλ, and ``start``
    the last norm. Infinite for rho >= 1. In place of the paper's Theorem 1, which assumes bounded derivatives of all
    orders: they grow like s! (t-1)^s rho^s, and with the first one alone it claims 2e-7 where the error is 0.36.
    Informative: it falls as the error does, and can come close to it.

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
    1.2e-2, that of y² over n. Stability controls the covariance only.

    >>> cv_variance(4, 8.0, 0.0)
    2.0
    """
    check_rows(k)
    if fold_variance < 0 or abs(fold_covariance) > fold_variance:
        raise ValueError("The covariance of two folds cannot exceed the variance of one, which is not negative.")
    return fold_variance / k + (1 - 1 / k) * fold_covariance
