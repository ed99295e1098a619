"""A file's rows and columns, as every reader returns them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)  # arrays have no single truth value to compare by
class Table:
    """Rows and columns of a file, with its target set apart.

    Attributes
    ----------
    X : array (n, d)
        Doubles with NaN for missing values when every column is numeric; otherwise an object array with floats
        (NaN if missing) in numeric columns and str (None if missing) in the columns of ``categorical``.
    y : array (n,) or None
        Doubles, integers for the class labels of a registered set, or str; None without a target.
    feature_names : tuple of d str
    target_names : tuple of str or None
        The classes that occur, in sorted order; None for a target of numbers.
    remarks : tuple of str
        What a reader of the data should know, one sentence each.
    categorical : tuple of int
        The columns of X that hold text.
    target_name : str or None
        The name of the target's column; None where it has none, as in LIBSVM text.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table(np.eye(2), np.array([1.0, 2.0]), ("a", "b"))
    >>> table.X.shape, table.target_names, table.remarks
    ((2, 2), None, ())
    """

    X: NDArray[Any]
    y: NDArray[Any] | None
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...] | None = None
    remarks: tuple[str, ...] = ()
    categorical: tuple[int, ...] = ()
    target_name: str | None = None
