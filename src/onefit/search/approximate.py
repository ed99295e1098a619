"""One kernel on explicit features: out-of-fold scores of its candidates from sums over the rows.

An approximation is another way to evaluate a task. Scores are those of training the approximated machine on every fold,
which their status says; nothing is ever retrained in the way of GridSearchCV, for which there are too many rows.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from traceback import format_exc
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import Fold, Folds, Targets
from ..data.blocks import RowScan, UnreadableRowsError, scanned_variance
from ..data.feature_views import FeatureView, views_of_folds
from ..data.views import SupervisedError
from ..gram import FeatureGram
from ..gram.cells import Cells, divide_rows
from ..gram.feature_map import FeatureMap, smallest_pivot
from ..gram.streamed import LANES, PassRecord, products
from ..kernels import Precomputed
from ..kernels.parameters import variance_of
from ..losses.margin import LogisticLoss, SquaredHingeLoss
from ..machines import Exactness
from ..machines.contract import Machine
from ..resources import Ledger
from ..resources.memory import human
from ..solvers.least_squares.learner import SquareLoss
from ..solvers.logistic.learner import Logistic
from ..solvers.primal.least_squares import SplitSolution, SplitSolutions, solve_splits
from ..solvers.primal.newton import columns_by_newton
from ..solvers.primal.ridge_path import RidgePath
from ..solvers.primal.smoothed import SmoothedLoss, columns_smoothed, hinge_stages, tube_stages
from ..solvers.svm.epsilon_insensitive import EpsilonInsensitive
from ..solvers.svm.hinge import Hinge
from ..solvers.svm.squared_hinge import SquaredHinge
from .evaluate import FeatureGrams, appraisal_of, evaluate_path, fail_single_class, failed_rows, write_criteria
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

UNSOLVED = 1e-6
"""Error of decision values from which on a row says that its solution was not found."""

SHARE = 0.5
"""Part of the memory budget for sums, and for out-of-fold values."""


def refuse_on_features(machine: Machine) -> str | None:
    """Why a machine cannot be trained on explicit features; None if it can."""
    if not isinstance(machine.learner, SquareLoss | SquaredHinge | Logistic | Hinge | EpsilonInsensitive):
        return f"An approximation does not serve {machine.learner.name}."
    if isinstance(machine.learner, EpsilonInsensitive) and machine.learner.epsilon == 0:
        return "With an approximation epsilon must be positive: its loss is smoothed over a hundredth of it."
    if isinstance(machine.kernel, Precomputed):
        return "An approximation needs kernels of rows: a precomputed Gram matrix has none."
    if isinstance(machine.learner, SquareLoss) and min(machine.penalties) <= 0:
        return f"With an approximation alpha must be positive, got {min(machine.penalties):g}."
    return None


def evaluate_on_features(task: KernelTask, settings: Settings, ledger: Ledger, *, may_end: bool = False) -> list[Row]:
    """Scores of every candidate of one kernel. What goes wrong concerns these candidates only: they fail."""
    rows: list[Row] = []
    try:
        for path in task.paths:
            if settings.deadline.passed(may_end or any(row.scored for row in rows)):
                rows += [Row.unreached(entry.candidate) for entry in path.entries]
            elif settings.scored:
                rows += _PathOnFeatures(task, path, settings, ledger).rows()
            else:
                rows += _PathOnFeatures(task, path, settings, ledger).judged_rows()
        return rows
    except NeedsRetrainingError as reason:
        raise ValueError(f"An approximation has out-of-fold values and no trained models, but {reason}.") from reason
    except (MemoryError, SupervisedError, JournalError, UnreadableRowsError):
        raise
    except Exception:
        if settings.raise_errors:
            raise
        return failed_rows(task, settings, format_exc())


def train_on_all_rows(
    task: KernelTask, path: Path, settings: Settings, ledger: Ledger
) -> tuple[RidgePath, FeatureMap, Any]:
    """(coefficients, feature map, fitted transformers) of the machine trained on all rows: those of the only split."""
    run = _PathOnFeatures(task, path, settings, ledger)
    (view,) = views_of_folds(task.inputs, run._basis.landmarks, per_fold=True)
    feature_map = run._feature_map(view)
    (solution,) = run._solve(view, feature_map).splits
    return solution.paths[-1], feature_map, view.transformers


@dataclass
class _PathOnFeatures:
    """Candidates that differ in regularisation only, on the features of one kernel."""

    task: KernelTask
    path: Path
    settings: Settings
    ledger: Ledger
    _accuracy: Array | None = None  # (L,) of iterative solutions
    _bound: Array | None = None  # (L,) distance from the solution without smoothing, at most
    _whole: RidgePath | None = None  # trained on all rows, where that took no pass of its own

    def rows(self) -> list[Row]:
        """Rows with scores, and the scores with fewer landmarks; without ``scoring`` out-of-fold values instead."""
        start = time.perf_counter()
        scores, values = self._scores()
        seconds = (time.perf_counter() - start) / len(self.path.entries)
        rows = []
        accuracy = np.zeros(len(self.path.penalties)) if self._accuracy is None else self._accuracy
        for k, entry in enumerate(self.path.entries):
            row = Row(entry.candidate, fit_seconds=seconds, exactness=Exactness.APPROXIMATE, status=self._basis.label)
            if self.path.frozen:
                row.add_status("shared preprocessing")
            used = np.searchsorted(self.path.penalties, entry.penalties)
            row.error_bound = float((accuracy if self._bound is None else self._bound)[used].max())
            if accuracy[used].max() > UNSOLVED:
                row.add_status("the solver stopped before it had converged")
            if self._bound is not None:
                row.add_status(f"the loss is smoothed over {self._stages[-1].h:g} on both sides of its kinks")
            row.curve = {name: found[:, k] for name, found in scores.items()}  # (sizes, splits)
            row.test = {name: found[-1].copy() for name, found in row.curve.items()}
            row.values = [part[k] for part in values] or None
            if self._whole is not None:
                row.machine = LinearMachine(self._whole.coef[k], self._whole.intercept[k], self._negligible)
            rows.append(row)
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

    def judged_rows(self) -> list[Row]:
        """Rows whose score is a criterion of the features' Gram matrix, which is never formed."""
        rows = evaluate_path(self._grams(), self.path, self.settings)
        for row in rows:
            row.exactness = Exactness.APPROXIMATE
            row.add_status(self._basis.label)
        return rows

    def _grams(self) -> FeatureGrams:
        """The Gram matrix of the features of all rows, for criteria: these have to fit into memory."""
        view = next(views_of_folds(self.task.inputs, self._basis.landmarks, per_fold=False))
        feature_map = self._feature_map(view)
        n, needed = self.task.inputs.folds.n, 4 * 8.0 * self.task.inputs.folds.n * feature_map.width
        if needed > self.settings.streaming.budget:
            raise ValueError(
                f"Criteria read the features of all {n:,} rows, about {human(needed)}: more than the memory budget of "
                f"{human(self.settings.streaming.budget)}. Use fewer landmarks, or raise memory_budget."
            )
        Z = feature_map(view.X[:]) if isinstance(view.X, RowScan) else feature_map(view.X)
        return FeatureGrams(self.task, FeatureGram(Z, view.folds, self.ledger), self.ledger)

    @property
    def _impossible(self) -> list[int]:
        """Splits that train on one class only."""
        return [i for i, present in enumerate(self.settings.present) if present is not None and len(present) < 2]

    @property
    def _basis(self) -> Any:
        assert self.task.basis is not None
        return self.task.basis

    def _scores(self) -> tuple[Scores, list[Array]]:
        """(scores, out-of-fold values (E, l, c) of each split); values only where no scores are asked for."""
        scoring = self.settings.scoring
        found: dict[int, dict[str, Array]] = {}  # of each split: {metric: (sizes, E)}
        values: dict[int, Array] = {}
        per_fold = self.task.inputs.per_fold(self.task.kernel)
        for view in views_of_folds(self.task.inputs, self._basis.landmarks, per_fold=per_fold):
            feature_map = self._feature_map(view)
            solved = self._solve(view, feature_map)
            solutions = solved.splits
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
        missing = np.full((len(self._sizes), len(self.path.entries)), error_score, dtype=float)
        return {name: np.stack([split.get(name, missing) for split in splits], axis=-1) for name in names}, []

    def _feature_map(self, view: FeatureView) -> FeatureMap:
        kernel, variance_ = self.task.kernel, None
        if kernel.follows_data:
            variance_ = _variance(view.X, view.folds.folds[0] if len(view.folds) == 1 else None)
        d = view.X.shape[1]
        return self._basis.feature_map(kernel.bound(d, variance_), view.companions, d, self._negligible)

    @property
    def _negligible(self) -> float:
        """The pivot up to which landmarks are left out; rows that are added later change nothing about it."""
        seen = self.settings.streaming.seen
        n = self.task.inputs.folds.n if seen is None else seen.first
        return smallest_pivot(n, smallest_ridge(self.path))

    @property
    def _sizes(self) -> tuple[int, ...]:
        """Numbers of landmarks for which there are scores; of iterative solutions all landmarks only."""
        return self._basis.sizes if isinstance(self.path.learner, SquareLoss) else self._basis.sizes[-1:]

    def _solve(self, view: FeatureView, feature_map: FeatureMap) -> SplitSolutions:
        """Coefficients of every candidate, split and number of landmarks."""
        targets = self.path.targets.take(view.rows, view.splits[0]) if len(view.splits) == 1 else self.path.targets
        groups = divide_rows(view.folds, targets, self._most_cells(feature_map.width))
        widths = [feature_map.leading(size) or feature_map.width for size in self._sizes]
        shares = self._training_shares(view.folds) if self.settings.scale_penalty else [1.0] * len(view.folds)
        if not isinstance(self.path.learner, SquareLoss):
            return SplitSolutions(self._solve_by_newton(view, feature_map, targets, groups, np.array(shares)))
        records = [self._record(view, feature_map, targets.Y, cells) for cells in groups]
        with self.ledger.record("heldout"):
            solutions = solve_splits(
                feature_map, view.X, targets.Y, groups, self.path.penalties, bias=self.path.learner.bias,
                widths=widths, shares=shares, threads=self.settings.streaming.threads, records=records,
                on_all_rows=self.task.inputs.transformers is None and not self.task.inputs.per_fold(self.task.kernel),
            )  # fmt: skip
        self.ledger.add("pass", len(groups), 0.0)
        return solutions

    def _training_shares(self, folds: Folds) -> list[float]:
        """The share of all rows that each split trains on."""
        total, seen = self.task.inputs.folds.n, self.settings.streaming.seen
        if seen is None:
            return [len(fold.train) / total for fold in folds]
        return [1.0 - (before + len(fold.test)) / (seen.n + total) for before, fold in zip(seen.tested, folds)]

    def _record(self, view: FeatureView, feature_map: FeatureMap, Y: Array, cells: Cells) -> PassRecord | None:
        """Where the sums of a pass are kept; None without a journal."""
        sums = self.settings.streaming.sums
        if sums is None:
            return None
        key = f"{self.path.entries[0].candidate}/{view.splits[0]}/{cells.splits[0]}"
        return sums.of_pass(key, (feature_map.width, Y, cells.number, cells.share, cells.weights))

    def _solve_by_newton(
        self, view: FeatureView, feature_map: FeatureMap, targets: Targets, groups: list[Cells], shares: Array
    ) -> list[SplitSolution]:
        """Coefficients of every candidate and split, for losses of classes; C grows as ridges shrink."""
        learner, bias = self.path.learner, self.path.learner.bias
        common: dict[str, Any] = {"bias": bias, "ratios": 1.0 / shares, "threads": self.settings.streaming.threads}
        given = (feature_map, view.X, targets.Y, groups, self.path.penalties)
        with self.ledger.record("heldout"):
            if isinstance(learner, Hinge | EpsilonInsensitive):
                pairs = isinstance(learner, Hinge)
                found, decrement, gap, passes = columns_smoothed(*given, self._stages, pairs=pairs, **common)
                bound = np.sqrt(2.0 * gap.max(axis=(0, 2)))
                self._bound = bound if self._bound is None else np.maximum(bound, self._bound)
            else:
                loss = SquaredHingeLoss() if isinstance(learner, SquaredHinge) else LogisticLoss()
                found, decrement, passes = columns_by_newton(*given, loss, **common)
        self.ledger.add("pass", passes, 0.0)
        accuracy = np.sqrt(decrement.max(axis=2))  # (splits, L)
        worst = accuracy.max(axis=0)
        self._accuracy = worst if self._accuracy is None else np.maximum(worst, self._accuracy)
        coef, constant = (found[:, :, :-1], found[:, :, -1]) if bias else (found, np.zeros_like(found[:, :, 0]))
        return [SplitSolution([RidgePath(*own)], accuracy=bound) for *own, bound in zip(coef, constant, accuracy)]

    @cached_property
    def _stages(self) -> list[SmoothedLoss]:
        """The loss with kinks, smoothed over less and less."""
        learner = self.path.learner
        if isinstance(learner, EpsilonInsensitive):
            return tube_stages(learner.epsilon, float(self.path.targets.Y.std()))
        return hinge_stages()

    def _most_cells(self, width: int) -> int:
        """Cells whose sums fit into the memory budget; an error if not even two do."""
        needed, budget = 8.0 * width**2 * (LANES + 1), self.settings.streaming.budget
        most = int(SHARE * budget / needed)
        if most < 2:
            raise ValueError(
                f"Sums of {width} features need {human(2 * needed / SHARE)} at least, more than the memory budget of "
                f"{human(budget)}. Use fewer landmarks or features, or raise memory_budget."
            )
        return most

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
        sizes = list(range(len(self._sizes)))
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
        self, view: FeatureView, feature_map: FeatureMap, paths: Sequence[Sequence[RidgePath]]
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

    def _candidates(self, path: RidgePath, some: slice = slice(None)) -> RidgePath:
        """Coefficients of some candidates from those of the distinct penalties."""
        return RidgePath(self.path.of_candidates(path.coef)[some], self._of_entries(path.intercept)[some])


def smallest_ridge(path: Path) -> float:
    """The smallest ridge of the candidates, or what stands for one in the dual of the squared hinge loss."""
    if isinstance(path.learner, SquareLoss):
        return float(path.penalties.min())
    return 0.5 / float(path.penalties.max())


def _variance(X: Any, fold: Fold | None) -> float:
    """The variance of the rows that a fold trains on, or of all."""
    if isinstance(X, RowScan):
        return scanned_variance(X, None if fold is None else fold.counts > 0)
    return variance_of(X if fold is None else X[fold.train])


def _padded(B: Array, width: int) -> Array:
    """Coefficients of all features: zero for those that are not among the first."""
    return B if len(B) == width else np.vstack([B, np.zeros((width - len(B), B.shape[1]))])


def _same_weights(params: dict[str, Any], weights: Array | None) -> bool:
    """Whether a metric weighs rows as the machine does."""
    if not params:
        return weights is None
    return set(params) == {"sample_weight"} and weights is not None and np.array_equal(params["sample_weight"], weights)
