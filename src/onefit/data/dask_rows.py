"""Rows of a dask array or frame: chunks stay where they are, and what is computed of them comes back."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .blocks import GATHERED, Chunk, RowScan

Array = NDArray[np.float64]
T = TypeVar("T")


MOST_DEATHS = 20
"""How often work is begun anew after workers have died more often than dask itself allows, or tasks were cancelled."""


class ClusterLostError(ConnectionError):
    """The scheduler of a cluster does not answer any more: no candidate can be evaluated."""


def until_done(attempt: Callable[[], T], forget: Callable[[], object] = lambda: None) -> T:
    """The result of an attempt, repeated when workers died of it too often, or the cluster was restarted meanwhile.

    ``forget`` drops what has been begun: as long as it is held, dask does not begin anew what failed. A scheduler that
    does not come back while the client tries to reconnect is a ClusterLostError.
    """
    try:
        from distributed import CancelledError, KilledWorker, default_client
        from distributed.comm import CommClosedError

        client = default_client()  # type: ignore[no-untyped-call]
    except (ImportError, ValueError):  # dask alone, or no client: in threads
        return attempt()
    for _ in range(MOST_DEATHS):
        try:
            return attempt()
        except Exception as error:
            if client.status == "running" and not isinstance(error, KilledWorker | CancelledError | CommClosedError):
                raise
        forget()
        _wait_for(client)
    return attempt()


def _wait_for(client: Any) -> None:
    """Wait until a nanny has started another worker, and while a client tries to find its scheduler again."""
    time.sleep(1.0)
    while client.status == "connecting":
        time.sleep(0.1)
    if client.status != "running":
        raise ClusterLostError(
            "The connection to the scheduler of the dask cluster was lost. A search with a journal goes on from what is"
            " done when it is started again with a client of a new cluster."
        )


def has_cluster() -> bool:
    """Whether there is a client of a cluster that tasks can be sent to. A task of the cluster itself sends none."""
    if "distributed" not in sys.modules:
        return False
    from distributed import default_client, get_worker

    with suppress(ValueError):
        get_worker()
        return False
    with suppress(ValueError):
        return bool(default_client().status == "running")  # type: ignore[no-untyped-call]
    return False


def chunks_of_files(X: RowScan) -> list[Chunk]:
    """Blocks of files that workers read by themselves; none where there is no cluster."""
    if not has_cluster():
        return []
    from dask import delayed

    n = X.shape[0]
    parts = [slice(start, min(start + GATHERED, n)) for start in range(0, n, GATHERED)]
    return [Chunk(part, delayed(_read)(X, part.start, part.stop)) for part in parts]


def _read(X: RowScan, start: int, stop: int) -> Any:
    """Rows of files, on a worker."""
    return X[start:stop]


@dataclass(frozen=True, eq=False)
class DaskRows(RowScan):
    """A dask array of rows in chunks of known length, each with all columns."""

    array: Any = field(repr=False)

    @classmethod
    def of(cls, X: Any) -> DaskRows:
        """Rows of a dask array or frame; lengths of chunks that are not known are computed, in one pass."""
        if hasattr(X, "to_dask_array"):
            X = until_done(lambda: X.to_dask_array(lengths=True))
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got {X.ndim}.")
        if any(np.isnan(size) for size in X.chunks[0]):
            X = until_done(X.compute_chunk_sizes)
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
        return until_done(self.array[start:stop].compute)

    def _gather(self, rows: NDArray[np.intp]) -> Array:
        order = np.argsort(rows, kind="stable")
        found = np.empty((len(rows), self.shape[1]))
        found[order] = until_done(self.array[rows[order]].compute)
        return found

    @property
    def chunks(self) -> list[Chunk]:
        delayed = self.array.to_delayed().ravel()
        ends = np.cumsum(self.array.chunks[0])
        starts = ends - np.array(self.array.chunks[0])
        return [Chunk(slice(int(a), int(b)), part) for a, b, part in zip(starts, ends, delayed)]
