"""Running the tasks of a search: in this thread, in threads, or on any other backend of joblib.

A task is a value, and its rows depend on nothing else: results are the same, bit for bit, wherever it is run. Tasks
that share inputs and base matrices are given to one worker one after another, which keeps these for the next task.
"""

from __future__ import annotations

import math
import os
import platform
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController, threadpool_info

from ..data.views import Views
from ..gram.streamed import LANES
from ..resources import Ledger
from ..resources.memory import check_budget, human, parse_budget
from .approximate import evaluate_on_features
from .evaluate import evaluate
from .tasks import KernelTask, Row, Settings, Streaming, divide

THREADED_ROWS = 4000
"""Rows from which on a second BLAS thread pays. With 2,000 rows, on two idle cores, threads that wait for each other in
small products made searches 1.3 (SVC) to 1.9 times (logistic regression) as long; with 4,000 rows SVC and KernelRidge
took 0.8 times as long behind a scaler, and KernelRidge 1.1 times without one."""

STREAMING_BUDGET = 2.0 * 2**30
"""Bytes that passes over the rows may take besides the data, where nobody says how many."""


@dataclass(frozen=True)
class Resources:
    """Workers, threads and memory of tasks. BLAS threads change the last bits of results: they are part of the plan.

    ``arrays`` of n x n doubles are needed by each worker; ``budget`` is in bytes. Where base matrices cannot be kept
    they are computed anew for each kernel.
    """

    workers: int = 1
    blas_threads: int = 1
    keep_bases: bool = True
    budget: float = math.inf
    n: int = 0
    arrays: int = 0

    def lack_of_memory(self, error: MemoryError) -> MemoryError:
        """An error that says what was needed, and what was allowed."""
        return MemoryError(
            f"{self.n:,} rows: an array could not be allocated ({str(error) or type(error).__name__}). The search "
            f"needs about {self.arrays} arrays of n x n doubles for each worker, "
            f"{human(8.0 * self.n * self.n * self.arrays * self.workers)} in all with {self.workers} worker(s): within "
            f"the memory budget of {human(self.budget)}, but not within the memory that is free. "
            "Use fewer rows or workers, or a smaller memory_budget."
        )


def allot(tasks: Sequence[KernelTask], n_jobs=None, memory_budget=None, *, criteria: bool = False) -> Resources:
    """Resources of some tasks; an error if they do not fit into the memory.

    ``criteria`` of all rows need a matrix of their own where every fold has inputs of its own.
    """
    if not tasks and memory_budget is None:  # nobody asks how much memory is free, which takes a millisecond to tell
        return Resources()
    budget = parse_budget(memory_budget)
    if not tasks:
        return Resources(budget=budget)
    workers, n = min(effective_n_jobs(n_jobs), len(tasks)), max(task.inputs.most_rows for task in tasks)
    keep_bases, arrays = criteria or _bases_are_shared(tasks), 0
    for task in tasks:
        if task.explicit:  # no n x n array
            continue
        bases, views = len(task.kernel.bases), task.inputs.n_views
        work = max(task.kernel.buffers, task.squares) + int(criteria and task.inputs.per_fold(task.kernel))
        keep_bases &= check_budget(n, bases=bases, work=work, views=views, workers=workers, budget=budget)
        arrays = max(arrays, bases + work)
    threads = max(1, _available_threads() // workers) if n >= THREADED_ROWS else 1  # more only slow small ones down
    return Resources(workers, threads, keep_bases, budget, n, arrays)


def _bases_are_shared(tasks: Sequence[KernelTask]) -> bool:
    """Whether some base matrix is read by more than one kernel, path or fold, or again after a factorisation."""
    several = len({task.group for task in tasks}) < len(tasks) or any(len(task.paths) > 1 for task in tasks)
    factorised = any("smoother" in path.learner.offers for task in tasks for path in task.paths)
    grams = [len(task.inputs.folds) if task.inputs.per_fold(task.kernel) else 1 for task in tasks]
    return several or factorised or any(task.inputs.n_views < count for task, count in zip(tasks, grams))


def allot_passes(tasks: Sequence[KernelTask], n_jobs=None, memory_budget=None) -> tuple[Resources, Streaming]:
    """Resources of tasks on explicit features: those of the workers, and of the passes of each."""
    budget = parse_budget(memory_budget)
    if memory_budget is None:
        budget = min(budget, STREAMING_BUDGET)
    workers = max(1, min(effective_n_jobs(n_jobs), len(tasks)))
    cores = max(1, _available_threads() // workers)
    threads = min(cores, LANES)
    return Resources(workers, max(1, cores // threads), True, budget), Streaming(threads, budget / workers)


def _available_threads() -> int:
    return max((pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1)


@cache
def _thread_pools() -> ThreadpoolController:
    """The BLAS libraries of this process, looked up once: that takes 2 ms, a tenth of a small search."""
    return ThreadpoolController()


def blas_limit(threads: int) -> Any:
    """A context in which BLAS has at most so many threads."""
    return _thread_pools().limit(limits=threads, user_api="blas")


@dataclass(frozen=True)
class Outcome:
    """One row for each candidate of a task, and what they cost."""

    rows: list[Row]
    ledger: Ledger


class _Worker:
    """Runs tasks one after another. The views and base matrices of the last one are kept for the next."""

    def __init__(self, keep_bases: bool) -> None:
        self.keep_bases = keep_bases
        self._views: Views | None = None
        self._scored = False

    def run(self, task: KernelTask, settings: Settings) -> Outcome:
        """Evaluate one task."""
        if task.basis is not None:
            ledger = Ledger()
            rows = evaluate_on_features(task, settings, ledger, may_end=self._scored)
            self._note_scores(rows, settings)
            return Outcome(rows, ledger)
        if self._views is None or self._views.inputs is not task.inputs or self._views.keep_folds == task.explicit:
            self._views = Views(task.inputs, Ledger(), self.keep_bases, keep_folds=not task.explicit)
        for view in self._views.made:
            view.problem.release(wanted=task.kernel.bases)
        rows = evaluate(task, self._views, settings, may_end=self._scored)
        self._note_scores(rows, settings)
        return Outcome(rows, self._views.ledger.take())

    def _note_scores(self, rows: list[Row], settings: Settings) -> None:
        self._scored |= settings.deadline.limited and any(row.scored for row in rows)  # screening has no limit


class Executor:
    """Runs tasks with the resources of a plan.

    With one worker tasks are run in this thread. With several they are run in threads, which start at once and share
    the data, unless ``joblib.parallel_config`` names a backend with processes, on this machine or on others.
    """

    def __init__(self, resources: Resources, pre_dispatch: Any = "2*n_jobs") -> None:
        self.resources, self.pre_dispatch = resources, pre_dispatch
        self._worker = _Worker(resources.keep_bases)

    def run(self, tasks: Sequence[KernelTask], settings: Settings) -> Iterator[tuple[int, Outcome]]:
        """Yield (task number, outcome) as tasks finish. A MemoryError says what was needed and what was allowed."""
        workers = min(self.resources.workers, len(tasks))
        try:
            if workers > 1 and _run_elsewhere(workers):
                yield from self._in_processes(tasks, settings, workers)
                return
            with blas_limit(self.resources.blas_threads):
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
                own.worker = _Worker(self.resources.keep_bases)
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
    worker = _Worker(resources.keep_bases)
    with blas_limit(resources.blas_threads):
        return {number: worker.run(task, settings) for number, task in tasks.items()}


def _run_elsewhere(workers: int) -> bool:
    """Whether the active backend of joblib runs jobs in other processes; threads are taken where none is named."""
    (place,) = Parallel(n_jobs=workers, prefer="threads")([delayed(_place)()])
    return bool(place != _place())


def _place() -> tuple[str, int]:
    return platform.node(), os.getpid()
