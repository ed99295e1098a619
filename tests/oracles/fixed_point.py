"""Least squares in fixed-point arithmetic of 320 binary places: the truth that doubles are measured by.

Doubles are taken as given and converted without rounding; elimination then loses a few of 320 places, so that systems
with condition numbers up to some 1e60 are still solved to more digits than a double has.
"""

from fractions import Fraction

import numpy as np

PLACES = 320


def fixed(values):
    """Doubles (or long doubles) as whole numbers of 2**-PLACES, in an array of objects."""
    values = np.asarray(values)
    mantissas, exponents = np.frexp(values.astype(np.longdouble))
    high = np.ldexp(mantissas, 64)  # whole: long doubles have at most 64 bits
    flat = [_shift(int(m), int(e) - 64 + PLACES) for m, e in zip(high.ravel(), exponents.ravel(), strict=True)]
    out = np.empty(len(flat), dtype=object)
    out[:] = flat
    return out.reshape(values.shape)


def _shift(number, places):
    return number << places if places >= 0 else number >> -places


def solve(A, B):
    """``A^{-1} B`` of fixed-point numbers by elimination with partial pivoting."""
    A, B = A.copy(), B.copy()
    n = len(A)
    for k in range(n):
        pivot = k + int(np.argmax(np.abs(A[k:, k])))
        A[[k, pivot]], B[[k, pivot]] = A[[pivot, k]], B[[pivot, k]]
        factors = (A[k + 1 :, k] << PLACES) // A[k, k]
        A[k + 1 :, k + 1 :] -= np.multiply.outer(factors, A[k, k + 1 :]) >> PLACES
        B[k + 1 :] -= np.multiply.outer(factors, B[k]) >> PLACES
    for k in range(n - 1, -1, -1):
        B[k] = ((B[k] - (A[k, k + 1 :] @ B[k + 1 :] >> PLACES)) << PLACES) // A[k, k]
    return B


def predict(K, Y, train, rows, ridge, weights=None, bias=False):
    """Values (rows, c) of the machine trained on ``train``, rounded to doubles once; K is in fixed point.

    Rows of weight zero are left out. ``ridge`` and ``weights`` are the doubles that the library is given.
    """
    used = train if weights is None else train[weights[train] > 0]
    m = len(used)
    system = np.zeros((m + bias, m + bias), dtype=object)
    system[:m, :m] = K[np.ix_(used, used)]
    ridges = fixed(np.full(m, ridge))
    if weights is not None:
        ridges = (ridges << PLACES) // fixed(weights[used])
    system[np.arange(m), np.arange(m)] += ridges
    system[m:, :m] = system[:m, m:] = 1 << PLACES
    right = np.concatenate([fixed(Y[used]), np.zeros((int(bias), Y.shape[1]), dtype=object)])
    solution = solve(system, right)
    values = (K[np.ix_(rows, used)] @ solution[:m] >> PLACES) + (solution[m] if bias else 0)
    return np.array([[float(Fraction(value, 1 << PLACES)) for value in row] for row in values])
