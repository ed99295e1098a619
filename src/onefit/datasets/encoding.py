"""LIBSVM text of ARFF originals: nominal attributes as Weka's filters make them, or features in another order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arff import Attribute, read_attributes
from .files import fault
from .visible import quoted


def encode_arff(path: Path, encoding: str) -> bytes:
    """LIBSVM text of the rows of an ARFF file, its target and labels as ``encoding`` says.

    ``encoding`` is the target's attribute, then for classes a colon and pairs ``value=label`` between semicolons; rows
    whose target has another value are left out. Missing cells hold the mean or the most frequent value of their
    column; a nominal attribute of two values becomes one column, 1 for the second value, and one of more values an
    indicator column for each (Weka's ReplaceMissingValues and NominalToBinary). All rows count for means and
    frequencies.

    After a tilde follow features between semicolons, in the order of the text, ``*`` for all others: they are read as
    numbers, nominal ones too, and rows that miss one of them are left out.
    """
    head, in_order, wanted = encoding.partition("~")
    name, _, pairs = head.partition(":")
    attributes, columns = read_attributes(path)
    table = {attribute.name: (attribute, column) for attribute, column in zip(attributes, columns)}
    features = _in_order(wanted.split(";"), [one for one in table if one != name]) if in_order else []
    for one in (name, *features):
        if one not in table:
            raise fault(path, f"no attribute is called {quoted(one)}.")
    target = table.pop(name)[1]
    if in_order:
        numbers = [_as_it_stands(table[one][1]) for one in features]
    else:
        numbers = [column for one in table.values() for column in _numbers(*one)]
    labels = dict(pair.rsplit("=", 1) for pair in pairs.split(";") if pair)
    texts = [labels.get(value) if pairs else _text(value) for value in target]
    rows = zip(texts, np.transpose(numbers))
    return "".join(f"{text} {_cells(row)}\n" for text, row in rows if text and not np.isnan(row).any()).encode()


def _in_order(wanted: list[str], known: list[str]) -> list[str]:
    """The names that are wanted, with all that are not named in place of a star."""
    others = [one for one in known if one not in wanted]
    return [one for name in wanted for one in (others if name == "*" else [name])]


def _as_it_stands(column: NDArray[Any]) -> NDArray[np.float64]:
    """The numbers of a column, also of a nominal one; NaN where one is missing."""
    return np.array([np.nan if value is None else value for value in column], dtype=float)


def _numbers(attribute: Attribute, column: NDArray[Any]) -> Iterator[NDArray[np.float64]]:
    """The columns of numbers that one attribute becomes."""
    if attribute.kind == "numeric":
        yield np.where(np.isnan(column), np.nanmean(column), column)
        return
    frequent = max(attribute.levels, key=lambda level: np.count_nonzero(column == level))  # of several the first
    filled = np.array([frequent if value is None else value for value in column])
    for level in attribute.levels[1:] if len(attribute.levels) == 2 else attribute.levels:
        yield (filled == level).astype(float)


def _cells(row: NDArray[np.float64]) -> str:
    return " ".join(f"{position}:{_text(value)}" for position, value in enumerate(row, start=1) if value)


def _text(value: float) -> str:
    """The shortest decimal that is read as this double; whole numbers have no point."""
    return str(int(value)) if value == int(value) else repr(float(value))
