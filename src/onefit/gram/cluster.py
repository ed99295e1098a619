"""Sums over chunks of rows where the chunks are: on the workers of a dask cluster, or in dask's threads.

One task for each chunk gives its sums. These are added pairwise, in the order of the chunks, so that results depend on
where chunks begin and end, but not on how many workers there are or which of them died. Only sums travel.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from ..data.blocks import Chunk

T = TypeVar("T")

MOST_DEATHS = 20
"""How often a pass is taken up again after workers have died more often than dask itself allows."""


def reduce_chunks(
    chunks: Sequence[Chunk], of_chunk: Callable[..., T], arguments: Sequence[tuple[Any, ...]], shared: Any
) -> T:
    """``of_chunk(shared, rows, *arguments)`` of every chunk, added up in a tree of fixed shape.

    ``shared`` is sent to each worker once.
    """
    from dask import delayed

    common = delayed(shared, pure=True)
    level = [delayed(_limited)(of_chunk, common, chunk.rows, *own) for chunk, own in zip(chunks, arguments)]
    while len(level) > 1:
        pairs = [delayed(_add)(*level[k : k + 2]) for k in range(0, len(level) - 1, 2)]
        level = pairs + level[2 * len(pairs) :]
    total: T = _computed([level[0]])[0]
    return total


def map_chunks(
    chunks: Sequence[Chunk], of_chunk: Callable[..., T], arguments: Sequence[tuple[Any, ...]], shared: Any
) -> list[T]:
    """``of_chunk(shared, rows, *arguments)`` of every chunk, in order."""
    from dask import delayed

    common = delayed(shared, pure=True)
    return _computed([delayed(_limited)(of_chunk, common, c.rows, *own) for c, own in zip(chunks, arguments)])


def _limited(of_chunk: Callable[..., T], *arguments: Any) -> T:
    """Run in a worker with one BLAS thread: the others are busy with chunks of their own."""
    with threadpool_limits(1, "blas"):
        return of_chunk(*arguments)


def _add(first: Any, second: Any) -> Any:
    first += second
    return first


def _computed(tasks: list[Any]) -> list[Any]:
    """Results of delayed tasks from the default client, or threads; begun anew when too many workers have died."""
    from dask import compute

    try:
        from distributed import KilledWorker
    except ImportError:  # dask alone, in threads
        return list(compute(*tasks))  # type: ignore[no-untyped-call]
    for attempt in range(MOST_DEATHS):
        try:
            return list(compute(*tasks))  # type: ignore[no-untyped-call]
        except KilledWorker:
            if attempt == MOST_DEATHS - 1:
                raise
            time.sleep(1.0)  # until a nanny has started another worker
    raise AssertionError("unreachable")


def rows_of(values: Any) -> Any:
    """A chunk as an array: chunks of frames are frames."""
    return values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
