"""Strategies: the candidates of a search, round by round, and the axes that an automatic search moves along."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, sqrt
from typing import Any, Protocol

import numpy as np
from sklearn.model_selection import ParameterGrid

MAX_ROUNDS = 6
"""Rounds that an automatic search adds to the first, at most."""

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
        return [_three_digits(self.unit * self.ratio**k) for k in range(self.first, self.last + 1)]

    def beyond(self, value: float, sign: int, stride: int) -> list[float]:
        ends = (self._steps(value) + sign * stride * k for k in range(1, BEYOND + 1))
        return [_three_digits(self.unit * self.ratio**k) for k in ends if abs(k) < self.reach + 0.5]

    def between(self, low: float, high: float) -> list[float]:
        # Halving a step twice gives a quarter, up to rounding: half a quarter more is no longer divided.
        apart = self._steps(high) - self._steps(low)
        return [_three_digits(sqrt(low) * sqrt(high))] if apart > 1.5 * FINEST else []

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


def _three_digits(value: float) -> float:
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


@dataclass(frozen=True)
class Edge:
    """A parameter whose best value is the smallest (sign -1) or largest (+1) one tried."""

    name: str
    value: float
    sign: int

    def __str__(self) -> str:
        return f"{self.name}={self.value} is the {'smallest' if self.sign < 0 else 'largest'} value tried"


def edges_of(candidates: list[dict], scores: np.ndarray, best: int) -> list[Edge]:
    """Where the best candidate has the smallest or largest of three or more numbers, and no other value ties.

    Zero, and degree one, are ends that cannot be passed: they are not edges.
    """
    edges = []
    for name, value in candidates[best].items():
        tried = {params[name] for params in candidates if _is_number(params.get(name))}
        if not _is_number(value) or len(tried) < 3 or value not in (min(tried), max(tried)):
            continue
        if value == 0 or (value == 1 and name.endswith("degree")):
            continue
        others = [i for i, params in enumerate(candidates) if params.get(name) != value]
        if np.isfinite(scores[best]) and not np.any(scores[others] >= scores[best]):
            edges.append(Edge(name, value, -1 if value == min(tried) else 1))
    return edges


def _is_number(value) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


class Strategy(Protocol):
    """Proposes candidates, knowing the scores of those proposed before."""

    @property
    def rounds(self) -> int | None:
        """How many there are going to be, None if that depends on the scores."""

    def propose(self, candidates: list[dict], scores: Sequence[float]) -> list[dict]:
        """The next round's candidates, none if the search is over; the first is asked for without any."""

    def describe(self) -> str:
        """The purpose of the last round."""


class Exhaustive:
    """All candidates of a grid, in one round."""

    rounds = 1

    def __init__(self, param_grid) -> None:
        self.grid = list(ParameterGrid(param_grid))
        if not self.grid:
            raise ValueError("param_grid holds no candidate.")

    def propose(self, candidates: list[dict], scores: Sequence[float]) -> list[dict]:
        return [] if candidates else self.grid

    def describe(self) -> str:
        return "the whole grid"


class Zooming:
    """First a coarse grid, then whatever the best candidate asks for.

    If it lies at the end of an axis, the axis is extended there, in strides that double each time, so that an optimum
    that is orders of magnitude away is reached in a few rounds; the other axes are looked at next to the best. If it
    lies at no end, the neighbouring steps of every axis are halved, until they are a quarter of a first step. Only the
    kernel of the best candidate is followed. Without ``refine`` that is left to what follows.
    """

    rounds = None

    def __init__(self, kernels: list[Family], *, refine: bool = True) -> None:
        self.kernels, self.refine = kernels, refine
        self.done = 0
        self.text = ""
        self.extended: Counter = Counter()  # how often, by (kernel, axis, side)

    def propose(self, candidates: list[dict], scores: Sequence[float]) -> list[dict]:
        if not candidates:
            rounds = [list(ParameterGrid(kernel.grid())) for kernel in self.kernels]
            self.kernel_of = [number for number, grid in enumerate(rounds) for _ in grid]
            return [params for grid in rounds for params in grid]
        known = np.where(np.isnan(scores), -np.inf, scores)
        best = int(np.argmax(known))
        if self.done == MAX_ROUNDS or known[best] == -np.inf:
            return []
        self.done += 1
        number = self.kernel_of[best]
        own = [i for i, kernel in enumerate(self.kernel_of) if kernel == number]
        grid = self._next_grid(number, [candidates[i] for i in own], known[own], own.index(best))
        if not grid:
            return []
        proposed = [params for params in ParameterGrid(grid) if params not in candidates]
        self.kernel_of += [number] * len(proposed)
        return proposed

    def _next_grid(self, number: int, candidates: list[dict], scores: np.ndarray, best: int) -> dict:
        """The grid around the best candidate of a kernel."""
        axes, chosen = self.kernels[number].axes, candidates[best]
        beyond = self._beyond(number, edges_of(candidates, scores, best))
        if not beyond and not self.refine:
            return {}
        values: dict[str, list] = {}
        for name, axis in axes.items():
            tried = sorted({params[name] for params in candidates})
            at = tried.index(chosen[name])
            near = tried[max(0, at - 1) : at + 2]
            if not beyond:
                values[name] = [chosen[name]] + [value for pair in pairwise(near) for value in axis.between(*pair)]
            else:
                values[name] = [chosen[name], *beyond[name]] if name in beyond else near
        if beyond:
            ends = ", ".join(f"{name} to {new[-1]:g}" for name, new in beyond.items())
            self.text = f"the best candidate lies at the edge of the grid, which is extended: {ends}"
        else:
            self.text = "refines around " + ", ".join(f"{name}={chosen[name]:g}" for name in axes)
        return self.kernels[number].product({name: sorted(found) for name, found in values.items()})

    def _beyond(self, number: int, edges: list[Edge]) -> dict[str, list]:
        """New values of the axes that the best candidate is at the end of."""
        beyond = {}
        for edge in edges:
            side = number, edge.name, edge.sign
            values = self.kernels[number].axes[edge.name].beyond(edge.value, edge.sign, 2 ** self.extended[side])
            if values:
                beyond[edge.name] = values
                self.extended[side] += 1
        return beyond

    def describe(self) -> str:
        return self.text
