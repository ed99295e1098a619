"""Reader of CSV and TSV: fields between commas, semicolons or tabs, quoted where need be, with a header."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .columns import Column, Target, assemble, text_column, unique_names
from .files import TooManyRowsError, existing_file, fault, text_lines
from .table import Table
from .visible import quoted

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null"})
"""Texts that stand for a missing value, in lower case."""

_DELIMITERS = "\t;,"
_SNIFFED_LINES = 20  # to find the delimiter
_LOOKED_AT = 1000  # lines, to tell a header from data
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_MOSTLY = 0.9  # a text among so many numbers is an error, if they are measurements
_FEW_DISTINCT = 20  # up to so many distinct numbers may be names of categories


def read_delimited(
    path: str | Path, *, target: Target = None, max_rows: int | None = None, encoding: str | None = None
) -> Table:
    """A table from delimited text, which may be compressed (gzip, bzip2).

    Columns of numbers become doubles, all others text. Empty fields, ``?``, ``NA``, ``N/A``, ``nan`` and ``null``
    are missing values. A first line of data instead of a header is recognised, and named in a remark; so are decimal
    commas, where fields are not told apart by commas and a comma cannot be one between thousands. Reading ends with an
    error after ``max_rows`` rows.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "prices.csv")
    >>> _ = path.write_text("area,town,price\\n50,Bonn,100\\n,Trier,90\\n")
    >>> table = read_delimited(path)
    >>> table.X
    array([[50.0, 'Bonn'],
           [nan, 'Trier']], dtype=object)
    >>> table.y, table.categorical
    (array([100.,  90.]), (1,))
    >>> table.remarks
    ("target: the last column 'price'", "1 missing value in column 'area'")
    """
    path = existing_file(path)
    delimiter, records = _open(path, encoding)
    lines, rows = [], []  # two lists: a pair for each line would take as much memory again
    for line, row in records:
        lines.append(line)
        rows.append(row)
        if max_rows is not None and len(rows) > max_rows + 1:  # one of them may be the header
            raise TooManyRowsError(path, max_rows)
    names, is_header, remarks = _named(path, rows[:_LOOKED_AT])
    if is_header:
        del lines[0], rows[0]
    if not rows:
        raise fault(path, "holds a header but no data.")
    if max_rows is not None and len(rows) > max_rows:
        raise TooManyRowsError(path, max_rows)
    columns = []
    for name, cells in zip(names, zip(*rows)):
        column, remark = _column(path, name, cells, lines, decimal_commas=delimiter != ",")
        columns.append(column)
        remarks += remark
    return assemble(path, columns, target=target, lines=lines, remarks=remarks)


def read_delimited_blocks(
    path: str | Path, size: int, *, numbers: Collection[str], encoding: str | None = None
) -> Iterator[Table]:
    """Tables of ``size`` rows each, the last of fewer, that never hold the whole file in memory.

    Columns called ``numbers`` become doubles where they can, all others are text, so that a column is of one type in
    all tables. There is no target.
    """
    path = existing_file(path)
    delimiter, records = _open(path, encoding)
    first = list(islice(records, max(size, _LOOKED_AT)))
    names, is_header, _ = _named(path, [row for _, row in first[:_LOOKED_AT]])
    if is_header and len(first) == 1:
        raise fault(path, "holds a header but no data.")
    records = chain(first[is_header:], records)
    while found := list(islice(records, size)):
        lines = [line for line, _ in found]
        columns = []
        for name, cells in zip(names, zip(*(row for _, row in found))):
            if name in numbers:
                columns.append(_column(path, name, cells, lines, decimal_commas=delimiter != ",")[0])
            else:
                stripped = (cell.strip() for cell in cells)
                columns.append(text_column(name, [None if _is_missing(cell) else cell for cell in stripped]))
        yield assemble(path, columns, target=False, lines=lines, remarks=[])


def _open(path: Path, encoding: str | None) -> tuple[str, Iterator[tuple[int, list[str]]]]:
    """The delimiter, and the records with the numbers of their lines; a file without any is an error."""
    text = text_lines(path, encoding)
    first = list(islice(text, _SNIFFED_LINES))
    delimiter = _delimiter(first)
    return delimiter, _records(path, chain(first, text), delimiter)


def _named(path: Path, rows: list[list[str]]) -> tuple[list[str], bool, list[str]]:
    """Names of the columns, whether they are the first of some rows, and remarks."""
    if not rows:
        raise fault(path, "holds no line with text.")
    if not _is_header(rows[0], rows[1:]):
        names = [f"column {position}" for position in range(1, len(rows[0]) + 1)]
        return names, False, ["the file has no header: its first line is data, and columns are named by position"]
    names, remarks = unique_names([cell.strip() for cell in rows[0]])
    return names, True, remarks


def _delimiter(head: list[str]) -> str:
    """The delimiter that cuts the first lines into equally many fields; otherwise the most frequent of the first."""
    for delimiter in _DELIMITERS:
        try:
            widths = {len(row) for row in csv.reader(head, delimiter=delimiter) if row}
        except csv.Error:
            continue
        if len(widths) == 1 and widths.pop() > 1:
            return delimiter
    unquoted = re.sub('"[^"]*"', "", head[0] if head else "")
    return max(reversed(_DELIMITERS), key=unquoted.count)


def _records(path: Path, text: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The fields of every line that has some, with the number of the line; all have as many fields as the first."""
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    first: tuple[int, int] | None = None  # its line, and its fields
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise fault(path, f"a quoted field that begins here is not well formed ({error}).", line) from error
        if not row or (len(row) == 1 and not row[0].strip()):
            continue
        first = first or (line, len(row))
        if len(row) != first[1]:
            raise fault(path, f"{len(row)} fields, where line {first[0]} has {first[1]}.", line)
        yield line, row


def _is_header(first: list[str], body: list[list[str]]) -> bool:
    """Whether the first line names the columns.

    It does not if all its fields are numbers, nor if one of its texts is met again in the same column; unless the
    other values of some column are numbers under a text.
    """
    texts = [position for position, cell in enumerate(first) if not _looks_numeric(cell) and not _is_missing(cell)]
    if not texts:
        return not any(map(_looks_numeric, first))
    for position in texts:
        present = [row[position] for row in body if not _is_missing(row[position])]
        if present and sum(map(_looks_numeric, present)) > len(present) / 2:
            return True
    return not any(row[position] == first[position] for position in texts for row in body)


def _column(
    path: Path, name: str, cells: Sequence[str], lines: Sequence[int], decimal_commas: bool
) -> tuple[Column, list[str]]:
    """The column of numbers or of text, and what to say about it."""
    numbers = _numbers(cells)
    if numbers is not None:
        return Column(name, numbers), []
    stripped = [cell.strip() for cell in cells]
    missing = {cell for cell in set(stripped) if _is_missing(cell)}
    present = ["nan" if cell in missing else cell for cell in stripped]
    numbers = _numbers(present)
    if numbers is not None:
        return Column(name, numbers), []
    if decimal_commas and _has_decimal_commas(stripped):
        numbers = _numbers([cell.replace(",", ".") for cell in present])
        if numbers is not None:
            return Column(name, numbers), [f"numbers with decimal commas in column {quoted(name)}"]
    remark = _mixed(path, name, stripped, lines, missing)
    return text_column(name, [None if cell in missing else cell for cell in stripped]), remark


def _has_decimal_commas(cells: Sequence[str]) -> bool:
    """Whether commas stand before decimals: no cell has a point, and not all of them can be read as thousands."""
    with_comma = [cell for cell in cells if "," in cell]
    pointed = any("." in cell for cell in cells)
    return (
        not pointed
        and not all(map(_THOUSANDS.fullmatch, with_comma))
        and all(map(_DECIMAL_COMMA.fullmatch, with_comma))
    )


def _numbers(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """Doubles, or None if a cell is not a number."""
    if "_" in "".join(cells):  # Python reads 1_0 as 10
        return None
    try:
        return np.fromiter(map(float, cells), float, len(cells))
    except ValueError:
        return None


def _mixed(path: Path, name: str, cells: Sequence[str], lines: Sequence[int], missing: set[str]) -> list[str]:
    """An error or a remark about a column of text that looks as if it were meant to hold numbers."""
    present = [(cell, line) for cell, line in zip(cells, lines) if cell not in missing]
    numbers = [cell for cell, _ in present if _is_number(cell)]
    texts = [(cell, line) for cell, line in present if not _is_number(cell)]
    cell, line = texts[0]
    if all(_DECIMAL_COMMA.fullmatch(text) for text, _ in texts):
        message = f"column {quoted(name)}: is the comma of {quoted(cell)} one before decimals? Write decimal points."
        raise fault(path, message, line)
    distinct = len(set(numbers))
    if len(numbers) >= _MOSTLY * len(present) and distinct > min(_FEW_DISTINCT, len(numbers) / 2):
        message = f"column {quoted(name)} holds numbers but for {quoted(cell)}; a missing value is empty, ? or NA."
        raise fault(path, message, line)
    if len(numbers) >= len(present) / 2:
        why = f"because of {quoted(cell)} in line {line}, though most of its values are numbers"
        return [f"column {quoted(name)} is text {why}"]
    return []


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell.strip()) is not None


def _looks_numeric(cell: str) -> bool:
    return _is_number(cell) or _DECIMAL_COMMA.fullmatch(cell.strip()) is not None


def _is_missing(cell: str) -> bool:
    return cell.strip().lower() in MISSING
