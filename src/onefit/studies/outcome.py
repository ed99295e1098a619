"""Numbers that a study has so far: one for each (data set, setting, method, split)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .spec import Study

Cell = tuple[str, str, str]
"""(data set, setting, method)."""


@dataclass(frozen=True)
class Printed:
    """A number of a paper's table, with the standard deviation where one is printed."""

    mean: float
    std: float | None = None


@dataclass(frozen=True)
class Outcome:
    """The numbers of a study, ours and the printed ones; everything that tables and statistics are made of.

    ``scores`` has a number for each split that is finished, in the study's unit; ``seconds`` are the CPU seconds that
    were spent on a (data set, split), all methods together. Data sets, settings and methods are in the
    order of the paper.
    """

    study: Study
    datasets: tuple[str, ...]
    settings: tuple[str, ...]
    methods: tuple[str, ...]
    scores: Mapping[Cell, Mapping[int, float]]
    printed: Mapping[Cell, Printed]
    failures: Mapping[tuple[str, int], str]
    seconds: Mapping[tuple[str, int], float]

    def paired(self, dataset: str, setting: str, methods: tuple[str, ...] | None = None) -> NDArray[np.float64]:
        """The scores of all methods on the splits where all of them have one, shape (splits, methods)."""
        columns = [self.scores.get((dataset, setting, m), {}) for m in methods or self.methods]
        common = sorted(set.intersection(*(set(column) for column in columns))) if columns else []
        return np.array([[column[split] for column in columns] for split in common]).reshape(len(common), len(columns))

    def n_splits(self, dataset: str) -> int:
        """The number of splits that are finished for a data set."""
        found = [len(values) for (name, _, _), values in self.scores.items() if name == dataset]
        return max(found, default=0)
