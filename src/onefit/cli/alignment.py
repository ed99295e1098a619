"""The columns of new data as a saved model expects them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .data import table_of


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
    missing = [name for name in facts["features"] if name not in table.feature_names]
    if missing:
        shown = ", ".join(map(repr, missing[:10])) + (", …" if len(missing) > 10 else "")
        raise ValueError(f"{data} lacks columns that the model was trained on: {shown}.")
    texts = set(facts["categorical"])
    X = np.empty((len(table.X), len(facts["features"])), dtype=object if texts else float)
    for k, name in enumerate(facts["features"]):
        position = table.feature_names.index(name)
        column = table.X[:, position]
        if k in texts:
            X[:, k] = [_as_text(value) for value in column]
        elif position in table.categorical:
            example = next(value for value in column if value is not None)
            raise ValueError(f"{data}: column {name!r} holds text, such as {example!r}; the model needs numbers.")
        else:
            X[:, k] = column
    return X


def _as_text(value: Any) -> str | None:
    """A cell of a text column, which may look like a number where all others are missing."""
    if value is None or value != value:
        return None
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _labels(facts: dict[str, Any], y: Any) -> Any:
    """The target in the type of the model's classes; None where that is not possible, and nothing can be scored."""
    if y is None:
        return None
    try:
        if facts["task"] == "regression":
            y = np.asarray(y, dtype=float)
            return None if np.isnan(y).any() else y
        labels = facts["classes"]
        if isinstance(labels[0], str):
            return np.array([_as_text(value) or "" for value in y])
        return np.asarray(y, dtype=float).astype(int)
    except (TypeError, ValueError):
        return None
