"""Nominal tables as numbers, as Weka's filters make them: LIBSVM text of an ARFF original."""

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

    ``encoding`` is the target's attribute, a colon, and pairs ``value=label`` between semicolons; rows whose target has
    another value are left out. Missing cells hold the mean or the most
    frequent value of their column; a nominal attribute of two values becomes one column, 1 for the second value, and
    one of more values an indicator column for each (Weka's ReplaceMissingValues and NominalToBinary). All rows count
    for means and frequencies.
    """
    name, _, pairs = encoding.partition(":")
    attributes, columns = read_attributes(path)
    if name not in {attribute.name for attribute in attributes}:
        raise fault(path, f"no attribute is called {quoted(name)}.")
    features, target = [], columns[0]
    for attribute, column in zip(attributes, columns):
        if attribute.name == name:
            target = column
        else:
            features += list(_numbers(attribute, column))
    labels = dict(pair.rsplit("=", 1) for pair in pairs.split(";") if pair)
    rows = zip(target, np.transpose(features))
    return "".join(f"{labels[value]} {_cells(row)}\n" for value, row in rows if value in labels).encode()


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
