"""Numbers that a study has so far, one for each (data set, setting, method, split), and those that papers print."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from .cell_journal import Journal
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
    were spent on a (data set, split, method), where methods have the names of fingerprints, which studies share. Data
    sets, settings and methods are in the order of the paper.
    """

    study: Study
    datasets: tuple[str, ...]
    settings: tuple[str, ...]
    methods: tuple[str, ...]
    scores: Mapping[Cell, Mapping[int, float]]
    printed: Mapping[Cell, Printed]
    failures: Mapping[tuple[str, int], str]
    seconds: Mapping[tuple[str, int, str], float]

    def paired(self, dataset: str, setting: str, methods: tuple[str, ...] | None = None) -> NDArray[np.float64]:
        """The scores of all methods on the splits where all of them have one, shape (splits, methods)."""
        columns = [self.scores.get((dataset, setting, m), {}) for m in methods or self.methods]
        common = sorted(set.intersection(*(set(column) for column in columns))) if columns else []
        return np.array([[column[split] for column in columns] for split in common]).reshape(len(common), len(columns))

    def seconds_of_splits(self, dataset: str) -> list[float]:
        """The CPU seconds of every split of a data set, all methods together."""
        splits: dict[int, list[float]] = {}
        for (name, split, _), value in self.seconds.items():
            if name == dataset:
                splits.setdefault(split, []).append(value)
        return [math.fsum(values) for _, values in sorted(splits.items())]

    def n_splits(self, dataset: str) -> int:
        """The number of splits of a data set that no method lacks; one that has failed is not lacking.

        A variant that shares a journal with its table has more splits of the methods that both have.
        """
        failed = {split for name, split in self.failures if name == dataset}
        found, scored = {method: set(failed) for method in self.methods}, set[int]()
        for (name, _, method), values in self.scores.items():
            if name == dataset and method in found:
                found[method].update(values)
                scored.update(values)
        return len(scored.intersection(*found.values()))


def collect(study: Study, journal: Journal, datasets: Sequence[str], methods: Sequence[str] | None = None) -> Outcome:
    """The outcome of a study from its journal, for some data sets with all of their splits."""
    scores: dict[Cell, dict[int, float]] = {}
    failures = {}
    settings: dict[str, None] = dict.fromkeys(study.protocol.settings)
    found = journal.read(study.protocol)
    for (dataset, number), cell in sorted(found.items()):
        if dataset not in datasets:
            continue
        if cell.error is not None:
            failures[dataset, number] = cell.error
        for setting, method, value in cell.records:
            scores.setdefault((dataset, setting, method), {})[number] = value
    for _, setting, _ in scores:
        settings.setdefault(setting)
    used = {setting for _, setting, _ in scores}
    names = tuple(dict.fromkeys(method.name for method in study.protocol.methods))
    return Outcome(
        study,
        tuple(datasets),
        tuple(setting for setting in settings if setting in used or not used),
        tuple(name for name in names if methods is None or name in methods),
        scores,
        printed_numbers(study),
        failures,
        {key: spent for key, spent in journal.seconds(study.protocol).items() if key[0] in datasets},
    )


def printed_numbers(study: Study) -> dict[Cell, Printed]:
    """Numbers that the paper prints, by (data set, setting, method); empty for figures without numbers."""
    if study.printed is None:
        return {}
    text = files(__package__).joinpath("printed", study.printed).read_text(encoding="utf-8")
    return {
        (row["dataset"], row["setting"], row["method"]): Printed(
            float(row["mean"]), float(row["std"]) if row["std"] else None
        )
        for row in csv.DictReader(text.splitlines())
    }
