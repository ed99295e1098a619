"""The benchmark sets that are known by name: what they are, and where they may come from.

The facts are in ``registry.csv`` beside this file: one row per set.
"""

from __future__ import annotations

import csv
import difflib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class DataSet:
    """One registered set.

    Attributes
    ----------
    name : str
    aliases : tuple of str
        Other names, among them those of the papers.
    task : str
        "classification" or "regression".
    rows, features : int
        The size, with the features that no row of this part has a value for.
    classes : tuple of (label, rows) pairs
        Empty for regression.
    bundled : str
        X, if scikit-learn ships the same set as ``load_X``; otherwise empty.
    file, sha256 : str
        The file's name in the data folder and the checksum of its bytes; empty for sets that only scikit-learn has.
    url : str
        Where it may be downloaded from; empty where no file with these contents is known.
    encoding : str
        How the text of the registered checksum is made of what is there, if that is in another form: the target, labels
        of its values, features in their order, and rows (``onefit.datasets.encoding.encode``).
    remark : str
        Binarisation, quirks, and why there is no download.

    Examples
    --------
    >>> from onefit import datasets
    >>> iris = datasets.info("iris")
    >>> iris.task, iris.rows, iris.features
    ('classification', 150, 4)
    """

    name: str
    aliases: tuple[str, ...]
    task: str
    rows: int
    features: int
    classes: tuple[tuple[int, int], ...]
    bundled: str
    file: str
    sha256: str
    url: str
    encoding: str
    remark: str


def names() -> tuple[str, ...]:
    """The names of all registered sets, in alphabetical order.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> "heart" in names() and "space_ga" in names()
    True
    """
    return tuple(_entries())


def info(name: str) -> DataSet:
    """The entry of a set, by its name or an alias; case, ``-`` and ``_`` make no difference.

    Parameters
    ----------
    name : str
        Name or alias.

    Returns
    -------
    DataSet

    Examples
    --------
    >>> info("Space-GA").name, info("german").rows, info("wdbc").bundled
    ('space_ga', 1000, 'breast_cancer')
    """
    known = _by_any_name()
    key = _normal(name)
    if key not in known:
        close = difflib.get_close_matches(key, known, n=3)
        hint = f" Did you mean {' or '.join(dict.fromkeys(known[match].name for match in close))}?" if close else ""
        raise ValueError(f"no data set is called {name!r}.{hint} onefit.datasets.names() lists all {len(names())}.")
    return known[key]


def _normal(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(" ", "-")


@cache
def _entries() -> dict[str, DataSet]:
    text = resources.files(__package__).joinpath("registry.csv").read_text(encoding="utf-8")
    return {row["name"]: _entry(row) for row in csv.DictReader(text.splitlines())}


def _entry(row: dict[str, str]) -> DataSet:
    counts = [pair.split(":") for pair in row["classes"].split(";") if pair]
    numbers: dict[str, Any] = {name: int(row[name]) for name in ("rows", "features")}
    aliases = tuple(alias for alias in row["aliases"].split(";") if alias)
    classes = tuple((int(label), int(rows)) for label, rows in counts)
    return DataSet(**{**row, **numbers, "aliases": aliases, "classes": classes})


@cache
def _by_any_name() -> dict[str, DataSet]:
    return {_normal(name): entry for entry in _entries().values() for name in (entry.name, *entry.aliases)}
