"""Registered sets by name: scikit-learn's own, then the data folder, then a download."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .libsvm import read_libsvm
from .registry import DataSet, info
from .sources import NotThereError, downloaded, file_in_folder
from .table import Table


def load(name: str) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """X and y of a registered set, by its name or an alias.

    y holds the labels of the file as integers for classification, doubles for regression. Where the set comes from
    is described at :func:`fetch`.

    Parameters
    ----------
    name : str
        Name or alias of a registered set.

    Returns
    -------
    X : array (n, d)
        Features as doubles.
    y : array (n,)
        Labels as integers, or targets as doubles.

    Examples
    --------
    >>> from onefit import datasets
    >>> X, y = datasets.load("wdbc")
    >>> X.shape, sorted(set(y.tolist()))
    ((569, 30), [-1, 1])
    """
    table = fetch(name)
    assert table.y is not None
    return table.X, table.y


def fetch(name: str) -> Table:
    """The table of a registered set, with remarks on what to know before using it.

    Three sources, in this order:

    1. scikit-learn, for the sets that it ships;
    2. the folder named by the environment variable ``ONEFIT_DATA`` (default: ``../shared/data`` beside the current
       directory or the source tree, where it exists), as ``libsvm/<file>`` or ``<file>``;
    3. a download through pooch into its cache folder (or ``ONEFIT_CACHE``), where an address is known.

    Files are compared with the registered sha256. A file of the data folder that differs is an error, not a reason
    to go on to the next source.

    Parameters
    ----------
    name : str
        Name or alias of a registered set.

    Returns
    -------
    Table

    Examples
    --------
    >>> from onefit import datasets
    >>> table = datasets.fetch("iris")
    >>> table.X.shape, table.target_names
    ((150, 4), ('0', '1', '2'))
    """
    entry = info(name)
    table = _bundled(entry) if entry.bundled else _from_file(locate(entry), entry)
    return _checked(table, entry)


def locate(entry: DataSet) -> Path:
    """The file of a set, downloaded if need be; a FileNotFoundError names all places that do not have it."""
    reasons = [f"scikit-learn does not ship {entry.name}"]
    for source, find in (("data folder", file_in_folder), ("download", downloaded)):
        try:
            return find(entry)
        except NotThereError as reason:
            reasons.append(f"{source}: {reason}")
    listed = "".join(f"\n  {number}. {reason}" for number, reason in enumerate(reasons, start=1))
    remark = f"\n{entry.remark}" if not entry.url else ""
    raise FileNotFoundError(f"the data set {entry.name} was found nowhere:{listed}{remark}")


def _from_file(path: Path, entry: DataSet) -> Table:
    return read_libsvm(path, n_features=entry.features, zero_based=False)


def _bundled(entry: DataSet) -> Table:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{entry.bundled}")()
    y = bunch.target
    if entry.name == "wdbc":  # scikit-learn codes malignant 0 and benign 1
        y = np.where(y == 0, 1, -1)
    return Table(np.asarray(bunch.data, float), y, tuple(map(str, bunch.feature_names)))


def _checked(table: Table, entry: DataSet) -> Table:
    """The table with its labels as integers, once size and classes are as registered."""
    y = np.asarray(table.y)
    if table.X.shape != (entry.rows, entry.features):
        raise ValueError(f"{entry.name} has the shape {table.X.shape}, not {(entry.rows, entry.features)}.")
    remarks = (entry.remark, *table.remarks)
    if entry.task == "regression":
        return Table(table.X, y.astype(float), table.feature_names, None, remarks)
    y = y.astype(int)
    labels, counts = np.unique(y, return_counts=True)
    classes = tuple(zip(labels.tolist(), counts.tolist()))
    if classes != entry.classes:
        raise ValueError(f"{entry.name} has the classes {classes} (label, rows), not {entry.classes}.")
    return Table(table.X, y, table.feature_names, tuple(map(str, labels.tolist())), remarks)
