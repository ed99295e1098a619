"""LIBSVM text of originals in other forms: ARFF files, tables of numbers, LIBSVM text that is written differently."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arff import Attribute, read_attributes
from .files import fault
from .libsvm import read_libsvm
from .visible import quoted

Attributes = dict[str, tuple[Attribute, NDArray[Any]]]
"""Every attribute of a file, and its values, by its name."""

COMPLETE = "complete"
"""In place of a range of rows: those that miss no feature."""


def encode(path: Path, encoding: str) -> bytes:
    """LIBSVM text of the rows of a file, its target, labels, features and rows as ``encoding`` says.

    The file may be ARFF, LIBSVM text, whose columns are called ``label`` and 1, 2, …, or numbers between commas or
    blanks, with columns called 1, 2, …

    ``encoding`` is the target's name, then for classes a colon and pairs ``value=label`` between semicolons; rows whose
    target has another value are left out. Missing cells hold the mean or the most frequent value of their column, over
    all rows; a nominal attribute of two values becomes one column, 1 for the second value, and one of more values an
    indicator column for each (Weka's ReplaceMissingValues and NominalToBinary).

    After a tilde follow features between semicolons, in the order of the text, ``*`` for all others and ``-name`` for
    one that is left out: they are read as numbers, nominal ones too. After an @ follows which rows are kept, such as
    ``1-145``, or ``complete``. Without a target lines stay as they are, but for blanks.
    """
    what, _, kept = encoding.partition("@")
    text = path.read_text(encoding="utf-8")
    if not text.strip():
        raise fault(path, "holds no line with text.")
    if what:
        lines = _rewritten(path, what, _attributes(path, text), complete=kept == COMPLETE)
    else:
        lines = [" ".join(line.split()) for line in text.splitlines()]
    if kept and kept != COMPLETE:
        first, last = (int(number) for number in kept.split("-"))
        lines = lines[first - 1 : last]
    return "".join(f"{line}\n" for line in lines).encode()


def _attributes(path: Path, text: str) -> Attributes:
    """The attributes of a file, whose form its text shows; numbers are finite, and no column is without any."""
    if "@data" in text.lower():
        attributes, columns = read_attributes(path)
        return {attribute.name: (attribute, column) for attribute, column in zip(attributes, columns)}
    if ":" in text:
        read = read_libsvm(path, zero_based=False)
        names, table = ["label"], np.column_stack([np.asarray(read.y), read.X])
    else:
        names, table = [], _numbers_between(text)
    if np.isinf(table).any() or np.isnan(table).all(axis=0).any():
        raise fault(path, "holds a column without numbers, or an infinite one.")
    names += [str(position) for position in range(1, table.shape[1] - len(names) + 1)]
    return {name: (Attribute(name, "numeric"), column) for name, column in zip(names, table.T)}


def _numbers_between(text: str) -> NDArray[np.float64]:
    """The numbers between commas or blanks, NaN for any other text; a first line of names is left out."""
    delimiter = "," if "," in text else None
    table = np.genfromtxt(text.splitlines(), delimiter=delimiter, ndmin=2)
    return table[1:] if len(table) and np.isnan(table[0]).all() else table


def _rewritten(path: Path, what: str, table: Attributes, *, complete: bool) -> list[str]:
    """The lines of LIBSVM text of a table; ``complete``: without rows that miss a feature."""
    head, in_order, wanted = what.partition("~")
    name, _, pairs = head.partition(":")
    features = _in_order(wanted.split(";"), [one for one in table if one != name]) if in_order else []
    for one in (name, *features):
        if one not in table:
            raise fault(path, f"no attribute is called {quoted(one)}.")
    if in_order:
        columns = [_as_it_stands(table[one][1]) for one in features]
    else:
        columns = [column for one in table if one != name for column in _numbers(*table[one])]
    numbers = np.transpose(columns)
    missing = np.isnan(numbers)
    filled = np.where(missing, np.nanmean(numbers, axis=0), numbers)
    texts = [_text(value) for value in table[name][1]]
    if pairs:
        labels = dict(pair.rsplit("=", 1) for pair in pairs.split(";"))
        texts = [labels.get(text, "") for text in texts]
    used = np.logical_not(missing.any(axis=1) & complete)
    return [f"{text} {_cells(row)}".rstrip() for text, row, use in zip(texts, filled, used) if text and use]


def _in_order(wanted: list[str], known: list[str]) -> list[str]:
    """The names that are wanted, with all that are not named in place of a star; those behind a minus are not."""
    named = {one.removeprefix("-") for one in wanted}
    others = [one for one in known if one not in named]
    return [one for name in wanted if not name.startswith("-") for one in (others if name == "*" else [name])]


def _as_it_stands(column: NDArray[Any]) -> NDArray[np.float64]:
    """The numbers of a column, also of a nominal one; NaN where one is missing."""
    return np.array([np.nan if value is None else value for value in column], dtype=float)


def _numbers(attribute: Attribute, column: NDArray[Any]) -> Iterator[NDArray[np.float64]]:
    """The columns of numbers that one attribute becomes; NaN in a numeric one where it is missing."""
    if attribute.kind == "numeric":
        yield column
        return
    frequent = max(attribute.levels, key=lambda level: np.count_nonzero(column == level))  # of several the first
    filled = np.array([frequent if value is None else value for value in column])
    for level in attribute.levels[1:] if len(attribute.levels) == 2 else attribute.levels:
        yield (filled == level).astype(float)


def _cells(row: NDArray[np.float64]) -> str:
    return " ".join(f"{position}:{_text(value)}" for position, value in enumerate(row, start=1) if value)


def _text(value: str | float | None) -> str:
    """The shortest decimal that is read as this double, whole numbers without a point; text as it is; "" if missing."""
    if isinstance(value, str):
        return value
    if value is None or np.isnan(value):
        return ""
    return str(int(value)) if value == int(value) else repr(float(value))
