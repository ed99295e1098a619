"""The training and test rows of one split, and the errors of models trained on them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from .machines import estimator_of
from .sampling import Rows, seed_of, splitter_of
from .spec import Protocol
from .values import candidate_grid

TIE = 1e-12
"""Relative difference of two values that is rounding: equal errors of folds in another order have another mean."""


def first_smallest(values: NDArray[np.float64]) -> int:
    """The first of the smallest values, NaN left out. A ValueError if none is finite.

    >>> first_smallest(np.array([np.nan, 0.5, 0.3, 0.1 + 0.2]))
    2
    """
    known = np.where(np.isnan(values), np.inf, values)
    smallest = known.min()
    if not np.isfinite(smallest):
        raise ValueError("no candidate has a finite value of the criterion")
    return int(np.argmax(known <= smallest + TIE * abs(smallest)))


class Part:
    """Training and test rows of a protocol; models of its candidates are trained at most once.

    ``name`` seeds everything random: the folds, and the thirds by which parameters of criteria are chosen.
    """

    def __init__(
        self,
        protocol: Protocol,
        name: str,
        X: NDArray[np.float64],
        y: NDArray[Any],
        X_test: NDArray[np.float64],
        y_test: NDArray[Any],
    ) -> None:
        self.protocol, self.name = protocol, name
        self.X, self.y, self.X_test, self.y_test = X, y, X_test, y_test
        self._losses: dict[int, float] = {}

    def draw(self, t: int) -> list[tuple[Rows, Rows]]:
        """t random folds of the training rows, in classification with the classes spread evenly."""
        splitter = splitter_of(self.protocol)(t, shuffle=True, random_state=seed_of("folds", self.name, t))
        return list(splitter.split(self.X, self.y))

    def inner(self, t: int) -> Iterator[Part]:
        """Parts in which each fold of the training rows is the test set once."""
        for number, (train, test) in enumerate(self.draw(t)):
            name = f"{self.name}/inner/{number}"
            yield Part(self.protocol, name, self.X[train], self.y[train], self.X[test], self.y[test])

    @cached_property
    def candidates(self) -> list[dict[str, Any]]:
        """The candidates of the protocol's machine, penalties in the outer loop, those of each grid in turn."""
        return list(ParameterGrid(candidate_grid(self.protocol, self.protocol.machine, len(self.y))))

    @cached_property
    def _allowed(self) -> dict[str, NDArray[np.bool_]]:
        """Which candidates each setting admits."""
        sizes = [len(ParameterGrid(grid)) for grid in self.protocol.grids]
        penalties = np.concatenate([np.repeat(self.protocol.penalties, size) for size in sizes])
        return {s: np.array([self.protocol.allows(s, p) for p in penalties]) for s in self.protocol.settings}

    def best(self, values: NDArray[np.float64], setting: str) -> int:
        """The candidate of a setting with the smallest value: among ties the smallest penalty, then the first kernel.

        Raises a ValueError if none has a value.
        """
        return first_smallest(np.where(self._allowed[setting], values, np.nan))

    def loss(self, candidate: int) -> float:
        """The share of errors, or the mean squared error, on the test rows of a candidate trained on the others."""
        if candidate not in self._losses:
            model = clone(estimator_of(self.protocol.machine, self.y)).set_params(**self.candidates[candidate])
            predicted = model.fit(self.X, self.y).predict(self.X_test)
            wrong = (predicted - self.y_test) ** 2 if self.protocol.metric == "mse" else predicted != self.y_test
            self._losses[candidate] = float(np.mean(wrong))
        return self._losses[candidate]

    def score(self, candidate: int) -> float:
        """The loss in the protocol's unit: a percentage of errors or of right labels, or a mean squared error."""
        return in_units(self.loss(candidate), self.protocol)


def in_units(loss: float, protocol: Protocol) -> float:
    """A loss as a table prints it."""
    if protocol.metric == "mse":
        return loss
    return 100 * (1 - loss) if protocol.metric == "accuracy" else 100 * loss
