"""Reader of ARFF, the format of Weka: attributes with their types, then the data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .columns import Column, Target, assemble, text_column
from .files import decode, existing_file, fault, read_bytes
from .table import Table

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE)
_LEVELS = re.compile(r"\{(.*)\}\s*(%.*)?")
_VALUE = re.compile(rf"\s*((?:\d+\s+)?(?:{_QUOTED})|[^,'\"]*?)\s*(,|$)")  # a sparse row's has its position in front
_SPARSE = re.compile(r"\s*(\d+)\s+(.*)", re.DOTALL)
_NUMERIC = ("numeric", "real", "integer")
_MISSING = "?"


@dataclass(frozen=True)
class _Attribute:
    name: str
    kind: str  # "numeric", "nominal" or "string"
    levels: tuple[str, ...] = ()

    @property
    def zero(self) -> str:
        """The value that a sparse row leaves out."""
        return self.levels[0] if self.levels else "0"


def read_arff(path: str | Path, *, target: Target = None) -> Table:
    """A table from an ARFF file, which may be compressed (gzip, bzip2).

    Nominal and string attributes become text; dates and relations are refused. A value outside the set of its
    nominal attribute is an error.

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
    text = decode(path, read_bytes(path)).replace("\r\n", "\n").split("\n")
    attributes, first = _header(path, text)
    rows, lines = [], []
    for number, line in enumerate(text[first:], start=first + 1):
        line = line.strip()
        if line and not line.startswith("%"):
            rows.append(_row(path, number, line, attributes))
            lines.append(number)
    if not rows:
        raise fault(path, "holds a header but no data.")
    columns = [
        _column(path, attribute, [row[position] for row in rows], lines)
        for position, attribute in enumerate(attributes)
    ]
    return assemble(path, columns, target=target, lines=lines, remarks=[])


def _header(path: Path, text: list[str]) -> tuple[list[_Attribute], int]:
    """The attributes, and how many lines there are up to and with ``@data``."""
    attributes: list[_Attribute] = []
    for number, line in enumerate(text, start=1):
        line = line.strip()
        word = line.split(None, 1)[0].lower() if line else ""
        if not line or line.startswith("%") or word == "@relation":
            continue
        if word == "@data":
            if not attributes:
                raise fault(path, "the data begin but no attribute was declared.", number)
            return attributes, number
        if word != "@attribute":
            raise fault(path, f"{_shown(line)} is neither a comment nor @relation, @attribute or @data.", number)
        attribute = _attribute(path, number, line)
        if any(attribute.name == other.name for other in attributes):
            raise fault(path, f"a second attribute is called {attribute.name!r}.", number)
        attributes.append(attribute)
    raise fault(path, "the file ends without a line @data.", len(text))


def _attribute(path: Path, line: int, text: str) -> _Attribute:
    match = _ATTRIBUTE.fullmatch(text)
    if not match:
        raise fault(path, f"{_shown(text)} does not declare an attribute's name and type.", line)
    name, kind = _unquoted(match[1]), match[2].strip()
    if kind.startswith("{"):
        levels = _LEVELS.fullmatch(kind)
        if not levels:
            raise fault(path, f"the values of attribute {name!r} do not end with a brace.", line)
        return _Attribute(name, "nominal", tuple(map(_unquoted, _values(path, line, levels[1]))))
    word = kind.split(None, 1)[0].lower() if kind else ""
    if word in _NUMERIC:
        return _Attribute(name, "numeric")
    if word == "string":
        return _Attribute(name, "string")
    if word in ("date", "relational"):
        raise fault(path, f"attribute {name!r} is of type {word}, which is not read; turn it into numbers first.", line)
    raise fault(path, f"attribute {name!r} has the unknown type {kind!r}.", line)


def _row(path: Path, line: int, text: str, attributes: list[_Attribute]) -> list[str]:
    """The values of one line, quotes included, one for each attribute."""
    if text.startswith("{"):
        return _sparse_row(path, line, text, attributes)
    values = _values(path, line, text)
    if len(values) != len(attributes):
        raise fault(path, f"{len(values)} values for {len(attributes)} attributes.", line)
    return values


def _sparse_row(path: Path, line: int, text: str, attributes: list[_Attribute]) -> list[str]:
    if not text.endswith("}"):
        raise fault(path, "the sparse row does not end with a brace.", line)
    if any(attribute.kind == "string" for attribute in attributes):
        raise fault(path, "sparse rows with string attributes are not read.", line)
    values = [attribute.zero for attribute in attributes]
    inside = text[1:-1].strip()
    seen = set()
    for pair in _values(path, line, inside) if inside else []:
        match = _SPARSE.fullmatch(pair)
        if not match:
            raise fault(path, f"{_shown(pair)} is not a position and a value.", line)
        position = int(match[1])
        if position >= len(attributes) or position in seen:
            message = (
                "occurs twice" if position in seen else f"is not below {len(attributes)}, the number of attributes"
            )
            raise fault(path, f"position {position} {message}.", line)
        seen.add(position)
        values[position] = match[2].strip()
    return values


def _values(path: Path, line: int, text: str) -> list[str]:
    """What stands between commas, with its quotes."""
    if "'" not in text and '"' not in text:
        return [value.strip() for value in text.split(",")]
    values = []
    position = 0
    while True:
        match = _VALUE.match(text, position)
        if not match:
            raise fault(path, f"quotes do not match in {_shown(text[position:])}.", line)
        values.append(match[1])
        position = match.end()
        if not match[2]:
            return values


def _unquoted(value: str) -> str:
    if value[:1] in ("'", '"') and len(value) > 1:
        return re.sub(r"\\(.)", r"\1", value[1:-1])
    return value


def _column(path: Path, attribute: _Attribute, values: list[str], lines: list[int]) -> Column:
    if attribute.kind == "numeric":
        return Column(attribute.name, _numbers(path, attribute.name, values, lines))
    cells = [None if value == _MISSING else _unquoted(value) for value in values]
    if attribute.kind == "nominal":
        allowed = {None, *attribute.levels}
        for cell, line in zip(cells, lines):
            if cell not in allowed:
                known = ", ".join(attribute.levels[:20])
                raise fault(path, f"{cell!r} is not among the values of attribute {attribute.name!r}: {known}.", line)
    return text_column(attribute.name, cells)


def _numbers(path: Path, name: str, values: list[str], lines: list[int]) -> NDArray[np.float64]:
    numbers = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            if "_" in value:  # Python reads 1_0 as 10
                raise ValueError
            numbers[row] = np.nan if value == _MISSING else float(_unquoted(value))
        except ValueError:
            raise fault(path, f"{value!r} is not a number, as attribute {name!r} is.", lines[row]) from None
    return numbers


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "…")
