"""From named columns to a table: the target set apart, missing values counted."""

from __future__ import annotations

import difflib
import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .files import check_expansion, fault
from .table import Table
from .visible import quoted

Target = str | int | bool | None
"""A column's name or position; None: the last one; False: none."""

_COMPARED = 1000  # names that are compared with a misspelt one, which takes 20 microseconds each


@dataclass(frozen=True, eq=False)
class Column:
    """Doubles with NaN where a value is missing, or objects: str, and None where missing."""

    name: str
    values: NDArray[Any]  # (n,)

    @property
    def nominal(self) -> bool:
        """Whether it holds text."""
        return self.values.dtype == object

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Where there is no value."""
        return np.array([value is None for value in self.values]) if self.nominal else np.isnan(self.values)


def text_column(name: str, cells: Sequence[str | None]) -> Column:
    """A nominal column, None where a value is missing."""
    values = np.empty(len(cells), dtype=object)
    values[:] = cells
    return Column(name, values)


def unique_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names for all columns, none of them empty or used twice, and remarks on what was changed.

    All columns of one name are numbered, so that none of them can be taken for the only one.

    >>> unique_names(["a", "", "a"])[0]
    ['a.1', 'column 2', 'a.2']
    """
    counts = Counter(names)
    taken = {name for name in names if counts[name] == 1}
    tried: Counter[str] = Counter()  # the last number that each name was given: none is tried twice
    given: list[str] = []
    remarks = []
    for position, name in enumerate(names, start=1):
        if name and counts[name] == 1:
            given.append(name)
            continue
        start = name + "." if name else "column "
        number = tried[name] + 1 if name else max(position, tried[name] + 1)
        while (free := f"{start}{number}") in taken:
            number += 1
        tried[name] = number
        taken.add(free)
        given.append(free)
        if not name:
            remarks.append(f"column {position} has no name: it is called {quoted(free)} here")
    twice = [name for name in counts if name and counts[name] > 1]
    remarks += [f"{counts[name]} columns are called {quoted(name)}: they are numbered here" for name in twice]
    return given, remarks


def assemble(
    path: Path, columns: list[Column], *, target: Target, lines: Sequence[int] | None, remarks: list[str]
) -> Table:
    """The table of these columns. ``lines`` are the line numbers of the rows, in files that have lines."""
    check_target(path, target)
    position = target_position(path, [column.name for column in columns], target)
    features = [column for index, column in enumerate(columns) if index != position]
    if not features:
        raise fault(path, "has one column only. Columns are told apart by commas, semicolons or tabs.")
    remarks = list(remarks)
    y, classes, name = None, None, None
    if position is not None:
        chosen = columns[position]
        name = chosen.name
        which = f"{'the last column' if target is None else 'column'} {quoted(name)}"
        remarks.append(f"target: {which}")
        if chosen.missing.any():
            row = int(np.argmax(chosen.missing))
            message = (
                f"{which} is the target but row {row + 1} has no value; "
                "leave out rows without one, or name another target."
            )
            raise fault(path, message, None if lines is None else lines[row])
        if chosen.nominal:  # NumPy gives every label the room of the longest
            size = 4 * len(chosen.values) * max(map(len, chosen.values))
            check_expansion(path, size, f"the labels of {which} would take")
        y = chosen.values.astype(str) if chosen.nominal else chosen.values
        classes = tuple(np.unique(y).tolist()) if chosen.nominal else None
    for column in features:
        if missing := int(column.missing.sum()):
            remarks.append(f"{missing} missing value{'s' if missing > 1 else ''} in column {quoted(column.name)}")
    categorical = tuple(index for index, column in enumerate(features) if column.nominal)
    X = np.empty((len(features[0].values), len(features)), dtype=object if categorical else float)
    for index, column in enumerate(features):
        X[:, index] = column.values
    return Table(X, y, tuple(column.name for column in features), classes, tuple(remarks), categorical, name)


def check_target(path: Path, target: Target) -> None:
    """Refuse a target of another type than names and positions have."""
    if target is None or target is False or isinstance(target, str):
        return
    try:
        operator.index(target)
    except TypeError:
        pass
    else:
        if not isinstance(target, bool):
            return
    choices = "a column's name or position, None (the last column) or False (no target)"
    raise fault(path, f"target must be {choices}, got {target!r}.")


def target_position(path: Path, names: list[str], target: Target) -> int | None:
    """Which column is the target; None if none is."""
    if target is False:
        return None
    if target is None:
        return len(names) - 1
    if isinstance(target, str):
        if target in names:
            return names.index(target)
        close = difflib.get_close_matches(target, names[:_COMPARED], n=3, cutoff=0.5)
        hint = f" Did you mean {' or '.join(map(quoted, close))}?" if close else ""
        shown = ", ".join(map(quoted, names[:30])) + (", …" if len(names) > 30 else "")
        raise fault(path, f"no column is called {quoted(target)}.{hint} Columns: {shown}.")
    index = operator.index(target)
    if not -len(names) <= index < len(names):
        raise fault(path, f"there is no column {index} to be the target: the file has {len(names)} columns.")
    return index % len(names)
