"""``onefit reproduce``: the papers' tables and figures, measured again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .app import app
from .screen import echo, exit_code, explained, fail, note

if TYPE_CHECKING:
    from ..studies.cell_journal import Journal
    from ..studies.outcome import Outcome
    from ..studies.spec import Study


@app.command()
def reproduce(
    keys: Annotated[list[str] | None, typer.Argument(help="Studies such as bif:1, or all.", show_default=False)] = None,
    show: Annotated[bool, typer.Option("--list", help="List all studies and end.")] = False,
    datasets: Annotated[
        list[str] | None, typer.Option(help="Only these data sets: names, with spaces or commas.")
    ] = None,
    splits: Annotated[int | None, typer.Option(min=0, help="The first N splits; 0 writes what is there.")] = None,
    methods: Annotated[
        list[str] | None, typer.Option(help="Show only these methods: names, with spaces or commas.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for tables, pages, figures and the journal.")] = Path("results"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue with the journal in the folder.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run cells again that have failed.")] = False,
    time_budget: Annotated[str | None, typer.Option(help="Begin no cell after this time: 90s, 10m, 2h.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
) -> None:
    """Run a paper's table again: our numbers and the printed ones side by side.

    Examples:

        onefit reproduce --list

        onefit reproduce bif:1 --datasets heart australian --splits 3

        onefit reproduce all --jobs 2 --time-budget 2h --resume
    """
    with explained():
        from ..studies.catalogue import STUDIES, VARIANTS, study_of

        if show:
            _list({**STUDIES, **VARIANTS}, as_json)
            return
        wanted, loose = _studies_and_names(keys or [], named=bool(datasets or methods))
        if not wanted:
            fail("name a study, such as bif:1, or all; --list shows them", usage=True)
        once = dict.fromkeys(key for word in wanted for key in (STUDIES if word == "all" else [word]))
        studies = [study_of(key) for key in once]
        shown = _methods_of(studies, _words(methods), loose if methods else [])
        named = _words(datasets) + [name for name in loose if name not in shown]
        chosen = _datasets_of(studies, named)
        _check_splits(studies, splits)
        _refuse_known_cells(chosen, out, resume or splits == 0)
        with _journal_kept(out):
            written, failed = _run_and_write(chosen, splits, shown, out, retry_failed, time_budget, jobs)
        echo(json.dumps([str(path) for path in written], indent=1) if as_json else "\n".join(map(str, written)))
        if failed:
            fail("every cell has failed: the pages say why. --resume --retry-failed runs them again")


@contextmanager
def _journal_kept(out: Path) -> Iterator[None]:
    """Say how to go on after a run that was ended."""
    try:
        yield
    except BrokenProcessPool:
        fail(f"a worker process died, perhaps for lack of memory; finished cells are in {out / 'journal'}: "
             "--resume continues, and fewer --jobs need less memory")  # fmt: skip
    except KeyboardInterrupt:
        note(f"interrupted: finished cells are in {out / 'journal'}; --resume continues")
        raise typer.Exit(exit_code()) from None


def _list(studies: dict[str, Study], as_json: bool) -> None:
    rows = [{"key": s.key, "title": s.title, "datasets": len(s.protocol.datasets), "splits": s.protocol.splits,
             "paper": s.paper} for s in studies.values()]  # fmt: skip
    if as_json:
        echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    for row in rows:
        echo(f"{row['key']:16}{row['title']} ({row['datasets']} data sets, {row['splits']} splits)")


def _words(texts: Sequence[str] | None) -> list[str]:
    return [word for text in texts or [] for word in text.split(",") if word]


def _studies_and_names(keys: Sequence[str], named: bool) -> tuple[list[str], list[str]]:
    """Names that follow an option with spaces are arguments to the parser: they have no colon, unlike studies."""
    if not named:
        return list(keys), []
    return [k for k in keys if ":" in k or k == "all"], [k for k in keys if ":" not in k and k != "all"]


def _methods_of(studies: list[Study], named: list[str], loose: list[str]) -> list[str]:
    """The methods to show, ``loose`` names among them; a name that no study knows is refused."""
    known = list(dict.fromkeys(method.name for study in studies for method in study.protocol.methods))
    unknown = [name for name in named if name not in known]
    if unknown:
        raise ValueError(f"no method is called {', '.join(unknown)}: there are {', '.join(known)}.")
    return named + [name for name in loose if name in known]


def _datasets_of(studies: list[Study], named: list[str]) -> list[tuple[Study, tuple[str, ...]]]:
    """The data sets of every study that has one of the named; a name that no study knows is refused."""
    known = list(dict.fromkeys(name for study in studies for name in study.protocol.datasets))
    unknown = [name for name in named if name not in known]
    if unknown:
        keys = ", ".join(study.key for study in studies) if len(studies) < 5 else "the studies"
        raise ValueError(f"no data set {', '.join(unknown)} in {keys}: there are {', '.join(known)}.")
    chosen = [(study, tuple(n for n in study.protocol.datasets if not named or n in named)) for study in studies]
    return [(study, names) for study, names in chosen if names]


def _check_splits(studies: list[Study], splits: int | None) -> None:
    """Refuse more splits than a protocol has."""
    for study in studies:
        if splits is not None and splits > study.protocol.splits:
            raise ValueError(f"--splits {splits}: {study.key} has {study.protocol.splits} splits.")


def _journal(out: Path, study: Study) -> Journal:
    from ..studies.cell_journal import Journal

    return Journal(out / "journal" / f"{study.protocol.name}.sqlite")


def _refuse_known_cells(chosen: list[tuple[Study, tuple[str, ...]]], out: Path, resume: bool) -> None:
    for study, _ in chosen:
        known = len(_journal(out, study).read(study.protocol))
        if known and not resume:
            raise ValueError(
                f"{out} has {known} finished cells of {study.key}: add --resume to continue, or give another folder."
            )


def _run_and_write(
    chosen: list[tuple[Study, tuple[str, ...]]],
    splits: int | None,
    methods: list[str],
    out: Path,
    retry_failed: bool,
    time_budget: str | None,
    jobs: int,
) -> tuple[list[Path], bool]:
    """Run studies and write their pages: (files written, whether every cell that there is has failed)."""
    import time

    from ..report.study import write_study, write_summary
    from ..studies.manifest import manifest
    from ..studies.outcome import collect

    end = None
    if time_budget is not None:
        from ..search.deadline import parse_seconds

        end = time.monotonic() + parse_seconds(time_budget)
    written: list[Path] = []
    outcomes: list[Outcome] = []
    for study, datasets in chosen:
        journal = _journal(out, study)
        _run(study, journal, datasets, splits, retry_failed, None if end is None else end - time.monotonic(), jobs)
        outcome = collect(study, journal, datasets, methods or None)
        outcomes.append(outcome)
        written += write_study(outcome, out, manifest=manifest(study, {d: outcome.n_splits(d) for d in datasets}))
    if len(chosen) > 1:
        written += write_summary(outcomes, out)
    failed = any(outcome.failures for outcome in outcomes) and not any(outcome.scores for outcome in outcomes)
    return written, failed


def _run(
    study: Study,
    journal: Journal,
    datasets: tuple[str, ...],
    splits: int | None,
    retry_failed: bool,
    time_budget: float | None,
    jobs: int,
) -> None:
    from ..studies.runner import missing, run, tasks_of
    from .at_hand import not_to_be_had, told
    from .narration import bar

    protocol = study.protocol
    tasks = tasks_of(protocol, datasets, splits)
    tasks = missing(protocol, journal, tasks, retry_failed)
    if not tasks:
        return
    absent = not_to_be_had(dict.fromkeys(protocol.source(name) for name, _ in tasks))
    if absent:
        note(f"cells will fail: {told(absent)}")
    with bar(f"{study.key}", len(tasks)) as advance:
        run(protocol, journal, tasks, workers=jobs, time_budget=time_budget,
            tell=lambda cell: advance(f"{cell.task[0]} {cell.task[1]}", cell.error))  # fmt: skip
