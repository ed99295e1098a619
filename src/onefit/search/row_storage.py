"""Rows of a search as text and bytes, from which they are read back bit by bit. Nothing is ever unpickled."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..machines import Exactness
from .row import Row

_DOUBLE = np.dtype("<f8")


@dataclass(frozen=True)
class StoredRow:
    """A row without its candidate: fields as JSON, and the out-of-fold values as doubles if they were kept."""

    outcome: str
    values: bytes | None


def store_row(row: Row) -> StoredRow:
    """Everything of a row but how its values are read. Numbers are written so that they are read back unchanged."""
    fields = {
        "test": {name: np.asarray(scores, dtype=float).tolist() for name, scores in row.test.items()},
        "train": {name: np.asarray(scores, dtype=float).tolist() for name, scores in row.train.items()},
        "exactness": str(row.exactness),
        "error_bound": float(row.error_bound),
        "status": row.status,
        "fit_seconds": row.fit_seconds,
        "score_seconds": row.score_seconds,
        "failures": row.failures,
        "retrain": row.retrain,
        "criteria": row.criteria,
    }
    if row.values is None:
        return StoredRow(json.dumps(fields), None)
    fields["shapes"] = [part.shape for part in row.values]
    return StoredRow(json.dumps(fields), b"".join(part.astype(_DOUBLE).tobytes() for part in row.values))


def restore_row(candidate: int, stored: StoredRow) -> Row:
    """The row again, for the candidate of this number."""
    fields = json.loads(stored.outcome)
    for scores in (fields["test"], fields["train"]):
        scores.update({name: np.array(values, dtype=float) for name, values in scores.items()})
    fields["exactness"] = Exactness(fields["exactness"])
    fields["failures"] = {int(split): reason for split, reason in fields["failures"].items()}
    shapes = fields.pop("shapes", None)
    return Row(candidate, **fields, values=None if shapes is None else _split(stored.values, shapes))


def _split(values: bytes | None, shapes: list[list[int]]) -> list[np.ndarray]:
    """Arrays of these shapes from the numbers of all of them."""
    numbers = np.frombuffer(values or b"", dtype=_DOUBLE).astype(float)
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    if ends[-1] != len(numbers):
        raise ValueError(f"{len(numbers)} out-of-fold values where there should be {ends[-1]}")
    return [part.reshape(shape) for part, shape in zip(np.split(numbers, ends[:-1]), shapes)]


def readable(params: dict[str, Any]) -> str:
    """Parameters as JSON for readers; what JSON does not know is written as text."""
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in params.items()}
    known = (bool, int, float, str, type(None))
    return json.dumps({name: value if isinstance(value, known) else str(value) for name, value in plain.items()})
