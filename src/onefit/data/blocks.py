"""Rows that are read a block at a time, as often as they are wanted: files, memory maps, whatever can be sliced."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .folds import take_rows

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

GATHERED = 1 << 16
"""Rows that are read at a time to pick some of them."""


class UnreadableRowsError(ValueError):
    """Rows that are read a block at a time have missing values, or have changed: no candidate can be evaluated."""


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows of a cluster: their numbers, and what stands for them in a dask graph."""

    numbers: slice
    rows: Any


class RowScan(ABC):
    """Rows (n, d) that are not in memory: slices and row numbers give float64 arrays.

    Rows with other columns than numbers, which transformers have to turn into numbers, are ``framed``: pandas frames.
    Reading twice gives the same rows: what may change in between is noticed by ``check_unchanged``.
    """

    ndim = 2
    framed = False

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""

    @property
    def chunks(self) -> list[Chunk]:
        """Chunks that are computed where they are; none for rows that are read here."""
        return []

    @abstractmethod
    def read(self, start: int, stop: int) -> Any:
        """Consecutive rows as an array of numbers, or a frame if they are ``framed``."""

    def as_frames(self) -> RowScan:
        """The rows as frames, for transformers that name columns."""
        raise ValueError("A ColumnTransformer names columns, but those of X have no names: give their positions.")

    @property
    @abstractmethod
    def identity(self) -> Any:
        """A value that tells these rows from others, also in the next process."""

    @abstractmethod
    def check_unchanged(self) -> None:
        """Raise a ValueError if the rows are no longer those that were there at first."""

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(
            f"{self!r} is read a block at a time and does not become one array. KernelSearchCV takes it with an "
            "approximation; X[:] reads all of it."
        )

    def __getitem__(self, rows: Any) -> Any:
        n = self.shape[0]
        if isinstance(rows, slice):
            start, stop, step = rows.indices(n)
            if step != 1:
                raise ValueError("Rows are read one after another: slices have no step.")
            found = self.read(start, max(start, stop))
            return found if self.framed else np.asarray(found, dtype=np.float64)
        rows = np.asarray(rows)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        return self._gather(rows % n)

    def _gather(self, rows: Rows) -> Any:
        """Some rows, in any order, from one walk through the blocks that have them."""
        order = np.argsort(rows, kind="stable")
        ordered, parts = rows[order], []
        for start in range(0, self.shape[0], GATHERED):
            first, last = np.searchsorted(ordered, [start, start + GATHERED])
            if first < last:
                low, high = int(ordered[first]), int(ordered[last - 1]) + 1
                parts.append(take_rows(self[low:high], ordered[first:last] - low))
        return take_rows(stack_blocks(parts or [self[:0]]), np.argsort(order))


@dataclass(frozen=True)
class FileStamp:
    """Marks that tell a file from a later state of it: size, time of the last change, and a digest of both ends."""

    path: str
    size: int
    changed: int
    ends: str

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> FileStamp:
        """The stamp of a file as it is now."""
        import hashlib

        facts = os.stat(path)
        with Path(path).open("rb") as file:
            digest = hashlib.sha256(file.read(1 << 16))
            file.seek(max(0, facts.st_size - (1 << 16)))
            digest.update(file.read(1 << 16))
        return cls(str(path), facts.st_size, facts.st_mtime_ns, digest.hexdigest())

    def check(self) -> None:
        """Raise a ValueError if the file has changed since."""
        try:
            now = FileStamp.of(self.path)
        except FileNotFoundError:
            raise UnreadableRowsError(
                f"{self.path} is not there any more: it was removed while it was being read."
            ) from None
        if (now.size, now.changed, now.ends) != (self.size, self.changed, self.ends):
            raise UnreadableRowsError(
                f"{self.path} has changed while it was being read: start again with what it holds now."
            )


@dataclass(frozen=True, eq=False)
class SlicedRows(RowScan):
    """Rows of anything with a shape that can be sliced: a memory map, an HDF5 or zarr array.

    ``dropped`` is a column that is left out, such as the target; ``stamps`` are the files behind it.
    """

    source: Any = field(repr=False)
    dropped: int | None = None
    stamps: tuple[FileStamp, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.source.shape
        return int(n), int(d) - (self.dropped is not None)

    def read(self, start: int, stop: int) -> Any:
        rows = np.asarray(self.source[start:stop])
        return rows if self.dropped is None else np.delete(rows, self.dropped, axis=1)

    @property
    def identity(self) -> Any:
        return (self.stamps or self._digests()), self.dropped

    def _digests(self) -> list[str]:
        """A digest of the rows of each block, where no file is known that would tell them from others."""
        import hashlib

        parts = (np.asarray(self.source[first : first + GATHERED]) for first in range(0, len(self), GATHERED))
        return [hashlib.sha256(f"{part.dtype.str}{part.shape}".encode() + part.tobytes()).hexdigest() for part in parts]

    def check_unchanged(self) -> None:
        for stamp in self.stamps:
            stamp.check()


@dataclass(frozen=True, eq=False)
class TransformedRows(RowScan):
    """Rows of a scan after fitted transformers, a block at a time."""

    source: RowScan
    transformers: Any
    columns: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.source.shape[0], self.columns

    def read(self, start: int, stop: int) -> Any:
        return _transformed(self.transformers, self.source[start:stop])

    @property
    def chunks(self) -> list[Chunk]:
        if not self.source.chunks:
            return []
        from dask import delayed

        model = delayed(self.transformers, pure=True)
        return [Chunk(part.numbers, delayed(_transformed)(model, part.rows)) for part in self.source.chunks]

    @property
    def identity(self) -> Any:
        return self.source.identity, self.transformers

    def check_unchanged(self) -> None:
        self.source.check_unchanged()


def readable_rows(X: Any, y: Any, *, approximated: bool) -> tuple[Any, Any]:
    """X and y as a search can go through them; an error for what it cannot, or only without an approximation."""
    for name, values, parts in (("X", X, "rows"), ("y", y, "values")):
        if isinstance(values, Iterator):
            raise ValueError(
                f"{name} is a {type(values).__name__}, which gives its {parts} only once: pass an array, a memory map, "
                "or what onefit.datasets.scan returns."
            )
    if approximated:
        return as_scan(X), _gathered(y) if hasattr(y, "compute") else y
    if isinstance(X, RowScan):
        raise ValueError(
            f"X has {X.shape[0]:,} rows that are read a block at a time, and a Gram matrix needs all at once: pass "
            "approximation=Landmarks(...), or X[:] if the rows fit into memory."
        )
    return X, y


def as_scan(X: Any) -> Any:
    """X, as a scan if it is a memory map or an array of another library that would have to be read at once."""
    if type(X).__module__.partition(".")[0] in ("dask", "dask_expr"):
        from .dask_rows import DaskRows

        return DaskRows.of(X)
    if isinstance(X, RowScan) or sparse.issparse(X) or hasattr(X, "iloc"):
        return X
    if isinstance(X, np.memmap) and X.ndim == 2:
        stamps = () if X.filename is None else (FileStamp.of(X.filename),)
        return SlicedRows(X, stamps=stamps)
    if not isinstance(X, np.ndarray) and hasattr(X, "chunks") and len(getattr(X, "shape", ())) == 2:  # HDF5, zarr
        return SlicedRows(X)
    return X


def _gathered(y: Any) -> Array:
    """The targets of a dask collection in memory."""
    from .dask_rows import until_done

    return np.asarray(until_done(y.compute))


def _transformed(model: Any, rows: Any) -> Array:
    """Rows, which may be frames, as numbers."""
    found = model.transform(rows if hasattr(rows, "iloc") else np.asarray(rows, dtype=np.float64))
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found, dtype=np.float64)


def stack_blocks(parts: Sequence[Any]) -> Any:
    """Blocks of rows, arrays or frames, one below the other."""
    if len(parts) == 1:
        return parts[0]
    if not hasattr(parts[0], "iloc"):
        return np.vstack(parts)
    import pandas as pd

    return pd.concat(parts, ignore_index=True)


def scanned_variance(X: RowScan, wanted: NDArray[np.bool_] | None = None) -> float:
    """The variance of all entries of some rows, from one pass."""
    count, mean, squares = 0, 0.0, 0.0
    for rows, block in blocks(X):
        part = block if wanted is None else block[wanted[rows]]
        if part.size:
            total, shift = count + part.size, float(part.mean()) - mean
            squares += float(part.var()) * part.size + shift**2 * count * part.size / total
            count, mean = total, mean + shift * part.size / total
    return squares / max(count, 1)


def blocks(X: RowScan) -> Iterator[tuple[slice, Any]]:
    """(which rows, these rows) from the first to the last; an error that names a row with missing values.

    What is missing in frames is the business of the transformers that turn them into numbers.
    """
    for start in range(0, X.shape[0], GATHERED):
        rows = slice(start, min(start + GATHERED, X.shape[0]))
        block = X[rows]
        if not X.framed:
            check_no_missing(block, np.arange(rows.start, rows.stop))
        yield rows, block


def check_no_missing(X: Any, numbers: Rows) -> None:
    """Name the first row with missing or infinite values, of rows X that have these numbers."""
    values = X.data if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return
    inputs = X.toarray() if hasattr(X, "toarray") else values
    first = int(numbers[~np.isfinite(inputs).all(axis=1)].min())
    raise UnreadableRowsError(f"Row {first} of X has missing or infinite values.")
