"""Least squares in extended precision, to measure rounding with."""

import numpy as np


def extended_solve(A, B):
    """``A^{-1} B`` in long double by elimination with partial pivoting."""
    A, B = A.astype(np.longdouble), B.astype(np.longdouble)
    n = len(A)
    for k in range(n):
        pivot = k + int(np.argmax(np.abs(A[k:, k])))
        A[[k, pivot]], B[[k, pivot]] = A[[pivot, k]], B[[pivot, k]]
        factors = A[k + 1 :, k] / A[k, k]
        A[k + 1 :, k:] -= factors[:, None] * A[k, k:]
        B[k + 1 :] -= factors[:, None] * B[k]
    for k in range(n - 1, -1, -1):
        B[k] = (B[k] - A[k, k + 1 :] @ B[k + 1 :]) / A[k, k]
    return B


def extended_predict(K, Y, train, rows, ridge, weights=None, bias=False):
    """Values (rows, c) of the machine trained on the rows ``train``; ridge and weights as given in double."""
    m = len(train)
    w = np.ones(m) if weights is None else weights[train]
    system = np.zeros((m + bias, m + bias), dtype=np.longdouble)
    system[:m, :m] = K[np.ix_(train, train)]
    system[np.arange(m), np.arange(m)] += np.longdouble(ridge) / w
    system[m:, :m] = system[:m, m:] = np.longdouble(1)
    solution = extended_solve(system, np.concatenate([Y[train], np.zeros((int(bias), Y.shape[1]))]))
    return K[np.ix_(rows, train)].astype(np.longdouble) @ solution[:m] + (solution[m] if bias else 0)
