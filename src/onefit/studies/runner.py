"""Runs the cells of a protocol that a journal lacks, on several processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace

from .cell import measure
from .cell_journal import Finished, Journal, Task
from .spec import Protocol


@dataclass(frozen=True)
class Progress:
    """The progress of a run, told after every cell."""

    done: int
    total: int
    task: Task
    error: str | None


def tasks_of(protocol: Protocol, datasets: Sequence[str], splits: int | None = None) -> list[Task]:
    """All cells, or those of the first ``splits`` splits of each data set.

    The first split of every data set comes before the second of any: an early end leaves a whole table.
    """
    most = protocol.splits if splits is None else splits
    return [(name, number) for number in range(most) for name in datasets if number < protocol.splits_of(name)]


def missing(protocol: Protocol, journal: Journal, tasks: Sequence[Task], retry_failed: bool) -> list[Task]:
    """The tasks of which the journal lacks some method; methods that failed only if they are to be retried."""
    return [task for task in tasks if journal.remaining(protocol, *task, retry_failed=retry_failed) is not None]


def run(
    protocol: Protocol,
    journal: Journal,
    tasks: Sequence[Task],
    *,
    workers: int = 1,
    time_budget: float | None = None,
    tell: Callable[[Progress], None] = lambda progress: None,
) -> None:
    """Measure cells and journal each the moment it is done.

    After ``time_budget`` seconds no further cell is begun. What fails is journalled with its error. Results do not
    depend on the number of workers: every cell is seeded by its name and computed on one thread. Of a task that is
    known in part only the methods are measured that the journal lacks, or that failed.
    """
    start, waiting, done = time.monotonic(), list(reversed(tasks)), 0
    context, others = multiprocessing.get_context("spawn"), set(multiprocessing.active_children())
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent) as pool:
        running: dict[Future[list[tuple[Protocol, Finished]]], Task] = {}
        try:
            while waiting or running:
                in_time = time_budget is None or time.monotonic() - start < time_budget
                while waiting and in_time and len(running) < workers:
                    task = waiting.pop()
                    open_methods = journal.remaining(protocol, *task, retry_failed=True)
                    if open_methods is None:  # done by another process meanwhile
                        done += 1
                        tell(Progress(done, len(tasks), task, None))
                        continue
                    with _ctrl_c_held():
                        running[pool.submit(attempt, open_methods, *task)] = task
                if not running:
                    break
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    task = running.pop(future)
                    for measured, finished in future.result():
                        journal.add(measured, *task, finished)
                    error = next((finished.error for _, finished in future.result() if finished.error), None)
                    done += 1
                    tell(Progress(done, len(tasks), task, error))
        except BaseException:
            for worker in set(multiprocessing.active_children()) - others:
                worker.terminate()  # nobody takes what it finds; leaving the pool would wait for it
            raise


@contextmanager
def _ctrl_c_held() -> Iterator[None]:
    """Workers that are started meanwhile never see Ctrl-C, which a terminal sends to every process.

    Each would print a traceback; the run itself, which sees it afterwards, ends them.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_parent() -> None:
    """Let a worker end when the run is killed: nobody would take its results, nor ever end it."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def attempt(protocol: Protocol, dataset: str, number: int) -> list[tuple[Protocol, Finished]]:
    """Measure a cell; if it fails, every method alone, since others need not fail with it."""
    together = _attempt(protocol, dataset, number)
    if together.error is None or len(protocol.methods) == 1:
        return [(protocol, together)]
    single = [replace(protocol, methods=(method,)) for method in protocol.methods]
    return [(one, _attempt(one, dataset, number)) for one in single]


def _attempt(protocol: Protocol, dataset: str, number: int) -> Finished:
    """Measure a cell once; an exception becomes the error of its result."""
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            records, seconds = measure(protocol, dataset, number)
        return Finished(records, None, seconds)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
        return Finished([], text, time.process_time() - start)
