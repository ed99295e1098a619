"""``onefit benchmark``: studies of our own that are not in a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import app
from .screen import echo, explained


@app.command()
def benchmark(
    study: Annotated[str, typer.Argument(help="learned: learned kernels beside a grid and other libraries.")],
    results: Annotated[Path, typer.Argument(help="A CSV file; what is in it is not computed again.")],
    rows: Annotated[int, typer.Option(min=20, help="Training rows, at most.")] = 200,
    splits: Annotated[int, typer.Option(min=1, help="Random splits of every set.")] = 10,
    sets: Annotated[str, typer.Option(help="Names of data sets, separated by commas.")] = "",
    methods: Annotated[str, typer.Option(help="Names of methods, separated by commas.")] = "",
    summary: Annotated[bool, typer.Option("--summary", help="Only read the file.")] = False,
) -> None:
    """Run a study, or go on with it, and print what it says so far.

    Examples:

        onefit benchmark learned results.csv --splits 2 --sets housing,mpg --methods grid,ard,agop

        onefit benchmark learned results.csv --summary
    """
    with explained():
        if study != "learned":
            raise ValueError(f"There is no study {study!r}: learned is one.")
        from ..studies import learned

        chosen = methods.split(",") if methods else list(learned.METHODS)
        unknown = [name for name in chosen if name not in learned.METHODS]
        if unknown:
            raise ValueError(f"There is no method {unknown[0]!r}: {', '.join(learned.METHODS)} are known.")
        if not summary:
            learned.run(results, sets.split(",") if sets else learned.SETS, chosen, splits, rows)
        echo(learned.summary(results))
