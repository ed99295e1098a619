"""Regrets of methods over data sets from a file of results, with intervals, tests and probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..statistics import (
    Interval,
    Practical,
    Ranking,
    bayesian_signed_rank,
    bootstrap_interval,
    holm,
    ranking,
    wilcoxon_holm,
)
from .data_sets import SETS
from .methods import BEST, MACHINES, METHODS

REFERENCE = "cv10"
ROPE = 1.0
"""Points of error that nobody would notice: the percent of Benavoli et al."""
POOLED = "all machines"


@dataclass(frozen=True)
class Regrets:
    """Means over splits, shape (data sets, methods), NaN where a method is not defined or not measured.

    ``regret`` is the error less that of the best candidate of the common grid, ``excess`` the error less that of the
    choice of exact tenfold cross-validation, both in points on the same split, ``log_seconds`` the logarithm of CPU
    seconds relative to the latter. ``splits`` are the numbers of splits of each data set.
    """

    title: str
    sets: tuple[str, ...]
    methods: tuple[str, ...]
    regret: NDArray[np.float64]
    excess: NDArray[np.float64]
    log_seconds: NDArray[np.float64]
    splits: tuple[int, ...]

    def only(self, keep: Callable[[str], bool]) -> Regrets:
        """Some of the data sets."""
        rows = [number for number, name in enumerate(self.sets) if keep(name)]
        return Regrets(
            self.title, tuple(self.sets[row] for row in rows), self.methods, self.regret[rows], self.excess[rows],
            self.log_seconds[rows], tuple(self.splits[row] for row in rows),
        )  # fmt: skip

    def column(self, method: str) -> int:
        return self.methods.index(method)

    @cached_property
    def summary(self) -> tuple[Summary, ...]:
        """All methods, from the smallest mean excess to the largest."""
        counted = np.isfinite(self.excess).sum(axis=0)
        others = [k for k, name in enumerate(self.methods) if name != REFERENCE and counted[k]]
        tests = [wilcoxon_holm(self.excess[:, [self.column(REFERENCE), k]])[0].p_value for k in others]
        adjusted = dict(zip(others, holm(tests)))
        found = [self._summary(k, adjusted.get(k, np.nan)) for k in range(len(self.methods)) if counted[k]]
        return tuple(sorted(found, key=lambda one: one.excess.mean))

    def _summary(self, k: int, adjusted: float) -> Summary:
        excess = self.excess[:, k]
        return Summary(
            self.methods[k],
            int(np.isfinite(excess).sum()),
            bootstrap_interval(self.regret[:, k]),
            bootstrap_interval(excess),
            bayesian_signed_rank(excess, ROPE),
            adjusted,
            relative_seconds(self.log_seconds[:, k]),
            self.sets[int(np.nanargmax(excess))],
            float(np.nanmax(excess)),
        )

    def ranked(self) -> tuple[tuple[str, ...], Ranking]:
        """The methods that have a value on every data set where the reference has one, and their average ranks."""
        excess = self.excess[np.isfinite(self.excess[:, self.column(REFERENCE)])]
        complete = [k for k in range(len(self.methods)) if np.isfinite(excess[:, k]).all()]
        return tuple(self.methods[k] for k in complete), ranking(excess[:, complete])


def relative_seconds(logarithms: NDArray[np.float64]) -> float:
    """The geometric mean of relative seconds, zero for a method that does not search."""
    known = logarithms[np.isfinite(logarithms)]
    return float(np.exp(known.mean())) if len(known) else 0.0


@dataclass(frozen=True)
class Summary:
    """One method over data sets.

    ``adjusted`` is Wilcoxon's p-value against tenfold cross-validation after Holm's correction, ``seconds`` the
    geometric mean of CPU seconds relative to it (0: no search), ``worst`` the largest excess of a data set.
    """

    method: str
    sets: int
    regret: Interval
    excess: Interval
    practical: Practical
    adjusted: float
    seconds: float
    worst_set: str
    worst: float


Line = dict[str, str]


def regrets(lines: Sequence[Line], machine: str, rows: int) -> Regrets:
    """The regrets of one machine trained on so many rows, at most."""
    errors: dict[tuple[str, str], dict[int, tuple[float, float]]] = {}
    for line in lines:
        if line["machine"] == machine and int(line["rows"]) == rows and line["error"]:
            found = errors.setdefault((line["set"], line["method"]), {})
            found[int(line["split"])] = float(line["error"]), float(line["seconds"])
    names = tuple(name for name in SETS if (name, REFERENCE) in errors and (name, BEST) in errors)
    methods = tuple(m for m in METHODS if any((name, m) in errors for name in names))
    table = np.full((3, len(names), len(methods)), np.nan)
    for i, name in enumerate(names):
        best, reference = errors[name, BEST], errors[name, REFERENCE]
        for k, method in enumerate(methods):
            own = errors.get((name, method), {})
            common = sorted(own.keys() & best.keys() & reference.keys())
            if common:
                table[0, i, k] = np.mean([own[s][0] - best[s][0] for s in common])
                table[1, i, k] = np.mean([own[s][0] - reference[s][0] for s in common])
            timed = [s for s in common if own[s][1] > 0]
            if timed:
                table[2, i, k] = np.mean([np.log(own[s][1] / reference[s][1]) for s in timed])
    splits = tuple(len(errors[name, REFERENCE]) for name in names)
    return Regrets(machine, names, methods, table[0], table[1], table[2], splits)


def pooled(parts: Sequence[Regrets]) -> Regrets:
    """Means over the machines of each data set, which are the independent units; of methods that all machines have."""
    methods = tuple(m for m in METHODS if all(m in part.methods for part in parts))
    names = tuple(name for name in SETS if any(name in part.sets for part in parts))
    table = np.full((3, len(names), len(methods)), np.nan)
    for i, name in enumerate(names):
        having = [part for part in parts if name in part.sets]
        columns = [[part.column(m) for m in methods] for part in having]
        for field, values in enumerate(("regret", "excess", "log_seconds")):
            rows = [getattr(part, values)[part.sets.index(name), k] for part, k in zip(having, columns)]
            table[field, i] = np.mean(rows, axis=0)
    splits = tuple(min(part.splits[part.sets.index(name)] for part in parts if name in part.sets) for name in names)
    return Regrets(POOLED, names, methods, table[0], table[1], table[2], splits)


def by_machine(lines: Sequence[Line], rows: int) -> list[Regrets]:
    """The regrets of every machine that the file has."""
    found = [regrets(lines, machine, rows) for machine in MACHINES]
    return [one for one in found if one.sets]
