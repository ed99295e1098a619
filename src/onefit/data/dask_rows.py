"""Rows of a dask array or frame: chunks stay where they are, and what is computed of them comes back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .blocks import Chunk, RowScan

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DaskRows(RowScan):
    """A dask array of rows in chunks of known length, each with all columns."""

    array: Any = field(repr=False)

    @classmethod
    def of(cls, X: Any) -> DaskRows:
        """Rows of a dask array or frame; lengths of chunks that are not known are computed, in one pass."""
        if hasattr(X, "to_dask_array"):
            X = X.to_dask_array(lengths=True)
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got {X.ndim}.")
        if any(np.isnan(size) for size in X.chunks[0]):
            X = X.compute_chunk_sizes()
        return cls(X.rechunk({1: X.shape[1]}))

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.array.shape
        return int(n), int(d)

    @property
    def identity(self) -> Any:
        return self.array.name, self.array.chunks

    def check_unchanged(self) -> None:
        """Chunks of a graph are what the graph says: there is nothing to compare."""

    def read(self, start: int, stop: int) -> Any:
        return self.array[start:stop].compute()

    def _gather(self, rows: NDArray[np.intp]) -> Array:
        order = np.argsort(rows, kind="stable")
        found = np.empty((len(rows), self.shape[1]))
        found[order] = self.array[rows[order]].compute()
        return found

    @property
    def chunks(self) -> list[Chunk]:
        delayed = self.array.to_delayed().ravel()
        ends = np.cumsum(self.array.chunks[0])
        starts = ends - np.array(self.array.chunks[0])
        return [Chunk(slice(int(a), int(b)), part) for a, b, part in zip(starts, ends, delayed)]
