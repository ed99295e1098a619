"""``onefit reproduce``: the papers' tables and figures, measured again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from .app import app
from .screen import fail, note, seconds_of


@app.command()
def reproduce(
    keys: Annotated[list[str] | None, typer.Argument(help="Studies such as bif:1, or all.", show_default=False)] = None,
    show: Annotated[bool, typer.Option("--list", help="List all studies and end.")] = False,
    datasets: Annotated[list[str] | None, typer.Option(help="Only these data sets; repeat or separate by commas.")] = None,
    splits: Annotated[int | None, typer.Option(min=0, help="Run the first N splits (0: only write what is there).")] = None,
    methods: Annotated[list[str] | None, typer.Option(help="Show only these methods.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for tables, pages, figures and the journal.")] = Path("results"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue with the journal in the folder.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run cells again that have failed.")] = False,
    time_budget: Annotated[str | None, typer.Option(help="Begin no further cell after this time: 90s, 10m, 2h.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
) -> None:
    """Run a paper's table again: ours and the printed numbers side by side.

    Examples:

      onefit reproduce --list

      onefit reproduce bif:1 --datasets heart,sonar --splits 3

      onefit reproduce all --jobs 2 --time-budget 2h --resume
    """
    from ..studies.catalogue import STUDIES, VARIANTS, study_of

    if show:
        _list(STUDIES | VARIANTS, as_json)
        return
    if not keys:
        fail("name a study, such as bif:1, or all; --list shows them", usage=True)
    try:
        studies = list(STUDIES.values()) if keys == ["all"] else [study_of(key) for key in keys]
        chosen = [(study, _chosen_datasets(study, datasets, lenient=keys == ["all"])) for study in studies]
        budget = None if time_budget is None else seconds_of(time_budget)
        _reproduce(chosen, splits, _words(methods), out, resume, retry_failed, budget, jobs, as_json)
    except ValueError as error:
        fail(str(error))
