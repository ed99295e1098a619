"""One kernel on explicit features: out-of-fold scores of its candidates from sums over the rows.

An approximation is another way to evaluate a task. Scores are those of training the approximated machine on every fold,
which their status says; nothing is ever retrained in the way of GridSearchCV, for which there are too many rows.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from traceback import format_exc
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..criteria.base import needs_no_machine
from ..data import Folds
from ..data.blocks import RowScan, UnreadableRowsError
from ..data.dask_rows import ClusterLostError
from ..data.feature_views import FeatureView, views_of_folds
from ..data.views import SupervisedError
from ..gram import FeatureGram
from ..gram.feature_map import FeatureMap
from ..gram.streamed import products
from ..machines import Exactness
from ..machines.primal import LinearPath, SplitSolution
from ..resources import Ledger
from ..resources.memory import human
from .evaluate import SharedGram, appraisal_of, evaluate_path, fail_single_class, failed_rows, write_criteria
from .feature_solver import SHARE, FeatureSolver
from .journal import JournalError
from .scorers import variance
from .scoring import NeedsRetrainingError
from .tasks import KernelTask, LinearMachine, Path, Row, Settings

Array = NDArray[np.float64]
Scores = dict[str, Array]
"""Scores by metric, (sizes, candidates, splits)."""

SplitScores = dict[int, dict[str, Array]]
"""Scores of splits: by their number and by metric, (sizes, candidates)."""

FEW_DIGITS = 1e-6
"""Share of the terms below which squared errors from sums have lost too many digits: they are taken from values."""


def evaluate_on_features(task: KernelTask, settings: Settings, ledger: Ledger, *, may_end: bool = False) -> list[Row]:
    """Scores of every candidate of one kernel. What goes wrong concerns these candidates only: they fail."""
    rows: list[Row] = []
    try:
        for path in task.paths:
            if settings.deadline.passed(may_end or any(row.scored for row in rows)):
                rows += [Row.unreached(entry.candidate) for entry in path.entries]
            elif settings.scored and settings.series is None:
                rows += _PathOnFeatures(task, path, settings, ledger).rows()
            else:
                rows += _PathOnFeatures(task, path, settings, ledger).judged_rows()
        return rows
    except NeedsRetrainingError as reason:
        raise ValueError(f"An approximation has out-of-fold values and no trained models, but {reason}.") from reason
    except (MemoryError, SupervisedError, JournalError, UnreadableRowsError, ClusterLostError):
        raise
    except Exception:
        if settings.raise_errors:
            raise
        return failed_rows(task, settings, format_exc())


@dataclass
class _PathOnFeatures:
    """Candidates that differ in regularisation only, on the features of one kernel."""

    task: KernelTask
    path: Path
    settings: Settings
    ledger: Ledger
    _solutions: list[SplitSolution] = field(default_factory=list)
    _whole: LinearPath | None = None  # trained on all rows, where that took no pass of its own

    @cached_property
    def _solver(self) -> FeatureSolver:
        return FeatureSolver(self.task, self.path, self.settings, self.ledger)

    def rows(self) -> list[Row]:
        """Rows with scores, and the scores with fewer landmarks; without ``scoring`` out-of-fold values instead."""
        start = time.perf_counter()
        scores, values = self._scores()
        seconds = (time.perf_counter() - start) / len(self.path.entries)
        rows = [self._row(k, seconds, scores, values) for k in range(len(self.path.entries))]
        for number in self._impossible:
            present = self.settings.present[number]
            assert present is not None
            fail_single_class(rows, present, [number], self.settings)
        if self.settings.criteria:
            appraisal = appraisal_of(self._grams(), self.path, self.settings, {})
            assert appraisal is not None
            appraisal.before_holding_out()
            appraisal.after_holding_out()
            write_criteria(rows, appraisal)
        return rows

    def _row(self, k: int, seconds: float, scores: Scores, values: list[Array]) -> Row:
        """The row of one candidate, with what its status has to say of the solution."""
        entry, solver = self.path.entries[k], self._solver
        row = Row(entry.candidate, fit_seconds=seconds, exactness=Exactness.APPROXIMATE, status=solver.basis.label)
        if self.path.frozen:
            row.add_status("shared preprocessing")
        used = np.searchsorted(self.path.penalties, entry.penalties)
        row.error_bound = max((float(s.bound[used].max()) for s in self._solutions if s.bound is not None), default=0.0)
        if any(solution.unsolved[used].any() for solution in self._solutions):
            row.add_status("the solver stopped before it had converged")
        self._say_smoothed(row)
        row.curve = {name: found[:, k] for name, found in scores.items()}  # (sizes, splits)
        row.test = {name: found[-1].copy() for name, found in row.curve.items()}
        row.values = [part[k] for part in values] or None
        if self._whole is not None:
            row.machine = LinearMachine(self._whole.coef[k], self._whole.intercept[k])
        return row

    def _say_smoothed(self, row: Row) -> None:
        """Say in the status of a row over how much its loss is smoothed, if it has kinks."""
        series = self.settings.series
        h = self._solver.primal.smoothed_over(None if series is None else series.h).half_width(self.path.targets.Y)
        if h is not None:
            row.add_status(f"the loss is smoothed over {h:g} on both sides of its kinks")

    def judged_rows(self) -> list[Row]:
        """Rows whose score is read off the features' Gram matrix, which is never formed: a criterion, or a series."""
        rows = evaluate_path(self._grams(), self.path, self.settings)
        trained = self.settings.scored or not all(map(needs_no_machine, self.settings.criteria))
        for row in rows:
            if row.retrain is not None:  # which nothing is, on features
                row.fail(row.retrain, list(range(len(self.settings.folds))))
                row.retrain = None
                continue
            row.exactness = Exactness.APPROXIMATE
            label = self._solver.basis.label
            row.add_status(label if self.settings.series is None else label.removeprefix("exact "))
            if trained:
                self._say_smoothed(row)
        return rows

    def _grams(self) -> SharedGram:
        """The Gram matrix of the features of all rows, for criteria: these have to fit into memory."""
        view = next(views_of_folds(self.task.inputs, self._solver.basis.landmarks, per_fold=False))
        feature_map = self._solver.feature_map(view)
        n, needed = self.task.inputs.folds.n, 4 * 8.0 * self.task.inputs.folds.n * feature_map.width
        if needed > self.settings.streaming.budget:
            raise ValueError(
                f"Criteria read the features of all {n:,} rows, about {human(needed)}: more than the memory budget of "
                f"{human(self.settings.streaming.budget)}. Use fewer landmarks, or raise memory_budget."
            )
        Z = feature_map(view.X[:]) if isinstance(view.X, RowScan) else feature_map(view.X)
        return SharedGram(self.task, FeatureGram(Z, view.folds, self.ledger), self.ledger)

    @property
    def _impossible(self) -> list[int]:
        """Splits that train on one class only."""
        return [i for i, present in enumerate(self.settings.present) if present is not None and len(present) < 2]

    def _scores(self) -> tuple[Scores, list[Array]]:
        """(scores, out-of-fold values (E, l, c) of each split); values only where no scores are asked for."""
        scoring = self.settings.scoring
        found: dict[int, dict[str, Array]] = {}  # of each split: {metric: (sizes, E)}
        values: dict[int, Array] = {}
        per_fold = self.task.inputs.per_fold(self.task.kernel)
        for view in views_of_folds(self.task.inputs, self._solver.basis.landmarks, per_fold=per_fold):
            feature_map = self._solver.feature_map(view)
            solved = self._solver.solve(view, feature_map)
            solutions = solved.splits
            self._solutions += solutions
            if solved.whole is not None:
                self._whole = self._candidates(solved.whole)
            if scoring is None:
                whole = [[self._candidates(solution.paths[-1])] for solution in solutions]
                values.update({number: part[0] for number, part in self._values(view, feature_map, whole).items()})
                continue
            scored = self._score_squares(view, solutions)
            if scored is None and self.settings.streaming.seen is not None:
                raise ValueError(
                    "Scores of rows that were seen before do not follow from their sums: weights of the machine are "
                    "not those of the scoring, or targets are so far from zero that digits were lost (subtract their "
                    "mean)."
                )
            found.update(scored or self._score_values(view, feature_map, solutions))
        if scoring is None:
            return {}, [values[number] for number in sorted(values)]
        for number in self._impossible:
            found[number] = {}
        splits = [found[number] for number in sorted(found)]
        names = list(dict.fromkeys(name for split in splits for name in split)) or list(scoring.metrics)
        error_score = np.nan if scoring.error_score == "raise" else scoring.error_score
        missing = np.full((len(self._solver.sizes), len(self.path.entries)), error_score, dtype=float)
        return {name: np.stack([split.get(name, missing) for split in splits], axis=-1) for name in names}, []

    # Scores from sums

    def _score_squares(self, view: FeatureView, solutions: list[SplitSolution]) -> SplitScores | None:
        """Scores of splits from squared errors alone; None where other metrics are asked for, or digits were lost."""
        scoring, weights = self.settings.scoring, self.path.targets.weights
        assert scoring is not None
        classes = self.path.coded.coding.classes is not None
        metrics = {name: metric.of_squares(classes) for name, metric in scoring.metrics.items()}
        if any(present is not None for present in self.settings.present) or isinstance(weights, tuple):
            return None
        if not all(metrics.values()) or not all(_same_weights(m.params, weights) for m in scoring.metrics.values()):
            return None
        if not all(solution.errors for solution in solutions) or self._fewest_tested(view.folds) < 2:
            return None
        if any((e.total < FEW_DIGITS * e.terms).any() or e.weight <= 0 for s in solutions for e in s.errors):
            return None
        scores = {}
        for number, fold, solution in zip(view.splits, view.folds, solutions):
            test = view.rows[fold.test]
            if self.settings.streaming.seen is None:
                spread = variance(self.path.targets.Y[test], None if weights is None else weights[test])
            else:
                spread = solution.errors[-1].spread
            missed = [self._of_entries(errors.total / errors.weight) for errors in solution.errors]
            scores[number] = {name: np.stack([metric(e, spread) for e in missed]) for name, metric in metrics.items()}
        return scores

    def _fewest_tested(self, folds: Folds) -> int:
        """How many rows a split tests, at least."""
        seen = self.settings.streaming.seen
        before = [0] * len(folds) if seen is None else seen.tested
        return min(int(earlier) + len(fold.test) for earlier, fold in zip(before, folds))

    def _of_entries(self, values: Array) -> Array:
        """Numbers (E, c) of the candidates from those of the distinct penalties (L, c)."""
        return np.asarray(self.path.of_candidates(values[:, None])[:, 0])

    # Scores from values

    def _score_values(self, view: FeatureView, feature_map: FeatureMap, solutions: list[SplitSolution]) -> SplitScores:
        """Scores of splits from out-of-fold values, of as many candidates at a time as fit into memory."""
        settings, coding = self.settings, self.path.coded.coding
        assert settings.scoring is not None
        E, c = len(self.path.entries), self.path.targets.Y.shape[1]
        tested = sum(len(fold.test) for fold in view.folds)
        most = max(1, int(SHARE * settings.streaming.budget / (8.0 * tested * c)))  # candidates, of any size
        sizes = list(range(len(self._solver.sizes)))
        parts = [sizes[first : first + max(1, most // E)] for first in range(0, len(sizes), max(1, most // E))]
        found: dict[int, list[dict[str, list[Array]]]] = {number: [{} for _ in sizes] for number in view.splits}
        for part in parts:
            for first in range(0, E, most):
                some = slice(first, first + most)
                paths = [[self._candidates(solution.paths[k], some) for k in part] for solution in solutions]
                for number, values in self._values(view, feature_map, paths).items():
                    if number in self._impossible:
                        continue
                    tested_rows = settings.scored_rows(number, settings.folds.folds[number].test)
                    for k, own in zip(part, values):
                        with self.ledger.record("scoring"):
                            scores = settings.scoring.path(tested_rows, own, coding)
                        for name, numbers in scores.items():
                            found[number][k].setdefault(name, []).append(numbers)
        return {
            number: {name: np.stack([np.concatenate(size[name]) for size in split]) for name in split[0]}
            for number, split in found.items()
        }

    def _values(
        self, view: FeatureView, feature_map: FeatureMap, paths: Sequence[Sequence[LinearPath]]
    ) -> dict[int, list[Array]]:
        """Out-of-fold values (E, l, c) of the splits of a view, for several machines of each split, from one pass."""
        stacked = [np.hstack([_padded(path.stacked, feature_map.width) for path in own]) for own in paths]
        with self.ledger.record("pass"):
            wanted = [(fold.test, B) for fold, B in zip(view.folds, stacked)]
            found = products(feature_map, view.X, wanted, threads=self.settings.streaming.threads)
        values = {}
        for number, own, part in zip(view.splits, paths, found):
            ends = np.cumsum([path.stacked.shape[1] for path in own])[:-1]
            values[number] = [path.values(columns) for path, columns in zip(own, np.split(part, ends, axis=1))]
        return values

    def _candidates(self, path: LinearPath, some: slice = slice(None)) -> LinearPath:
        """Coefficients of some candidates from those of the distinct penalties."""
        return LinearPath(self.path.of_candidates(path.coef)[some], self._of_entries(path.intercept)[some])


def _padded(B: Array, width: int) -> Array:
    """Coefficients of all features: zero for those that are not among the first."""
    return B if len(B) == width else np.vstack([B, np.zeros((width - len(B), B.shape[1]))])


def _same_weights(params: dict[str, Any], weights: Array | None) -> bool:
    """Whether a metric weighs rows as the machine does."""
    if not params:
        return weights is None
    return set(params) == {"sample_weight"} and weights is not None and np.array_equal(params["sample_weight"], weights)
