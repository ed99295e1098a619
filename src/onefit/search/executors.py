"""Running the tasks of a search: in this thread, in threads, or on any other backend of joblib.

A task is a value, and its rows depend on nothing else: results are the same, bit for bit, wherever it is run. Tasks
that share inputs and base matrices are given to one worker one after another, which keeps these for the next task.
"""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from ..core import Ledger
from .evaluate import evaluate
from .ordering import divide
from .resources import Resources
from .row import Row
from .tasks import KernelTask, Settings
from .views import Views


@dataclass(frozen=True)
class Outcome:
    """One row for each candidate of a task, and what they cost."""

    rows: list[Row]
    ledger: Ledger


class Worker:
    """Runs tasks one after another. The views and base matrices of the last one are kept for the next."""

    def __init__(self, keep_bases: bool) -> None:
        self.keep_bases = keep_bases
        self._views: Views | None = None
        self._scored = False

    def run(self, task: KernelTask, settings: Settings) -> Outcome:
        """Evaluate one task."""
        if self._views is None or self._views.inputs is not task.inputs:
            self._views = Views(task.inputs, Ledger(), self.keep_bases)
        for view in self._views.made:
            view.problem.release(wanted=task.kernel.bases)
        rows = evaluate(task, self._views, settings, may_end=self._scored)
        self._scored |= settings.deadline is not None and any(row.scored for row in rows)
        return Outcome(rows, self._views.ledger.take())


class Executor:
    """Runs tasks with the resources of a plan.

    With one worker tasks are run in this thread. With several they are run in threads, which start at once and share
    the data, unless ``joblib.parallel_config`` names a backend with processes, on this machine or on others.
    """

    def __init__(self, resources: Resources, pre_dispatch: Any = "2*n_jobs") -> None:
        self.resources, self.pre_dispatch = resources, pre_dispatch
        self._worker = Worker(resources.keep_bases)

    def run(self, tasks: Sequence[KernelTask], settings: Settings) -> Iterator[tuple[int, Outcome]]:
        """Yield (task number, outcome) as tasks finish. A MemoryError says what was needed and what was allowed."""
        workers = min(self.resources.workers, len(tasks))
        try:
            if workers > 1 and _run_elsewhere(workers):
                yield from self._in_processes(tasks, settings, workers)
                return
            with threadpool_limits(self.resources.blas_threads, "blas"):
                if workers > 1:
                    yield from self._in_threads(tasks, settings, workers)
                    return
                for number, task in enumerate(tasks):
                    yield number, self._worker.run(task, settings)
        except MemoryError as error:
            raise self.resources.lack_of_memory(error) from error

    def _in_threads(self, tasks, settings: Settings, workers: int) -> Iterator[tuple[int, Outcome]]:
        own = threading.local()

        def run(number: int, task: KernelTask) -> tuple[int, Outcome]:
            if not hasattr(own, "worker"):
                own.worker = Worker(self.resources.keep_bases)
            return number, own.worker.run(task, settings)

        options = {"require": "sharedmem", "pre_dispatch": self.pre_dispatch, "return_as": "generator_unordered"}
        yield from Parallel(n_jobs=workers, **options)(delayed(run)(i, task) for i, task in enumerate(tasks))

    def _in_processes(self, tasks, settings: Settings, workers: int) -> Iterator[tuple[int, Outcome]]:
        parts = [{number: tasks[number] for number in part} for part in divide(tasks, workers)]
        jobs = (delayed(_run_part)(part, settings, self.resources) for part in parts)
        # "c": workers may write into their copy of a mapped array, as into one of their own
        options = {"pre_dispatch": self.pre_dispatch, "batch_size": 1, "mmap_mode": "c"}
        for outcomes in stream(jobs, n_jobs=workers, ordered=False, **options):
            yield from outcomes.items()


def stream(jobs: Iterable, *, ordered: bool = True, **options: Any) -> Iterable:
    """Results of joblib one by one, or all at once where the backend knows no other way."""
    try:
        parallel = Parallel(return_as="generator" if ordered else "generator_unordered", **options)
    except ValueError:
        parallel = Parallel(**options)
    return parallel(jobs)


def _run_part(tasks: dict[int, KernelTask], settings: Settings, resources: Resources) -> dict[int, Outcome]:
    """Run tasks that share inputs and base matrices, in a process of its own."""
    worker = Worker(resources.keep_bases)
    with threadpool_limits(resources.blas_threads, "blas"):
        return {number: worker.run(task, settings) for number, task in tasks.items()}


def _run_elsewhere(workers: int) -> bool:
    """Whether the active backend of joblib runs jobs in other processes; threads are taken where none is named."""
    (place,) = Parallel(n_jobs=workers, prefer="threads")([delayed(_place)()])
    return bool(place != _place())


def _place() -> tuple[str, int]:
    return platform.node(), os.getpid()
