"""Everything that one kernel is asked for: out-of-fold values, then scores, for each of its candidates."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from traceback import format_exc
from typing import Any

import numpy as np

from ..core import Exactness, Folds, Ledger, Targets, Workspace
from ..core.coding import CodedTargets
from ..core.machine import HeldOut, Learner, NotUnderstoodError, Series
from ..kernels import Kernel
from ..kernels.gamma import variance_of
from .certify import Certify
from .referee import Referee
from .scoring import NeedsRetrainingError, Scoring, Tested
from .views import SupervisedError, Views, ViewSource


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


@dataclass(frozen=True)
class Settings:
    """What all tasks share: the data as given, the validated labels, and what to compute."""

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

    def after(self, rows: list[Row]) -> Settings:
        """The same once the scores of some rows are known: what is proved may prune later ones."""
        assert self.certify is not None
        known = [row for row in rows if row.exactness in (Exactness.EXACT, Exactness.CERTIFIED) and row.test]
        lowest = [float(row.test["score"].mean()) - _slack(row) for row in known]
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

    def fail(self, reason: str, splits: list[int]) -> None:
        """Mark some splits as impossible to train on."""
        self.failures.update(dict.fromkeys(splits, reason))
        self.exactness, self.status, self.values = Exactness.FAILED, reason.strip().splitlines()[-1], None


def _slack(row: Row) -> float:
    """How much lower than its mean score that of retraining may be."""
    return row.error_bound if row.exactness == Exactness.CERTIFIED else 0.0


def evaluate(task: KernelTask, settings: Settings) -> list[Row]:
    """Out-of-fold values and scores of every candidate of one kernel.

    What goes wrong in transformers, kernels or factorisations fails these candidates only, as in
    GridSearchCV, unless ``raise_errors``.
    """
    try:
        views = task.source.views(apart=task.kernel.follows_data)
        spaces = _Spaces(task, views, settings.single)
        return [row for path in task.paths for row in _evaluate_path(spaces, path, settings)]
    except NotUnderstoodError as reason:
        return [Row(number, retrain=str(reason)) for number in task.candidates]
    except (NeedsRetrainingError, SupervisedError):
        raise
    except Exception:
        if settings.raise_errors:
            raise
        rows = [Row(number) for number in task.candidates]
        for row in rows:
            row.fail(format_exc(), list(range(len(settings.folds))))
        return rows


class _Spaces:
    """The workspaces of a kernel: one that all paths share, or a new one whenever a fold's own is asked for."""

    def __init__(self, task: KernelTask, views: Views, single: bool) -> None:
        self.task, self.views, self.single = task, views, single
        self.shared = None if views.per_fold else self._new(0, readers=len(task.paths))

    @property
    def ledger(self) -> Ledger:
        return self.views.views[0].problem.ledger

    def of_fold(self, number: int) -> Workspace:
        """That of one fold; it is not kept, so there is one at a time."""
        return self._new(number, readers=1)

    def _new(self, number: int, readers: int) -> Workspace:
        problem = self.views.views[number].problem
        kernel = self.task.kernel
        variance = None
        if kernel.follows_data:
            variance = variance_of(problem.X[problem.folds.folds[0].train] if self.views.per_fold else problem.X)
        return Workspace(problem, kernel.bound(problem.X.shape[1], variance), readers, self.single)


def _evaluate_path(spaces: _Spaces, path: Path, settings: Settings) -> list[Row]:
    start = time.perf_counter()
    penalties = np.unique([penalty for entry in path.entries for penalty in entry.penalties])
    train = None
    if settings.return_train_score and settings.scoring is not None:
        train = _TrainScores(settings, settings.scoring, path, penalties)
    referee = None
    if settings.certify is not None and spaces.shared is not None and path.learner.certifies:
        referee = settings.certify.referee(path.coded, settings, len(penalties), spaces.ledger)
    held = _heldout(spaces, path, penalties, settings, train, referee)
    seconds = time.perf_counter() - start
    values = [_of_candidates(path.entries, penalties, part) for part in held.test]
    rows = [_new_row(entry, path, penalties, held, seconds / len(path.entries), referee) for entry in path.entries]
    for k, row in enumerate(rows):
        row.values = [part[k] for part in values]
    if settings.scoring is not None:
        usable = [k for k, row in enumerate(rows) if row.retrain is None]
        if usable:
            with spaces.ledger.record("scoring"):
                _score([rows[k] for k in usable], [part[usable] for part in values], path, settings)
        _keep_best_values(rows)
        if train is not None:
            train.write(rows)
    return rows


def _new_row(
    entry: Entry, path: Path, penalties: np.ndarray, held: HeldOut, seconds: float, referee: Referee | None
) -> Row:
    used = np.searchsorted(penalties, entry.penalties)
    row = Row(entry.candidate, coded=path.coded, fit_seconds=seconds, error_bound=float(held.error[used].max()))
    row.exactness = Exactness.EXACT if held.exact and not path.frozen else Exactness.APPROXIMATE
    if referee is not None and referee.early[used[0]]:
        certified, row.error_bound = referee.outcome(used[0])
        row.exactness = certified if row.exactness == Exactness.EXACT else row.exactness
    row.status = "shared preprocessing" if path.frozen else "ok"
    if held.failed[used].any():
        row.retrain = held.reason
    return row


def _keep_best_values(rows: list[Row]) -> None:
    """Forget the out-of-fold values of candidates that are best in no metric: only the best are asked for."""
    keep = set()
    scored = [row for row in rows if row.test]
    for name in scored[0].test if scored else ():
        means = [row.test[name].mean() for row in scored]
        keep.add(scored[int(np.argmax(np.where(np.isnan(means), -np.inf, means)))].candidate)
    keep -= {row.candidate for row in rows if row.exactness in (Exactness.CERTIFIED, Exactness.PRUNED)}  # not exact
    for row in rows:
        row.values = [part.copy() for part in row.values] if row.values and row.candidate in keep else None


def _of_candidates(entries: list[Entry], penalties: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Values of the candidates (entries, l, c) from those of the distinct penalties (L, l, c)."""
    columns = np.arange(part.shape[2])
    chosen = np.array([np.broadcast_to(np.searchsorted(penalties, e.penalties), columns.shape) for e in entries])
    return part.transpose(0, 2, 1)[chosen, columns].transpose(0, 2, 1)


def _heldout(spaces, path, penalties, settings, train, judge) -> HeldOut:
    """Out-of-fold values over all views: what the learner says of each, put together."""
    options = {
        "scale_penalty": settings.scale_penalty,
        "series": settings.series,
        "resolve_small": settings.scoring is None or not settings.scoring.averages_errors,
    }
    if spaces.shared is not None:
        report = None if train is None else train.add
        return path.learner.heldout(spaces.shared, path.targets, penalties, on_train=report, judge=judge, **options)
    parts = []
    for number, view in enumerate(spaces.views.views):
        report = None if train is None else train.of_fold(number)
        targets = path.targets.take(view.rows, number)
        parts.append(path.learner.heldout(spaces.of_fold(number), targets, penalties, on_train=report, **options))
    test = [part.test[0] for part in parts]
    if settings.folds.leave_one_out:
        order = np.argsort([fold.test[0] for fold in settings.folds])
        test = [np.concatenate([test[i] for i in order], axis=1)]
    return HeldOut(
        test,
        np.max([part.error for part in parts], axis=0),
        np.any([part.failed for part in parts], axis=0),
        all(part.exact for part in parts),
        parts[0].reason,
    )


def _score(rows: list[Row], values: list[np.ndarray], path: Path, settings: Settings) -> None:
    """Fill the rows' test scores, split by split."""
    start = time.perf_counter()
    scoring = settings.scoring
    assert scoring is not None
    if settings.folds.leave_one_out:
        columns = [_score_pooled(rows, values[0], path, settings, scoring)]
    else:
        columns = [_score_split(i, rows, part, path, settings, scoring) for i, part in enumerate(values)]
    seconds = time.perf_counter() - start
    names = list(dict.fromkeys(name for column in columns for name in column)) or list(scoring.metrics)
    for k, row in enumerate(rows):
        row.score_seconds = seconds / len(rows)
        row.test = {n: np.array([c[n][k] if n in c else scoring.error_score for c in columns]) for n in names}


def _score_split(
    number: int, rows: list[Row], values: np.ndarray, path: Path, settings: Settings, scoring: Scoring
) -> dict[str, np.ndarray]:
    """Scores of one split; none where it cannot be trained on."""
    present = settings.present[number]
    if present is not None and len(present) < 2:
        _fail_single_class(rows, present, [number], settings)
        return {}
    return scoring.path(settings.tested(number, settings.folds.folds[number].test), values, path.coded.coding)


def _score_pooled(
    rows: list[Row], values: np.ndarray, path: Path, settings: Settings, scoring: Scoring
) -> dict[str, np.ndarray]:
    """Leave-one-out scores of all rows at once, from values (entries, n, c).

    A row whose class nobody else has cannot be predicted as that: it is made to lose.
    """
    for number, present in enumerate(settings.present):
        if present is not None and len(present) < 2:
            _fail_single_class(rows, present, [number], settings)
            return {}
    path.coded.drop_absent(values, settings.folds, settings.present)
    everything = np.arange(settings.folds.n)
    tested = Tested(settings.X, settings.y, settings.labels, everything, pooled=True)
    return scoring.path(tested, values, path.coded.coding)


def _fail_single_class(rows: list[Row], present: np.ndarray, splits: list[int], settings: Settings) -> None:
    reason = f"ValueError: the training rows have one class only: {present.tolist()}"
    if settings.raise_errors:
        raise ValueError(reason)
    for row in rows:
        row.fail(reason, splits)


class _TrainScores:
    """Scores of the training rows, taken as a learner reports them, so that they need not be kept."""

    def __init__(self, settings: Settings, scoring: Scoring, path: Path, penalties: np.ndarray) -> None:
        self.settings, self.scoring, self.path, self.penalties = settings, scoring, path, penalties
        self.scores: dict[str, np.ndarray] = {}
        self.pending: dict[int, np.ndarray] = {}

    def of_fold(self, fold: int):
        """The report function of a view that holds one fold."""
        return lambda _, positions, values: self.add(fold, positions, values)

    def add(self, fold: int, positions: np.ndarray, values: np.ndarray) -> None:
        """Take values (k, m, c) of some penalties; a fold is scored once all of its penalties are there."""
        if len(positions) < len(self.penalties):
            part = self.pending.setdefault(fold, np.full((len(self.penalties), *values.shape[1:]), np.nan))
            part[positions] = values
            if positions[-1] != len(self.penalties) - 1:  # penalties are reported in order
                return
            values = self.pending.pop(fold)
        present = self.settings.present[fold]
        values = _of_candidates(self.path.entries, self.penalties, values)
        good = np.isfinite(values).any(axis=(1, 2))  # a singular candidate, which is retrained, has no value at all
        if (present is not None and len(present) < 2) or not good.any():
            return
        tested = self.settings.tested(fold, self.settings.folds.folds[fold].train)
        for name, column in self.scoring.path(tested, values[good], self.path.coded.coding).items():
            shape = (len(values), len(self.settings.folds))
            missing = np.nan if self.scoring.error_score == "raise" else self.scoring.error_score
            self.scores.setdefault(name, np.full(shape, missing, dtype=float))[good, fold] = column

    def write(self, rows: list[Row]) -> None:
        """Give each row its scores; leave-one-out gets their mean."""
        for k, row in enumerate(rows):
            for name, scores in self.scores.items():
                pooled = self.settings.folds.leave_one_out
                row.train[name] = scores[k].mean(keepdims=True) if pooled else scores[k]
