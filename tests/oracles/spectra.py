"""Dense matrices behind a Spectrum, and dense inverses."""

import numpy as np


def projector(null, n):
    """The projection onto the complement of a unit vector, or the identity."""
    return np.eye(n) if null is None else np.eye(n) - np.outer(null, null)


def dense_matrix(spectrum, n):
    """``U diag(s) Uᵀ + κ (I - U Uᵀ - v vᵀ)``."""
    U = spectrum.vectors
    K = (U * spectrum.values) @ U.T
    if spectrum.flat is not None:
        K = K + spectrum.flat * (projector(spectrum.null, n) - U @ U.T)
    return K


def dense_inverse(K, ridge, null=None):
    """``(K + ridge I)^{-1}``, on the complement of ``null`` by an explicit orthonormal basis of it."""
    n = len(K)
    if null is None:
        return np.linalg.inv(K + ridge * np.eye(n))
    basis = np.linalg.svd(null[None])[2][1:].T  # (n, n - 1)
    inner = basis.T @ K @ basis + ridge * np.eye(n - 1)
    return basis @ np.linalg.solve(inner, basis.T)


def norm(matrix):
    """The spectral norm."""
    return float(np.linalg.norm(matrix, 2))
