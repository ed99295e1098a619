"""The columns of new data as a saved model expects them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..datasets.visible import quoted
from .data import refuse_large, table_of
from .screen import note

BLOCK = 10_000
"""Rows that are read and predicted at once."""


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of new data: inputs of the model, the target if it is known, and columns to be kept beside."""

    X: Any
    y: Any
    kept: dict[str, list]


def blocks_for(
    facts: dict[str, Any], data: str, *, keep: Sequence[str] = (), encoding: str | None = None
) -> Iterator[Block]:
    """The rows of a file or registered set for a model, columns found by name, some rows at a time.

    CSV and Parquet files are never held in memory as a whole. The target of a block is None where it is not known in
    every row of it; a note says so, once.
    """
    first_row, noted = 0, False
    for table, y in _tables(facts, data, encoding, BLOCK):
        kept = {name: _kept(data, table, name) for name in keep}
        target = facts["target"]
        found = y is not None or (target is not None and target in table.feature_names)
        if y is None and found:
            y = table.X[:, table.feature_names.index(target)]
        labels = _labels(facts, y) if found else None
        if found and labels is None and not noted:
            note("no score: the target is missing in some rows, or is not what the model was trained on")
            noted = True
        yield Block(_chosen(data, table, facts, first_row), labels, kept)
        first_row += len(table.X)


def first_names(facts: dict[str, Any], data: str, encoding: str | None) -> tuple[str, ...]:
    """Names of the columns of new data, from their first rows."""
    table, _ = next(_tables(facts, data, encoding, 1))
    return tuple(table.feature_names)


def _tables(facts: dict[str, Any], data: str, encoding: str | None, size: int) -> Iterator[tuple[Any, Any]]:
    """Tables and, where it is not one of their columns, the target."""
    from ..datasets import read
    from ..datasets.delimited import read_delimited_blocks
    from ..datasets.files import existing_file
    from ..datasets.parquet import read_parquet_blocks
    from ..datasets.reading import format_of

    form = format_of(existing_file(data)) if Path(data).exists() else ""
    encoding = encoding or (facts.get("encoding") if form in ("CSV", "ARFF") else None)
    if form == "LIBSVM":
        table = read(data, n_features=len(facts["features"]))
        yield table, table.y
    elif form == "CSV":
        numbers = {name for k, name in enumerate(facts["features"]) if k not in facts["categorical"]}
        whole = facts["task"] == "regression" or not isinstance(facts["classes"][0], str)
        numbers |= {facts["target"]} if whole else set()
        yield from ((table, None) for table in read_delimited_blocks(data, size, numbers=numbers, encoding=encoding))
    elif form == "Parquet":
        yield from ((table, None) for table in read_parquet_blocks(data, size))
    else:
        table, registered = table_of(data, False, encoding=encoding)
        yield table, table_of(data, None)[0].y if registered else None


def _kept(data: str, table: Any, name: str) -> list:
    """A column as it is in the file, to stand beside the predictions."""
    if name not in table.feature_names:
        raise ValueError(f"--keep {name} is no column of {data}.")
    return [None if value is None or value != value else value for value in
            table.X[:, table.feature_names.index(name)].tolist()]  # fmt: skip


def _chosen(data: str, table: Any, facts: dict[str, Any], first_row: int = 0) -> Any:
    """The features of the model, each as numbers or as text, as it was trained on them."""
    positions = {name: position for position, name in enumerate(table.feature_names)}
    missing = [name for name in facts["features"] if name not in positions]
    if missing:
        shown = ", ".join(map(quoted, missing[:10])) + (", …" if len(missing) > 10 else "")
        raise ValueError(f"{data} lacks columns that the model was trained on: {shown}.")
    texts, in_text = set(facts["categorical"]), set(table.categorical)
    X = np.empty((len(table.X), len(facts["features"])), dtype=object if texts else float)
    for k, name in enumerate(facts["features"]):
        position = positions[name]
        column = table.X[:, position]
        if k in texts:
            X[:, k] = [_as_text(value) for value in column]
        elif position in in_text and (examples := [value for value in column if value is not None]):
            text = f"holds text, such as {quoted(examples[0])}"
            raise ValueError(f"{data}: column {quoted(name)} {text}; the model needs numbers.")
        else:
            X[:, k] = np.nan if position in in_text else column
    refuse_large(data, X, tuple(facts["features"]), tuple(texts))
    if not facts.get("imputes", "SimpleImputer" in facts["code"]):
        _refuse_missing(data, X, facts, first_row)
    return X


def _refuse_missing(data: str, X: Any, facts: dict[str, Any], first_row: int) -> None:
    """An error for a missing number: where none was missing in training there is nothing to replace it by."""
    texts = set(facts["categorical"])
    for k in (k for k in range(X.shape[1]) if k not in texts):
        missing = np.isnan(X[:, k].astype(float))
        if missing.any():
            name, row = facts["features"][k], first_row + int(missing.argmax()) + 1
            raise ValueError(
                f"{data}: column {quoted(name)} has no value in row {row}, and the model has not learned to replace "
                "it, since none was missing in training: fill it in, or leave the row out."
            )


def _as_text(value: Any) -> str | None:
    """A cell of a text column, which may look like a number where all others are missing."""
    if value is None or value != value:
        return None
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _labels(facts: dict[str, Any], y: Any) -> Any:
    """The target in the type of the model's classes; None where that is not possible in every row."""
    try:
        return _converted(facts, y)
    except (TypeError, ValueError):
        return None


def _converted(facts: dict[str, Any], y: Any) -> Any:
    if facts["task"] == "classification" and isinstance(facts["classes"][0], str):
        texts = [_as_text(value) for value in y]
        return None if None in texts else np.array(texts)
    numbers = np.asarray(y, dtype=float)
    if facts["task"] == "regression":
        return None if np.isnan(numbers).any() else numbers
    return numbers.astype(int) if (numbers == np.round(numbers)).all() else None
