"""One call for every format: by the file's name, then by its contents."""

from __future__ import annotations

import re
from pathlib import Path

from .arff import read_arff
from .columns import Target, check_target
from .delimited import read_delimited
from .files import PARQUET, existing_file, fault, head
from .libsvm import read_libsvm
from .parquet import read_parquet
from .table import Table
from .visible import quoted

_BY_SUFFIX = {
    ".csv": "CSV",
    ".tsv": "CSV",
    ".tab": "CSV",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arff": "ARFF",
    ".libsvm": "LIBSVM",
    ".svm": "LIBSVM",
    ".svmlight": "LIBSVM",
}
_COMPRESSED = (".gz", ".bz2")
_LOOKED_AT = 1 << 16  # bytes
_LIBSVM_LINE = re.compile(r"[^\s:]+(\s+qid:\S+)?(\s+\d+:[^\s,;]+)+\s*(#.*)?")


def read(
    path: str | Path,
    *,
    target: Target = None,
    n_features: int | None = None,
    max_rows: int | None = None,
    encoding: str | None = None,
) -> Table:
    """A table from a LIBSVM, CSV, TSV, ARFF or Parquet file.

    The suffix says the format (``.libsvm``, ``.svm``, ``.csv``, ``.tsv``, ``.arff``, ``.parquet`` …, for text also
    with ``.gz`` or ``.bz2`` behind it); without a known one the contents do. Compressed contents of more than 16 MiB
    that are over 200 times as large as the file are refused, and so are sparse ones that do not fit in memory as a
    dense array.

    Parameters
    ----------
    path : str or Path
    target : str, int, None or False, default=None
        The column to predict: its name or position. None is the last column, and the label of LIBSVM text; with False
        no column is the target and y is None.
    n_features : int or None, default=None
        For LIBSVM text, whose rows leave out zeros: the number of features, where these rows do not show all.
    max_rows : int or None, default=None
        An error as soon as the file shows more rows than these; None: no limit.
    encoding : str or None, default=None
        Of CSV and ARFF text: a name that Python knows, such as "cp1251"; None: UTF-8, or UTF-16 with its mark.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        With the file and the line, for contents that are not what they should be.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from onefit import datasets
    >>> path = pathlib.Path(tempfile.mkdtemp(), "wine.tsv")
    >>> _ = path.write_text("grape\\tacid\\tsugar\\nriesling\\t7.1\\t3\\nmerlot\\t5.4\\t2\\n")
    >>> table = datasets.read(path, target="grape")
    >>> table.feature_names, table.target_names
    (('acid', 'sugar'), ('merlot', 'riesling'))
    """
    path = existing_file(path)
    check_target(path, target)
    form = format_of(path)
    if encoding is not None and form not in ("CSV", "ARFF"):
        raise fault(path, f"encoding={quoted(encoding)} is for CSV and ARFF text; this is {form}.")
    if form == "LIBSVM":
        if target is not None and target is not False:
            raise fault(path, f"target={quoted(target)} names a column, but the target of LIBSVM text is its label.")
        table = read_libsvm(path, n_features=n_features, max_rows=max_rows)
        return Table(table.X, None, table.feature_names, None, table.remarks) if target is False else table
    if n_features is not None:
        raise fault(path, f"n_features is for LIBSVM text, which leaves out zeros; this is {form}.")
    if form == "Parquet":
        return read_parquet(path, target=target, max_rows=max_rows)
    reader = read_arff if form == "ARFF" else read_delimited
    return reader(path, target=target, max_rows=max_rows, encoding=encoding)


def format_of(path: Path) -> str:
    """The format that the suffix names, if the contents do not plainly contradict; otherwise that of the contents."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in _COMPRESSED]
    named = _BY_SUFFIX.get(suffixes[-1]) if suffixes else None
    found = _format_of_contents(path)
    if named and found and named != found:
        raise fault(path, f"is called {suffixes[-1]} but holds {found} data; rename it.")
    return named or found or "CSV"


def _format_of_contents(path: Path) -> str | None:
    """Parquet, ARFF or LIBSVM if the contents show it."""
    start = head(path, _LOOKED_AT)
    if start.startswith(PARQUET):
        return "Parquet"
    for line in start.decode("utf-8-sig", "replace").splitlines():
        line = line.strip()
        if line.lower().startswith("@relation"):
            return "ARFF"
        if not line or line[0] in "#%" or len(line.split()) == 1:  # a LIBSVM row may be all zeros: only its label
            continue
        return "LIBSVM" if _LIBSVM_LINE.fullmatch(line) else None
    return None
