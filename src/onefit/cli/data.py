"""From the argument DATA to rows that a model can be trained on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..datasets.visible import quoted
from .roles import Role, TableRequest, column_position, column_positions, ordering, role_of, why_it_names_rows
from .screen import counted, note

if TYPE_CHECKING:
    from ..datasets import DataSet, Table

MOST_CLASSES = 20
"""Whole numbers with more different values than this are taken for a quantity."""

ROWS_PER_CLASS = 3
"""So many rows on average must share a whole number before it is taken for a class."""

FEW_REMARKS = 5
"""Columns with missing values that are named one by one."""

FEWEST_ARRAYS = 2
"""Arrays of n x n doubles without which no kernel is evaluated: distances or products of rows, and the Gram matrix."""

MANY = 1000
"""Landmarks where nobody says how many."""

DENSE_ROWS = 5_000
"""Most rows whose kernel matrices are taken unless something else is asked for: their search takes 4 to 10 minutes of
processor time, with landmarks half a minute (docs/command_line.md, which has scores as well)."""

GRAM_ARRAYS = 4
"""n x n arrays that a dense search needs."""

LARGEST = 1e150
"""The square of a larger number is beyond what doubles can hold."""


@dataclass(frozen=True, eq=False)
class Data:
    """Inputs, target and what is known about them.

    ``roles`` has the role of every column of X, and ``categorical`` the positions of those that hold text;
    ``registered`` is the name of a registered set, empty for a file; ``asked_target`` the target as it was asked for;
    ``groups`` a label for each row that keeps rows together, ``weights`` its weight in training, from column
    ``weights_column`` of the file; ``left_out`` the columns of the file that are no inputs; ``ordered`` says that rows
    follow in time; ``positive`` is the class that counts as positive, None if there are not two.
    """

    name: str
    X: Any
    y: Any
    feature_names: tuple[str, ...]
    categorical: tuple[int, ...]
    task: str
    roles: tuple[Role, ...]
    registered: str = ""
    encoding: str | None = None
    asked_target: str | None = None
    target_name: str | None = None
    id_name: str | None = None
    groups: Any = None
    weights: Any = None
    weights_column: int | None = None
    left_out: tuple[int, ...] = ()
    ordered: bool = False
    positive: Any = None
    remarks: tuple[str, ...] = field(default=())

    @property
    def classes(self) -> list | None:
        """The classes in sorted order, None in regression."""
        return np.unique(self.y).tolist() if self.task == "classification" else None

    @property
    def has_missing_numbers(self) -> bool:
        """Whether the transformers learn what to put in place of missing numbers."""
        numbers = [k for k, role in enumerate(self.roles) if role is Role.NUMBER]
        return bool(np.isnan(self.X[:, numbers].astype(float)).any())


def read_data(request: TableRequest) -> Data:
    """The rows of a file, or of a registered set where there is no such file. What cannot be learned is refused."""
    data, target = request.data, request.target
    table, registered = _table_of_few(request)
    _refuse_one_value(data, table)
    found, reason = _task(table, registered) if request.task == "auto" else (request.task, "")
    y = _labels(table) if found == "classification" else _numbers(data, table.y)
    groups = None if request.groups is None else _groups(data, table, request.groups)
    weights = None if request.weights is None else _weights(data, table, request.weights)
    keep, left_out = _inputs(request, table)
    refuse_large(data, table.X[:, keep], tuple(table.feature_names[k] for k in keep), _among(table.categorical, keep))
    if found == "regression":
        refuse_large(data, y[:, None], (table.target_name or "the target",))
    if not any(_varies(table, k) for k in keep):
        raise ValueError(f"{data}: no column besides the target has different values: there is nothing to learn from.")
    order, in_time = ordering(request, table, keep)
    X = table.X[:, keep]
    categorical = _among(table.categorical, keep)
    remarks = [*_shortened(table.remarks), reason, *left_out, *in_time]
    return Data(
        name=registered or data,
        X=(X if categorical else X.astype(float))[order],
        y=y[order],
        feature_names=tuple(table.feature_names[k] for k in keep),
        categorical=categorical,
        task=found,
        roles=tuple(role_of(table.X[:, k], k in table.categorical) for k in keep),
        registered=registered,
        encoding=request.encoding,
        asked_target=target,
        target_name=table.target_name,
        id_name=request.id,
        groups=None if groups is None else groups[order],
        weights=None if weights is None else weights[order],
        weights_column=None if weights is None else table.feature_names.index(str(request.weights)),
        left_out=tuple(k for k in range(table.X.shape[1]) if k not in keep),
        ordered=request.ordered,
        positive=_positive(request.positive, y, found),
        remarks=tuple(remark for remark in remarks if remark),
    )


def _among(chosen: tuple[int, ...], keep: list[int]) -> tuple[int, ...]:
    """The new positions of the chosen columns among those that are kept."""
    return tuple(new for new, old in enumerate(keep) if old in chosen)


def _refuse_one_value(data: str, table: Table) -> None:
    if table.y is None or len(table.y) < 2:
        raise ValueError(f"{data} has {counted(len(table.X), 'row')}: a model needs several to learn from.")
    values = np.unique(table.y)
    if len(values) == 1:
        raise ValueError(
            f"the target of {data} has one value only, {quoted(values.tolist()[0])}: there is nothing to learn. "
            "--target names another column."
        )


def _inputs(request: TableRequest, table: Table) -> tuple[list[int], list[str]]:
    """The columns that are inputs, and remarks on those that are none without having been asked for."""
    data = request.data
    asked = {"--groups": request.groups, "--weights": request.weights, "--id": request.id}
    no_inputs = set(column_positions("--drop", request.drop, table, data))
    no_inputs |= {column_position(option, name, table, data) for option, name in asked.items() if name is not None}
    used = set(column_positions("--use", request.use, table, data))
    if both := sorted(used & no_inputs):
        raise ValueError(f"--use {table.feature_names[both[0]]}: another option says that this is no input.")
    inputs = [k for k in range(table.X.shape[1]) if k not in no_inputs]
    if not inputs:
        others = "".join(f" and {option} {name}" for option, name in asked.items() if name is not None)
        raise ValueError(f"{data} has no column besides the target{others} that is an input.")
    names_rows = {k: why_it_names_rows(table.feature_names[k], table.X[:, k], k in table.categorical)
                  for k in inputs if k not in used}  # fmt: skip
    keep = [k for k in inputs if not names_rows.get(k)]
    if not keep:  # what only names the rows is all there is
        return inputs, []
    return keep, [
        f"column {quoted(name)} is left out: {names_rows[k]}; --use {name} takes it as an input"
        for k, name in enumerate(table.feature_names)
        if names_rows.get(k)
    ]


def most_rows(dense: bool = True) -> int | None:
    """Rows whose kernel matrix, or features of landmarks, fit into the memory available; None if that is not known."""
    from ..resources.memory import parse_budget

    available = parse_budget(None)
    if math.isinf(available):
        return None
    numbers = int(available / (8 * FEWEST_ARRAYS))
    return math.isqrt(numbers) if dense else numbers // MANY


def _table_of_few(request: TableRequest) -> tuple[Table, str]:
    """The table, read no further than any search could use it."""
    from ..datasets.files import TooManyRowsError

    most = most_rows(request.dense)
    try:
        return table_of(request.data, request.target, most, request.encoding)
    except TooManyRowsError:
        what = "n x n doubles" if request.dense else "features of landmarks"
        raise ValueError(
            f"{request.data} has more than {most:,} rows, the most for which {FEWEST_ARRAYS} arrays of {what}, the "
            "least that a search needs, fit in the memory available. Use fewer rows, drawn at random."
        ) from None


def table_of(
    data: str, target: str | bool | None, max_rows: int | None = None, encoding: str | None = None
) -> tuple[Table, str]:
    """The table, and the name of the registered set that it is ("" for a file)."""
    from .. import datasets

    if data == "-":
        raise ValueError("data cannot be piped in: save them into a file and give its name.")
    if Path(data).exists() or Path(data).suffix in (".csv", ".tsv", ".parquet", ".arff", ".libsvm") or "/" in data:
        return datasets.read(data, target=target, max_rows=max_rows, encoding=encoding), ""
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


def _groups(data: str, table: Table, groups: str) -> Any:
    """Labels that say which rows stay together."""
    values = table.X[:, column_position("--groups", groups, table, data)].tolist()
    missing = [row for row, value in enumerate(values, start=1) if value is None or value != value]
    if missing:
        raise ValueError(
            f"--groups {groups}: row {missing[0]} has no value; give it a group of its own, or leave it out."
        )
    codes = {name: code for code, name in enumerate(sorted(set(map(str, values))))}
    return np.array([codes[str(value)] for value in values])


def _weights(data: str, table: Table, name: str) -> Any:
    """The weights of the rows: numbers, none of them negative, not all zero."""
    position = column_position("--weights", name, table, data)
    if position in table.categorical:
        raise ValueError(f"--weights {name} holds text, such as {quoted(table.X[0, position])}; numbers are needed.")
    weights = table.X[:, position].astype(float)
    wrong = ~np.isfinite(weights) | (weights < 0)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"--weights {name}: row {row + 1} has {weights[row]:g}; a weight is a number of at least 0.")
    if not weights.any():
        raise ValueError(f"--weights {name}: all weights are 0.")
    return weights


def _positive(asked: str | None, y: Any, task: str) -> Any:
    """The class that counts as positive: the one asked for, otherwise scikit-learn's, the last of two."""
    classes = np.unique(y).tolist() if task == "classification" else []
    if asked is None:
        return classes[1] if len(classes) == 2 else None
    if len(classes) != 2:
        what = f"the target has {len(classes)} classes" if classes else "this is regression"
        raise ValueError(f"--positive {asked} needs a target of two classes: {what}.")
    named = {str(label): label for label in classes}
    if asked not in named:
        raise ValueError(f"--positive {asked} is no class of the target: use {' or '.join(map(str, classes))}.")
    return named[asked]


def _shortened(remarks: tuple[str, ...]) -> list[str]:
    """Remarks on a file, with many on missing values put together as one."""
    missing = [remark for remark in remarks if " missing value" in remark]
    if len(missing) <= FEW_REMARKS:
        return list(remarks)
    total = sum(int(remark.split()[0]) for remark in missing)
    return [r for r in remarks if r not in missing] + [f"{total:,} missing values in {len(missing)} columns"]


def landmarks_for(n: int, asked: int | None, memory: str | None, *, least_squares: bool = False) -> Any:
    """The approximation of a search over n rows; None where kernel matrices are taken, or where 0 is asked for.

    Landmarks are taken without being asked for where kernel matrices do not fit into memory, and from ``DENSE_ROWS``
    on for cross-validation by ``least_squares``: one pass over the rows then serves all penalties and folds.

    Landmarks are chosen by k-means++, which depends on the rows and the transformers alone: the code that is printed
    chooses the same ones.
    """
    from .. import Landmarks
    from ..resources.memory import human, parse_budget

    budget, needed = parse_budget(memory), 8.0 * GRAM_ARRAYS * n * n
    if asked is not None:
        return Landmarks(min(n, asked), "kmeans", random_state=0) if asked else None
    if needed > budget:
        reason = f"kernel matrices would take {human(needed)}, and there are {human(budget)}"
    elif least_squares and n > DENSE_ROWS:
        reason = f"kernel matrices of more than {DENSE_ROWS:,} rows would take many minutes (--landmarks 0 takes them)"
    else:
        return None
    m = min(n, MANY)
    note(f"  {n:,} rows: {reason}; {m:,} landmarks stand for them (--landmarks says how many)")
    return Landmarks(m, "kmeans", random_state=0)
