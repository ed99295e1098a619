"""Bounds through kernel stability: Liu, Liao, Zhang, Ren & Wang, Kernel stability for model selection."""

from __future__ import annotations

import math

from ._checks import check_positive, check_rows
from .learner_stability import pointwise_hypothesis_stability_bound, uniform_stability_bound


def krr_change(beta: float, *, kappa: float, M: float, lam: float, n: int) -> float:
    r"""How much leaving out one row changes a prediction of kernel ridge regression, at most.

    .. math:: |f_S(x) - f_{S^i}(x)| \le \frac{C_1 \beta + C_2}{n - 1}, \qquad
              C_1 = \kappa M / \lambda^2, \quad C_2 = 2 \kappa M / \lambda

    Theorem 8. Holds with the empirical stability of a Gram matrix in all experiments, to about half of its value. Not
    informative beyond ``krr_change_without_stability``, which is never larger, since beta is at least kappa.

    Parameters
    ----------
    beta : float
        Kernel stability, such as ``criteria.kernel_stability(K)``.
    kappa : float
        Bound of K(x, x).
    M : float
        Bound of \|y\|.
    lam : float
        Penalty on the mean loss.
    n : int
        Number of rows.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> krr_change(1.0, kappa=1.0, M=1.0, lam=1.0, n=11)
    0.3
    """
    check_positive(kappa=kappa, lam=lam, M=M)
    check_rows(n)
    return (kappa * M / lam**2 * beta + 2 * kappa * M / lam) / (n - 1)


def krr_change_without_stability(*, kappa: float, M: float, lam: float, n: int) -> float:
    r"""How much leaving out one row changes a prediction of kernel ridge regression, without kernel stability.

    .. math:: |f_S(x) - f_{S^i}(x)| \le \frac{\kappa M}{\lambda n} \left(1 + \sqrt{\kappa / \lambda}\right)

    In the manner of Bousquet & Elisseeff; informative for lam well above kappa / n.

    Parameters
    ----------
    kappa, M, lam, n
        As in ``krr_change``.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> krr_change_without_stability(kappa=1.0, M=1.0, lam=1.0, n=10)
    0.2
    """
    check_positive(kappa=kappa, lam=lam, M=M)
    check_rows(n)
    return kappa * M / (lam * n) * (1 + math.sqrt(kappa / lam))


def krr_uniform_stability(beta: float, *, kappa: float, M: float, lam: float, n: int) -> float:
    r"""Uniform stability of the squared loss of kernel ridge regression.

    .. math:: \gamma = \frac{C_1 \beta + C_2}{n - 1} (2 M + 2 \kappa M / \lambda)

    Theorem 1. Decays like 1/√n only, since the empirical beta of a fixed Gaussian kernel grows like √n.

    Parameters
    ----------
    beta, kappa, M, lam, n
        As in ``krr_change``.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> krr_uniform_stability(1.0, kappa=1.0, M=1.0, lam=1.0, n=11)
    1.2
    """
    return krr_change(beta, kappa=kappa, M=M, lam=lam, n=n) * (2 * M + 2 * kappa * M / lam)


def krr_loss_stability(beta: float, *, kappa: float, M: float, lam: float, n: int) -> float:
    r"""Loss stability of the squared loss of kernel ridge regression on n rows, at most.

    .. math:: ls \le (2 \gamma)^2, \qquad \gamma = \frac{C_1 \beta + C_2}{n - 1} (2 M + 2 \kappa M / \lambda)

    Equation 18 in the proof of Theorem 5, corrected: the paper has :math:`\gamma^2`, the change when a row is removed,
    where the definition of ``loss_stability`` replaces a row. Replacing is removing and adding, so that the loss can
    change by twice as much. ``beta`` is that of both samples. That it bounds the variance of one fold, equation 19, is
    false: see ``loss_stability``. Decays like 1/n only, since the empirical
    beta of a fixed Gaussian kernel grows like √n.

    Parameters
    ----------
    beta : float
        Kernel stability of the training rows, before and after the replacement.
    n : int
        Number of training rows: (k - 1)/k of the data in k-fold cross-validation.
    kappa, M, lam
        As in ``krr_change``.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> from onefit import bounds
    >>> round(bounds.krr_loss_stability(1.0, kappa=1.0, M=1.0, lam=1.0, n=11), 12)
    5.76
    """
    return (2 * krr_uniform_stability(beta, kappa=kappa, M=M, lam=lam, n=n)) ** 2


def krr_risk_bound(
    empirical_risk: float, beta: float, *, kappa: float, M: float, lam: float, n: int, delta: float
) -> float:
    r"""A bound of the squared error of kernel ridge regression with probability 1 - delta.

    .. math:: R \le R_{emp} + 2 \gamma + (4 n \gamma + Q) \sqrt{\ln(1/\delta) / (2n)}, \qquad
              Q = 2 \kappa^2 M^2 / \lambda^2 + 2 M^2

    Theorem 3, gamma as in ``krr_uniform_stability``. The paper cites Bousquet & Elisseeff's Theorem 11; the exponential
    bound is their Theorem 12. Vacuous: with beta of order √n the last term does not vanish.

    Parameters
    ----------
    empirical_risk : float
        Mean squared error on the training rows.
    delta : float
        Probability of failing.
    beta, kappa, M, lam, n
        As in ``krr_change``.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> from onefit import bounds
    >>> round(bounds.krr_risk_bound(0.1, 1.0, kappa=1.0, M=1.0, lam=1.0, n=1001, delta=0.5), 4)
    1.0925
    """
    gamma = krr_uniform_stability(beta, kappa=kappa, M=M, lam=lam, n=n)
    return uniform_stability_bound(empirical_risk, gamma, Q=2 * (kappa * M / lam) ** 2 + 2 * M**2, n=n, delta=delta)


def svm_change(beta: float, *, kappa: float, lam: float) -> float:
    r"""How much leaving out one row changes a prediction of a support vector machine, at most.

    .. math:: \gamma = \frac{\kappa^{3/4}}{\sqrt2 \lambda} \beta^{1/4} \left[1 + (\beta / (4\kappa))^{1/4}\right]

    What the proof of Theorem 2 gives; the headline O(beta) is false for small beta. Uses a proposition of Cortes,
    Mohri & Talwalkar (2010), not compared with the source, and, as the paper, neglects 1/n against 1/(n-1). Vacuous: it
    does not fall with n.

    Parameters
    ----------
    beta, kappa, lam
        As in ``krr_change``.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> round(svm_change(4.0, kappa=1.0, lam=1.0), 12)
    2.0
    """
    check_positive(kappa=kappa, lam=lam)
    return float(kappa**0.75 / (math.sqrt(2) * lam) * beta**0.25 * (1 + (beta / (4 * kappa)) ** 0.25))


def svm_risk_bound(empirical_risk: float, beta: float, *, kappa: float, lam: float, n: int, delta: float) -> float:
    r"""A bound of the hinge risk of a support vector machine with probability 1 - delta.

    .. math:: R \le R_{emp} + \sqrt{(Q^2 + 12 Q n \gamma) / (2 n \delta)}, \qquad Q = 1 + \sqrt{\kappa / \lambda}

    What Theorem 4 should read, by Bousquet & Elisseeff's Theorem 11 (constants not compared with the source). The
    paper's Q = 1 + lam kappa is wrong, and its sqrt(beta²/delta) does not follow. Vacuous: gamma, which is
    ``svm_change``, does not fall with n.

    Parameters
    ----------
    empirical_risk : float
        Mean hinge loss on the training rows.
    delta : float
        Probability of failing.
    beta, kappa, lam, n
        As in ``krr_change``.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> from onefit import bounds
    >>> round(bounds.svm_risk_bound(0.0, 1.0, kappa=1.0, lam=1.0, n=100, delta=0.5), 4)
    5.3861
    """
    gamma = svm_change(beta, kappa=kappa, lam=lam)
    return pointwise_hypothesis_stability_bound(empirical_risk, gamma, Q=1 + math.sqrt(kappa / lam), n=n, delta=delta)
