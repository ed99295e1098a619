"""The parameter ``gamma`` of several kernels: a number, or something that depends on the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from .checks import check_non_negative

Gamma = float | str | None
"""A number; None: ``1 / n_features``; "scale": ``1 / (n_features variance)``, as in scikit-learn's SVC."""


def check_gamma(gamma: Any) -> None:
    """Refuse what is none of these."""
    if isinstance(gamma, str):
        if gamma != "scale":
            raise ValueError(f'gamma must be a finite non-negative number, None or "scale", got {gamma!r}.')
    else:
        check_non_negative("gamma", gamma)


def resolve_gamma(gamma: Gamma, n_features: int, variance: float | None) -> Gamma:
    """The number, as far as what it depends on is known."""
    if gamma is None:
        return 1.0 / n_features
    if gamma == "scale" and variance is not None:
        return 1.0 / (n_features * variance) if variance > 0 else 1.0
    return gamma


def known_gamma(gamma: Gamma) -> float:
    """The number itself; an error if it still depends on data."""
    if gamma is None or isinstance(gamma, str):
        raise ValueError(f"gamma={gamma!r} depends on the data: call kernel.bound(n_features, variance) first.")
    return float(gamma)


def variance_of(X: Any) -> float:
    """The variance of all entries of X, computed as scikit-learn does."""
    if hasattr(X, "multiply"):  # sparse
        return float(X.multiply(X).mean() - X.mean() ** 2)
    return float(np.asarray(X).var())
