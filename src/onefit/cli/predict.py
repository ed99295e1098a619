"""``onefit predict``: a saved model on new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .app import app
from .options import JsonOption
from .screen import check_distinct, check_writable, counted, echo_json, explained, note


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="A file that onefit select --save has written.")],
    data: Annotated[str, typer.Argument(help="The rows: a file, or the name of a registered data set.")],
    out: Annotated[Path | None, typer.Option(help="Write a CSV file instead of printing.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Predict with a saved model: one prediction for each row; with the target in the data also the score.

    Examples:

        onefit predict model.skops new_patients.csv

        onefit predict model.skops new_patients.csv --out predictions.csv
    """
    with explained():
        check_distinct({"MODEL": model, "DATA": data, "--out": out})
        check_writable(out, "--out")
        values, score = _predict(model, data)
        if out is not None:
            _write_csv(out, values)
            note(f"wrote {counted(len(values), 'prediction')} to {out}")
        if as_json:
            echo_json({"model": str(model), "data": data, "predictions": values, **score})
        elif out is None:
            typer.echo("\n".join(map(str, values)))


def _predict(path: Path, data: str) -> tuple[list, dict[str, Any]]:
    """Predictions, and the score if the target is known."""
    from ..report.text import number
    from .alignment import rows_for
    from .models import check_complete, load
    from .narration import warnings_as_notes

    model, facts = load(path)
    check_complete(path, facts)
    X, y = rows_for(facts, data)
    with warnings_as_notes():
        values = model.predict(X).tolist()
    note(f"{data}: {counted(len(values), 'row')}, predicted by {facts['learner']} that was trained on {facts['data']}")
    if y is None or (facts["task"] == "regression" and len(y) < 2):  # R² of one row is not defined
        return values, {}
    metric = "accuracy" if facts["task"] == "classification" else "R²"
    score = float(model.score(X, y))
    note(f"{metric} on these rows: {number(score)}")
    return values, {"metric": metric, "score": score}


def _write_csv(path: Path, values: list) -> None:
    import csv

    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["prediction"], *([value] for value in values)])
