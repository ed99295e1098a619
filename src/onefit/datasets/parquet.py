"""Reader of Parquet files, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .columns import Column, Target, assemble, text_column, unique_names
from .files import PARQUET, TooManyRowsError, check_expansion, existing_file, fault
from .table import Table
from .visible import quoted

if TYPE_CHECKING:
    import pyarrow as arrow

_PANDAS_INDEX = "__index_level_"


def read_parquet(path: str | Path, *, target: Target = None, max_rows: int | None = None) -> Table:
    """A table from a Parquet file.

    Integers, decimals and booleans become doubles (1 is true), strings and categories of strings text, dates and
    timestamps text such as 2024-01-31 12:30:00, in UTC; lists and other types are refused. The index that pandas may
    have stored is left out, which a remark says.
    A file with more rows than ``max_rows``, or far more data than its size suggests, is refused before they are read.

    Examples
    --------
    >>> import tempfile, pathlib, pyarrow, pyarrow.parquet
    >>> path = pathlib.Path(tempfile.mkdtemp(), "two.parquet")
    >>> pyarrow.parquet.write_table(pyarrow.table({"a": [1, None], "b": ["x", "y"]}), path)
    >>> table = read_parquet(path)
    >>> table.X.tolist(), table.y.tolist()
    ([[1.0], [nan]], ['x', 'y'])
    """
    path = existing_file(path)
    contents = _contents(path, max_rows)
    names, remarks = unique_names(contents.column_names)
    columns = []
    for name, values in zip(names, contents.columns):
        if name.startswith(_PANDAS_INDEX):
            remarks.append("the index that pandas stored was left out")
        else:
            columns.append(_column(path, name, values))
    if not columns:
        raise fault(path, "holds no columns.")
    return assemble(path, columns, target=target, lines=None, remarks=remarks)


def read_parquet_blocks(path: str | Path, size: int) -> Iterator[Table]:
    """Tables of at most ``size`` rows each, one after the other, without a target."""
    path = existing_file(path)
    arrow, file = _opened(path)
    with file:
        _check_described(path, file, None)
        names, _ = unique_names(file.schema_arrow.names)
        with _naming_damage(path, arrow):
            for batch in file.iter_batches(batch_size=size):
                columns = [
                    _column(path, name, arrow.chunked_array([values]))
                    for name, values in zip(names, batch.columns)
                    if not name.startswith(_PANDAS_INDEX)
                ]
                yield assemble(path, columns, target=False, lines=None, remarks=[])


def _opened(path: Path, texts: list[str] | None = None) -> tuple[Any, Any]:
    """pyarrow, and the open file; errors name the file."""
    try:
        import pyarrow as arrow
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ImportError(f"{path}: pyarrow reads Parquet files; pip install 'onefit[data]' installs it.") from error
    with path.open("rb") as file:
        if file.read(len(PARQUET)) != PARQUET:
            raise fault(path, "is not a Parquet file.")
    with _naming_damage(path, arrow):
        return arrow, ParquetFile(path, read_dictionary=texts)


@contextmanager
def _naming_damage(path: Path, arrow: Any) -> Iterator[None]:
    """Errors of pyarrow become errors that name the file."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise fault(path, f"has a name of a column that is not UTF-8 text: {error}.") from error
    except (arrow.ArrowException, OSError) as error:
        raise fault(path, f"is a damaged or cut off Parquet file: {error}") from error


def _contents(path: Path, max_rows: int | None) -> arrow.Table:
    """The table, once the file's own description of it is acceptable. Text stays as codes of a dictionary."""
    arrow, file = _opened(path)
    with _naming_damage(path, arrow):
        with file:
            texts = [field.name for field in file.schema_arrow if is_text(field.type)]
        with _opened(path, texts)[1] as file:
            _check_described(path, file, max_rows)
            batches, size = [], 0
            for batch in file.iter_batches():
                size += batch.nbytes
                check_expansion(path, size, "its columns take")
                batches.append(batch)
            contents = arrow.Table.from_batches(batches, schema=file.schema_arrow)
            described = file.metadata.num_rows
    if contents.num_rows != described:
        raise fault(
            path, f"is a damaged Parquet file: it has {contents.num_rows:,} rows, not {described:,} as it says."
        )
    return contents


def _check_described(path: Path, file: Any, max_rows: int | None) -> None:
    """Refuse, by what the end of the file says of them, rows or types that are not read."""
    facts = file.metadata
    if facts.num_rows <= 0:
        raise fault(path, "holds no rows.")
    if max_rows is not None and facts.num_rows > max_rows:
        raise TooManyRowsError(path, max_rows)
    for field in file.schema_arrow:
        kind = value_type(field.type)
        if not is_text(kind) and not is_number(kind) and not is_date(kind):
            advice = "which is not read; turn it into numbers or text first."
            raise fault(path, f"column {quoted(field.name)} is of type {kind}, {advice}")
    decompressed = sum(facts.row_group(k).total_byte_size for k in range(facts.num_row_groups))
    check_expansion(path, decompressed, "its decompressed pages take")
    check_expansion(path, 8 * facts.num_rows * facts.num_columns, f"its {facts.num_rows:,} rows would take")


def value_type(kind: arrow.DataType) -> arrow.DataType:
    """The type of the values, also of those that are coded by a dictionary."""
    from pyarrow import types

    return kind.value_type if types.is_dictionary(kind) else kind


def is_text(kind: arrow.DataType) -> bool:
    """Whether values are strings."""
    from pyarrow import types

    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def is_number(kind: arrow.DataType) -> bool:
    """Whether values become doubles."""
    from pyarrow import types

    known = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null)
    return any(is_kind(kind) for is_kind in known)


def is_date(kind: arrow.DataType) -> bool:
    """Whether values are dates or moments."""
    from pyarrow import types

    return types.is_date(kind) or types.is_timestamp(kind)


def _column(path: Path, name: str, values: arrow.ChunkedArray) -> Column:
    import pyarrow as arrow

    kind = value_type(values.type)
    if is_text(kind):
        try:
            return text_column(name, _texts(values))
        except UnicodeDecodeError as error:
            raise fault(path, f"column {quoted(name)} holds text that is not UTF-8: {error}.") from error
        except arrow.ArrowInvalid as error:
            raise fault(path, f"column {quoted(name)} is damaged: {error}") from error
    if is_date(kind):
        whole = values.cast(kind).cast(arrow.timestamp("us"), safe=False)  # without a zone, which is UTC in the file
        return text_column(name, whole.cast(arrow.string()).to_pylist())
    return Column(name, doubles(values))


def doubles(values: arrow.ChunkedArray) -> NDArray[np.float64]:
    """A column of numbers as doubles, NaN where a value is missing."""
    import pyarrow as arrow
    from pyarrow import types

    kind = value_type(values.type)
    values = values.cast(kind)
    if types.is_boolean(kind) or types.is_null(kind):
        values = values.cast(arrow.int8())  # there is no direct way to doubles
    found = values.cast(arrow.float64(), safe=False)  # integers beyond 2^53 are rounded
    return np.asarray(found.fill_null(np.nan), dtype=np.float64)


def _texts(values: arrow.ChunkedArray) -> list[str | None]:
    """The text of every row; rows with equal text share it."""
    from pyarrow import types

    cells: list[str | None] = []
    for chunk in values.chunks:
        if not types.is_dictionary(chunk.type):
            cells += chunk.to_pylist()
            continue
        words = chunk.dictionary.to_pylist()
        chunk.validate(full=True)  # a damaged file may have codes without a word
        cells += [None if code is None else words[code] for code in chunk.indices.to_pylist()]
    return cells
