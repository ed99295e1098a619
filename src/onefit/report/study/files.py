"""Write everything about a study into a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from ...studies.outcome import Outcome
from .csv_files import numbers_csv, ratios_csv, spent_csv
from .figures import pictures
from .pages import html_page, latex_table, markdown_page
from .view import is_timing, view


def write_study(outcome: Outcome, folder: str | PathLike[str], *, manifest: Mapping[str, Any]) -> list[Path]:
    """Write a study's tables, pages, figures and manifest; returns the files in the order of their names.

    ``<key>.csv`` has our numbers and the printed ones, ``.md``, ``.html`` and ``.tex`` show them, ``.svg`` are
    figures. Whatever has times in it, and so differs from run to run, has "seconds" in its name: of a study of
    seconds everything but the manifest.
    """
    shown = view(outcome)
    drawn = pictures(shown)
    key, base = shown.study.key, shown.study.key.replace(":", "-")
    contents = {
        f"{shown.stem}.csv": numbers_csv(key, shown.cells),
        f"{shown.stem}.md": markdown_page(shown, drawn),
        f"{shown.stem}.html": html_page(shown, drawn),
        f"{shown.stem}.tex": latex_table(shown),
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
