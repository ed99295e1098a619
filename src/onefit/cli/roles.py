"""Columns of a table: roles that options give them, roles that their values suggest, and the order of time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from ..datasets.visible import quoted

if TYPE_CHECKING:
    from ..datasets import Table


MANY_LABELS = 40
"""Different labels above which the rare ones share an input."""

WORDS_OF_TEXT = 3
"""Words that a column of written text has in the median."""

FEWEST_ROWS = 20
"""Rows below which different values do not show that a column names the rows."""

NEARLY_ALL = 0.95
"""Share of different labels among the rows from which they name the rows."""

SURELY_COUNTED = 200
"""Rows from which consecutive numbers name the rows, whatever the column is called and wherever they begin."""

_NAME_OF_ROWS = re.compile(
    r"(.*[^a-z])?(id|ids|uuid|guid|index|idx|key|nr|no|row|rownum|number|unnamed: \d+)", re.IGNORECASE
)
_CAMEL_CASE = re.compile(r".*[a-z](Id|ID|Nr|No|Key)")


@dataclass(frozen=True)
class TableRequest:
    """A file or registered set, and the roles that columns were given by options.

    ``drop`` are no inputs; ``use`` are inputs though they look like names of rows; ``id`` names the rows; ``groups``
    keeps rows with equal values in one fold; ``weights`` has the weight of every row in training;
    ``ordered`` puts rows in the order of ``time``. ``positive`` names one of two classes.
    """

    data: str
    target: str | None = None
    task: str = "auto"
    encoding: str | None = None
    drop: tuple[str, ...] = ()
    use: tuple[str, ...] = ()
    id: str | None = None
    groups: str | None = None
    weights: str | None = None
    time: str | None = None
    ordered: bool = False
    positive: str | None = None
    dense: bool = True  # whether a search needs Gram matrices of all rows, which limits how many there may be


def column_position(option: str, name: str, table: Table, data: str) -> int:
    """The position of an option's column among the inputs; a name that is none is a ValueError."""
    import difflib

    if name in table.feature_names:
        return table.feature_names.index(name)
    what = "is the target" if name == table.target_name else "is no column"
    close = difflib.get_close_matches(name, table.feature_names[:1000], n=3)
    hint = f" Did you mean {' or '.join(map(quoted, close))}?" if close and what == "is no column" else ""
    shown = ", ".join(map(quoted, table.feature_names[:30])) + (", …" if len(table.feature_names) > 30 else "")
    raise ValueError(f"{option} {name} {what} of {data}.{hint} Other columns: {shown}.")


def column_positions(option: str, names: Sequence[str], table: Table, data: str) -> list[int]:
    """Positions of columns that are given one by one or with commas; a name may itself have commas."""
    found: list[int] = []
    for given in names:
        parts = [given] if given in table.feature_names else [part.strip() for part in given.split(",")]
        found += [column_position(option, part, table, data) for part in parts if part]
    return list(dict.fromkeys(found))


class Role(StrEnum):
    """How a column becomes inputs of a kernel machine."""

    NUMBER = "number"
    DATE = "date"
    LABEL = "label"
    MANY_LABELS = "many labels"
    TEXT = "text"


def role_of(values: Any, nominal: bool) -> Role:
    """The role of a column by its values; ``nominal`` if they are text, with None where missing."""
    from ..estimators.date_encoder import are_dates

    if not nominal:
        return Role.NUMBER
    if are_dates(values):
        return Role.DATE
    present = [value for value in values if value is not None]
    if len(set(present)) <= MANY_LABELS:
        return Role.LABEL
    return Role.TEXT if _words(present) >= WORDS_OF_TEXT else Role.MANY_LABELS


def why_it_names_rows(name: str, values: Any, nominal: bool) -> str:
    """The reason to leave out a column that only names the rows; "" for all others.

    Text does if nearly all rows have labels of their own. Numbers do if they are consecutive, in any order, and begin
    with 0 or 1, or are many, or the column is called like an index; also if they are different whole numbers in a
    column that is called like one.
    """
    n = len(values)
    if n < FEWEST_ROWS:
        return ""
    if nominal:
        if role_of(values, True) is Role.MANY_LABELS and len(set(values)) >= NEARLY_ALL * n:
            return "nearly every row has a text of its own"
        return ""
    numbers = np.asarray(values, dtype=float)
    if not np.isfinite(numbers).all() or (numbers != np.round(numbers)).any() or len(np.unique(numbers)) < n:
        return ""
    called_so = bool(_NAME_OF_ROWS.fullmatch(name.strip()) or _CAMEL_CASE.fullmatch(name.strip()))
    if numbers.max() - numbers.min() == n - 1:
        return "it counts the rows" if called_so or numbers.min() in (0, 1) or n >= SURELY_COUNTED else ""
    return "every row has a number of its own" if called_so else ""


def _words(texts: list[str]) -> float:
    return float(np.median([len(text.split()) for text in texts]))


def ordering(request: TableRequest, table: Table, inputs: list[int]) -> tuple[Any, list[str]]:
    """The order of the rows and a remark that says which: that of a column of times, otherwise that of the file."""
    n = len(table.X)
    if not request.ordered:
        return np.arange(n), []
    position = _column_of_times(request, table, inputs)
    if position is None:
        return np.arange(n), ["rows are taken to follow in time as they do in the file; --time names a column"]
    name = table.feature_names[position]
    times = _times(name, table, position)
    if np.isnan(times).any():
        row = int(np.isnan(times).argmax()) + 1
        raise ValueError(f"--time {name}: row {row} has no value; fill it in, or leave the row out.")
    return np.argsort(times, kind="stable"), [f"rows are put in the order of {quoted(name)}"]


def _column_of_times(request: TableRequest, table: Table, inputs: list[int]) -> int | None:
    """The column that was named, or the only input of dates."""
    if request.time is not None:
        return column_position("--time", request.time, table, request.data)
    dates = [k for k in inputs if role_of(table.X[:, k], k in table.categorical) is Role.DATE]
    if len(dates) > 1:
        names = ", ".join(quoted(table.feature_names[k]) for k in dates)
        raise ValueError(f"--folds time: several columns have dates ({names}); --time says which of them counts.")
    return dates[0] if dates else None


def _times(name: str, table: Table, position: int) -> Any:
    from ..estimators.date_encoder import days_of

    if position not in table.categorical:
        return table.X[:, position].astype(float)
    try:
        return days_of(table.X[:, position])
    except ValueError as error:
        raise ValueError(f"--time {name}: {error}") from None
