"""Tasks: which kernels are to be evaluated, for which candidates, in which order; and rows, their outcome."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Container, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np

from ..criteria.base import Criterion
from ..data import Folds, Targets
from ..data.coding import row_weights
from ..data.targets import Labels
from ..data.transformed_target import TransformedTargets
from ..data.views import Inputs, View
from ..gram.basis import Basis
from ..gram.streamed import SumsStore
from ..kernels import Kernel
from ..machines import Exactness
from ..machines.contract import MachinePath, Series
from .certify import Certify
from .deadline import Deadline
from .scoring import ScoredRows, Scoring
from .seen_rows import SeenRows

OPEN_BIAS = "the bias is not determined: no coefficient is free, and the scores depend on where in its interval it is"
"""Status of rows whose values have the middle of the interval of all optimal biases."""

PART = 8
"""Kernels, at most, that a process evaluates before it reports: what an interruption or a time budget may cost."""

WAVE = 4
"""Kernels that do not know of each other's scores when candidates are pruned."""


@dataclass(frozen=True)
class LinearMachine:
    """Coefficients (r, c) and constants (c,) of the machine on explicit features that was trained on all rows."""

    coef: np.ndarray
    intercept: np.ndarray


@dataclass
class Row:
    """The outcome for one candidate. Score arrays have one entry per split (leave-one-out: one in all)."""

    candidate: int
    test: dict[str, np.ndarray] = field(default_factory=dict)
    train: dict[str, np.ndarray] = field(default_factory=dict)
    exactness: Exactness = Exactness.EXACT
    error_bound: float = np.nan
    status: str = "ok"
    fit_seconds: float = 0.0
    score_seconds: float = 0.0
    failures: dict[int, str] = field(default_factory=dict)  # split -> why it could not be trained on
    values: list[np.ndarray] | None = None  # out-of-fold values (l, c) of each split
    retrain: str | None = None  # why the candidate has to be retrained after all
    criteria: dict[str, float] = field(default_factory=dict)  # natural values
    curve: dict[str, np.ndarray] = field(default_factory=dict)  # scores (sizes, splits) with the first landmarks only
    machine: LinearMachine | None = None  # where it is known without another pass over the rows

    @classmethod
    def unreached(cls, candidate: int) -> Row:
        """The row of a candidate for which there was no time."""
        return cls(candidate, exactness=Exactness.UNREACHED, status="not reached")

    @property
    def scored(self) -> bool:
        """Whether some metric has a number for every split."""
        return any(np.isfinite(scores).all() for scores in self.test.values())

    @property
    def open_bias(self) -> bool:
        """Whether its scores depend on a bias that the data leave open, and no training has told which one it is."""
        return OPEN_BIAS in self.status and self.exactness != Exactness.RETRAINED

    @property
    def finished(self) -> bool:
        """Whether a journal keeps the row: not if it failed, was not reached, or is still to be retrained."""
        return bool(self.test) and self.exactness not in (Exactness.FAILED, Exactness.UNREACHED)

    @property
    def left_out(self) -> bool:
        """Whether the candidate was left out on purpose: missing scores are no failure."""
        return self.exactness in (Exactness.PRUNED, Exactness.UNREACHED)

    def add_status(self, *remarks: str) -> None:
        """Say more of the outcome."""
        known = () if self.status == "ok" else (self.status,)
        self.status = "; ".join([*known, *remarks])

    def doubt(self, *remarks: str) -> None:
        """Say why an exact row is an approximate one."""
        self.add_status(*remarks)
        self.exactness = Exactness.APPROXIMATE if self.exactness == Exactness.EXACT else self.exactness

    def agrees(self, other: Row) -> bool:
        """Whether another row has the same scores on every split, those of training rows included."""
        return all(
            mine.keys() == theirs.keys()
            and all(np.allclose(mine[name], theirs[name], rtol=1e-6, atol=1e-6, equal_nan=True) for name in mine)
            for mine, theirs in ((self.test, other.test), (self.train, other.train))
        )

    def confirm(self) -> None:
        """Take note that training on every fold gives the same scores."""
        self.exactness, self.status = Exactness.EXACT, "confirmed by training on every fold"

    def fail(self, reason: str, splits: list[int]) -> None:
        """Mark some splits as impossible to train on."""
        self.failures.update(dict.fromkeys(splits, reason))
        self.exactness, self.status, self.values = Exactness.FAILED, reason.strip().splitlines()[-1], None


@dataclass(frozen=True)
class Entry:
    """A candidate: its number in the grid, and its penalty (one, or one per target)."""

    candidate: int
    penalties: tuple[float, ...]


@dataclass(frozen=True)
class Path(MachinePath):
    """Candidates that differ in regularisation only, and their ``numbers`` in the grid.

    ``transformed`` are targets that a machine sees in place of the given ones. ``class_weight`` and
    ``balance_weighted`` are those of the machine: rows that samplers make are weighed when they are there.
    """

    numbers: tuple[int, ...] = ()
    frozen: bool = False  # something that should learn from training rows has seen the test rows
    transformed: TransformedTargets | None = None
    class_weight: Hashable = None
    balance_weighted: bool = True

    def targets_of(self, view: View, number: int) -> Targets:
        """Targets and weights of the rows of the view of one split."""
        if view.labels is not None:
            coded, folds = self.coded.of_labels(view.labels), view.problem.folds
            weights = row_weights(
                self.class_weight, coded, folds, None, shared=False, balance_weighted=self.balance_weighted
            )
            return Targets(coded.Y, weights[0] if isinstance(weights, tuple) else weights)
        if self.transformed is not None and not self.transformed.shared:
            return self.transformed.of_split(self.targets, number).take(view.rows, 0)
        return self.targets.take(view.rows, number)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The candidates, one by one."""
        return tuple(map(Entry, self.numbers, self.penalties_of_candidates))

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
    basis: Basis | None = None  # of an approximation: of features that stand for the Gram matrix
    explicit: bool = False  # the rows are features, fewer than rows, whose products are the kernel

    @property
    def numbers(self) -> list[int]:
        """Numbers of all candidates of the task."""
        return [number for path in self.paths for number in path.numbers]

    @property
    def group(self) -> Hashable:
        """Equal for tasks that share inputs and base matrices."""
        return self.inputs, self.kernel.bases, self.explicit

    @property
    def squares(self) -> int:
        """n x n arrays that its paths need: those of the largest, and factors that other linear machines leave."""
        factorised = sum("smoother" in path.learner.offers for path in self.paths)
        return max(path.squares for path in self.paths) + max(factorised - 1, 0)

    def without(self, candidates: Container[int]) -> KernelTask:
        """The task less the paths whose candidates are all among the given ones."""
        left = [path for path in self.paths if not all(number in candidates for number in path.numbers)]
        return replace(self, paths=tuple(left))


@dataclass(frozen=True)
class Streaming:
    """How tasks on explicit features go through the rows: ``threads`` of a pass, and bytes that it may take.

    ``sums`` is where sums over the rows are kept, if there is a journal; ``seen`` are rows of which no more is there.
    """

    threads: int = 1
    budget: float = math.inf
    sums: SumsStore | None = None
    seen: SeenRows | None = None


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
    loss_weights: np.ndarray | None = None  # of tested rows in criteria with a loss
    score_weights: np.ndarray | None = None  # of tested rows in scores
    deadline: Deadline = field(default_factory=Deadline)
    streaming: Streaming = field(default_factory=Streaming)

    def after(self, rows: list[Row]) -> Settings:
        """Settings that know the scores of some rows: candidates that cannot beat a proved score may be pruned."""
        assert self.certify is not None
        known = [row for row in rows if row.exactness in (Exactness.EXACT, Exactness.CERTIFIED) and row.test]
        slacks = [row.error_bound if row.exactness == Exactness.CERTIFIED else 0.0 for row in known]
        lowest = [float(scores.mean()) - s for row, s in zip(known, slacks) for scores in row.test.values()]
        return replace(self, certify=self.certify.after([score for score in lowest if not np.isnan(score)]))

    def scored_rows(self, number: int, rows: np.ndarray) -> ScoredRows:
        """Some rows of split ``number``, to be scored."""
        train = self.folds.folds[number].train if self.pairwise else None
        return ScoredRows(self.X, self.y, self.labels, rows, train, self.present[number])


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
