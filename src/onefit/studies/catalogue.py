"""All studies by key."""

from __future__ import annotations

import difflib

from . import bif, ks, sm, sps
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
