"""``onefit benchmark``: studies of our own that are not in a paper."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from .app import app
from .screen import echo, explained, note


@app.command()
def benchmark(
    study: Annotated[
        str,
        typer.Argument(
            help="criteria: what the choice of every criterion costs; "
            "learned: learned kernels beside a grid and other libraries."
        ),
    ],
    results: Annotated[Path, typer.Argument(help="A CSV file; what is in it is not computed again.")],
    rows: Annotated[
        str,
        typer.Option(help="Training rows, at most; criteria: several, with commas.", show_default="300,100 or 300"),
    ] = "",
    splits: Annotated[int, typer.Option(min=1, help="Random splits of every set.")] = 10,
    first_split: Annotated[int, typer.Option(min=0, help="Number of the first split (criteria).")] = 0,
    sets: Annotated[str, typer.Option(help="Names of data sets, separated by commas.")] = "",
    machines: Annotated[str, typer.Option(help="Names of machines, separated by commas (criteria).")] = "",
    methods: Annotated[str, typer.Option(help="Names of methods, separated by commas.")] = "",
    summary: Annotated[bool, typer.Option("--summary", help="Only read the file.")] = False,
) -> None:
    """Run a study, or go on with it, and print what it says so far.

    Examples:

        onefit benchmark criteria results.csv --splits 1

        onefit benchmark criteria cell.csv --sets heart --machines SVC --rows 300 --first-split 3 --splits 1

        onefit benchmark learned results.csv --splits 2 --sets housing,mpg --methods grid,ard,agop

        onefit benchmark learned results.csv --summary
    """
    with explained():
        sizes = [_number(size) for size in rows.split(",")] if rows else []
        if study == "criteria":
            chosen = range(first_split, first_split + splits)
            _criteria(results, sizes, chosen, sets, machines, methods, summary)
        elif study == "learned":
            if len(sizes) > 1 or machines or first_split:
                raise ValueError("The study learned takes one number of --rows, no --machines and no --first-split.")
            _learned(results, sizes[0] if sizes else 300, splits, sets, methods, summary)
        else:
            raise ValueError(f"There is no study {study!r}: criteria and learned are known.")


def _criteria(
    results: Path, sizes: list[int], splits: range, sets: str, machines: str, methods: str, summary: bool
) -> None:
    from ..report.study.regret_page import summary_text
    from ..studies.regret.data_sets import SETS
    from ..studies.regret.methods import BEST, MACHINES, METHODS
    from ..studies.regret.run import SIZES, run
    from ..studies.result_lines import read

    names = _chosen(sets, SETS, "data set")
    kinds = _chosen(machines, MACHINES, "machine")
    ways = _chosen(methods, (BEST, *METHODS), "method")
    if not summary:
        run(results, _to_be_had(names, sets), kinds, ways, sizes or SIZES, splits)
    echo(summary_text(read(results)))


def _learned(results: Path, rows: int, splits: int, sets: str, methods: str, summary: bool) -> None:
    from ..studies import learned

    chosen = _chosen(methods, learned.METHODS, "method")
    if not summary:
        names = sets.split(",") if sets else list(learned.SETS)
        learned.run(results, _to_be_had(names, sets), chosen, splits, rows)
    echo(learned.summary(results))


def _to_be_had(names: list[str], asked: str) -> list[str]:
    """The data sets that can be had; an error if one that was asked for cannot, before any work."""
    from .at_hand import not_to_be_had, told

    absent = not_to_be_had(names)
    if absent and (asked or len(absent) == len(names)):
        raise ValueError(told(absent))
    if absent:
        note(f"left out: {told(absent)}")
    return [name for name in names if name not in absent]


def _chosen(names: str, known: Iterable[str], noun: str) -> list[str]:
    """Names that are separated by commas, all that are known if there are none."""
    given = names.split(",") if names else list(known)
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ValueError(f"There is no {noun} {unknown[0]!r}: {', '.join(known)} are known.")
    return given


def _number(text: str) -> int:
    if not text.isdigit() or int(text) < 20:
        raise ValueError(f"--rows takes whole numbers from 20, separated by commas, got {text!r}.")
    return int(text)
