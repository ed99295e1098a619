"""Roles of columns: numbers, dates, few or many labels, written text, or only names of the rows."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any

import numpy as np

MANY_LABELS = 40
"""Different labels above which the rare ones share an input."""

WORDS_OF_TEXT = 3
"""Words that a column of written text has in the median."""

FEWEST_ROWS = 20
"""Rows below which different values do not show that a column names the rows."""

NEARLY_ALL = 0.95
"""Share of different labels among the rows from which they name the rows."""

SURELY_COUNTED = 200
"""Rows from which consecutive numbers name the rows, whatever the column is called and wherever they begin."""

_NAME_OF_ROWS = re.compile(
    r"(.*[^a-z])?(id|ids|uuid|guid|index|idx|key|nr|no|row|rownum|number|unnamed: \d+)", re.IGNORECASE
)
_CAMEL_CASE = re.compile(r".*[a-z](Id|ID|Nr|No|Key)")


class Role(StrEnum):
    """How a column becomes inputs of a kernel machine."""

    NUMBER = "number"
    DATE = "date"
    LABEL = "label"
    MANY_LABELS = "many labels"
    TEXT = "text"


def role_of(values: Any, nominal: bool) -> Role:
    """The role of a column by its values; ``nominal`` if they are text, with None where missing."""
    from ..estimators.date_encoder import are_dates

    if not nominal:
        return Role.NUMBER
    if are_dates(values):
        return Role.DATE
    present = [value for value in values if value is not None]
    if len(set(present)) <= MANY_LABELS:
        return Role.LABEL
    return Role.TEXT if _words(present) >= WORDS_OF_TEXT else Role.MANY_LABELS


def why_it_names_rows(name: str, values: Any, nominal: bool) -> str:
    """The reason to leave out a column that only names the rows; "" for all others.

    Text does if nearly all rows have labels of their own. Numbers do if they are consecutive, in any order, and begin
    with 0 or 1, or are many, or the column is called like an index; also if they are different whole numbers in a
    column that is called like one.
    """
    n = len(values)
    if n < FEWEST_ROWS:
        return ""
    if nominal:
        if role_of(values, True) is Role.MANY_LABELS and len(set(values)) >= NEARLY_ALL * n:
            return "nearly every row has a text of its own"
        return ""
    numbers = np.asarray(values, dtype=float)
    if not np.isfinite(numbers).all() or (numbers != np.round(numbers)).any() or len(np.unique(numbers)) < n:
        return ""
    called_so = bool(_NAME_OF_ROWS.fullmatch(name.strip()) or _CAMEL_CASE.fullmatch(name.strip()))
    if numbers.max() - numbers.min() == n - 1:
        return "it counts the rows" if called_so or numbers.min() in (0, 1) or n >= SURELY_COUNTED else ""
    return "every row has a number of its own" if called_so else ""


def _words(texts: list[str]) -> float:
    return float(np.median([len(text.split()) for text in texts]))
