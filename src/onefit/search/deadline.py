"""The time that a search may take."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable
from numbers import Real
from typing import Any

from .._public import set_module

_SECONDS = {"ms": 1e-3, "": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


@set_module("onefit")
class TimeBudgetWarning(UserWarning):
    """The time budget ended a search before all candidates were evaluated."""


def parse_seconds(budget: float | str) -> float:
    """Seconds from a positive number or a string such as "60s", "5m", "1.5h" or "200ms".

    >>> parse_seconds("1.5m")
    90.0
    """
    seconds: Any = budget
    if isinstance(budget, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([a-z]*)\s*", budget.lower())
        if not match or match[2] not in _SECONDS:
            raise ValueError(f"time_budget {budget!r} is not a number of seconds, nor a string such as '60s' or '5m'.")
        seconds = float(match[1]) * _SECONDS[match[2]]
    if isinstance(seconds, bool) or not isinstance(seconds, Real) or not float(seconds) > 0:  # nor is NaN
        raise ValueError(f"time_budget must be a positive number of seconds, or a string such as '5m', got {budget!r}.")
    return float(seconds)


class Deadline:
    """When a search has to end: once its seconds, if there are some, have passed *and* some candidate has a score.

    The clock, which workers on other machines read too, starts when it is made. Only the search itself takes note of
    scores.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = math.inf if seconds is None else seconds
        self._end = time.time() + self.seconds
        self._scored = False

    @property
    def limited(self) -> bool:
        """Whether there is a time at which the search ends."""
        return math.isfinite(self.seconds)

    def passed(self, scored: bool = False) -> bool:
        """Whether nothing more may be started; ``scored`` says that who asks knows of a candidate with a score."""
        return (self._scored or scored) and time.time() >= self._end

    def note_scores(self, rows: Iterable[Any]) -> None:
        """Take note of finished rows: once one of them has a score the search may end."""
        self._scored = self._scored or any(row.scored for row in rows)
