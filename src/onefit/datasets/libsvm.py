"""Reader of LIBSVM (SVMlight) text: ``label index:value index:value …``, zeros left out."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .files import TooManyRowsError, check_dense, existing_file, fault, open_bytes
from .table import Table
from .visible import quoted

_LARGEST_INDEX = 2**31 - 2
_LONG_INDEX = 1000  # digits, zeros in front included; Python refuses to convert more than 4,300


def read_libsvm(
    path: str | Path, *, n_features: int | None = None, zero_based: bool | None = None, max_rows: int | None = None
) -> Table:
    """A table from LIBSVM text, which may be compressed (gzip, bzip2).

    Indices start at 1; a file that uses index 0 is taken to start at 0, which a remark says, unless
    ``zero_based`` settles it. ``n_features`` adds the features that have no value in this part of the data.
    Reading ends with an error after ``max_rows`` rows.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "two.libsvm")
    >>> _ = path.write_text("+1 1:0.5 3:2\\n-1 2:1\\n")
    >>> table = read_libsvm(path, n_features=4)
    >>> table.X
    array([[0.5, 0. , 2. , 0. ],
           [0. , 1. , 0. , 0. ]])
    >>> table.y
    array([ 1., -1.])
    """
    path = existing_file(path)
    contents = _contents(path, max_rows)
    remarks = []
    if b"qid:" in contents:
        remarks.append("query ids (qid) were left out")
    try:
        sparse, y = _read_fast(contents)
    except (ValueError, OverflowError):
        sparse, y = _read_line_by_line(path, contents)
        remarks.append("the indices of some rows are not in increasing order")
    if len(y) == 0:
        raise fault(path, "holds no data line.")
    if not np.isfinite(y).all():
        _refuse_labels(path, contents)
    if zero_based is None:
        zero_based = bool((sparse.indices == 0).any())
        if zero_based:
            remarks.append("indices start at 0 in this file")
    X = _dense(path, sparse, first=0 if zero_based else 1, n_features=n_features)
    missing = int(np.isnan(X).sum())
    if missing:
        remarks.append(f"{missing} missing values (nan)")
    return Table(X, y, tuple(f"x{i}" for i in range(1, X.shape[1] + 1)), remarks=tuple(remarks))


def _contents(path: Path, max_rows: int | None) -> bytes:
    """All lines, unless more of them than ``max_rows`` hold data."""
    with open_bytes(path) as stream:
        if max_rows is None:
            return stream.read()
        lines, rows = [], 0
        for line in stream:
            rows += bool(line.split(b"#", 1)[0].strip())
            if rows > max_rows:
                raise TooManyRowsError(path, max_rows)
            lines.append(line)
    return b"".join(lines)


def _read_fast(contents: bytes) -> tuple[csr_array, NDArray[np.float64]]:
    from sklearn.datasets import load_svmlight_file

    if b"_" in contents:
        raise ValueError("Python reads 1_0 as 10, LIBSVM does not.")
    sparse, y = load_svmlight_file(BytesIO(contents), dtype=np.float64, zero_based=True)
    return csr_array(sparse), y


def _dense(path: Path, sparse: csr_array, *, first: int, n_features: int | None) -> NDArray[np.float64]:
    """The array that begins with column ``first`` and has ``n_features`` columns."""
    if first and (sparse.indices == 0).any():
        raise fault(path, "holds index 0, where indices must start at 1.")
    present = max(sparse.shape[1] - first, 0)
    columns = present if n_features is None else n_features
    if columns < present:
        raise fault(path, f"holds {present} features, more than n_features={n_features}.")
    if columns == 0:
        raise fault(path, "holds labels but no feature.")
    rows = sparse.shape[0]
    check_dense(path, rows, columns)
    return csr_array((sparse.data, sparse.indices - first, sparse.indptr), shape=(rows, columns)).toarray()


def _read_line_by_line(path: Path, contents: bytes) -> tuple[csr_array, NDArray[np.float64]]:
    """As the fast reader, for rows in any order of indices, and with an error that names the line."""
    labels, indices, values, ends = [], [], [], [0]
    for number, line in enumerate(contents.split(b"\n"), start=1):
        words = line.split(b"#", 1)[0].decode("utf-8", "replace").split()
        if not words:
            continue
        labels.append(_label(path, number, words[0]))
        row = _pairs(path, number, [word for word in words[1:] if not word.startswith("qid:")])
        indices += sorted(row)
        values += [row[index] for index in sorted(row)]
        ends.append(len(indices))
    shape = (len(labels), max(indices, default=-1) + 1)
    return csr_array((np.array(values, float), np.array(indices, np.int64), ends), shape=shape), np.array(labels, float)


def _label(path: Path, line: int, word: str) -> float:
    if ":" in word:
        raise fault(path, f"the line begins with {quoted(word)}: its label is missing.", line)
    if "," in word and all(_number(part) is not None for part in word.split(",")):
        raise fault(path, f"{quoted(word)} are several labels; rows with one label are read here.", line)
    label = _number(word)
    if label is None:
        raise fault(path, f"the label {quoted(word)} is not a number.", line)
    return label


def _pairs(path: Path, line: int, words: list[str]) -> dict[int, float]:
    row: dict[int, float] = {}
    for word in words:
        index, colon, value = word.partition(":")
        if not colon:
            raise fault(path, f"{quoted(word)} is not of the form index:value.", line)
        if not (index.isascii() and index.isdigit()):
            raise fault(path, f"the index of {quoted(word)} is not a whole number from 0 on.", line)
        if len(index) > _LONG_INDEX or int(index) > _LARGEST_INDEX:
            raise fault(path, f"the index of {quoted(word)} is too large.", line)
        if int(index) in row:
            raise fault(path, f"index {index} occurs twice.", line)
        number = _number(value)
        if number is None:
            raise fault(path, f"the value of {quoted(word)} is not a number.", line)
        row[int(index)] = number
    return row


def _number(word: str) -> float | None:
    try:
        return None if "_" in word else float(word)
    except ValueError:
        return None


def _refuse_labels(path: Path, contents: bytes) -> None:
    """An error that names the first line whose label is not a finite number."""
    for number, line in enumerate(contents.split(b"\n"), start=1):
        words = line.split(b"#", 1)[0].split()
        if words and not np.isfinite(float(words[0])):
            raise fault(path, f"the label {quoted(words[0].decode())} is not a finite number.", number)
