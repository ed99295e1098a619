"""Write everything about a study into a folder: pages, figures, and tables for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from ...studies.comparisons import CellSummary, Ratio
from ...studies.outcome import Outcome
from .figures import pictures
from .latex import latex_grid
from .numbers import exact
from .pages import render
from .view import is_timing, view

COLUMNS = (
    "study", "dataset", "setting", "method", "splits", "mean", "std",
    "printed_mean", "printed_std", "difference_in_standard_errors", "mark",
)  # fmt: skip
SPENT_COLUMNS = ("study", "dataset", "splits", "mean_seconds", "total_seconds")
RATIO_COLUMNS = ("study", "dataset", "setting", "slow", "fast", "splits", "ratio", "printed_ratio")


def numbers_csv(key: str, cells: Iterable[CellSummary]) -> str:
    """Our mean and standard deviation and the printed ones, a row for each cell."""
    return _table(COLUMNS, ([key, *_cell_row(cell)] for cell in cells))


def _cell_row(cell: CellSummary) -> list[Any]:
    printed = cell.printed
    ours = [exact(cell.mean), exact(cell.std)]
    paper = [exact(printed.mean), exact(printed.std)] if printed else ["", ""]
    return [cell.dataset, cell.setting, cell.method, cell.splits, *ours, *paper, exact(cell.difference), cell.mark]


def spent_csv(outcome: Outcome) -> str:
    """The CPU seconds that were spent on each data set, all methods together."""
    rows = []
    for dataset in outcome.datasets:
        seconds = outcome.seconds_of_splits(dataset)
        if seconds:
            mean, total = sum(seconds) / len(seconds), sum(seconds)
            rows.append([outcome.study.key, dataset, len(seconds), exact(mean), exact(total)])
    return _table(SPENT_COLUMNS, rows)


def ratios_csv(key: str, ratios: Iterable[Ratio]) -> str:
    """How many times slower retraining is, and what the paper's seconds say."""
    return _table(
        RATIO_COLUMNS,
        ([key, r.dataset, r.setting, r.slow, r.fast, r.splits, exact(r.ours), exact(r.printed)] for r in ratios),
    )


def _table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def write_study(outcome: Outcome, folder: str | PathLike[str], *, manifest: Mapping[str, Any]) -> list[Path]:
    """Write a study's tables, pages, figures and manifest; returns the files in the order of their names.

    ``<key>.csv`` has our numbers and the printed ones, ``.md``, ``.html`` and ``.tex`` show them, ``.svg`` are
    figures; HTML loads nothing, LaTeX needs the packages booktabs and longtable. Whatever has times in it, and so
    differs from run to run, has "seconds" in its name: of a study of seconds everything but the manifest.
    """
    shown = view(outcome)
    drawn = pictures(shown)
    key, base = shown.study.key, shown.study.key.replace(":", "-")
    contents = {
        f"{shown.stem}.csv": numbers_csv(key, shown.cells),
        f"{shown.stem}.md": render("study.md.j2", shown=shown, drawn=drawn),
        f"{shown.stem}.html": render("study.html.j2", shown=shown, drawn=drawn),
        f"{shown.stem}.tex": render("study.tex.j2", shown=shown, grids=[latex_grid(grid) for grid in shown.grids]),
        f"{base}-manifest.json": json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False) + "\n",
        **{f"{shown.stem}{picture.suffix}.svg": picture.svg for picture in drawn},
    }
    if is_timing(shown.study):
        contents[f"{shown.stem}-ratios.csv"] = ratios_csv(key, shown.ratios)
        contents[f"{shown.stem}-spent.csv"] = spent_csv(outcome)
    else:
        contents[f"{base}-seconds.csv"] = spent_csv(outcome)
    return write_files(Path(folder), contents)


def write_files(folder: Path, contents: Mapping[str, str]) -> list[Path]:
    """Write texts as UTF-8 with the same line ends on every system; an error names the file."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in sorted(contents.items()):
        path = folder / name
        try:
            path.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:  # a full disk is reported without a name
            raise ValueError(f"{path} cannot be written ({error.strerror}).") from error
        written.append(path)
    return written
