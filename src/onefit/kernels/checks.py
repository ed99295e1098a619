"""Errors for kernel parameters that make no sense."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np


class NotDifferentiableError(ValueError):
    """A derivative is asked for that a kernel, a machine or a criterion does not have; the message says which."""


def _is_finite(value: Any) -> bool:
    return isinstance(value, Real) and bool(np.isfinite(float(value)))


def check_non_negative(name: str, value: Any) -> None:
    """Refuse negative, infinite and non-numeric values; None is decided later."""
    if value is not None and not (_is_finite(value) and float(value) >= 0):
        raise ValueError(f"{name} must be a finite non-negative number, got {value!r}.")


def check_positive(name: str, value: Any) -> None:
    """Refuse anything but a finite positive number."""
    if not (_is_finite(value) and float(value) > 0):
        raise ValueError(f"{name} must be a finite positive number, got {value!r}.")


def check_finite(name: str, value: Any) -> None:
    """Refuse infinite and non-numeric values."""
    if not _is_finite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}.")
