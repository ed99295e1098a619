"""Which candidates a search looks at, round by round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sklearn.model_selection import ParameterGrid


class Strategy(Protocol):
    """Proposes candidates, knowing the scores of those proposed before."""

    @property
    def rounds(self) -> int | None:
        """How many there are going to be, None if that depends on the scores."""

    def propose(self, candidates: list[dict], scores: Sequence[float]) -> list[dict]:
        """The next round's candidates, none if the search is over; the first is asked for without any."""

    def describe(self) -> str:
        """Why the last round was proposed."""


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


def search_strategy(search, X, y, fit_params) -> Strategy:
    """What ``param_grid`` asks for."""
    return Exhaustive(search.param_grid)
