"""Arguments of bounds."""

from __future__ import annotations


def check_positive(**values: float) -> None:
    """Refuse what is not a positive number, by name."""
    for name, value in values.items():
        if not value > 0:
            raise ValueError(f"{name} must be positive, got {value!r}.")


def check_delta(delta: float) -> None:
    """Refuse what is not a probability of failing."""
    if not 0 < delta < 1:
        raise ValueError(f"delta must lie between 0 and 1, got {delta!r}.")


def check_rows(n: int, least: int = 2) -> None:
    """Refuse too few rows."""
    if n < least:
        raise ValueError(f"n must be {least} or more, got {n!r}.")
