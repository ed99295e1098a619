"""``onefit inspect``: what is in a model file or in a journal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .app import app
from .options import JsonOption
from .screen import columns, echo, echo_json, explained

_SQLITE = b"SQLite format 3\0"


@app.command()
def inspect(
    file: Annotated[Path, typer.Argument(help="A model of --save, or a journal of --journal.")],
    as_json: JsonOption = False,
) -> None:
    """Show what a model is, how it was chosen and how to rebuild it; or what a journal has finished.

    Examples:

        onefit inspect model.skops

        onefit inspect search.sqlite
    """
    with explained():
        from ..datasets.files import existing_file

        with existing_file(file).open("rb") as contents:
            start = contents.read(len(_SQLITE))
        if start == _SQLITE:
            _show_journal(file, as_json)
        else:
            _show_model(file, as_json)


def _show_model(path: Path, as_json: bool) -> None:
    from ..datasets.visible import visible
    from ..report.text import number, settings
    from .models import check_facts, read_facts

    facts = read_facts(path)
    check_facts(path, facts)
    if as_json:
        echo_json(facts)
        return
    error = "" if facts["standard_error"] is None else f" ± {number(facts['standard_error'], 2)}"
    target = "the label" if facts["target"] is None else repr(facts["target"])
    lines = {
        "model": f"{facts['learner']} with the {facts['kernel']} kernel, by onefit {facts['onefit']}",
        "parameters": settings({name: value for name, value in facts["params"].items() if name != "kernel"}),
        "score": f"{facts['metric']} {number(facts['score'])}{error} over {facts['folds']} folds, {facts['exactness']}",
        "data": f"{facts['data']}: {facts['rows']:,} rows",
        "target": f"{target}, {facts['task']}" + (f" of {_some(facts['classes'])}" if facts["classes"] else ""),
        "columns": f"{len(facts['features']):,}: {_some(facts['features'])}",
    }
    echo("\n".join(f"{name:<12}{visible(text)}" for name, text in lines.items()))
    echo(f"\n{facts['code']}")


def _some(values: list, most: int = 12) -> str:
    return ", ".join(map(str, values[:most])) + (", …" if len(values) > most else "")


def _show_journal(path: Path, as_json: bool) -> None:
    from ..search.journal import Journal

    with Journal(path) as journal:
        searches = [{**search, "best": _best(journal, search)} for search in journal.searches()]
    if as_json:
        echo_json(searches)
        return
    if not searches:
        echo(f"{path} holds no search yet")
        return
    rows: list[tuple[str, ...]] = [
        ("started", "rows", "folds", "criterion", "finished", "best value", "its parameters", "estimator")
    ]
    rows += [_row(search) for search in searches]
    echo(columns(rows))


def _best(journal: Any, search: dict[str, Any]) -> dict[str, Any] | None:
    """The finished candidate with the largest mean value, which has scikit-learn's sign."""
    import numpy as np

    found = [(params, float(np.mean(next(iter(row.test.values()))))) for params, row in
             journal.finished(search["fingerprint"])]  # fmt: skip
    known = [(params, value) for params, value in found if value == value]
    if not known:
        return None
    params, value = max(known, key=lambda pair: pair[1])
    return {"params": params, "value": value}


def _row(search: dict[str, Any]) -> tuple[str, ...]:
    from ..report.text import number, settings

    best, total = search["best"], search["candidates"]
    return (
        search["started"],
        number(search["rows"]),
        number(search["folds"]),
        search["criterion"],
        f"{search['finished']:,}" + ("" if total is None else f" of {total:,}"),
        "–" if best is None else number(best["value"]),
        "–" if best is None else settings(best["params"]),
        " ".join(search["estimator"].split()),
    )
