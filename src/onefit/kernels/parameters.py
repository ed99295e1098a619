"""Parameters of kernels: which values make sense, and ``gamma``, which may depend on the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import check_number


class NotDifferentiableError(ValueError):
    """A derivative is asked for that a kernel, a machine or a criterion does not have; the message says which."""


Gamma = float | str | tuple[float, ...] | None
"""A number; None: ``1 / n_features``; "scale": ``1 / (n_features variance)``, as in scikit-learn's SVC; or a tuple with
a number for each feature."""


def check_gamma(gamma: Any) -> Gamma:
    """``gamma`` with an array as a tuple, so that kernels can be hashed; what makes no sense is a ValueError."""
    if isinstance(gamma, str):
        if gamma != "scale":
            raise ValueError(f'gamma must be a finite non-negative number, None or "scale", got {gamma!r}.')
        return gamma
    if isinstance(gamma, list | tuple | np.ndarray) and np.ndim(gamma) > 0:
        return check_several("gamma", gamma)
    if gamma is not None:  # decided later
        check_number("gamma", gamma, "non-negative")
    return gamma  # type: ignore[no-any-return]


def check_several(name: str, values: Any) -> tuple[float, ...]:
    """A tuple of finite non-negative numbers; anything else is a ValueError."""
    if np.ndim(values) != 1 or not len(values):
        raise ValueError(f"{name} must be a number, or a list with one for each feature, got {values!r}.")
    for value in values:
        check_number(name, value, "non-negative")
    return tuple(float(value) for value in values)


def resolve_gamma(gamma: Gamma, n_features: int, variance: float | None) -> Gamma:
    """The number, as far as what it depends on is known."""
    if gamma is None:
        return 1.0 / n_features
    if gamma == "scale" and variance is not None:
        return 1.0 / (n_features * variance) if variance > 0 else 1.0
    return gamma


def known_gamma(gamma: Gamma) -> float:
    """The number that multiplies a base matrix; an error if it still depends on data.

    Scales of features are in the base matrix already, so that one is left.
    """
    if isinstance(gamma, tuple):
        return 1.0
    if gamma is None or isinstance(gamma, str):
        raise ValueError(f"gamma={gamma!r} depends on the data: call kernel.bound(n_features, variance) first.")
    return float(gamma)


def variance_of(X: Any) -> float:
    """The variance of all entries of X, computed as scikit-learn does."""
    if hasattr(X, "multiply"):  # sparse
        return float(X.multiply(X).mean() - X.mean() ** 2)
    return float(np.asarray(X).var())
