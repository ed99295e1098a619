"""Bounds of the papers on spectral perturbation stability and on the spectral measure."""

from __future__ import annotations

import math

from scipy.optimize import minimize_scalar

from ._checks import check_delta, check_positive, check_rows
from .kernel_stability import krr_change, krr_risk_bound, svm_risk_bound


def sps_change(beta: float, *, kappa: float, M: float, lam: float, n: int) -> float:
    r"""How much leaving out one row changes a prediction of regularised least squares, at most.

    .. math:: |f_S(x) - f_{S^i}(x)| \le \frac{\kappa M (\beta + 2 \lambda)}{\lambda^2 (n - 1)}

    Theorem 1 of the paper on spectral perturbation stability: ``krr_change`` of another beta. The proof is invalid:
    Weyl's inequality is used in the wrong direction. With beta = kappa, which is the stability that the paper defines
    for every kernel, the statement follows from others; with the empirical one no violation was found, and there is no
    proof. No more informative than ``krr_change_without_stability``.

    Parameters
    ----------
    beta : float
        Spectral perturbation stability.
    kappa, M, lam, n
        As in ``krr_change``.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> sps_change(1.0, kappa=1.0, M=1.0, lam=1.0, n=4)
    1.0
    """
    return krr_change(beta, kappa=kappa, M=M, lam=lam, n=n)


def sps_risk_bound(
    empirical_risk: float, beta: float, *, kappa: float, M: float, lam: float, n: int, delta: float
) -> float:
    r"""A bound of the squared error through spectral perturbation stability, with probability 1 - delta.

    .. math:: R \le R_{emp} + 2\gamma + (4 n \gamma + Q) \sqrt{\ln(1/\delta)/(2n)}, \qquad
              \gamma = \frac{\kappa M(\beta+2\lambda)}{\lambda^2 (n-1)} (2M + 2\kappa M/\lambda)

    with Q = 2 κ²M²/λ² + 2M²: ``krr_risk_bound`` of another beta. Theorem 2, corrected: the paper has a wrong sign in
    the difference of the losses, and its statement drops the 4n and a factor two. Vacuous unless lam is large: γ falls
    like 1/(lam² n).

    Parameters
    ----------
    empirical_risk : float
        Mean squared error on the training rows.
    delta : float
        Probability of failing.
    beta, kappa, M, lam, n
        As in ``sps_change``.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> from onefit import bounds
    >>> round(bounds.sps_risk_bound(0.1, 1.0, kappa=1.0, M=1.0, lam=1.0, n=1001, delta=0.5), 4)
    1.0925
    """
    return krr_risk_bound(empirical_risk, beta, kappa=kappa, M=M, lam=lam, n=n, delta=delta)


def sps_svm_risk_bound(empirical_risk: float, beta: float, *, kappa: float, lam: float, n: int, delta: float) -> float:
    r"""A bound of the hinge risk of a support vector machine through spectral perturbation stability.

    .. math:: R \le R_{emp} + \sqrt{\frac{Q^2 + 12 Q n \gamma}{2 n \delta}}, \qquad
              \gamma = \frac{\kappa^{3/4}}{\sqrt2 \lambda} \beta^{1/4} \left[1 + (\beta / (4\kappa))^{1/4}\right],
              \quad Q = 1 + \sqrt{\kappa / \lambda}

    with probability 1 - delta. Section 6 of the paper on spectral perturbation stability states it without proof as
    :math:`\sqrt{(Q^2 + 6 Q n \beta^{1/4} (1 + (\beta/(2\kappa))^{1/4})) / (2 n \delta)}` for unnamed constants C, which
    does not occur, and Q. Here the constants are those that the paper on kernel stability proves with: those of
    ``svm_risk_bound``, with 12 in place of 6 (Bousquet & Elisseeff's Theorem 11, from memory).

    The proof would need the norm of K - K^i where ``beta`` bounds differences of eigenvalues, which are never larger:
    Weyl's inequality has the other direction. For beta = kappa, which is the stability that the paper defines for every
    kernel, the change gamma holds nevertheless: coefficients of at most 1/(2nλ) change a prediction of a machine
    without bias by at most kappa/λ. For an empirical beta there is no proof. Vacuous: gamma does not fall with n.

    Parameters
    ----------
    empirical_risk : float
        Mean hinge loss on the training rows.
    beta : float
        Spectral perturbation stability.
    lam : float
        Penalty on the mean loss: C = 1/(2 n lam) in scikit-learn.
    delta : float
        Probability of failing.
    kappa, n
        As in ``krr_change``.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> from onefit import bounds
    >>> round(bounds.sps_svm_risk_bound(0.0, 1.0, kappa=1.0, lam=1.0, n=100, delta=0.5), 3)
    5.386
    """
    return svm_risk_bound(empirical_risk, beta, kappa=kappa, lam=lam, n=n, delta=delta)


def margin_lower_bound(spectral_measure: float, total: float, *, ridge: float) -> float:
    r"""A lower bound of the mean margin of kernel ridge regression on ±1 labels.

    .. math:: \frac1n \sum_i y_i f_i \ge c_0 \, SM, \qquad c_0 = \frac{C}{C + \lambda}, \quad C = \sum_{ij} K_{ij}

    Lemma 1 of the paper on the spectral measure, with the unweighted SM of degree one, ``total`` C and the penalty on
    the *sum* of losses as ``ridge``. The paper's c_0 = C lam / (C + lam) is wrong: K = 11ᵀ, n = 2, lam = 10 violates
    it. True, and weak: SM is at most 1/n.

    Parameters
    ----------
    spectral_measure : float
        ``SM(degree=1, weighted=False)``.
    total : float
        Sum C of all entries of K.
    ridge : float
        Penalty on the sum of losses.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> round(margin_lower_bound(0.5, 4.0, ridge=10.0), 12)
    0.142857142857
    """
    check_positive(total=total)
    if ridge < 0:
        raise ValueError(f"ridge must not be negative, got {ridge!r}.")
    return total / (total + ridge) * spectral_measure


def svm_margin_lower_bound(spectral_measure: float, total: float, *, ridge: float, n: int) -> float:
    r"""A lower bound of the mean margin of a support vector machine without a bias.

    .. math:: \frac1n \sum_i y_i f_i \ge C \left(SM + \frac dn\right), \qquad
              d = \min\{-1, 1 - 1/(2\lambda)\}, \quad C = \sum_{ij} K_{ij}

    Lemma 2 of the paper on the spectral measure, for a K without negative entries, the unweighted SM of degree one (or
    any that is smaller) and the penalty λ on the *sum* of hinge losses. True as printed: the coefficients lie between 0
    and 1/(2λ), and :math:`y^T K (\alpha \circ y) \ge y^T K y - \max_i |\alpha_i - 1| \, C`. An unpenalised bias is not
    covered. Vacuous: SM is at most 1/n and d at most -1, so that the right side is never positive.

    Parameters
    ----------
    spectral_measure, total
        As in ``margin_lower_bound``.
    ridge : float
        Penalty λ: C = 1/(2λ) in scikit-learn.
    n : int
        Number of rows.

    Returns
    -------
    float
        The bound, never positive.

    Examples
    --------
    >>> from onefit import bounds
    >>> bounds.svm_margin_lower_bound(0.25, 16.0, ridge=0.125, n=4)
    -8.0
    """
    check_positive(total=total, ridge=ridge)
    check_rows(n, 1)
    return total * (spectral_measure + min(-1.0, 1.0 - 1.0 / (2.0 * ridge)) / n)


def sm_risk_bound(spectral_measure: float, total: float, *, ridge: float, n: int, delta: float) -> float:
    r"""A bound of the error rate through the spectral measure, with probability 1 - delta.

    .. math:: R \le 1 - c_0 SM + \inf_{0 < \theta \le 1} \left[ \theta + \frac{7\mu + 3\sqrt{3\mu} + 6}{3n}
              + \sqrt{3\mu/n} \right], \qquad
              \mu = \frac{8}{\theta^2} \ln n \ln 2n + \ln\frac{2n}{\delta}

    Theorem 1, corrected (``margin_lower_bound``); the underlying theorem on voting classifiers is as known from the
    literature, and its hypothesis is not met as the paper states it. Vacuous: always above one, since SM is at most 1/n
    and the bracket at least 2/n. Theorem 2 as printed is false (its right side can be negative) and, corrected, always
    above one: it is left out.

    Parameters
    ----------
    spectral_measure, total, ridge
        As in ``margin_lower_bound``.
    n : int
        Number of rows.
    delta : float
        Probability of failing.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> from onefit import bounds
    >>> round(bounds.sm_risk_bound(0.01, 100.0, ridge=1.0, n=100, delta=0.5), 3)
    9.407
    """
    check_delta(delta)
    check_rows(n)

    def bracket(log_theta: float) -> float:
        theta = math.exp(log_theta)
        mu = 8 / theta**2 * math.log(n) * math.log(2 * n) + math.log(2 * n / delta)
        return theta + (7 * mu + 3 * math.sqrt(3 * mu) + 6) / (3 * n) + math.sqrt(3 * mu / n)

    smallest = minimize_scalar(bracket, bounds=(math.log(1e-3), 0.0), method="bounded").fun
    return 1 - margin_lower_bound(spectral_measure, total, ridge=ridge) + float(smallest)
