"""Files larger than memory: their rows are read a block at a time, as often as a search goes through them."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._public import set_module
from ..data.blocks import Chunk, FileStamp, RowScan, stack_blocks
from ..data.dask_rows import chunks_of_files
from .columns import Target, check_target, target_position
from .converting import converted_csv, converted_libsvm
from .files import existing_file, fault
from .parquet import doubles, is_date, is_number, is_text, value_type
from .reading import format_of
from .visible import quoted

MAX_GROUP = 2**28
"""Bytes of the largest row group of a Parquet file: it is held in memory while its rows are read."""


@set_module("onefit.datasets")
def scan(path_or_paths: Any, target: Target = None) -> tuple[RowScan, NDArray[Any] | None]:
    """Rows of files that need not fit into memory, for ``KernelSearchCV`` with an ``approximation``.

    Parameters
    ----------
    path_or_paths : path or sequence of paths
        ``.npy`` (two dimensions), Parquet, CSV or LIBSVM; several files have the same columns, and their rows follow
        each other. Text is turned once into a file beside it (``….onefit.parquet`` or ``….onefit.npy``).
    target : str, int, None or False, default=None
        The column to predict, as in ``read``: None is the last column, and the label of LIBSVM text; False is none.

    Returns
    -------
    X : scan
        Has a ``shape``; ``X[start:stop]`` and ``X[rows]`` read rows as an array of doubles. Missing values are refused
        when they are met, with the number of their row. Where there are columns of text or dates, rows are read as
        pandas frames, numbers as doubles and the others as ``pandas.read_parquet`` reads them: a Pipeline that begins
        with a ``ColumnTransformer`` turns them into numbers.
    y : ndarray of shape (n_rows,) or None
        The target, in memory.

    Raises
    ------
    ValueError
        With the file, for contents that are not what they should be; and while a search goes through the rows, if a
        file has changed since.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from onefit import datasets
    >>> path = pathlib.Path(tempfile.mkdtemp(), "table.npy")
    >>> np.save(path, np.arange(12.0).reshape(4, 3))
    >>> X, y = datasets.scan(path)
    >>> X.shape, y.tolist(), X[1:3].tolist()
    ((4, 2), [2.0, 5.0, 8.0, 11.0], [[3.0, 4.0], [6.0, 7.0]])
    """
    given = [path_or_paths] if isinstance(path_or_paths, str | Path) else list(path_or_paths)
    if not given:
        raise ValueError("scan needs a path, or several.")
    paths = [existing_file(path) for path in given]
    parts = [_part(path, target) for path in paths]
    for part in parts[1:]:
        if (part.names, part.kinds) != (parts[0].names, parts[0].kinds):
            raise fault(part.path, f"has other columns than {paths[0]}: rows cannot follow each other.")
    targets = [part.target() for part in parts if part.position is not None and target is not False]
    stamps = tuple(FileStamp.of(part.path) for part in parts)
    return ScannedFiles(tuple(parts), stamps), np.concatenate(targets) if targets else None


def _part(path: Path, target: Target) -> _Part:
    """One file, as something that gives rows."""
    check_target(path, target)
    if path.suffix.lower() == ".npy":
        return NpyRows(path, target)
    form = format_of(path)
    if form == "LIBSVM":
        if target not in (None, False):
            raise fault(path, f"target={quoted(target)} names a column, but the target of LIBSVM text is its label.")
        return NpyRows(converted_libsvm(path), 0)
    if form == "CSV":
        return ParquetRows(converted_csv(path), target)
    if form == "Parquet":
        return ParquetRows(path, target)
    raise fault(path, f"is {form}, which is not scanned: turn it into Parquet first.")


class _Part(ABC):
    """Rows of one file: columns by name, of which one may be the target."""

    path: Path
    names: Sequence[str]
    position: int | None  # of the target
    kinds: Sequence[str] = ()  # of the columns without the target, where there are other ones than numbers
    framed: bool = False

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many rows there are."""

    @abstractmethod
    def read(self, start: int, stop: int) -> Any:
        """Consecutive rows without the target: an array, or a frame if they are ``framed``."""

    @abstractmethod
    def target(self) -> NDArray[Any]:
        """The target of all rows."""


@dataclass(frozen=True, eq=False)
class ScannedFiles(RowScan):
    """Rows of several files, one after another; told apart from others by the ``stamps`` of the files."""

    parts: tuple[_Part, ...] = field(repr=False)
    stamps: tuple[FileStamp, ...] = ()

    @cached_property
    def ends(self) -> NDArray[np.intp]:
        """Where each file's rows end."""
        return np.cumsum([part.rows for part in self.parts])

    @property
    def shape(self) -> tuple[int, int]:
        first = self.parts[0]
        return int(self.ends[-1]), len(first.names) - (first.position is not None)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns."""
        first = self.parts[0]
        return tuple(name for k, name in enumerate(first.names) if k != first.position)

    @property
    def framed(self) -> bool:  # type: ignore[override]
        """Whether rows are read as frames."""
        return self.parts[0].framed

    def as_frames(self) -> RowScan:
        if not all(isinstance(part, ParquetRows) for part in self.parts):
            return super().as_frames()
        return replace(self, parts=tuple(ParquetRows(part.path, part.position, framed=True) for part in self.parts))

    def read(self, start: int, stop: int) -> Any:
        found: list[Any] = []
        begin = 0
        for part, end in zip(self.parts, self.ends.tolist()):
            low, high = max(start, begin), min(stop, end)
            if low < high:
                found.append(part.read(low - begin, high - begin))
            begin = end
        return stack_blocks(found or [self.parts[0].read(0, 0)])

    @property
    def chunks(self) -> list[Chunk]:
        return chunks_of_files(self)

    @property
    def identity(self) -> Any:
        return self.stamps, [part.position for part in self.parts]

    def check_unchanged(self) -> None:
        for stamp in self.stamps:
            stamp.check()


class NpyRows(_Part):
    """Rows of a two-dimensional ``.npy`` file, by a memory map."""

    def __init__(self, path: Path, target: Target) -> None:
        self.path, self._given = path, target
        try:
            self._map = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            raise fault(path, f"is not a .npy file of numbers: {error}") from error
        if self._map.ndim != 2 or self._map.dtype.kind not in "fiub":
            raise fault(path, f"must hold a table of numbers, got shape {self._map.shape} of {self._map.dtype}.")
        self.names = [str(k) for k in range(self._map.shape[1])]
        self.position = target_position(path, self.names, target)

    def __reduce__(self) -> Any:
        return NpyRows, (self.path, self._given)  # mapped anew in another process

    @property
    def rows(self) -> int:
        return int(self._map.shape[0])

    def read(self, start: int, stop: int) -> NDArray[np.float64]:
        rows = np.asarray(self._map[start:stop], dtype=np.float64)
        return rows if self.position is None else np.delete(rows, self.position, axis=1)

    def target(self) -> NDArray[Any]:
        return np.array(self._map[:, self.position])


class ParquetRows(_Part):
    """Rows of a Parquet file, a row group at a time; the last one that was read is kept.

    They are ``framed`` if that is asked for, or if there are columns of text or dates.
    """

    def __init__(self, path: Path, target: Target, framed: bool = False) -> None:
        from pyarrow.parquet import ParquetFile

        self.path, self._given = path, (target, framed)
        self._file = ParquetFile(path)
        schema, facts = self._file.schema_arrow, self._file.metadata
        self.names = list(schema.names)
        self.position = target_position(path, list(self.names), target)
        self._kinds = {column.name: _kind(path, column) for k, column in enumerate(schema) if k != self.position}
        self.kinds = [] if set(self._kinds.values()) <= {"number"} else list(self._kinds.values())
        self.framed = framed or bool(self.kinds)
        if self.framed and find_spec("pandas") is None:
            raise ImportError(f"{path}: rows with text, dates or named columns are pandas frames; pip install pandas.")
        sizes = [facts.row_group(k).num_rows for k in range(facts.num_row_groups)]
        if sizes and 8 * max(sizes) * len(self.names) > MAX_GROUP:
            raise fault(
                path, f"has a row group of {max(sizes):,} rows, which is read at once: write smaller ones "
                "(pyarrow.parquet.write_table(…, row_group_size=100_000)).",
            )  # fmt: skip
        self._ends = np.cumsum(sizes)
        self._kept: tuple[int, Any] | None = None
        self._lock = threading.Lock()

    def __reduce__(self) -> Any:
        return ParquetRows, (self.path, *self._given)  # opened anew in another process

    @property
    def rows(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def read(self, start: int, stop: int) -> Any:
        if start >= stop:
            return self._rows_of(self._file.schema_arrow.empty_table())
        first, last = np.searchsorted(self._ends, [start, stop - 1], side="right")
        found = []
        for group in range(int(first), int(last) + 1):
            begin = int(self._ends[group - 1]) if group else 0
            rows = self._group(group)
            found.append(rows[max(0, start - begin) : stop - begin])
        return stack_blocks(found)

    def _group(self, number: int) -> Any:
        """All rows of a row group."""
        with self._lock:
            if self._kept is None or self._kept[0] != number:
                table = self._file.read_row_group(number, columns=list(self._kinds))
                self._kept = number, self._rows_of(table)
            return self._kept[1]

    def _rows_of(self, table: Any) -> Any:
        """The columns of a table besides the target, as an array or a frame."""
        columns = {name: _values(table.column(name)) for name in self._kinds}
        if not self.framed:
            return np.column_stack(list(columns.values()))
        import pandas as pd

        return pd.DataFrame(columns)

    def target(self) -> NDArray[Any]:
        assert self.position is not None
        name = self.names[self.position]
        values = self._file.read(columns=[name]).column(name)
        kind = value_type(values.type)
        if values.null_count:
            row = int(np.argmax(np.asarray(values.is_null())))
            raise fault(self.path, f"column {quoted(name)} is the target but row {row + 1} has no value.")
        if is_text(kind):
            return np.asarray(values.cast(kind).to_pylist(), dtype=str)
        if not is_number(kind):
            raise fault(
                self.path, f"column {quoted(name)} is the target and of type {kind}: numbers or text are needed."
            )
        return np.asarray(values.cast(kind))


def _kind(path: Path, column: Any) -> str:
    """Whether a column holds numbers, text or dates; others are refused."""
    kind = value_type(column.type)
    for name, is_kind in (("number", is_number), ("text", is_text), ("date", is_date)):
        if is_kind(kind):
            return name
    raise fault(path, f"column {quoted(column.name)} is of type {kind}, which is not read: drop it.")


def _values(values: Any) -> Any:
    """A column: numbers as doubles, text and dates as pandas has them."""
    kind = value_type(values.type)
    return doubles(values) if is_number(kind) else values.cast(kind).to_pandas()
