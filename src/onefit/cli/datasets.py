"""``onefit datasets``: the data sets that are known by name."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .app import app
from .options import JsonOption
from .screen import columns, echo, echo_json, explained


@app.command()
def datasets(
    name: Annotated[str | None, typer.Argument(help="Show this one.", show_default=False)] = None,
    as_json: JsonOption = False,
) -> None:
    """List the data sets that commands take by name, or show one of them.

    Examples:

        onefit datasets

        onefit datasets german
    """
    with explained():
        from ..datasets.registry import info, names
        from .data import registered_set

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
