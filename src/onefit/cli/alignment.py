"""The columns of new data as a saved model expects them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..datasets.visible import quoted
from .data import refuse_large, table_of
from .screen import note


def rows_for(facts: dict[str, Any], data: str) -> tuple[Any, Any]:
    """X of a file or registered set, columns found by name, and y if the target is among them, otherwise None."""
    from ..datasets import read
    from ..datasets.files import existing_file
    from ..datasets.reading import format_of

    features = facts["features"]
    if Path(data).exists() and format_of(existing_file(data)) == "LIBSVM":
        table = read(data, n_features=len(features))
        return _chosen(data, table, facts), _labels(facts, table.y)
    table, registered = table_of(data, False)
    X = _chosen(data, table, facts)
    if registered:
        return X, _labels(facts, table_of(data, None)[0].y)
    target = facts["target"]
    known = target is not None and target in table.feature_names
    return X, _labels(facts, table.X[:, table.feature_names.index(target)]) if known else None


def _chosen(data: str, table: Any, facts: dict[str, Any]) -> Any:
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
        _refuse_missing(data, X, facts)
    return X


def _refuse_missing(data: str, X: Any, facts: dict[str, Any]) -> None:
    """An error for a missing number: where none was missing in training there is nothing to replace it by."""
    texts = set(facts["categorical"])
    for k in (k for k in range(X.shape[1]) if k not in texts):
        missing = np.isnan(X[:, k].astype(float))
        if missing.any():
            name, row = facts["features"][k], int(missing.argmax()) + 1
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
    """The target in the type of the model's classes; None, and a note, where that is not possible in every row."""
    try:
        known = _converted(facts, y)
    except (TypeError, ValueError):
        known = None
    if known is None:
        note("no score: the target is missing in some rows, or is not what the model was trained on")
    return known


def _converted(facts: dict[str, Any], y: Any) -> Any:
    if facts["task"] == "classification" and isinstance(facts["classes"][0], str):
        texts = [_as_text(value) for value in y]
        return None if None in texts else np.array(texts)
    numbers = np.asarray(y, dtype=float)
    if facts["task"] == "regression":
        return None if np.isnan(numbers).any() else numbers
    return numbers.astype(int) if (numbers == np.round(numbers)).all() else None
