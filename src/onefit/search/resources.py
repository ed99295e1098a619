"""Workers, threads and memory that a search may use: decided before any work."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from joblib import effective_n_jobs
from threadpoolctl import threadpool_info

from ..core.memory import check_budget, human, parse_budget
from .tasks import KernelTask

LARGE = 1500
"""Rows from which on a matrix is worth more than one BLAS thread."""


@dataclass(frozen=True)
class Resources:
    """What tasks are given. BLAS threads of a task are part of the plan: they change the last bits of results.

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
    budget = parse_budget(memory_budget)
    if not tasks:
        return Resources(budget=budget)
    workers, n = min(effective_n_jobs(n_jobs), len(tasks)), tasks[0].inputs.folds.n
    keep_bases, arrays = True, 0
    for task in tasks:
        bases, views = len(task.kernel.bases), task.inputs.n_views
        work = max(task.kernel.buffers, task.squares) + int(criteria and task.inputs.per_fold(task.kernel))
        keep_bases &= check_budget(n, bases=bases, work=work, views=views, workers=workers, budget=budget)
        arrays = max(arrays, bases + work)
    return Resources(workers, _blas_threads(n, workers), keep_bases, budget, n, arrays)


def _blas_threads(n: int, workers: int) -> int:
    """Each worker's share of the BLAS threads; one for small matrices, which more threads only slow down."""
    available = max((pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1)
    return max(1, available // workers) if n >= LARGE else 1
