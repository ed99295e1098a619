"""Sums over chunks of rows where the chunks are: on the workers of a dask cluster, or in dask's threads.

One task sums a batch of neighbouring chunks. The sums of batches are added pairwise on the workers, in groups, and
those of groups one after another by the client. All of this depends on where chunks begin and end, but not on how many
workers there are or which of them died. Only sums travel, and nothing exists on one worker alone that could not be
computed anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import ceil
from threading import Lock
from typing import Any, Protocol, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from ..data.blocks import Chunk
from ..data.dask_rows import until_done

T = TypeVar("T")

BATCH = 1e11
"""Rows times squared features that a worker sums before its sums, far larger than the rows, travel: some seconds."""

LEAST = 4e6
"""Features that make up a batch at least, where there are so many: tasks of some hundredths of a second, which take a
scheduler milliseconds."""

GROUP = 8
"""Batches whose sums are added on the workers before the client hears of them. A client that dies has lost the work on
groups that were under way."""


class Kept:
    """A value that tasks of many passes over the rows read: workers of a cluster are sent it once, and keep it.

    It is the result of a task, of which the scheduler has the value too, and begins it anew if the worker that holds it
    dies. Where the scheduler has lost it, it is sent again.
    """

    def __init__(self, value: Any) -> None:
        self.value = value
        self._future: Any = None

    def task(self) -> Any:
        """A future of the value on a cluster, else the value itself, for a dask graph."""
        client = _client()
        if client is None:
            return self.value
        if self._future is None or self._future.client is not client or self._future.status not in _ALIVE:
            self._future = client.submit(_itself, self.value, pure=False)
        return self._future


_ALIVE = ("pending", "finished")
"""States of a future whose task a scheduler knows, and has not given up."""


def _itself(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Batch:
    """Neighbouring chunks of rows that one task sums: ``run(shared, chunks, arguments)``.

    ``chunks`` stand for rows in a dask graph, ``arguments`` are what each of them is summed with. What is shared, and
    single arguments, may be ``Kept``.
    """

    run: Callable[..., Any]
    shared: Sequence[Any]
    chunks: Sequence[Any]
    arguments: Sequence[tuple[Any, ...]]

    def task(self) -> Any:
        """A new task of a dask graph. What all batches share is part of the graph, and sent to each worker once."""
        from dask import delayed

        shared = [value.task() if isinstance(value, Kept) else delayed(value, pure=True) for value in self.shared]
        arguments = [
            tuple(value.task() if isinstance(value, Kept) else value for value in own) for own in self.arguments
        ]
        return delayed(_limited)(self.run, shared, list(self.chunks), arguments)


def neighbouring_chunks(chunks: Sequence[Chunk], width: int, most: float) -> list[list[Chunk]]:
    """Chunks in batches of neighbours, for sums over features of this ``width``.

    They are put together while their rows are not more than ``most``, which are as large as the sums: these would
    otherwise travel more often.
    """
    most = min(BATCH / width**2, max(most, LEAST / width))
    batches: list[list[Chunk]] = []
    rows = 0
    for chunk in chunks:
        size = chunk.numbers.stop - chunk.numbers.start
        if not batches or rows + size > most:
            batches.append([])
            rows = 0
        rows += size
        batches[-1].append(chunk)
    return batches


class Record(Protocol):
    """Where the sums of the first groups are kept, for a client that begins again (see ``PassRecord``)."""

    def begun(self, lane: int) -> tuple[int, Any] | None: ...

    def keep(self, lane: int, done: int, sums: Any) -> None: ...


def reduce_batches(batches: Sequence[Batch], record: Record | None = None) -> Any:
    """The sum of what all batches give, added in an order that depends on the batches alone."""
    groups = [batches[first : first + GROUP] for first in range(0, len(batches), GROUP)]
    begun = None if record is None else record.begun(0)
    done, total = (0, None) if begun is None else begun
    for number, part in enumerate(_in_order([_tree(group) for group in groups[done:]]), done + 1):
        total = part if total is None else _add(total, part)
        if record is not None:
            record.keep(0, number, total)
    return total


def _tree(batches: Sequence[Batch]) -> Callable[[], Any]:
    """A maker of tasks that add the sums of batches pairwise."""

    def task() -> Any:
        from dask import delayed

        level = [batch.task() for batch in batches]
        while len(level) > 1:
            pairs = [delayed(_add)(*level[k : k + 2]) for k in range(0, len(level) - 1, 2)]
            level = pairs + level[2 * len(pairs) :]
        return level[0]

    return task


def map_chunks(
    chunks: Sequence[Chunk], of_chunk: Callable[..., T], arguments: Sequence[tuple[Any, ...]], shared: Any
) -> list[T]:
    """``of_chunk(shared, rows, *arguments)`` of every chunk, in order."""
    batches = [Batch(_only(of_chunk), [shared], [c.rows], [own]) for c, own in zip(chunks, arguments)]
    return list(_in_order([batch.task for batch in batches]))


@dataclass(frozen=True)
class _only:
    """A function of one chunk as one of a batch."""

    of_chunk: Callable[..., Any]

    def __call__(self, shared: list[Any], chunks: list[Any], arguments: list[tuple[Any, ...]]) -> Any:
        return self.of_chunk(shared[0], chunks[0], *arguments[0])


def _in_order(makers: Sequence[Callable[[], Any]]) -> Iterator[Any]:
    """Results of tasks, in order: from the default client of a cluster, or from dask's threads."""
    client = _client()
    if client is None:
        yield from _in_threads(makers)
        return
    running: list[Any] = []

    def result(number: int) -> Any:
        """The result of a task, the first one that is running; as many others run as keep the workers busy."""
        ahead = 1 + ceil(sum(client.nthreads().values()) / GROUP)
        for maker in makers[number + len(running) : number + 1 + ahead]:
            running.append(client.compute(maker()))
        return running[0].result()

    def release() -> None:
        """Give up all running tasks. A future that failed is part of a cycle with the traceback of its own error, so
        that the scheduler would keep its tasks failed until the garbage collector finds it."""
        for future in running:
            future.release()
        running.clear()

    for number in range(len(makers)):
        yield until_done(partial(result, number), release)
        del running[0]


def _client() -> Any:
    """The default client of a cluster; None with dask alone, or without a client."""
    try:
        from distributed import default_client

        return default_client()  # type: ignore[no-untyped-call]
    except (ImportError, ValueError):
        return None


def _in_threads(makers: Sequence[Callable[[], Any]]) -> Iterator[Any]:
    """Results of tasks from dask's threads, two at a time: all of them at once might not fit into memory."""
    from dask import compute

    for first in range(0, len(makers), 2):
        yield from compute(*(maker() for maker in makers[first : first + 2]))  # type: ignore[no-untyped-call]


def _limited(run: Callable[..., T], *arguments: Any) -> T:
    """Run a task in a worker with one BLAS thread: the others are busy with chunks of their own."""
    with _ONE_THREAD():
        return run(*arguments)


class _OneThread:
    """One BLAS thread as long as some task of this process runs: the limit holds for all threads of a process."""

    def __init__(self) -> None:
        self._lock, self._tasks = Lock(), 0
        self._limits: Any = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if not self._tasks:
                self._limits = threadpool_limits(1, "blas")
            self._tasks += 1
        try:
            yield
        finally:
            with self._lock:
                self._tasks -= 1
                if not self._tasks:
                    self._limits.restore_original_limits()


_ONE_THREAD = _OneThread()


def _add(first: Any, second: Any) -> Any:
    """A new sum: what a task was given may be asked for again when a worker dies."""
    return first + second


def rows_of(values: Any) -> Any:
    """A chunk as an array: chunks of frames are frames."""
    return values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
