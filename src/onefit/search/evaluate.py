"""Everything that one kernel is asked for: out-of-fold values, then scores, for each of its candidates."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core import Exactness, Folds, Targets, Workspace
from ..core.coding import Coding
from ..core.machine import HeldOut, Learner
from ..kernels import Kernel
from .scoring import Scoring
from .views import Views


@dataclass(frozen=True)
class Entry:
    """A candidate: its number in the grid, and its ridge (one, or one per target)."""

    candidate: int
    ridges: tuple[float, ...]


@dataclass
class Path:
    """Candidates that differ in regularisation only."""

    learner: Learner
    targets: Targets
    frozen: bool = False  # something that should learn from training rows has seen the test rows
    entries: list[Entry] = field(default_factory=list)


@dataclass
class KernelTask:
    """One kernel on one set of views, with all paths that read it."""

    views: Views
    kernel: Kernel
    paths: list[Path] = field(default_factory=list)

    @property
    def candidates(self) -> list[int]:
        """Numbers of all candidates of the task."""
        return [entry.candidate for path in self.paths for entry in path.entries]


@dataclass(frozen=True)
class Settings:
    """What all tasks share."""

    X: Any
    y: np.ndarray
    folds: Folds
    coding: Coding
    scoring: Scoring | None
    present: list[np.ndarray | None]  # classes that each fold trains on
    order: float = np.inf
    scale_penalty: bool = False
    return_train_score: bool = False


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


def evaluate(task: KernelTask, settings: Settings) -> list[Row]:
    """Out-of-fold values and scores of every candidate of one kernel."""
    rows = []
    kernel = task.kernel.bound(task.views.n_features)
    workspaces = [Workspace(view.problem, kernel, readers=len(task.paths)) for view in task.views.views]
    for path in task.paths:
        rows += _evaluate_path(task.views, workspaces, path, settings)
    return rows


def _evaluate_path(views: Views, workspaces: list[Workspace], path: Path, settings: Settings) -> list[Row]:
    start = time.perf_counter()
    ridges = np.unique([ridge for entry in path.entries for ridge in entry.ridges])
    train = None
    if settings.return_train_score and settings.scoring is not None:
        train = _TrainScores(settings, settings.scoring, path, ridges)
    held = _heldout(views, workspaces, path, ridges, settings, train)
    seconds = time.perf_counter() - start
    rows = []
    values = [_of_candidates(path, ridges, part) for part in held.test]
    for k, entry in enumerate(path.entries):
        used = np.searchsorted(ridges, entry.ridges)
        row = Row(entry.candidate, fit_seconds=seconds / len(path.entries))
        row.error_bound = float(held.error[used].max())
        row.exactness = Exactness.EXACT if held.exact and not path.frozen else Exactness.APPROXIMATE
        row.status = "shared preprocessing" if path.frozen else "ok"
        row.values = [part[k] for part in values]
        if held.singular[used].any():
            row.retrain = "K + alpha I is singular to working precision"
        rows.append(row)
    if settings.scoring is not None:
        with views.views[0].problem.ledger.record("scoring"):
            _score(rows, values, settings, settings.scoring)
            _keep_best_values(rows)
        if train is not None:
            train.write(rows)
    return rows


def _keep_best_values(rows: list[Row]) -> None:
    """Forget the out-of-fold values of candidates that are best in no metric: only the best are asked for."""
    keep = set()
    for name in rows[0].test:
        means = np.array([row.test[name].mean() for row in rows])
        keep.add(int(np.argmax(np.where(np.isnan(means), -np.inf, means))))
    for k, row in enumerate(rows):
        row.values = [part.copy() for part in row.values] if k in keep and row.values else None


def _of_candidates(path: Path, ridges: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Values of the candidates (entries, l, c) from those of the distinct ridges (L, l, c)."""
    columns = np.arange(part.shape[2])
    chosen = np.array([np.broadcast_to(np.searchsorted(ridges, e.ridges), columns.shape) for e in path.entries])
    return part.transpose(0, 2, 1)[chosen, columns].transpose(0, 2, 1)


def _heldout(views, workspaces, path, ridges, settings, train) -> HeldOut:
    """Out-of-fold values over all views: what the learner says of each, put together."""
    options = {"scale_penalty": settings.scale_penalty, "order": settings.order}
    if not views.per_fold:
        report = None if train is None else train.add
        return path.learner.heldout(workspaces[0], path.targets, ridges, on_train=report, **options)
    parts = []
    for number, (view, ws) in enumerate(zip(views.views, workspaces)):
        report = None if train is None else train.of_fold(number)
        targets = path.targets.take(view.rows, number)
        parts.append(path.learner.heldout(ws, targets, ridges, on_train=report, **options))
    test = [part.test[0] for part in parts]
    if settings.folds.leave_one_out:
        order = np.argsort([fold.test[0] for fold in settings.folds])
        test = [np.concatenate([test[i] for i in order], axis=1)]
    return HeldOut(
        test,
        np.max([part.error for part in parts], axis=0),
        np.any([part.singular for part in parts], axis=0),
        all(part.exact for part in parts),
    )


def _score(rows: list[Row], values: list[np.ndarray], settings: Settings, scoring: Scoring) -> None:
    """Fill the rows' test scores, split by split."""
    folds = settings.folds
    start = time.perf_counter()
    if folds.leave_one_out:
        splits: list[tuple[Any, Any]] = [(np.arange(folds.n), _pooled_classes(values[0], settings))]
    else:
        splits = [(fold.test, present) for fold, present in zip(folds, settings.present)]
    columns: list[dict[str, np.ndarray]] = []
    for number, ((tested, present), part) in enumerate(zip(splits, values)):
        if present is not None and len(present) < 2:
            reason = f"the training rows have one class only: {present.tolist()}"
            columns.append(scoring.failed(len(rows), reason))
            for row in rows:
                row.failures[number] = f"ValueError: {reason}"
        else:
            columns.append(
                scoring.path(settings.X, settings.y, tested, part, settings.coding, present, pooled=folds.leave_one_out)
            )
    seconds = time.perf_counter() - start
    names = list(dict.fromkeys(name for column in columns for name in column))
    for k, row in enumerate(rows):
        row.score_seconds = seconds / len(rows)
        row.test = {n: np.array([c[n][k] if n in c else scoring.error_score for c in columns]) for n in names}


def _pooled_classes(values: np.ndarray, settings: Settings) -> np.ndarray | None:
    """The classes of pooled leave-one-out values (entries, n, c).

    A row whose class nobody else has cannot be predicted as that: its column is made the smallest. If one
    class remains to train on, there is no model, and that class is returned.
    """
    classes = settings.coding.classes
    for fold, present in zip(settings.folds, settings.present):
        if present is None or classes is None:
            continue
        if len(present) < 2:
            return present
        absent = ~np.isin(classes, present)
        values[:, fold.test[0], absent] = np.finfo(np.float64).min
    return None


class _TrainScores:
    """Scores of the training rows, taken as a learner reports them, so that they need not be kept."""

    def __init__(self, settings: Settings, scoring: Scoring, path: Path, ridges: np.ndarray) -> None:
        self.settings, self.scoring, self.path, self.ridges = settings, scoring, path, ridges
        self.scores: dict[str, np.ndarray] = {}
        self.pending: dict[int, np.ndarray] = {}

    def of_fold(self, fold: int):
        """The report function of a view that holds one fold."""
        return lambda _, positions, values: self.add(fold, positions, values)

    def add(self, fold: int, positions: np.ndarray, values: np.ndarray) -> None:
        """Take values (k, m, c) of some ridges; a fold is scored once all of its ridges are there."""
        if len(positions) < len(self.ridges):
            part = self.pending.setdefault(fold, np.full((len(self.ridges), *values.shape[1:]), np.nan))
            part[positions] = values
            if positions[-1] != len(self.ridges) - 1:  # ridges are reported in order
                return
            values = self.pending.pop(fold)
        settings, scoring = self.settings, self.scoring
        present = settings.present[fold]
        values = _of_candidates(self.path, self.ridges, values)
        if present is not None and len(present) < 2:
            scores = scoring.failed(len(values), "the training rows have one class only")
        else:
            train = settings.folds.folds[fold].train
            scores = scoring.path(settings.X, settings.y, train, values, settings.coding, present)
        for name, column in scores.items():
            shape = (len(column), len(settings.folds))
            self.scores.setdefault(name, np.full(shape, np.nan))[:, fold] = column

    def write(self, rows: list[Row]) -> None:
        """Give each row its scores; leave-one-out gets their mean."""
        for k, row in enumerate(rows):
            for name, scores in self.scores.items():
                pooled = self.settings.folds.leave_one_out
                row.train[name] = scores[k].mean(keepdims=True) if pooled else scores[k]
