"""Running the kernels of a search, in this thread or in several."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_info, threadpool_limits

from ..core.memory import check_budget, human, parse_budget
from .evaluate import evaluate
from .tasks import KernelTask, Row, Settings

WAVE = 4
"""Kernels that do not know of each other's scores when candidates are pruned."""

LARGE = 1500
"""Rows from which on a matrix is worth more than one BLAS thread."""


def run_tasks(
    tasks: list[KernelTask],
    settings: Settings,
    *,
    n_jobs=None,
    pre_dispatch="2*n_jobs",
    later: Sequence[KernelTask] = (),
    budget: float = math.inf,
) -> Iterator[tuple[int, list[Row]]]:
    """Yield (task number, its rows) as tasks finish.

    Workers are threads, because they share the base matrices and LAPACK runs outside the interpreter's
    lock. Base matrices that no remaining task, nor one of the ``later`` ones, reads are freed. A MemoryError names the
    ``budget`` in bytes that the tasks were checked against.
    """
    workers = min(effective_n_jobs(n_jobs), len(tasks))
    remaining = dict(enumerate(tasks))
    with threadpool_limits(_blas_threads(tasks, workers), "blas"):
        parallel = Parallel(
            n_jobs=workers, require="sharedmem", return_as="generator_unordered", pre_dispatch=pre_dispatch
        )
        try:
            for number, rows in parallel(delayed(_numbered)(i, task, settings) for i, task in enumerate(tasks)):
                _free(remaining.pop(number), [*remaining.values(), *later])
                yield number, rows
        except MemoryError as error:
            raise _out_of_memory(tasks, workers, budget, error) from error


def _free(done: KernelTask, remaining: Iterable[KernelTask]) -> None:
    """Forget the views, or the base matrices, that no remaining task reads."""
    same = [task for task in remaining if task.source is done.source]
    if not same:
        done.source.forget()
    else:
        for view in done.source.made():
            view.problem.release(base for task in same for base in task.kernel.bases)


def _numbered(number: int, task: KernelTask, settings: Settings) -> tuple[int, list[Row]]:
    return number, evaluate(task, settings)


def _blas_threads(tasks: list[KernelTask], workers: int) -> int:
    """Each worker's share of the BLAS threads; one for small matrices, which more threads only slow down."""
    available = max((pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1)
    largest = max(task.source.folds.n for task in tasks)
    return max(1, available // workers) if largest >= LARGE else 1


def order_tasks(tasks: list[KernelTask]) -> list[KernelTask]:
    """Tasks on the same data and base matrices next to each other, so that few bases are alive at once."""
    first_seen: dict[object, int] = {}
    for task in tasks:
        first_seen.setdefault(_group(task), len(first_seen))
    return sorted(tasks, key=lambda task: first_seen[_group(task)])


def _group(task: KernelTask) -> object:
    return id(task.source), task.kernel.bases


def spread_tasks(tasks: list[KernelTask]) -> list[KernelTask]:
    """Ordered tasks from coarse to fine within each group of the same bases: a search that ends early has seen it all.

    Groups stay together, so that no more bases are alive at once than in grid order.
    """
    groups = [list(group) for _, group in groupby(tasks, key=_group)]
    return [group[number] for group in groups for number in coarse_to_fine(len(group))]


def coarse_to_fine(count: int) -> list[int]:
    """The numbers below ``count``: the middle one, then the middles of both halves, and so on.

    >>> coarse_to_fine(7)
    [3, 1, 5, 0, 2, 4, 6]
    """
    order, parts = [], deque([(0, count)])
    while parts:
        first, end = parts.popleft()
        if first < end:
            middle = (first + end) // 2
            order.append(middle)
            parts += [(first, middle), (middle + 1, end)]
    return order


def waves(count: int) -> Iterator[tuple[list[int], list[int]]]:
    """(numbers of some tasks, of those that come later), from the middle of the grid outwards.

    The best kernel is rarely at the end of a grid, and the sooner a good score is proved the more can be pruned. Waves
    are the same whatever the number of workers, so that results are.
    """
    order = sorted(range(count), key=lambda i: (abs(2 * i - count + 1), i))
    for first in range(0, count, WAVE):
        yield order[first : first + WAVE], order[first + WAVE :]


def check_memory(tasks: list[KernelTask], n_jobs, memory_budget, criteria: bool = False) -> float:
    """The budget in bytes; refuse before any work what does not fit, and decide whether the views' bases can be kept.

    ``criteria`` of all rows need a matrix of their own where every fold has inputs of its own.
    """
    budget = parse_budget(memory_budget)
    workers = min(effective_n_jobs(n_jobs), max(1, len(tasks)))
    for task in tasks:
        apart = task.source.n_views > 1 or task.kernel.follows_data
        keep = check_budget(
            task.source.folds.n,
            bases=len(task.kernel.bases),
            work=_work(task) + int(criteria and apart),
            views=task.source.n_views,
            workers=workers,
            budget=budget,
        )
        task.source.keep_bases = task.source.keep_bases and keep
    return budget


def _work(task: KernelTask) -> int:
    """n x n arrays that a worker needs besides the base matrices."""
    return max(task.kernel.buffers, task.squares)


def _out_of_memory(tasks: list[KernelTask], workers: int, budget: float, error: MemoryError) -> MemoryError:
    """An error that says what was needed, and what was allowed."""
    n = max(task.source.folds.n for task in tasks)
    arrays = max(len(task.kernel.bases) + _work(task) for task in tasks)
    return MemoryError(
        f"{n:,} rows: an array could not be allocated ({str(error) or type(error).__name__}). The search needs about "
        f"{arrays} arrays of n x n doubles for each worker, {human(8.0 * n * n * arrays * workers)} in all with "
        f"{workers} worker(s): within the memory budget of {human(budget)}, but not within the memory that is free. "
        "Use fewer rows or workers, or a smaller memory_budget."
    )
