"""What is to be evaluated, and what comes out of it."""

from __future__ import annotations

from collections.abc import Container, Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core import Exactness, Folds, Targets
from ..core.coding import CodedTargets
from ..core.evidence import Trained
from ..core.labels import Labels
from ..core.machine import Learner, Series
from ..criteria.base import Criterion
from ..kernels import Kernel
from .certify import Certify
from .deadline import Deadline
from .row import Row
from .scoring import Scoring, Tested
from .views import Inputs


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
    def trained(self) -> Trained:
        """The candidates as criteria see them."""
        return Trained(self.learner, self.targets, self.coded, tuple(entry.penalties for entry in self.entries))

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
class Settings:
    """What all tasks share: the data as given, the validated labels, and what to compute.

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
    single: bool = False  # Gram matrices of support vector machines in single precision
    return_train_score: bool = False
    pairwise: bool = False  # X is a precomputed Gram matrix
    raise_errors: bool = False
    criteria: tuple[Criterion, ...] = ()
    scored: bool = True
    target: Labels | None = None  # as criteria without a machine read it
    deadline: Deadline | None = None

    def after(self, rows: list[Row]) -> Settings:
        """The same once the scores of some rows are known: what is proved may prune later ones."""
        assert self.certify is not None
        known = [row for row in rows if row.exactness in (Exactness.EXACT, Exactness.CERTIFIED) and row.test]
        lowest = [float(scores.mean()) - _slack(row) for row in known for scores in row.test.values()]  # one metric
        return replace(self, certify=self.certify.after([score for score in lowest if not np.isnan(score)]))

    def tested(self, number: int, rows: np.ndarray) -> Tested:
        """What is scored on split ``number``."""
        train = self.folds.folds[number].train if self.pairwise else None
        return Tested(self.X, self.y, self.labels, rows, train, self.present[number])


def _slack(row: Row) -> float:
    """How much lower than its mean score that of retraining may be."""
    return row.error_bound if row.exactness == Exactness.CERTIFIED else 0.0
