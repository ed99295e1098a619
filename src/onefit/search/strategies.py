"""Which candidates a search looks at, round by round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
from sklearn.model_selection import ParameterGrid

from .axes import Family
from .selection import Edge, edges_of

LONGEST = 6
"""Rounds that an automatic search adds to the first, at most."""


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
    kernel of the best candidate is followed.
    """

    rounds = None

    def __init__(self, kernels: list[Family]) -> None:
        self.kernels = kernels
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
        if self.done == LONGEST or known[best] == -np.inf:
            return []
        self.done += 1
        number = self.kernel_of[best]
        own = [i for i, kernel in enumerate(self.kernel_of) if kernel == number]
        grid = self._next_grid(number, [candidates[i] for i in own], known[own], own.index(best))
        proposed = [params for params in ParameterGrid(grid) if params not in candidates]
        self.kernel_of += [number] * len(proposed)
        return proposed

    def _next_grid(self, number: int, candidates: list[dict], scores: np.ndarray, best: int) -> dict:
        """The grid around the best candidate of a kernel."""
        axes, chosen = self.kernels[number].axes, candidates[best]
        beyond = self._beyond(number, edges_of(candidates, scores, best))
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
