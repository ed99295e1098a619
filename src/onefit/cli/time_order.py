"""Rows in the order of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..datasets.visible import quoted
from .request import TableRequest, column_position
from .roles import Role, role_of

if TYPE_CHECKING:
    from ..datasets import Table


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
