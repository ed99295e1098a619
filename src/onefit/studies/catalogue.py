"""All studies by key, and the numbers that the papers print."""

from __future__ import annotations

import csv
import difflib
from importlib.resources import files

from . import bif, ks, sm, sps
from .outcome import Cell, Printed
from .spec import Study

STUDIES: dict[str, Study] = {study.key: study for paper in (bif, ks, sps, sm) for study in paper.STUDIES}
"""Every table and figure."""

VARIANTS: dict[str, Study] = {study.key: study for paper in (bif, ks, sps, sm) for study in paper.VARIANTS}
"""Tables with another answer to an open question: hypotheses for numbers that differ from print."""


def study_of(key: str) -> Study:
    """A study by its key, such as "bif:1"; a ValueError with the nearest keys if there is none."""
    known = {**STUDIES, **VARIANTS}
    if key not in known:
        near = difflib.get_close_matches(key, known, n=3, cutoff=0.3)
        hint = f"; did you mean {', '.join(near)}?" if near else "."
        raise ValueError(f"There is no study {key!r}{hint} `onefit reproduce --list` has all.")
    return known[key]


def printed_numbers(study: Study) -> dict[Cell, Printed]:
    """Numbers that the paper prints, by (data set, setting, method); empty for figures without numbers."""
    if study.printed is None:
        return {}
    text = files(__package__).joinpath("printed", study.printed).read_text(encoding="utf-8")
    return {
        (row["dataset"], row["setting"], row["method"]): Printed(
            float(row["mean"]), float(row["std"]) if row["std"] else None
        )
        for row in csv.DictReader(text.splitlines())
    }
