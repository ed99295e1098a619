"""Running the kernels of a search, in this thread or in several."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from ..core.memory import check_budget
from .evaluate import KernelTask, Row, Settings, evaluate


def run_tasks(
    tasks: list[KernelTask], settings: Settings, *, n_jobs=None, pre_dispatch="2*n_jobs"
) -> Iterator[tuple[int, list[Row]]]:
    """Yield (task number, its rows) as tasks finish.

    Workers are threads, because they share the base matrices and LAPACK runs outside the interpreter's
    lock; each gets its share of the BLAS threads. Base matrices that no remaining task reads are freed.
    """
    workers = min(effective_n_jobs(n_jobs), len(tasks))
    remaining = dict(enumerate(tasks))
    limits = threadpool_limits(max(1, _blas_threads() // workers), "blas") if workers > 1 else nullcontext()
    with limits:
        parallel = Parallel(
            n_jobs=workers, require="sharedmem", return_as="generator_unordered", pre_dispatch=pre_dispatch
        )
        for number, rows in parallel(delayed(_numbered)(i, task, settings) for i, task in enumerate(tasks)):
            done = remaining.pop(number)
            for view in done.views.views:
                view.problem.release(
                    base for task in remaining.values() if task.views is done.views for base in task.kernel.bases
                )
            yield number, rows


def _numbered(number: int, task: KernelTask, settings: Settings) -> tuple[int, list[Row]]:
    return number, evaluate(task, settings)


def _blas_threads() -> int:
    from threadpoolctl import threadpool_info

    return max((pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1)


def order_tasks(tasks: list[KernelTask]) -> list[KernelTask]:
    """Tasks on the same data and base matrices next to each other, so that few bases are alive at once."""
    first_seen: dict[object, int] = {}
    for task in tasks:
        first_seen.setdefault((id(task.views), task.kernel.bases), len(first_seen))
    return sorted(tasks, key=lambda task: first_seen[id(task.views), task.kernel.bases])


def check_memory(tasks: list[KernelTask], n_jobs, memory_budget) -> None:
    """Refuse before any work what does not fit; decide whether the views' bases can be kept."""
    workers = min(effective_n_jobs(n_jobs), max(1, len(tasks)))
    for task in tasks:
        problems = [view.problem for view in task.views.views]
        keep = check_budget(
            max(problem.n for problem in problems),
            bases=len(task.kernel.bases),
            views=len(problems),
            workers=workers,
            budget=memory_budget,
        )
        for problem in problems:
            problem.keep_bases = problem.keep_bases and keep
