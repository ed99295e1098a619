"""The answer of the study: what to use when, its main statements, strata, and the defaults of onefit beside others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ... import datasets
from ..statistics import Interval, bootstrap_interval
from .analysis import REFERENCE, Line, Regrets, by_machine, pooled, relative_seconds
from .run import SIZES

BUDGETS = {"as long as ten folds take": 1.1, "half of that": 0.55, "a fifth of that": 0.22}
"""Time budgets: CPU seconds relative to exact tenfold cross-validation, with a tenth of tolerance."""

NEEDS_CHOICE = ("defaults",)
"""Methods that choose nothing, and are no answer to what to choose by."""


@dataclass(frozen=True)
class Decision:
    """The method to use for a machine, a number of rows and a time budget."""

    machine: str
    rows: int
    budget: str
    method: str
    excess: Interval
    seconds: float


def decisions(parts: dict[int, list[Regrets]]) -> list[Decision]:
    """For every machine, size and budget the method whose excess has the smallest upper end of its interval.

    The upper end rather than the mean: of forty methods the one with the smallest mean owes some of it to luck. The
    reference, whose excess is zero, thus stays unless the whole interval of another method lies below zero.
    """
    found = []
    for rows, tables in parts.items():
        for table in tables:
            for budget, most in BUDGETS.items():
                within = [
                    one for one in table.summary
                    if one.seconds <= most and one.method not in NEEDS_CHOICE and 2 * one.sets > len(table.sets)
                    and not np.isnan(one.excess.high)
                ]  # fmt: skip
                if within:
                    one = min(within, key=lambda one: (one.excess.high, one.method != REFERENCE, one.seconds))
                    found.append(Decision(table.title, rows, budget, one.method, one.excess, one.seconds))
    return found


@dataclass(frozen=True)
class Statement:
    """A sentence with its interval, in points of error."""

    text: str
    interval: Interval


NARROW = ("rks", "sps")


def statements(everything: Regrets) -> list[Statement]:
    """The three main statements, over all machines; data sets are the units of the intervals."""
    summary = {one.method: one for one in everything.summary}
    five, least = summary["cv5"], min(NARROW, key=lambda name: summary[name].excess.mean)
    return [
        Statement(
            "Exact tenfold cross-validation chooses a candidate that errs by this much more than the best one of the "
            "grid, which nobody can know.",
            summary[REFERENCE].regret,
        ),
        Statement(
            f"Five folds instead of ten change the error by this much, for {five.seconds:.2f} of the time.",
            five.excess,
        ),
        Statement(
            f"Criteria that add a stability of the kernel to the training error ({' and '.join(NARROW)}) err by this "
            f"much more than cross-validation, or by more still: this is {least}, the better of them.",
            summary[least].excess,
        ),
    ]


@dataclass(frozen=True)
class Stratum:
    """Excess of every method over tenfold cross-validation on some of the data sets."""

    kind: str
    name: str
    sets: int
    excess: dict[str, Interval]


def _largest_share(name: str) -> float:
    counts = [rows for _, rows in datasets.info(name).classes]
    return max(counts) / sum(counts)


STRATA: dict[str, dict[str, Callable[[str], bool]]] = {
    "task": {
        "two classes": lambda name: len(datasets.info(name).classes) == 2,
        "several classes": lambda name: len(datasets.info(name).classes) > 2,
        "regression": lambda name: not datasets.info(name).classes,
    },
    "features": {
        "up to 10": lambda name: datasets.info(name).features <= 10,
        "11 to 30": lambda name: 10 < datasets.info(name).features <= 30,
        "more than 30": lambda name: datasets.info(name).features > 30,
    },
    "largest of two classes": {
        "below 60 %": lambda name: len(datasets.info(name).classes) == 2 and _largest_share(name) < 0.6,
        "60 to 70 %": lambda name: len(datasets.info(name).classes) == 2 and 0.6 <= _largest_share(name) < 0.7,
        "70 % or more": lambda name: len(datasets.info(name).classes) == 2 and _largest_share(name) >= 0.7,
    },
}


def strata(everything: dict[int, Regrets]) -> list[Stratum]:
    """By task, features and imbalance at the largest size; by training rows on the data sets that have both sizes."""
    largest = everything[max(everything)]
    found = [_stratum(kind, name, largest.only(keep)) for kind, parts in STRATA.items() for name, keep in parts.items()]
    common = set.intersection(*(set(table.sets) for table in everything.values()))
    if len(everything) > 1:
        sizes = sorted(everything.items())
        found += [
            _stratum("training rows", f"{rows}", table.only(lambda name: name in common)) for rows, table in sizes
        ]
    return [one for one in found if one.sets]


def _stratum(kind: str, name: str, table: Regrets) -> Stratum:
    excess = {method: bootstrap_interval(table.excess[:, k]) for k, method in enumerate(table.methods)}
    return Stratum(kind, name, len(table.sets), excess)


@dataclass(frozen=True)
class Default:
    """A default of onefit, another choice, and the change of the error with the latter."""

    what: str
    ours: str
    other: str
    change: Interval
    seconds: float


def defaults(everything: Regrets) -> list[Default]:
    """Changes of the error with other defaults, over all machines."""
    refined = "auto: the default grid, refined"
    wanted = [
        ("grid of onefit select", refined, "cv10-auto", "13 x 9 around gamma=scale", "cv10"),
        ("grid of onefit select", refined, "cv10-auto", "the default grid, not refined", "cv10-default-grid"),
        ("size of the grid", "13 x 9", "cv10", "7 x 5, every second value", "cv10-coarse"),
        ("folds of onefit select", "10", "cv10", "5, as in scikit-learn", "cv5"),
        ("folds of KernelSearchCV", "5, as in scikit-learn", "cv5", "3", "cv3"),
        ("choice from the table", "the best mean", "cv10", "one_standard_error", "cv10-1se"),
        ("widths", "searched", "cv10", "gamma=scale, only the penalty searched", "scale+cv10"),
        ("search at all", "yes", "cv10", "estimators as they are made", "defaults"),
        ("criterion", "cv", "cv10", "bif", "bif"),
        ("criterion", "cv", "cv10", "cvks", "cvks"),
        ("criterion", "cv", "cv10", "cv_variance", "cv_variance"),
        ("screening", "none", "cv10", "the five widths that ckta likes best", "ckta5+cv10"),
    ]  # fmt: skip
    found = []
    for what, ours, ours_by, other, other_by in wanted:
        first, second = everything.column(ours_by), everything.column(other_by)
        change = bootstrap_interval(everything.excess[:, second] - everything.excess[:, first])
        seconds = relative_seconds(everything.log_seconds[:, second] - everything.log_seconds[:, first])
        found.append(Default(what, ours, other, change, seconds))
    return found


@dataclass(frozen=True)
class Findings:
    """Everything that a page shows of a file of results."""

    parts: dict[int, list[Regrets]]
    everything: dict[int, Regrets]
    failures: list[Line]
    seconds: float

    @property
    def main(self) -> Regrets:
        """All machines at the largest size."""
        return self.everything[max(self.everything)]


def findings(lines: Sequence[Line]) -> Findings:
    """Read the lines of a file of results; a ValueError if it has no cell with its reference."""
    parts = {rows: by_machine(lines, rows) for rows in SIZES}
    parts = {rows: tables for rows, tables in parts.items() if tables}
    if not parts:
        raise ValueError("The file of results has no cell that tenfold cross-validation and the best candidate are in.")
    everything = {rows: pooled(tables) for rows, tables in parts.items()}
    seconds = sum(float(line["seconds"] or 0.0) for line in lines)
    return Findings(parts, everything, [line for line in lines if line["failure"]], seconds)
