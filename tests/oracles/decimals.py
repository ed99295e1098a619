"""The influence-function series of least squares with eighty digits."""

from decimal import Decimal, localcontext

import numpy as np


def exact(values):
    """Doubles as decimal numbers, without rounding."""
    return np.vectorize(Decimal, otypes=[object])(np.asarray(values, dtype=float))


def inverse(A):
    """The inverse by Gauss-Jordan elimination with partial pivoting."""
    n = len(A)
    rows = np.concatenate([A, exact(np.eye(n))], axis=1)
    for k in range(n):
        pivot = k + int(np.argmax(np.abs(rows[k:, k])))
        rows[[k, pivot]] = rows[[pivot, k]]
        rows[k] = rows[k] / rows[k, k]
        others = np.arange(n) != k
        rows[others] = rows[others] - rows[others, k][:, None] * rows[k]
    return rows[:, n:]


def series_values(K, y, ridge, removed, order, weights=None, bias=False):
    """``y - Σ_{s<=r} H_II^s e_I`` of the removed rows, for a penalty on the sum of losses, rounded to doubles."""
    n = len(y)
    with localcontext() as context:
        context.prec = 80
        ridges = Decimal(ridge) / exact(np.ones(n) if weights is None else weights)
        A = exact(np.ones((n + bias, n + bias)))
        A[:n, :n] = exact(K) + np.diag(ridges)
        A[n:, n:] = Decimal(0)
        G = inverse(A)[:n, :n]
        y = exact(y)
        term = (ridges * (G @ y))[removed]
        hat = exact(np.eye(len(removed))) - ridges[removed, None] * G[np.ix_(removed, removed)]
        total = term
        for _ in range(order):
            term = hat @ term
            total = total + term
        return (y[removed] - total).astype(float)
