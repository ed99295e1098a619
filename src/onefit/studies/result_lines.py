"""Files of results that grow while a study runs: CSV, one line for every method in a cell."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

Cell = tuple[Any, ...]
"""Values of the first columns of a file, which identify a cell."""


def run(
    path: Path,
    fields: Sequence[str],
    cells: Iterable[tuple[Cell, Sequence[str]]],
    measure: Callable[[Cell, list[str]], list[dict[str, Any]]],
) -> None:
    """Measure what a file lacks, cell by cell, and append it.

    ``cells`` are (values of the columns before "method", methods), in the order in which they are measured. Lines of
    a cell are written at once, so that a run that is killed leaves whole cells.
    """
    keys = fields[: fields.index("method") + 1]
    known = {tuple(line[key] for key in keys) for line in read(path)}
    if not path.exists() or path.stat().st_size == 0:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(",".join(fields) + "\n", encoding="utf-8")
    with path.open("a", newline="", encoding="utf-8") as file:
        for cell, methods in cells:
            begun = tuple(map(str, cell))
            missing = [method for method in methods if (*begun, method) not in known]
            if missing:
                text = io.StringIO()
                csv.DictWriter(text, fields, lineterminator="\n").writerows(measure(cell, missing))
                file.write(text.getvalue())
                file.flush()


def read(path: Path) -> list[dict[str, str]]:
    """The lines of a file of results, none if it is not there."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
