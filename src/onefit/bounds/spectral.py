"""Bounds of the papers on spectral perturbation stability and on the spectral measure."""

from __future__ import annotations

import math

from scipy.optimize import minimize_scalar

from .checks import check_delta, check_positive, check_rows


def sps_change(beta: float, *, kappa: float, M: float, lam: float, n: int) -> float:
    r"""How much leaving out one row changes a prediction of regularised least squares, at most.

    .. math:: |f_S(x) - f_{S^i}(x)| \le \frac{\kappa M (\beta + 2 \lambda)}{\lambda^2 (n - 1)}

    Theorem 1 of the paper on spectral perturbation stability, whose proof is invalid: Weyl's inequality is used in the
    wrong direction. With beta = kappa, which is the stability that the paper defines for every kernel, the statement
    follows from others; with the empirical one no violation was found, and there is no proof. No more informative than
    ``krr_change_without_stability``.

    >>> sps_change(1.0, kappa=1.0, M=1.0, lam=1.0, n=4)
    1.0
    """
    check_positive(kappa=kappa, lam=lam, M=M)
    check_rows(n)
    return kappa * M * (beta + 2 * lam) / (lam**2 * (n - 1))


def sps_risk_bound(
    empirical_risk: float, beta: float, *, kappa: float, M: float, lam: float, n: int, delta: float
) -> float:
    r"""A bound of the squared error through spectral perturbation stability, with probability 1 - delta.

    .. math:: R \le R_{emp} + 2\gamma + (4 n \gamma + Q) \sqrt{\ln(1/\delta)/(2n)}, \qquad
              \gamma = \frac{\kappa M(\beta+2\lambda)}{\lambda^2 (n-1)} (2M + 2\kappa M/\lambda)

    with Q = 2 κ²M²/λ² + 2M². Theorem 2, corrected: the paper has a wrong sign in the difference of the losses, and its
    statement drops the 4n and a factor two. Vacuous unless lam is large: γ falls like 1/(lam² n).
    """
    check_delta(delta)
    gamma = sps_change(beta, kappa=kappa, M=M, lam=lam, n=n) * (2 * M + 2 * kappa * M / lam)
    Q = 2 * (kappa * M / lam) ** 2 + 2 * M**2
    return empirical_risk + 2 * gamma + (4 * n * gamma + Q) * math.sqrt(math.log(1 / delta) / (2 * n))


def margin_lower_bound(spectral_measure: float, total: float, *, ridge: float) -> float:
    r"""What the mean margin of kernel ridge regression on ±1 labels is at least.

    .. math:: \frac1n \sum_i y_i f_i \ge c_0 \, SM, \qquad c_0 = \frac{C}{C + \lambda}, \quad C = \sum_{ij} K_{ij}

    Lemma 1 of the paper on the spectral measure, with the unweighted SM of degree one, ``total`` C and the penalty on
    the *sum* of losses as ``ridge``. The paper's c_0 = C lam / (C + lam) is wrong: K = 11ᵀ, n = 2, lam = 10 violates
    it. True, and weak: SM is at most 1/n.

    >>> round(margin_lower_bound(0.5, 4.0, ridge=10.0), 12)
    0.142857142857
    """
    check_positive(total=total)
    if ridge < 0:
        raise ValueError(f"ridge must not be negative, got {ridge!r}.")
    return total / (total + ridge) * spectral_measure


def sm_risk_bound(spectral_measure: float, total: float, *, ridge: float, n: int, delta: float) -> float:
    r"""A bound of the error rate through the spectral measure, with probability 1 - delta.

    .. math:: R \le 1 - c_0 SM + \inf_{0 < \theta \le 1} \left[ \theta + \frac{7\mu + 3\sqrt{3\mu} + 6}{3n}
              + \sqrt{3\mu/n} \right], \qquad
              \mu = \frac{8}{\theta^2} \ln n \ln 2n + \ln\frac{2n}{\delta}

    Theorem 1, corrected (``margin_lower_bound``); the underlying theorem on voting classifiers is as known from the
    literature, and its hypothesis is not met as the paper states it. Vacuous: always above one, since SM is at most 1/n
    and the bracket at least 2/n. Theorem 2 as printed is false (its right side can be negative) and, corrected, always
    above one: it is left out.
    """
    check_delta(delta)
    check_rows(n)

    def bracket(log_theta: float) -> float:
        theta = math.exp(log_theta)
        mu = 8 / theta**2 * math.log(n) * math.log(2 * n) + math.log(2 * n / delta)
        return theta + (7 * mu + 3 * math.sqrt(3 * mu) + 6) / (3 * n) + math.sqrt(3 * mu / n)

    smallest = minimize_scalar(bracket, bounds=(math.log(1e-3), 0.0), method="bounded").fun
    return 1 - margin_lower_bound(spectral_measure, total, ridge=ridge) + float(smallest)
