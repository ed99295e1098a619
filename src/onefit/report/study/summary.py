"""One page about all studies: what was run, and which claims hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from ...studies.comparisons import FAILS, HOLDS, MIXED, UNTESTED
from ...studies.fingerprint import conditions
from ...studies.hypotheses import hypotheses
from ...studies.outcome import Outcome
from .files import write_files
from .pages import render
from .view import StudyView, view


@dataclass(frozen=True)
class StudyLine:
    """A study in one line of the summary."""

    shown: StudyView
    seconds: float
    compared: int
    counts: Counter[str]


def write_summary(outcomes: Iterable[Outcome], folder: str | PathLike[str]) -> list[Path]:
    """Write ``index.html`` and ``index.md``: every study, its splits, machine time, claims and distant cells.

    Variants stand once more beside the tables that they vary, on the splits that both have.
    """
    lines = [_line(outcome) for outcome in outcomes]
    stems = {line.shown.study.key: line.shown.stem for line in lines}
    tables = [line for line in lines if not (line.shown.study.is_figure or _is_variant(line))]
    context = {
        "lines": lines,
        "statuses": (HOLDS, MIXED, FAILS, UNTESTED),
        "totals": sum((line.counts for line in lines), Counter()),
        "sources": _by_source(lines),
        "far": sum(len(line.shown.far) for line in tables),
        "compared": sum(line.compared for line in tables),
        "seconds": _machine_seconds([line.shown.outcome for line in lines]),
        "hypotheses": [(stems[one.key], one) for one in hypotheses(line.shown.outcome for line in lines)],
    }
    contents = {"index.html": render("summary.html.j2", **context), "index.md": render("summary.md.j2", **context)}
    return write_files(Path(folder), contents)


def _line(outcome: Outcome) -> StudyLine:
    shown = view(outcome)
    counts = Counter(item.verdict.status for item in shown.verdicts)
    compared = sum(cell.difference is not None for cell in shown.cells)
    return StudyLine(shown, sum(outcome.seconds.values()), compared, counts)


def _is_variant(line: StudyLine) -> bool:
    """Whether a study is a table with another answer to an open question: it repeats the table's claims and cells."""
    return line.shown.study.table_key != line.shown.study.key


SOURCES = ("the papers' claims about errors", "the papers' claims about seconds", "claims of our own")


def _by_source(lines: Sequence[StudyLine]) -> dict[str, Counter[str]]:
    """How many claims hold, for the papers' and ours apart; those of variants repeat the tables', and do not count."""
    counts: dict[str, Counter[str]] = {source: Counter() for source in SOURCES}
    for line in lines:
        for item in line.shown.verdicts if not _is_variant(line) else ():
            claim = item.verdict.claim
            source = SOURCES[2] if not claim.printed else SOURCES[claim.verb == "is faster than"]
            counts[source][item.verdict.status] += 1
    return counts


def _machine_seconds(outcomes: Sequence[Outcome]) -> float:
    """CPU seconds of all studies; methods that studies of the same conditions share count once."""
    spent = {}
    for outcome in outcomes:
        given = conditions(outcome.study.protocol)
        for cell, seconds in outcome.seconds.items():
            spent[given, *cell] = seconds
    return sum(spent.values())
