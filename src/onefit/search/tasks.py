"""What is to be evaluated, and what comes out of it."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field, replace
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
from .scoring import Scoring, Tested
from .views import ViewSource

OPEN_BIAS = "the bias is not determined: no coefficient is free, and the scores depend on where in its interval it is"
"""Status of rows whose values have the middle of the interval of all optimal biases."""


@dataclass(frozen=True)
class Entry:
    """A candidate: its number in the grid, and its penalty (one, or one per target)."""

    candidate: int
    penalties: tuple[float, ...]


@dataclass
class Path:
    """Candidates that differ in regularisation only."""

    learner: Learner
    targets: Targets
    coded: CodedTargets
    frozen: bool = False  # something that should learn from training rows has seen the test rows
    entries: list[Entry] = field(default_factory=list)

    @property
    def trained(self) -> Trained:
        """The candidates as criteria see them."""
        return Trained(self.learner, self.targets, self.coded, tuple(entry.penalties for entry in self.entries))

    @property
    def squares(self) -> int:
        """n x n arrays that its learner needs."""
        return self.learner.squares(self.targets.Y.shape[1])


@dataclass
class KernelTask:
    """One kernel on one set of views, with all paths that read it."""

    source: ViewSource
    kernel: Kernel
    paths: list[Path] = field(default_factory=list)

    @property
    def candidates(self) -> list[int]:
        """Numbers of all candidates of the task."""
        return [entry.candidate for path in self.paths for entry in path.entries]

    @property
    def squares(self) -> int:
        """n x n arrays that its paths need: those of the largest, and factors that other linear machines leave."""
        factorised = sum("smoother" in path.learner.offers for path in self.paths)
        return max(path.squares for path in self.paths) + max(factorised - 1, 0)

    def without(self, candidates: Container[int]) -> KernelTask:
        """The same without the paths whose candidates are all among the given ones."""
        left = [path for path in self.paths if not all(entry.candidate in candidates for entry in path.entries)]
        return replace(self, paths=left)


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
    coded: CodedTargets | None = None  # how they are read
    retrain: str | None = None  # why the candidate has to be retrained after all
    criteria: dict[str, float] = field(default_factory=dict)  # natural values

    @classmethod
    def unreached(cls, candidate: int) -> Row:
        """Of a candidate for which there was no time."""
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


def _slack(row: Row) -> float:
    """How much lower than its mean score that of retraining may be."""
    return row.error_bound if row.exactness == Exactness.CERTIFIED else 0.0
