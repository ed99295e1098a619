"""The cells of the study in their order, and the file that they are written to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ... import datasets
from .. import result_lines
from .data_sets import CLASSIFICATION, SETS, training_rows
from .methods import BEST, CLASSIFIERS, MACHINES, METHODS, methods_for
from .search import FIELDS, measure

SIZES = (300, 100)
"""Training rows, at most: what a few CPU hours allow for ten splits, and fewer, to see what they change."""


def cells(
    names: Sequence[str], machines: Sequence[str], sizes: Sequence[int], splits: Sequence[int]
) -> Iterator[tuple[str, str, int, int]]:
    """(set, machine, rows, split), split by split, so that every prefix of a run is a sample of all sets.

    A size that a set has too few rows for is left out if a larger one gives the same number of rows.
    """
    for number in splits:
        for rows in sizes:
            for name in names:
                larger = [training_rows(name, other) for other in sizes if other > rows]
                if training_rows(name, rows) in larger:
                    continue
                for machine in machines:
                    if (name in CLASSIFICATION) == (machine in CLASSIFIERS):
                        yield name, machine, rows, number


def run(
    path: Path,
    names: Sequence[str] = SETS,
    machines: Sequence[str] = tuple(MACHINES),
    methods: Sequence[str] = (BEST, *METHODS),
    sizes: Sequence[int] = SIZES,
    splits: Sequence[int] = range(10),
) -> None:
    """Compute the lines that the file lacks."""

    def wanted(name: str, machine: str) -> list[str]:
        return [method for method in methods_for(machine, len(datasets.info(name).classes)) if method in methods]

    tasks = ((cell, wanted(*cell[:2])) for cell in cells(names, machines, sizes, splits))
    result_lines.run(path, FIELDS, tasks, measure)
