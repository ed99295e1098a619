"""Files of predictions, written block by block: CSV, or Parquet by their name."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TextIO

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""How text begins that spreadsheets take for a formula, the wide forms included; before a tab or line break they look
at what follows."""

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


class Writer(Protocol):
    """Takes columns of equal length, all blocks with the same names."""

    def __call__(self, columns: dict[str, list]) -> None:
        """Write the rows of one block."""


class CsvWriter:
    """Rows of CSV with a header."""

    def __init__(self, file: TextIO) -> None:
        self.rows, self.began = csv.writer(file, lineterminator="\n"), False

    def __call__(self, columns: dict[str, list]) -> None:
        if not self.began:
            self.rows.writerow([defused(name) for name in columns])
            self.began = True
        self.rows.writerows(map(defused, row) for row in zip(*columns.values()))


class ParquetWriter:
    """Row groups of a Parquet file; the first block says the types."""

    def __init__(self, path: Path) -> None:
        import pyarrow
        import pyarrow.parquet

        self.arrow, self.path = pyarrow, path
        self.file: Any = None

    def __call__(self, columns: dict[str, list]) -> None:
        if self.file is None:
            self.file = self.arrow.parquet.ParquetWriter(self.path, self._schema(columns))
        self.file.write_table(self.arrow.table(columns, schema=self.file.schema))

    def _schema(self, columns: dict[str, list]) -> Any:
        """Types of the first block; a column without any value there is taken for text."""
        fields = self.arrow.table(columns).schema
        text = self.arrow.string()
        empty = self.arrow.types.is_null
        return self.arrow.schema([field.with_type(text) if empty(field.type) else field for field in fields])

    def close(self) -> None:
        """Write the end of the file."""
        if self.file is not None:
            self.file.close()


@contextmanager
def writer_to(path: Path) -> Iterator[Writer]:
    """A writer whose file takes the place of ``path`` when all blocks are written, and not before."""
    place = path.resolve()  # the path may be a link, which is to stay
    part = place.with_name(f".{place.name}.part")
    try:
        if path.suffix in (".parquet", ".pq"):
            parquet = ParquetWriter(part)
            yield parquet
            parquet.close()
        else:
            with part.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
                yield CsvWriter(file)
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


def as_written(values: list) -> list:
    """Whole numbers without a decimal point, as identifiers are written, if all of the numbers are whole.

    >>> as_written([1001.0, None]), as_written([1.0, 2.5]), as_written(["a"])
    ([1001, None], [1.0, 2.5], ['a'])
    """
    numbers = [value for value in values if isinstance(value, float)]
    if not all(value.is_integer() for value in numbers):
        return values
    return [int(value) if isinstance(value, float) else value for value in values]


def defused(value: Any) -> Any:
    """The value, with an apostrophe in front of a text that a spreadsheet would compute as a formula.

    Numbers stay, also where they are text, such as "-1.5"; any other text after a minus is defused.

    >>> defused("=1+1"), defused("-x"), defused("-1.5"), defused(-1.5), defused("a=b")
    ("'=1+1", "'-x", '-1.5', -1.5, 'a=b')
    """
    if not isinstance(value, str):
        return value
    text = value.strip(" ")
    return f"'{value}" if text.startswith(FORMULA_STARTS) and not NUMBER.fullmatch(text) else value
