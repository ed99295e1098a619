"""What a feasible dual point proves about held-out values, literally: kinks, sorted one by one, at every row.

The sums are exact, or nearly: with penalties that are whole multiples of one number they cross zero on an interval,
which rounding would hide.
"""

import math

import numpy as np

from .support_vector import gaussian

KERNELS = {
    "wide": lambda X: gaussian(X, 0.05),
    "narrow": lambda X: gaussian(X, 20.0),
    "linear": lambda X: X @ X.T,
    "polynomial": lambda X: (X @ X.T / 2 + 1) ** 3,
    "laplacian": lambda X: np.exp(-np.abs(X[:, None] - X[None]).sum(axis=2)),
    "duplicated": lambda X: gaussian(X[np.arange(len(X)) // 2], 0.5),
    "identity": lambda X: np.eye(len(X)),
    "ones": lambda X: np.ones((len(X), len(X))),
}
"""Gram matrices that are positive semi-definite in double precision."""


def balanced(beta, lower, upper):
    """``beta`` within the bounds with a sum of zero: coefficients give up what is too much, one after the other."""
    beta = np.clip(beta, lower, upper)
    for i in np.argsort(-np.abs(beta)):
        beta[i] = np.clip(beta[i] - math.fsum(beta), lower[i], upper[i])
    return beta


def duality_gap(K, beta, b, loss, ridge, target, epsilon):
    """Primal less dual value, in more than double precision, never negative. ``loss`` maps f to the sum of losses."""
    K, beta = K.astype(np.longdouble), beta.astype(np.longdouble)
    u = K @ beta
    primal = beta @ u / 2 + loss(u + b)
    dual = target @ beta - beta @ u / 2 - ridge @ beta**2 / 2 - epsilon * np.abs(beta).sum()
    return max(0.0, float(primal - dual))


def kink_table(target, lower, upper, epsilon):
    """[(place, by how much the sum of the coefficients falls there, row)], and the sum before all of them."""
    kinks = []
    for i, t in enumerate(target):
        if epsilon == 0:
            kinks.append((t, upper[i] - lower[i], i))
        else:
            kinks += [(t - epsilon, upper[i], i), (t + epsilon, -lower[i], i)]
    return kinks, math.fsum(upper)


def crossings(kinks, total):
    """The first place at which a sum that starts at ``total`` is not positive any more, and that at which it is
    negative. ``kinks`` are (place, fall).
    """
    first, left = None, np.longdouble(total)
    for place, fall in sorted(kinks):
        left -= np.longdouble(fall)
        if first is None and left <= 0:
            first = place
        if left < 0:
            return first, place
    return first, kinks and max(place for place, _ in kinks)


def interval(target, lower, upper, epsilon, u, value, distances, radius, signs=(-1, 1)):
    """``[lo(k - r), hi(k + r)]`` at a row of value u(x): where every optimal f(x) lies, if ``radius`` bounds
    ``|w - w*|``. Other ``signs`` move the kinks the other way.
    """
    kinks, total = kink_table(target, lower, upper, epsilon)
    low, high = (
        crossings([(value + place - u[i] + sign * radius * distances[i], fall) for place, fall, i in kinks], total)
        for sign in signs
    )
    return low[0], high[1]


def distances_in_feature_space(K, rows):
    """``|phi(x) - phi(x_i)|`` from some rows to all (rows, n)."""
    d = np.diagonal(K)
    return np.sqrt(np.maximum(0.0, d[rows, None] + d[None] - 2 * K[rows]))


def curved_root(target, penalties, u, shift):
    """The bias at which the slopes of the squared hinge, with rows of target t moved by ``shift``, sum to zero.

    By bisection; ``penalties`` are zero for rows that are left out.
    """

    def slope(b):
        return -2 * penalties @ (target * np.maximum(0.0, 1 - target * (u + b - shift)))

    size = 4 + 2 * (np.abs(u).max() + np.abs(shift).max())
    low, high = -size, size
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return low, high
