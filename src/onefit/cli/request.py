"""Requests for a table: the roles that options give to its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..datasets.visible import quoted

if TYPE_CHECKING:
    from ..datasets import Table


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
