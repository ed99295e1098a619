"""The influence-function series as dense matrix powers."""

import numpy as np

from .least_squares import solve


def hat_matrix(K, ridge, weights=None, bias=False):
    """H with fitted values ``H y``: train on every column of the identity."""
    dual, intercept = solve(K, np.eye(len(K)), ridge, weights, bias)
    return K @ dual + intercept


def perturbation(n, removed, mean_loss):
    """Δ: one on the removed rows; elsewhere zero (sum of losses) or -l/(n - l) (mean of losses)."""
    delta = np.full(n, -len(removed) / (n - len(removed)) if mean_loss else 0.0)
    delta[removed] = 1.0
    return np.diag(delta)


def series(H, Y, removed, order, mean_loss):
    """``y + Σ_{s<=r} (H Δ)^s (f - y)`` of all rows; of infinite order ``y + (I - H Δ)^{-1} (f - y)``."""
    step = H @ perturbation(len(H), removed, mean_loss)
    if order == np.inf:
        return Y + np.linalg.solve(np.eye(len(H)) - step, H @ Y - Y)
    return Y + sum(np.linalg.matrix_power(step, s) for s in range(order + 1)) @ (H @ Y - Y)
