"""``onefit datasets``: the data sets that are known by name."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .app import app
from .options import JsonOption
from .screen import columns, echo, echo_json, explained


@app.command()
def datasets(
    name: Annotated[
        str | None, typer.Argument(help="Show this one; with --check the sets of a study.", show_default=False)
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Say which sets are at hand: all, or those of a study such as bif:1.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List the data sets that commands take by name, show one of them, or say which are at hand.

    Examples:

        onefit datasets

        onefit datasets german

        onefit datasets --check sm:2
    """
    with explained():
        from ..datasets.registry import info, names
        from .data import registered_set

        if check:
            _check(name, as_json)
            return
        if name is not None:
            _show(_facts(registered_set(name)), as_json)
            return
        entries = [_facts(info(known)) for known in names()]
        if as_json:
            echo_json(entries)
            return
        rows = [("name", "task", "rows", "columns", "source")]
        rows += [(e["name"], e["task"], f"{e['rows']:,}", f"{e['features']:,}", e["source"]) for e in entries]
        echo(columns(rows))


def _check(study: str | None, as_json: bool) -> None:
    """Where each set would come from, without downloading any; exit code 1 if one cannot be had."""
    from ..datasets.registry import info
    from .at_hand import STATES, whereabouts

    found = [{"name": name, **whereabouts(info(name))} for name in _names_of(study)]
    if as_json:
        echo_json(found)
    else:
        echo(columns([("name", "state", "where"), *((one["name"], one["state"], one["where"]) for one in found)]))
        counts = {state: sum(one["state"] == state for one in found) for state in STATES}
        echo("\n" + ", ".join(f"{count} {state}" for state, count in counts.items() if count))
    if any(one["state"] in ("damaged", "missing") for one in found):
        raise typer.Exit(1)


def _names_of(study: str | None) -> list[str]:
    """All registered names, or those of a study: a key of ``onefit reproduce --list``, or criteria or learned."""
    if study is None:
        from ..datasets.registry import names

        return list(names())
    if study == "criteria":
        from ..studies.regret.data_sets import SETS

        return list(SETS)
    if study == "learned":
        from ..studies import learned

        return list(learned.SETS)
    from ..studies.catalogue import study_of

    protocol = study_of(study).protocol
    return [protocol.source(name) for name in protocol.datasets]


def _facts(entry: Any) -> dict[str, Any]:
    if entry.bundled:
        source = "scikit-learn"
    else:
        source = "ONEFIT_DATA or download" if entry.url else "ONEFIT_DATA"
    return {
        "name": entry.name,
        "aliases": list(entry.aliases),
        "task": entry.task,
        "rows": entry.rows,
        "features": entry.features,
        "classes": {str(label): rows for label, rows in entry.classes},
        "source": source,
        "file": entry.file,
        "url": entry.url,
        "remark": entry.remark,
    }


def _show(facts: dict[str, Any], as_json: bool) -> None:
    if as_json:
        echo_json(facts)
        return
    shown = {
        **facts,
        "aliases": ", ".join(facts["aliases"]),
        "classes": ", ".join(f"{label} ({rows:,} rows)" for label, rows in facts["classes"].items()),
    }
    echo("\n".join(f"{name:<10}{value}" for name, value in shown.items() if value != ""))
