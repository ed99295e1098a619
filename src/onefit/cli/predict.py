"""``onefit predict``: a saved model on new rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .app import app
from .options import EncodingOption, JsonOption
from .screen import check_distinct, check_writable, counted, echo, echo_json, explained, note

if TYPE_CHECKING:
    from .alignment import Block
    from .predicting import Predictions, SavedModel

ModelArgument = Annotated[Path, typer.Argument(help="A file that onefit select --save has written.")]
RowsArgument = Annotated[str, typer.Argument(help="The rows: a file, or the name of a registered data set.")]


@app.command()
def predict(
    model: ModelArgument,
    data: RowsArgument,
    out: Annotated[Path | None, typer.Option(help="Write a .csv or .parquet file instead of printing.")] = None,
    proba: Annotated[bool, typer.Option("--proba", help="The calibrated probability of every class too.")] = False,
    decision: Annotated[bool, typer.Option("--decision", help="Decision values too.")] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            help="Columns of the data to stand beside, with commas; the --id of select always.",
            metavar="COLUMNS",
        ),
    ] = None,
    encoding: EncodingOption = None,
    as_json: JsonOption = False,
) -> None:
    """Predict with a saved model: one prediction for each row; with the target in the data also the score.

    CSV and Parquet files may be larger than memory. Printed alone, predictions are one a line; with other columns they
    are CSV. In CSV a text that a spreadsheet would take for a formula has an apostrophe in front.

    Examples:

        onefit predict model.skops new_patients.csv

        onefit predict model.skops new_patients.csv --proba --keep patient --out predictions.parquet
    """  # fmt: skip
    with explained():
        from .predicting import SavedModel

        check_distinct({"MODEL": model, "DATA": data, "--out": out})
        check_writable(out, "--out")
        saved = SavedModel.read(model)
        saved.refuse(probability=proba, decision=decision)
        blocks = _blocks(saved, data, _kept(saved, data, keep, encoding), proba, decision, encoding)
        if out is not None:
            _write(saved, data, blocks, out, as_json)
        elif as_json:
            _show_json(saved, data, blocks)
        else:
            _print(saved, data, blocks)


def _kept(saved: SavedModel, data: str, asked: list[str] | None, encoding: str | None) -> list[str]:
    """The columns to stand beside: those asked for, and the one that names rows where the data have it."""
    from .alignment import first_names

    names = first_names(saved.facts, data, encoding)
    found: list[str] = []
    for given in asked or ():
        found += [given] if given in names else [part.strip() for part in given.split(",") if part.strip()]
    own = saved.facts.get("id")
    return list(dict.fromkeys([*([own] if own in names else []), *found]))


def _blocks(
    saved: SavedModel, data: str, kept: list[str], proba: bool, decision: bool, encoding: str | None
) -> Iterator[tuple[Block, Predictions, dict[str, list]]]:
    """Blocks of rows, their predictions, and the columns to be written."""
    from .alignment import blocks_for
    from .measuring import needs_values, scoring_of
    from .narration import warnings_as_notes

    values, chances = needs_values(scoring_of(saved.facts))
    for block in blocks_for(saved.facts, data, keep=kept, encoding=encoding):
        scored = block.y is not None
        with warnings_as_notes():
            found = saved.predict(block, data, decision=decision or (scored and values),
                                  probability=proba or (scored and chances and saved.has_probabilities))  # fmt: skip
        yield block, found, _columns(saved, block, found, proba, decision)


def _columns(saved: SavedModel, block: Block, found: Predictions, proba: bool, decision: bool) -> dict[str, list]:
    columns = {**block.kept, "prediction": found.values.tolist()}
    classes = saved.facts["classes"]
    if decision and found.decision is not None:
        if found.decision.ndim == 1:
            columns["decision"] = found.decision.tolist()
        else:
            columns |= {f"decision_{name}": found.decision[:, k].tolist() for k, name in enumerate(classes)}
    if proba and found.probability is not None:
        columns |= {f"probability_{name}": found.probability[:, k].tolist() for k, name in enumerate(classes)}
    return columns


def _as_written(block: Block) -> dict[str, list]:
    """The columns that are kept, whole numbers without a decimal point."""
    from .writing import as_written

    return {name: as_written(values) for name, values in block.kept.items()}


class _Score:
    """Predictions and targets of all blocks, for the score by which the model was chosen."""

    def __init__(self, saved: SavedModel, data: str) -> None:
        self.saved, self.data, self.rows = saved, data, 0
        self.known: list[tuple[Any, Any]] | None = []

    def add(self, block: Block, found: Predictions) -> None:
        """Remember a block; without its target there is no score."""
        self.rows += len(found.values)
        if block.y is None:
            self.known = None
        if self.known is not None:
            self.known.append((found, block.y))

    def told(self) -> dict[str, Any]:
        """Say how many rows there were and, if all targets are known, the score."""
        import numpy as np

        from ..report.text import number
        from .measuring import measure, scoring_of
        from .predicting import Predictions

        facts = self.saved.facts
        trained = f"predicted by {facts['learner']} that was trained on {facts['data']}"
        note(f"{self.data}: {counted(self.rows, 'row')}, {trained}")
        if not self.known or (facts["task"] == "regression" and self.rows < 2):  # R² of one row is not defined
            return {}
        found = Predictions.joined([each for each, _ in self.known])
        result = measure(scoring_of(facts), facts, found, np.concatenate([y for _, y in self.known]))
        if result.value != result.value:
            return {}
        note(f"{result.name} on these rows: {number(result.value)}; onefit evaluate says more")
        return {"metric": result.name, "score": result.value}


def _write(saved: SavedModel, data: str, blocks: Iterator, out: Path, as_json: bool) -> None:
    from .writing import ParquetWriter, writer_to

    score = _Score(saved, data)
    with writer_to(out) as write:
        for block, found, columns in blocks:
            score.add(block, found)
            write(columns if isinstance(write, ParquetWriter) else {**columns, **_as_written(block)})
    result = score.told()
    note(f"wrote {counted(score.rows, 'prediction')} to {out}")
    if as_json:
        echo_json({"model": str(saved.path), "data": data, "out": str(out), "rows": score.rows, **result})


def _show_json(saved: SavedModel, data: str, blocks: Iterator) -> None:
    score = _Score(saved, data)
    all_columns: dict[str, list] = {}
    for block, found, columns in blocks:
        score.add(block, found)
        for name, values in {**columns, **_as_written(block)}.items():
            all_columns.setdefault(name, []).extend(values)
    echo_json({"model": str(saved.path), "data": data, "predictions": all_columns.pop("prediction"),
               **({"columns": all_columns} if all_columns else {}), **score.told()})  # fmt: skip


def _print(saved: SavedModel, data: str, blocks: Iterator) -> None:
    """Predictions on stdout, block by block."""
    import io

    from ..datasets.visible import visible
    from .writing import CsvWriter

    score = _Score(saved, data)
    text = io.StringIO()
    write = CsvWriter(text)
    for block, found, columns in blocks:
        score.add(block, found)
        if len(columns) == 1:
            echo("\n".join(visible(str(value)) for value in columns["prediction"]))
            continue
        write({name: [visible(cell) if isinstance(cell, str) else cell for cell in cells]
               for name, cells in {**columns, **_as_written(block)}.items()})  # fmt: skip
        echo(text.getvalue().rstrip("\n"))
        text.seek(0)
        text.truncate()
    score.told()
