"""How much memory a search takes, and whether it may."""

from __future__ import annotations

import math
import re
from numbers import Real

from .limits import available_memory

WORK = 3
"""n x n arrays of doubles that a worker needs besides the base matrices: Gram, and LAPACK's work space."""

_UNITS = {
    "": 1,
    "K": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
    "KI": 2**10,
    "MI": 2**20,
    "GI": 2**30,
    "TI": 2**40,
}


def parse_budget(budget: float | str | None) -> float:
    """Bytes from a number, a string such as "4GB" or "512MiB", or None: what this process may still take.

    >>> parse_budget("2KiB")
    2048.0
    """
    if budget is None:
        return available_memory()
    if isinstance(budget, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*((?:[KMGT]I?)?)B?\s*", budget.upper())
        if not match:
            raise ValueError(f"memory_budget {budget!r} is not a number of bytes, nor a string such as '4GB'.")
        budget = float(match[1]) * _UNITS[match[2]]
    if isinstance(budget, bool) or not isinstance(budget, Real):
        raise ValueError(f"memory_budget must be a number of bytes or a string such as '4GB', got {budget!r}.")
    if not budget > 0:  # nor is NaN
        raise ValueError(f"memory_budget must be positive, got {budget!r}.")
    return float(budget)


def check_budget(n: int, *, bases: int, views: int, workers: int, budget: float, work: int = WORK) -> bool:
    """Whether all views' base matrices may be kept; an error if not even one kernel at a time fits.

    A worker has ``bases`` n x n arrays for each view, and needs ``work`` more; ``budget`` is in bytes. Without room for
    all views' bases they are computed anew for each kernel.
    """
    square = 8.0 * n * n
    if (bases * views + work) * workers * square <= budget:
        return True
    arrays = (bases + work) * workers
    if views > 1 and arrays * square <= budget:
        return False
    largest = math.isqrt(int(budget / (8 * arrays)))
    alone = math.isqrt(int(budget / (8 * (bases + work))))
    hint = f", or {alone:,} rows with n_jobs=1" if workers > 1 else ""
    raise ValueError(
        f"{n:,} rows need {human(arrays * square)} ({arrays} arrays of n x n doubles for {workers} worker(s)), "
        f"more than the memory budget of {human(budget)}, in which {largest:,} rows would fit{hint}. "
        "Use fewer rows or workers, or raise memory_budget."
    )


def human(size: float) -> str:
    """Bytes with three digits and a unit."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            return f"{size:.3g} {unit}"
        size /= 1000
    raise AssertionError("unreachable")
