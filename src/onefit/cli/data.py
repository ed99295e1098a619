"""From the argument DATA to rows that a model can be trained on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..datasets.visible import quoted
from .screen import counted

if TYPE_CHECKING:
    from ..datasets import DataSet, Table

MOST_CLASSES = 20
"""Whole numbers with more different values than this are taken for a quantity."""

ROWS_PER_CLASS = 3
"""So many rows on average must share a whole number before it is taken for a class."""

FEW_REMARKS = 5
"""Columns with missing values that are named one by one."""

MANY_TEXTS = 50
"""Different values of a text column from which it may be an identifier."""

FEWEST_ARRAYS = 2
"""Arrays of n x n doubles without which no kernel is evaluated: distances or products of rows, and the Gram matrix."""

LARGEST = 1e150
"""The square of a larger number is beyond what doubles can hold."""


@dataclass(frozen=True, eq=False)
class Data:
    """Inputs, target and what is known about them.

    ``registered`` is the name of a registered set, empty for a file; ``asked_target`` the target as it was asked for;
    ``groups`` a label for each row that keeps rows together, taken from column ``groups_column`` of the file.
    """

    name: str
    X: Any
    y: Any
    feature_names: tuple[str, ...]
    categorical: tuple[int, ...]
    task: str
    registered: str = ""
    asked_target: str | None = None
    target_name: str | None = None
    groups: Any = None
    groups_column: int | None = None
    remarks: tuple[str, ...] = field(default=())

    @property
    def classes(self) -> list | None:
        """The classes in sorted order, None in regression."""
        return np.unique(self.y).tolist() if self.task == "classification" else None


def read_data(data: str, *, target: str | None = None, task: str = "auto", groups: str | None = None) -> Data:
    """The rows of a file, or of a registered set where there is no such file. What cannot be learned is refused."""
    table, registered = _table_of_few(data, target)
    if table.y is None or len(table.y) < 2:
        raise ValueError(f"{data} has {counted(len(table.X), 'row')}: a model needs several to learn from.")
    values = np.unique(table.y)
    if len(values) == 1:
        raise ValueError(
            f"the target of {data} has one value only, {quoted(values.tolist()[0])}: there is nothing to learn. "
            "--target names another column."
        )
    found, reason = _task(table, registered) if task == "auto" else (task, "")
    y = _labels(table) if found == "classification" else _numbers(data, table.y)
    position, labels = (None, None) if groups is None else _groups(data, table, groups)
    keep = [k for k in range(table.X.shape[1]) if k != position]
    categorical = tuple(new for new, old in enumerate(keep) if old in table.categorical)
    if not keep:
        raise ValueError(f"{data} has no column besides the target and --groups {groups}.")
    refuse_large(data, table.X, table.feature_names, table.categorical)
    if found == "regression":
        refuse_large(data, y[:, None], (table.target_name or "the target",))
    if not any(_varies(table, k) for k in keep):
        raise ValueError(f"{data}: no column besides the target has different values: there is nothing to learn from.")
    remarks = [*_shortened(table.remarks), reason, *_remarks_on_texts(table, keep)]
    return Data(
        name=registered or data,
        X=table.X if position is None else table.X[:, keep],
        y=y,
        feature_names=tuple(table.feature_names[k] for k in keep),
        categorical=categorical,
        task=found,
        registered=registered,
        asked_target=target,
        target_name=table.target_name,
        groups=labels,
        groups_column=position,
        remarks=tuple(remark for remark in remarks if remark),
    )


def most_rows() -> int | None:
    """Rows whose kernel matrix a search can hold in the memory that is available; None if that is not known."""
    from ..resources.memory import parse_budget

    available = parse_budget(None)
    return None if math.isinf(available) else math.isqrt(int(available / (8 * FEWEST_ARRAYS)))


def _table_of_few(data: str, target: str | None) -> tuple[Table, str]:
    """The table, read no further than any search could use it."""
    from ..datasets.files import TooManyRowsError

    most = most_rows()
    try:
        return table_of(data, target, most)
    except TooManyRowsError:
        raise ValueError(
            f"{data} has more than {most:,} rows, the most for which {FEWEST_ARRAYS} arrays of n x n doubles, the "
            "least that a search needs, fit in the memory available. Use fewer rows, drawn at random."
        ) from None


def table_of(data: str, target: str | bool | None, max_rows: int | None = None) -> tuple[Table, str]:
    """The table, and the name of the registered set that it is ("" for a file)."""
    from .. import datasets

    if data == "-":
        raise ValueError("data cannot be piped in: save them into a file and give its name.")
    if Path(data).exists() or Path(data).suffix in (".csv", ".tsv", ".parquet", ".arff", ".libsvm") or "/" in data:
        return datasets.read(data, target=target, max_rows=max_rows), ""
    try:
        entry = registered_set(data)
    except ValueError as unknown:
        raise ValueError(f"there is no file {data}, and {unknown}") from None
    if target not in (None, False):
        raise ValueError(f"--target {target}: the target of a registered data set is given.")
    table = datasets.fetch(entry.name)
    return (table if target is None else replace(table, y=None)), entry.name


def registered_set(name: str) -> DataSet:
    """The entry of a registered set; the error for an unknown name says which command lists them."""
    from ..datasets.registry import info

    try:
        return info(name)
    except ValueError as unknown:
        raise ValueError(f"{str(unknown).partition(' onefit.datasets')[0]} `onefit datasets` lists all.") from None


def refuse_large(data: str, X: Any, names: tuple[str, ...], categorical: tuple[int, ...] = ()) -> None:
    """An error for infinite numbers, and for those whose squares are."""
    texts = set(categorical)
    for k in (k for k in range(X.shape[1]) if k not in texts):
        column = X[:, k].astype(float)
        large = np.abs(column) > LARGEST  # False for NaN
        if large.any():
            row = int(large.argmax())
            raise ValueError(
                f"{data}: column {quoted(names[k])} has {column[row]:g} in row {row + 1}, which is too large to "
                "compute with; leave the field empty if the value is missing, or use another unit."
            )


def _varies(table: Table, k: int) -> bool:
    """Whether column k tells rows apart. A missing text is a value of its own, a missing number is imputed."""
    if k in table.categorical:
        return len(set(table.X[:, k].tolist())) > 1
    column = table.X[:, k].astype(float)
    return len(np.unique(column[~np.isnan(column)])) > 1


def _task(table: Table, registered: str) -> tuple[str, str]:
    """The task that the target's values suggest, and a remark that says why."""
    from .. import datasets

    if registered:
        return datasets.info(registered).task, ""
    if table.target_names is not None:
        return "classification", "classification: the target is text"
    y = np.asarray(table.y)
    values = np.unique(y)
    if (values != np.round(values)).any():
        return "regression", "regression: the target has fractions"
    if len(values) <= min(MOST_CLASSES, len(y) / ROWS_PER_CLASS):
        return "classification", (
            f"classification: the target has {len(values)} different whole numbers; "
            "--task regression takes them as quantities"
        )
    return "regression", (
        f"regression: the target has {len(values)} different whole numbers in {len(y)} rows; "
        "--task classification takes them as classes"
    )


def _labels(table: Table) -> Any:
    """Classes as text or as whole numbers."""
    y = np.asarray(table.y)
    whole = y.dtype.kind == "f" and (y == np.round(y)).all() and np.abs(y).max() < 2**53
    if y.dtype.kind == "f" and not whole:
        raise ValueError("the target has fractions, which are no classes: use --task regression.")
    return y.astype(int) if whole else y


def _numbers(data: str, y: Any) -> Any:
    if np.asarray(y).dtype.kind not in "fiu":
        raise ValueError(f"the target of {data} is text, such as {quoted(str(y[0]))}: use --task classification.")
    return np.asarray(y, dtype=float)


def _groups(data: str, table: Table, groups: str) -> tuple[int, Any]:
    """Which column keeps rows together, and its values as labels."""
    if groups not in table.feature_names:
        what = "is the target" if groups == table.target_name else "is no column"
        shown = ", ".join(map(quoted, table.feature_names[:30]))
        raise ValueError(f"--groups {groups} {what} of {data}; other columns: {shown}.")
    position = table.feature_names.index(groups)
    values = table.X[:, position].tolist()
    missing = [row for row, value in enumerate(values, start=1) if value is None or value != value]
    if missing:
        raise ValueError(
            f"--groups {groups}: row {missing[0]} has no value; give it a group of its own, or leave it out."
        )
    codes = {name: code for code, name in enumerate(sorted(set(map(str, values))))}
    return position, np.array([codes[str(value)] for value in values])


def _shortened(remarks: tuple[str, ...]) -> list[str]:
    """The same remarks, with those on missing values as one if there are many."""
    missing = [remark for remark in remarks if " missing value" in remark]
    if len(missing) <= FEW_REMARKS:
        return list(remarks)
    total = sum(int(remark.split()[0]) for remark in missing)
    return [r for r in remarks if r not in missing] + [f"{total:,} missing values in {len(missing)} columns"]


def _remarks_on_texts(table: Table, keep: list[int]) -> list[str]:
    """Columns of text that every row has another value of: they teach nothing, and make many inputs."""
    remarks = []
    for k in keep:
        if k in table.categorical:
            different = len(set(table.X[:, k].tolist()))
            if different >= MANY_TEXTS:
                remarks.append(
                    f"column {quoted(table.feature_names[k])} has {different} different texts, one input each: "
                    "leave it out if it only names the rows"
                )
    return remarks
