"""The benchmark of criteria as a page: the answer first, then what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from ...studies.regret.analysis import ROPE, Line, Regrets
from ...studies.regret.data_sets import CLASSIFICATION, MOST_TESTED, REGRESSION
from ...studies.regret.findings import BUDGETS, Findings, decisions, defaults, findings, statements, strata
from ...studies.regret.methods import METHODS
from ...studies.statistics import Interval
from .files import write_files
from .numbers import MISSING, duration, ratio, signed
from .pages import render
from .regret_figures import regret_pictures

STEM = "criteria"


def write_regrets(lines: Sequence[Line], folder: str | PathLike[str]) -> list[Path]:
    """Write ``criteria.html`` with its figures, and its tables as CSV, from the lines of a file of results."""
    found = findings(lines)
    drawn = regret_pictures([found.main, *found.parts[max(found.parts)]])
    contents = {
        f"{STEM}.html": render("regret.html.j2", **_context(found), drawn=drawn),
        f"{STEM}-summary.csv": summary_csv(found),
        **{f"{STEM}{picture.suffix}.svg": picture.svg for picture in drawn},
    }
    return write_files(Path(folder), contents)


def summary_text(lines: Sequence[Line]) -> str:
    """The methods of each machine and size in lines, as the command prints them."""
    found = findings(lines)
    text = []
    for rows, everything in found.everything.items():
        for table in (everything, *found.parts[rows]):
            text.append(f"{table.title}, at most {rows} training rows, {_progress(table)}")
            text.append(f"{'method':20}{'sets':>5}{'above best':>12}{'above cv10':>25}{'worse by > 1':>14}{'time':>8}")
            for one in table.summary:
                text.append(
                    f"{one.method:20}{one.sets:5}{signed(one.regret.mean, 2):>12}{interval(one.excess):>25}"
                    f"{_share(one.practical.above):>14}{ratio(one.seconds):>8}"
                )
            text.append("")
    return "\n".join(text)


def summary_csv(found: Findings) -> str:
    """Every number of the tables of methods, for programs."""
    names = "machine,rows,method,sets,regret,regret_low,regret_high,excess,excess_low,excess_high"
    text = [f"{names},better,equivalent,worse,wilcoxon_holm,seconds,worst_set,worst"]
    for rows, everything in found.everything.items():
        for table in (everything, *found.parts[rows]):
            for one in table.summary:
                numbers = [
                    one.regret.mean, one.regret.low, one.regret.high, one.excess.mean, one.excess.low, one.excess.high,
                    one.practical.below, one.practical.within, one.practical.above, one.adjusted, one.seconds,
                ]  # fmt: skip
                texts = ["" if np.isnan(number) else f"{number:.5g}" for number in numbers]
                row = [table.title, rows, one.method, one.sets, *texts, one.worst_set, f"{one.worst:.5g}"]
                text.append(",".join(map(str, row)))
    return "\n".join(text) + "\n"


def interval(value: Interval) -> str:
    """A mean with its interval.

    >>> interval(Interval(0.5, -0.1, 1.1))
    '+0.50 [−0.10, +1.10]'
    """
    if np.isnan(value.mean):
        return MISSING
    ends = "" if np.isnan(value.low) else f" [{signed(value.low, 2)}, {signed(value.high, 2)}]"
    return signed(value.mean, 2) + ends


def _context(found: Findings) -> dict[str, object]:
    largest = max(found.parts)
    chosen = {(one.machine, one.rows, one.budget): one for one in decisions(found.parts)}
    return {
        "sizes": sorted(found.parts),
        "budgets": list(BUDGETS),
        "chosen": chosen,
        "machines": list(dict.fromkeys(machine for machine, _, _ in chosen)),
        "statements": statements(found.main),
        "tables": [found.main, *found.parts[largest]],
        "smaller": [table for rows in sorted(found.parts) if rows != largest for table in found.parts[rows]],
        "largest": largest,
        "strata": strata(found.everything),
        "methods": [one.method for one in found.main.summary],
        "defaults": defaults(found.main),
        "progress": _progress(found.main),
        "failures": found.failures,
        "unmeasured": [method for method in METHODS if not any(method in one.methods for one in found.parts[largest])],
        "time": duration(found.seconds),
        "n_classification": len(CLASSIFICATION),
        "n_regression": len(REGRESSION),
        "tested": MOST_TESTED,
        "rope": ROPE,
        "interval": interval,
        "share": _share,
        "ratio": ratio,
        "signed": signed,
    }


def _progress(table: Regrets) -> str:
    fewest, most = min(table.splits), max(table.splits)
    number = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    return f"{len(table.sets)} data sets, {number} split{'' if most == 1 else 's'}"


def _share(probability: float) -> str:
    """A probability in percent, which is neither zero nor one by rounding.

    >>> _share(0.123), _share(0.9999), _share(0.0)
    ('12 %', '> 99 %', '< 1 %')
    """
    if np.isnan(probability):
        return MISSING
    return "> 99 %" if probability > 0.99 else "< 1 %" if probability < 0.01 else f"{100 * probability:.0f} %"
