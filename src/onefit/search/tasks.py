"""Tasks: which kernels are to be evaluated, for which candidates, and in which order."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Container, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from ..criteria.base import Criterion
from ..data import Folds, Targets
from ..data.coding import CodedTargets
from ..data.labels import Labels
from ..data.views import Inputs
from ..gram.basis import Basis
from ..kernels import Kernel
from ..machines import Exactness
from ..machines.capabilities import at_penalties
from ..machines.contract import Learner, Series
from ..machines.evidence import MachinePath
from .certify import Certify
from .deadline import Deadline
from .row import Row
from .scoring import ScoredRows, Scoring

PART = 8
"""Kernels, at most, that a process evaluates before it reports: what an interruption or a time budget may cost."""

WAVE = 4
"""Kernels that do not know of each other's scores when candidates are pruned."""


@dataclass(frozen=True)
class Entry:
    """A candidate: its number in the grid, and its penalty (one, or one per target)."""

    candidate: int
    penalties: tuple[float, ...]


@dataclass(frozen=True)
class Path:
    """Candidates that differ in regularisation only."""

    learner: Learner
    targets: Targets
    coded: CodedTargets
    frozen: bool = False  # something that should learn from training rows has seen the test rows
    entries: tuple[Entry, ...] = ()

    @property
    def penalties(self) -> np.ndarray:
        """The distinct penalties, ascending."""
        return self.machine.penalties

    def of_candidates(self, part: np.ndarray) -> np.ndarray:
        """Values of the candidates (entries, l, c) from those of the distinct penalties (L, l, c)."""
        return at_penalties(part, self.machine.positions)

    @cached_property
    def machine(self) -> MachinePath:
        """The candidates as criteria see them."""
        return MachinePath(self.learner, self.targets, self.coded, tuple(entry.penalties for entry in self.entries))

    @property
    def squares(self) -> int:
        """n x n arrays that its learner needs."""
        return self.learner.squares(self.targets.Y.shape[1])


@dataclass(frozen=True)
class KernelTask:
    """One kernel on one set of inputs, with all paths that read it: a value that can be sent anywhere."""

    inputs: Inputs
    kernel: Kernel
    paths: tuple[Path, ...]
    basis: Basis | None = None  # of explicit features that stand for the Gram matrix

    @property
    def candidates(self) -> list[int]:
        """Numbers of all candidates of the task."""
        return [entry.candidate for path in self.paths for entry in path.entries]

    @property
    def group(self) -> Hashable:
        """Equal for tasks that share inputs and base matrices."""
        return self.inputs, self.kernel.bases

    @property
    def squares(self) -> int:
        """n x n arrays that its paths need: those of the largest, and factors that other linear machines leave."""
        factorised = sum("smoother" in path.learner.offers for path in self.paths)
        return max(path.squares for path in self.paths) + max(factorised - 1, 0)

    def without(self, candidates: Container[int]) -> KernelTask:
        """The task less the paths whose candidates are all among the given ones."""
        left = [path for path in self.paths if not all(entry.candidate in candidates for entry in path.entries)]
        return replace(self, paths=tuple(left))


@dataclass(frozen=True)
class Streaming:
    """How tasks on explicit features go through the rows: ``threads`` of a pass, and bytes that it may take."""

    threads: int = 1
    budget: float = math.inf


@dataclass(frozen=True)
class Settings:
    """Data and options that all tasks share.

    ``criteria`` are read off the kernels; if ``scored`` they accompany the scores of out-of-fold values, otherwise
    the first of them takes the place of a score.
    """

    X: Any
    y: Any
    labels: np.ndarray
    folds: Folds
    scoring: Scoring | None
    present: list[np.ndarray | None]  # classes that each fold trains on
    series: Series | None = None
    certify: Certify | None = None
    scale_penalty: bool = False
    return_train_score: bool = False
    pairwise: bool = False  # X is a precomputed Gram matrix
    raise_errors: bool = False
    criteria: tuple[Criterion, ...] = ()
    scored: bool = True
    target: Labels | None = None  # as criteria without a machine read it
    deadline: Deadline | None = None
    streaming: Streaming = field(default_factory=Streaming)

    def after(self, rows: list[Row]) -> Settings:
        """Settings that know the scores of some rows: candidates that cannot beat a proved score may be pruned."""
        assert self.certify is not None
        known = [row for row in rows if row.exactness in (Exactness.EXACT, Exactness.CERTIFIED) and row.test]
        lowest = [float(scores.mean()) - _slack(row) for row in known for scores in row.test.values()]  # one metric
        return replace(self, certify=self.certify.after([score for score in lowest if not np.isnan(score)]))

    def scored_rows(self, number: int, rows: np.ndarray) -> ScoredRows:
        """Some rows of split ``number``, to be scored."""
        train = self.folds.folds[number].train if self.pairwise else None
        return ScoredRows(self.X, self.y, self.labels, rows, train, self.present[number])


def _slack(row: Row) -> float:
    """How much lower than its mean score that of retraining may be."""
    return row.error_bound if row.exactness == Exactness.CERTIFIED else 0.0


def order_tasks(tasks: Sequence[KernelTask]) -> list[KernelTask]:
    """Tasks on the same inputs and base matrices next to each other, so that few base matrices are alive at once."""
    first_seen: dict[object, int] = {}
    for task in tasks:
        first_seen.setdefault(task.group, len(first_seen))
    return sorted(tasks, key=lambda task: first_seen[task.group])


def spread_tasks(tasks: Sequence[KernelTask]) -> list[KernelTask]:
    """Ordered tasks from coarse to fine within each group: a search that ends early has seen the whole grid.

    Groups stay together, so that no more base matrices are alive at once than in grid order.
    """
    groups = [list(group) for _, group in groupby(tasks, key=lambda task: task.group)]
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


def waves(count: int) -> Iterator[list[int]]:
    """Numbers of tasks that are run at the same time when candidates are pruned, from the middle of the grid outwards.

    The best kernel is rarely at the end of a grid, and the sooner a good score is proved the more can be pruned. Waves
    are the same whatever the number of workers, so that results are.
    """
    order = sorted(range(count), key=lambda i: (abs(2 * i - count + 1), i))
    for first in range(0, count, WAVE):
        yield order[first : first + WAVE]


def divide(tasks: Sequence[KernelTask], workers: int) -> list[list[int]]:
    """Numbers of tasks in parts that are run, and report their rows, at once; the tasks of a part are of one group.

    A part computes its base matrices once, so a group has one part for each worker, and more only if these would have
    more than ``PART`` tasks. Neighbouring kernels take about equally long, so they go to different parts.
    """
    groups: dict[object, list[int]] = {}
    for number, task in enumerate(tasks):
        groups.setdefault(task.group, []).append(number)
    parts = []
    for numbers in groups.values():
        count = min(len(numbers), max(workers, math.ceil(len(numbers) / PART)))
        parts += [numbers[first::count] for first in range(count)]
    return parts
