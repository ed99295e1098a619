"""``onefit predict``: a saved model on new rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from .app import app
from .options import JsonOption
from .screen import check_distinct, check_writable, counted, echo, echo_json, explained, note

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""How text begins that spreadsheets take for a formula, the wide forms included; before a tab or line break they look
at what follows."""

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="A file that onefit select --save has written.")],
    data: Annotated[str, typer.Argument(help="The rows: a file, or the name of a registered data set.")],
    out: Annotated[Path | None, typer.Option(help="Write a CSV file instead of printing.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Predict with a saved model: one prediction for each row; with the target in the data also the score.

    In the file of --out a label that a spreadsheet would take for a formula has an apostrophe in front.

    Examples:

        onefit predict model.skops new_patients.csv

        onefit predict model.skops new_patients.csv --out predictions.csv
    """
    with explained():
        from ..datasets.visible import visible

        check_distinct({"MODEL": model, "DATA": data, "--out": out})
        check_writable(out, "--out")
        values, score = _predict(model, data)
        if out is not None:
            _write_csv(out, values)
            note(f"wrote {counted(len(values), 'prediction')} to {out}")
        if as_json:
            echo_json({"model": str(model), "data": data, "predictions": values, **score})
        elif out is None:
            echo("\n".join(visible(str(value)) for value in values))


def _predict(path: Path, data: str) -> tuple[list, dict[str, Any]]:
    """Predictions, and the score if the target is known."""
    from ..report.text import number
    from .alignment import rows_for
    from .facts import check_facts
    from .models import load
    from .narration import warnings_as_notes

    model, facts = load(path)
    check_facts(path, facts)
    X, y = rows_for(facts, data)
    with warnings_as_notes(), _explaining(path, data):
        values = model.predict(X).tolist()
    note(f"{data}: {counted(len(values), 'row')}, predicted by {facts['learner']} that was trained on {facts['data']}")
    if y is None or (facts["task"] == "regression" and len(y) < 2):  # R² of one row is not defined
        return values, {}
    metric = "accuracy" if facts["task"] == "classification" else "R²"
    with _explaining(path, data):
        score = float(model.score(X, y))
    note(f"{metric} on these rows: {number(score)}")
    return values, {"metric": metric, "score": score}


@contextmanager
def _explaining(path: Path, data: str) -> Iterator[None]:
    """Whatever a model stumbles over, in rows that its kernel is not defined for or in a file that was changed."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"{path} cannot predict the rows of {data}: {error}") from error


def _write_csv(path: Path, values: list) -> None:
    import csv

    with path.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        csv.writer(file).writerows([["prediction"], *([_defused(value)] for value in values)])


def _defused(value: Any) -> Any:
    """The value, with an apostrophe in front of a text that a spreadsheet would compute as a formula.

    Numbers stay, also where they are text, such as "-1.5"; any other text after a minus is defused.

    >>> _defused("=1+1"), _defused("-x"), _defused("-1.5"), _defused(-1.5), _defused("a=b")
    ("'=1+1", "'-x", '-1.5', -1.5, 'a=b')
    """
    if not isinstance(value, str):
        return value
    text = value.strip(" ")
    return f"'{value}" if text.startswith(FORMULA_STARTS) and not NUMBER.fullmatch(text) else value
