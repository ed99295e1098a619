"""Reader of ARFF, the format of Weka: attributes with their types, then the data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import Column, Target, assemble, text_column
from .files import TooManyRowsError, check_dense, existing_file, fault, text_lines
from .table import Table
from .visible import LONGEST, quoted

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE)
_LEVELS = re.compile(r"\{(.*)\}\s*(%.*)?")
_VALUE = re.compile(rf"((?:\d+\s+)?(?:{_QUOTED})\s*|[^,'\"]*)(,|$)")  # a sparse row's has its position in front
_SPARSE = re.compile(r"\s*(\d+)\s+(.*)", re.DOTALL)
_LONG_NUMBER = 20  # digits that no position has
_NUMERIC = ("numeric", "real", "integer")
_MISSING = "?"


@dataclass(frozen=True)
class Attribute:
    """One attribute of the header; nominal ones have the values that it declares, in this order."""

    name: str
    kind: str  # "numeric", "nominal" or "string"
    levels: tuple[str, ...] = ()

    @property
    def zero(self) -> str:
        """The value that a sparse row leaves out."""
        return self.levels[0] if self.levels else "0"


def read_arff(
    path: str | Path, *, target: Target = None, max_rows: int | None = None, encoding: str | None = None
) -> Table:
    """A table from an ARFF file, which may be compressed (gzip, bzip2).

    Nominal and string attributes become text; dates and relations are refused. A value outside the set of its
    nominal attribute is an error. Reading ends with an error after ``max_rows`` rows.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "weather.arff")
    >>> _ = path.write_text("@relation weather\\n@attribute sky {clear, 'light clouds'}\\n"
    ...                     "@attribute degrees real\\n@data\\n'light clouds', 7\\nclear, ?\\n")
    >>> table = read_arff(path, target="sky")
    >>> table.X.tolist(), table.y.tolist()
    ([[7.0], [nan]], ['light clouds', 'clear'])
    >>> table.target_names
    ('clear', 'light clouds')
    """
    path = existing_file(path)
    attributes, rows, lines = _parts(path, max_rows, encoding)
    columns = _columns(path, attributes, rows, lines)
    return assemble(path, columns, target=target, lines=lines, remarks=[])


def read_attributes(path: Path) -> tuple[list[Attribute], list[NDArray[Any]]]:
    """(attributes, their values): doubles with NaN where one is missing, of other than numeric ones text and None."""
    attributes, rows, lines = _parts(path, None, None)
    return attributes, [column.values for column in _columns(path, attributes, rows, lines)]


def _parts(path: Path, max_rows: int | None, encoding: str | None) -> tuple[list[Attribute], list[_Row], list[int]]:
    """(attributes, rows of text, their line numbers) of a file."""
    text = enumerate(text_lines(path, encoding), start=1)
    attributes = _header(path, text)
    has_strings = any(attribute.kind == "string" for attribute in attributes)
    rows: list[_Row] = []
    lines: list[int] = []
    for number, line in text:
        line = line.strip()
        if line and not line.startswith("%"):
            if has_strings and line.startswith("{"):
                raise fault(path, "sparse rows with string attributes are not read.", number)
            if len(rows) == max_rows:
                raise TooManyRowsError(path, max_rows)
            rows.append(_row(path, number, line, attributes))
            lines.append(number)
    if not rows:
        raise fault(path, "holds a header but no data.")
    check_dense(path, len(rows), len(attributes))
    return attributes, rows, lines


def _columns(path: Path, attributes: list[Attribute], rows: list[_Row], lines: list[int]) -> list[Column]:
    return [
        _column(path, attribute, [_cell(row, position, attribute) for row in rows], lines)
        for position, attribute in enumerate(attributes)
    ]


def _header(path: Path, text: Iterator[tuple[int, str]]) -> list[Attribute]:
    """The attributes; ``text``, numbered lines, is read up to and with ``@data``."""
    attributes: dict[str, Attribute] = {}
    number = 0
    for number, line in text:
        line = line.strip()
        word = line.split(None, 1)[0].lower() if line else ""
        if not line or line.startswith("%") or word == "@relation":
            continue
        if word == "@data":
            if not attributes:
                raise fault(path, "the data begin but no attribute was declared.", number)
            return list(attributes.values())
        if word != "@attribute":
            raise fault(path, f"{quoted(line)} is neither a comment nor @relation, @attribute or @data.", number)
        attribute = _attribute(path, number, line)
        if attribute.name in attributes:
            raise fault(path, f"a second attribute is called {quoted(attribute.name)}.", number)
        attributes[attribute.name] = attribute
    raise fault(path, "the file ends without a line @data.", number)


def _attribute(path: Path, line: int, text: str) -> Attribute:
    match = _ATTRIBUTE.fullmatch(text)
    if not match:
        raise fault(path, f"{quoted(text)} does not declare an attribute's name and type.", line)
    name, kind = _unquoted(match[1]), match[2].strip()
    if kind.startswith("{"):
        levels = _LEVELS.fullmatch(kind)
        if not levels:
            raise fault(path, f"the values of attribute {quoted(name)} do not end with a brace.", line)
        return Attribute(name, "nominal", tuple(map(_unquoted, _values(path, line, levels[1]))))
    word = kind.split(None, 1)[0].lower() if kind else ""
    if word in _NUMERIC:
        return Attribute(name, "numeric")
    if word == "string":
        return Attribute(name, "string")
    if word in ("date", "relational"):
        message = f"attribute {quoted(name)} is of type {word}, which is not read; turn it into numbers first."
        raise fault(path, message, line)
    raise fault(path, f"attribute {quoted(name)} has the unknown type {quoted(kind)}.", line)


_Row = list[str] | dict[int, str]
"""The values of a line, one for each attribute; of a sparse line those that it gives, by position."""


def _cell(row: _Row, position: int, attribute: Attribute) -> str:
    return row.get(position, attribute.zero) if isinstance(row, dict) else row[position]


def _row(path: Path, line: int, text: str, attributes: list[Attribute]) -> _Row:
    """The values of one line, quotes included."""
    if text.startswith("{"):
        return _sparse_row(path, line, text, attributes)
    values = _values(path, line, text)
    if len(values) != len(attributes):
        raise fault(path, f"{len(values)} values for {len(attributes)} attributes.", line)
    return values


def _sparse_row(path: Path, line: int, text: str, attributes: list[Attribute]) -> dict[int, str]:
    if not text.endswith("}"):
        raise fault(path, "the sparse row does not end with a brace.", line)
    values: dict[int, str] = {}
    inside = text[1:-1].strip()
    for pair in _values(path, line, inside) if inside else []:
        match = _SPARSE.fullmatch(pair)
        if not match:
            raise fault(path, f"{quoted(pair)} is not a position and a value.", line)
        position = int(match[1]) if len(match[1]) < _LONG_NUMBER else len(attributes)
        if position >= len(attributes):
            message = f"position {match[1][:_LONG_NUMBER]} is not below {len(attributes)}, the number of attributes."
            raise fault(path, message, line)
        if position in values:
            raise fault(path, f"position {position} occurs twice.", line)
        values[position] = match[2].strip()
    return values


def _values(path: Path, line: int, text: str) -> list[str]:
    """The values of a line, which stand between commas, with their quotes."""
    if "'" not in text and '"' not in text:
        return [value.strip() for value in text.split(",")]
    values = []
    position = 0
    while True:
        start = position
        while text[start : start + 1].isspace():  # not in the expression, which would try every share of many blanks
            start += 1
        match = _VALUE.match(text, start)
        if not match:
            raise fault(path, f"quotes do not match in {quoted(text[position:])}.", line)
        values.append(match[1].strip())
        position = match.end()
        if not match[2]:
            return values


def _unquoted(value: str) -> str:
    if value[:1] in ("'", '"') and len(value) > 1:
        return re.sub(r"\\(.)", r"\1", value[1:-1])
    return value


def _column(path: Path, attribute: Attribute, values: list[str], lines: list[int]) -> Column:
    if attribute.kind == "numeric":
        return Column(attribute.name, _numbers(path, attribute.name, values, lines))
    cells = [None if value == _MISSING else _unquoted(value) for value in values]
    if attribute.kind == "nominal":
        allowed = {None, *attribute.levels}
        for cell, line in zip(cells, lines):
            if cell not in allowed:
                known = ", ".join(level[:LONGEST] for level in attribute.levels[:20])
                message = f"{quoted(cell)} is not among the values of attribute {quoted(attribute.name)}: {known}."
                raise fault(path, message, line)
    return text_column(attribute.name, cells)


def _numbers(path: Path, name: str, values: list[str], lines: list[int]) -> NDArray[np.float64]:
    numbers = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            if "_" in value:  # Python reads 1_0 as 10
                raise ValueError
            numbers[row] = np.nan if value == _MISSING else float(_unquoted(value))
        except ValueError:
            message = f"{quoted(value)} is not a number, as attribute {quoted(name)} is."
            raise fault(path, message, lines[row]) from None
    return numbers
