"""Stability of learning algorithms: estimates from data, and the bounds of a risk that it gives.

Kernel stability was proposed because these numbers need many fits (Liu, Liao, Zhang, Ren & Wang, Kernel stability for
model selection in kernel-based algorithms, Remark 1); here they can be compared with it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..criteria.row_losses import Loss
from ._checks import check_delta, check_positive, check_rows
from ._retraining import Retraining, draws, read_retraining


def empirical_uniform_stability(
    K: Any, y: Any, estimator: Any, *, loss: Loss | None = None, scale_penalty: bool = False
) -> float:
    r"""The largest change of a loss on the data when a row is left out.

    .. math:: \hat\gamma = \max_{i,j} |\ell(f_S(x_j), y_j) - \ell(f_{S^i}(x_j), y_j)|

    Remark 1 of the paper on kernel stability, an estimate of the uniform stability of its Definition 1 from below:
    the supremum over samples and new rows is replaced by the maximum over the data. The paper prints S without the
    fold S_i where S without row i is meant, and counts n² fits where n + 1 are enough. Informative about these data;
    no bound of a risk follows from an estimate from below.

    Parameters
    ----------
    K : array of shape (n, n)
        Gram matrix.
    y : array of shape (n,)
        Labels of two classes, or a real target.
    estimator : estimator with kernel="precomputed"
        Trained n + 1 times.
    loss : {"squared", "hinge", "absolute"} or callable(y, f), default=None
        Loss of targets (-1 and +1 of classes) and decision values. None: that of the machine in ``criteria.RKS``,
        squared for least squares, hinge for support vector classification, epsilon-insensitive for regression.
    scale_penalty : bool, default=False
        Whether the penalty follows the number of training rows, as in the papers, whose λ multiplies the mean loss.

    Returns
    -------
    float
        The largest change over all pairs of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import bounds
    >>> model = KernelRidge(kernel="precomputed")
    >>> round(bounds.empirical_uniform_stability(np.eye(2), np.array([2.0, 0.0]), model), 12)
    3.0
    """
    return float(np.abs(_changes(read_retraining(K, y, estimator, loss, scale_penalty))).max())


def pointwise_hypothesis_stability(
    K: Any, y: Any, estimator: Any, *, loss: Loss | None = None, scale_penalty: bool = False
) -> float:
    r"""The mean change of the loss of a row when that row is left out.

    .. math:: \hat\gamma = \frac1n \sum_i |\ell(f_S(x_i), y_i) - \ell(f_{S^i}(x_i), y_i)|

    An unbiased estimate of the pointwise hypothesis stability of Bousquet & Elisseeff, which Remarks 4 and 5 of the
    paper on kernel stability refer to. Informative: never above the empirical uniform stability. Put into
    ``pointwise_hypothesis_stability_bound`` it gives a number that is a bound up to its own sampling error only.

    Parameters
    ----------
    K, y, estimator, loss, scale_penalty
        As in ``empirical_uniform_stability``.

    Returns
    -------
    float
        The mean change over all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import bounds
    >>> model = KernelRidge(kernel="precomputed")
    >>> round(bounds.pointwise_hypothesis_stability(np.eye(2), np.array([2.0, 0.0]), model), 12)
    1.5
    """
    return float(np.abs(_changes(read_retraining(K, y, estimator, loss, scale_penalty)).diagonal()).mean())


def hypothesis_stability(
    K: Any,
    y: Any,
    estimator: Any,
    *,
    train_size: int | None = None,
    repeats: int = 20,
    random_state: Any = None,
    loss: Loss | None = None,
    scale_penalty: bool = False,
) -> float:
    r"""The mean change of the loss of a new row when a training row is left out.

    .. math:: \gamma = E_{T, z} |\ell(f_T(x), y) - \ell(f_{T^i}(x), y)|

    The hypothesis stability of Bousquet & Elisseeff for ``train_size`` rows, which Remarks 4 and 5 of the paper on
    kernel stability refer to. The estimate averages over random T, and over all rows outside T as new ones; it is
    unbiased. Informative, for samples of ``train_size`` rows.

    Parameters
    ----------
    K, y, estimator, loss, scale_penalty
        As in ``empirical_uniform_stability``; the penalty is that of all n rows.
    train_size : int, default=None
        Number of rows in T, at most n - 3. None: half of them.
    repeats : int, default=20
        Number of draws, of two fits each.
    random_state : int, RandomState instance or None, default=None
        Draws the rows.

    Returns
    -------
    float
        The mean change.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import bounds
    >>> bounds.hypothesis_stability(np.eye(8), np.arange(8.0), KernelRidge(kernel="precomputed"))
    0.0
    """
    problem = read_retraining(K, y, estimator, loss, scale_penalty)
    changes = []
    for draw in draws(problem.n, train_size, repeats, random_state):
        tested = np.append(draw.rest, draw.replacement)
        changes.append(np.abs(problem.losses(draw.train, tested) - problem.losses(draw.without, tested)).mean())
    return float(np.mean(changes))


def loss_stability(
    K: Any,
    y: Any,
    estimator: Any,
    *,
    train_size: int | None = None,
    repeats: int = 20,
    random_state: Any = None,
    loss: Loss | None = None,
    scale_penalty: bool = False,
) -> float:
    r"""The mean squared change of the centred loss of a new row when a training row is replaced by another.

    .. math:: ls = E_{T, z', z} [\ell'(f_T(x), y) - \ell'(f_{T^{z'}}(x), y)]^2, \qquad
              \ell' = \ell - E_z \ell

    Definition 3 of the paper on kernel stability, after Kumar, Lokshtanov, Vassilvitskii & Vattani (2013), for
    ``train_size`` rows; the first of the two losses lacks its prime in print. Given T and z' it is the variance
    of the difference of the losses over new rows, which is estimated without bias from all rows outside T and z'.
    Informative: it bounds the covariance, over samples, of the mean centred losses :math:`\ell'` of two folds. The
    variance of one fold and the covariance of the risks of two folds' machines, which centring takes away, are not
    bounded by it: Theorem 5 of the paper is false.

    Parameters
    ----------
    K, y, estimator, loss, scale_penalty, train_size, repeats, random_state
        As in ``hypothesis_stability``.

    Returns
    -------
    float
        The mean over all draws.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import bounds
    >>> bounds.loss_stability(np.eye(8), np.arange(8.0), KernelRidge(kernel="precomputed"))
    0.0
    """
    problem = read_retraining(K, y, estimator, loss, scale_penalty)
    variances = []
    for draw in draws(problem.n, train_size, repeats, random_state):
        change = problem.losses(draw.train, draw.rest) - problem.losses(draw.replaced, draw.rest)
        variances.append(change.var(ddof=1))
    return float(np.mean(variances))


def uniform_stability_bound(empirical_risk: float, stability: float, *, Q: float, n: int, delta: float) -> float:
    r"""A bound of the risk of an algorithm of known uniform stability, with probability 1 - delta.

    .. math:: R \le R_{emp} + 2 \gamma + (4 n \gamma + Q) \sqrt{\ln(1/\delta) / (2n)}

    for losses from 0 to ``Q``. Theorem B1 of the paper on spectral perturbation stability, which is Theorem 12 of
    Bousquet & Elisseeff (2002). Remark 5 of the paper on kernel stability keeps the middle term only,
    :math:`n \gamma \sqrt{\ln(1/\delta)/n}`. Informative where gamma falls faster than 1/√n; an empirical stability is
    no upper bound of gamma.

    Parameters
    ----------
    empirical_risk : float
        Mean loss on the training rows.
    stability : float
        Uniform stability gamma, a supremum over samples.
    Q : float
        Largest loss.
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
    >>> import math
    >>> from onefit import bounds
    >>> round(bounds.uniform_stability_bound(0.25, 0.0, Q=1.0, n=50, delta=math.exp(-1)), 12)
    0.35
    """
    _check_bound(stability, Q, n, delta)
    return empirical_risk + 2 * stability + (4 * n * stability + Q) * math.sqrt(math.log(1 / delta) / (2 * n))


def hypothesis_stability_bound(left_out_risk: float, stability: float, *, Q: float, n: int, delta: float) -> float:
    r"""A bound of the risk of an algorithm of known hypothesis stability, with probability 1 - delta.

    .. math:: R \le R_{loo} + \sqrt{\frac{Q^2 + 6 Q n \gamma}{2 n \delta}}

    for losses from 0 to ``Q``: Theorem 11 of Bousquet & Elisseeff (2002), constants from memory. It bounds the risk by
    the leave-one-out risk. Remark 5 of the paper on kernel stability prints :math:`R_{emp} + \sqrt{\gamma/\delta}`: the
    empirical risk and no Q, which does not follow. Vacuous for small delta: it grows like 1/√delta.

    Parameters
    ----------
    left_out_risk : float
        Mean leave-one-out loss.
    stability : float
        Hypothesis stability gamma.
    Q, n, delta
        As in ``uniform_stability_bound``.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> from onefit import bounds
    >>> bounds.hypothesis_stability_bound(0.5, 0.0, Q=1.0, n=50, delta=0.25)
    0.7
    """
    _check_bound(stability, Q, n, delta)
    return left_out_risk + math.sqrt((Q**2 + 6 * Q * n * stability) / (2 * n * delta))


def pointwise_hypothesis_stability_bound(
    empirical_risk: float, stability: float, *, Q: float, n: int, delta: float
) -> float:
    r"""A bound of the risk of an algorithm of known pointwise hypothesis stability, with probability 1 - delta.

    .. math:: R \le R_{emp} + \sqrt{\frac{Q^2 + 12 Q n \gamma}{2 n \delta}}

    for losses from 0 to ``Q``: Theorem 11 of Bousquet & Elisseeff (2002), constants from memory. Remark 5 of the paper
    on kernel stability prints :math:`R_{emp} + \sqrt{\gamma/\delta}`, without Q. Vacuous for small delta: it grows like
    1/√delta.

    Parameters
    ----------
    empirical_risk, Q, n, delta
        As in ``uniform_stability_bound``.
    stability : float
        Pointwise hypothesis stability gamma.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> from onefit import bounds
    >>> bounds.pointwise_hypothesis_stability_bound(0.5, 0.0, Q=1.0, n=50, delta=0.25)
    0.7
    """
    _check_bound(stability, Q, n, delta)
    return empirical_risk + math.sqrt((Q**2 + 12 * Q * n * stability) / (2 * n * delta))


def _changes(problem: Retraining) -> np.ndarray:
    """Loss of row j less its loss without row i (n, n), row i of the array for row i of the data."""
    check_rows(problem.n)
    everything = np.arange(problem.n)
    full = problem.losses(everything, everything)
    return np.array([full - problem.losses(np.delete(everything, i), everything) for i in everything])


def _check_bound(stability: float, Q: float, n: int, delta: float) -> None:
    check_delta(delta)
    check_rows(n, 1)
    check_positive(Q=Q)
    if stability < 0:
        raise ValueError(f"stability must not be negative, got {stability!r}.")
