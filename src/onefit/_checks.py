"""Numbers that users give: what makes no sense is an error that names them."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any


def check_number(name: str, value: Any, sign: str = "positive", *, finite: bool = True) -> None:
    """Refuse anything but a number that is "positive" or "non-negative", or of "any" sign, and ``finite``."""
    good = isinstance(value, Real) and (math.isfinite(value) or (not finite and not math.isnan(value)))
    if not good or (sign == "positive" and not value > 0) or (sign == "non-negative" and not value >= 0):
        kind = f"{'finite ' if finite else ''}{'' if sign == 'any' else sign + ' '}"
        raise ValueError(f"{name} must be a {kind}number, got {value!r}.")


def is_count(value: Any) -> bool:
    """Whether a value is a positive whole number."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def check_count(name: str, value: Any) -> None:
    """Refuse anything but a positive whole number."""
    if not is_count(value):
        raise ValueError(f"{name} must be a positive whole number, got {value!r}.")
