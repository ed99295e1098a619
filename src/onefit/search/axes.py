"""Parameters on scales of their own: which values to try first, beyond those, and between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Any, Protocol

FINEST = 0.25
"""Share of a step below which cross-validation does not tell values apart."""

BEYOND = 3
"""Values that are tried at once beyond the end of an axis."""


class Axis(Protocol):
    """One parameter."""

    def values(self) -> list:
        """Values of the first grid, in order."""

    def beyond(self, value: Any, sign: int, stride: int) -> list:
        """Some values beyond an end, upwards or downwards, ``stride`` steps apart; none where it makes no sense."""

    def between(self, low: Any, high: Any) -> list:
        """The value in the middle of two neighbours, if they are far enough apart."""


@dataclass(frozen=True)
class LogAxis:
    """``unit * ratio ** k`` for k from ``first`` to ``last``, at most ``reach`` steps from the unit."""

    unit: float
    ratio: float
    first: int
    last: int
    reach: int

    def values(self) -> list[float]:
        return [three_digits(self.unit * self.ratio**k) for k in range(self.first, self.last + 1)]

    def beyond(self, value: float, sign: int, stride: int) -> list[float]:
        ends = (self._steps(value) + sign * stride * k for k in range(1, BEYOND + 1))
        return [three_digits(self.unit * self.ratio**k) for k in ends if abs(k) < self.reach + 0.5]

    def between(self, low: float, high: float) -> list[float]:
        # Halving a step twice gives a quarter, up to rounding: half a quarter more is no longer divided.
        apart = self._steps(high) - self._steps(low)
        return [three_digits(sqrt(low) * sqrt(high))] if apart > 1.5 * FINEST else []

    def _steps(self, value: float) -> float:
        return log(value / self.unit) / log(self.ratio)


@dataclass(frozen=True)
class DegreeAxis:
    """Whole numbers from ``first`` to ``last``; at least 1 and at most ``highest``."""

    first: int
    last: int
    highest: int = 8

    def values(self) -> list[int]:
        return list(range(self.first, self.last + 1))

    def beyond(self, value: int, sign: int, stride: int) -> list[int]:
        return [value + sign] if 1 <= value + sign <= self.highest else []

    def between(self, low: int, high: int) -> list[int]:
        return []


def three_digits(value: float) -> float:
    """Rounded to three significant digits: nobody wants to read or type more of a grid."""
    return float(f"{value:.3g}")


@dataclass(frozen=True)
class Family:
    """The candidates of one kernel: what is the same for all of them, and the axes."""

    fixed: dict[str, Any]
    axes: dict[str, Axis]

    def grid(self) -> dict[str, list]:
        """The first grid, as GridSearchCV takes it."""
        return self.product({name: axis.values() for name, axis in self.axes.items()})

    def product(self, values: dict[str, Sequence]) -> dict[str, list]:
        """A grid of some values of each axis."""
        return {name: [value] for name, value in self.fixed.items()} | {name: list(v) for name, v in values.items()}

    def renamed(self, prefix: str) -> Family:
        """The family of a Pipeline's step: names of parameters begin with ``prefix``."""
        return Family(
            {f"{prefix}{name}": value for name, value in self.fixed.items()},
            {f"{prefix}{name}": axis for name, axis in self.axes.items()},
        )
