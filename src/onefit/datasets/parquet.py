"""Reader of Parquet files, through pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .columns import Column, Target, assemble, text_column, unique_names
from .files import PARQUET, existing_file, fault
from .table import Table

_PANDAS_INDEX = "__index_level_"


def read_parquet(path: str | Path, *, target: Target = None) -> Table:
    """A table from a Parquet file.

    Integers, decimals and booleans become doubles (1 is true), strings and categories of strings text; dates, times,
    lists and other types are refused. The index that pandas may have stored is left out, which a remark says.

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
    try:
        import pyarrow as arrow
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ImportError(f"{path}: pyarrow reads Parquet files; pip install 'onefit[data]' installs it.") from error
    with path.open("rb") as file:
        if file.read(len(PARQUET)) != PARQUET:
            raise fault(path, "is not a Parquet file.")
    try:
        contents = ParquetFile(path).read()
    except (arrow.ArrowException, OSError) as error:
        raise fault(path, f"is a damaged or cut off Parquet file: {error}") from error
    if contents.num_rows == 0:
        raise fault(path, "holds no rows.")
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


def _column(path: Path, name: str, values: Any) -> Column:
    """``values`` is a pyarrow.ChunkedArray."""
    import pyarrow as arrow
    from pyarrow import types

    if types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    kind = values.type
    if any(is_text(kind) for is_text in (types.is_string, types.is_large_string, types.is_string_view)):
        return text_column(name, values.to_pylist())
    if types.is_boolean(kind) or types.is_null(kind):
        values = values.cast(arrow.int8())  # there is no direct way to doubles
    elif not any(is_number(kind) for is_number in (types.is_integer, types.is_floating, types.is_decimal)):
        raise fault(path, f"column {name!r} is of type {kind}, which is not read; turn it into numbers or text first.")
    doubles = values.cast(arrow.float64(), safe=False)  # integers beyond 2^53 are rounded
    return Column(name, np.asarray(doubles.fill_null(np.nan), float))
