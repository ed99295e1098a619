"""Everything that one kernel is asked for: out-of-fold values, then scores, for each of its candidates."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from traceback import format_exc
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exceptions import NotUnderstoodError
from ..criteria.base import Criterion
from ..data import Problem
from ..data.transformed_target import TransformedTargets
from ..data.views import SupervisedError, View, Views
from ..gram import DenseGram, FeatureGram, Gram
from ..kernels.parameters import variance_of
from ..machines import Exactness
from ..machines.contract import HeldOut, Series, equalise_left_out, hold_out
from ..machines.evidence import Evidence
from ..resources import Ledger
from .appraisal import Appraisal
from .certify import Referee
from .determinacy import label_undetermined
from .scoring import NeedsRetrainingError, ScoredRows, Scoring
from .tasks import Entry, KernelTask, Path, Row, Settings
from .train_scores import TrainScores

Array = NDArray[np.float64]

ROUNDED = "rounding is seen: the kernel times the penalty is too large; scale the features or use smaller penalties"


def evaluate(task: KernelTask, views: Views, settings: Settings, *, may_end: bool = False) -> list[Row]:
    """Out-of-fold values and scores of every candidate of one kernel.

    What goes wrong in transformers, kernels or factorisations concerns these candidates only: they are retrained, for
    it may concern some folds only, and those that then fail are as in GridSearchCV. Where a criterion takes the place
    of a score they fail. A lack of memory for n x n arrays is no fault of theirs, and is raised. Paths that are not
    begun before the deadline are not reached, if some candidate has a score; ``may_end`` says that one has.
    """
    grams = _KernelGrams(task, views)
    rows: list[Row] = []
    try:
        for path in task.paths:
            if settings.deadline.passed(may_end or any(row.scored for row in rows)):
                rows += map(Row.unreached, path.numbers)
            else:
                grams.fit_transformers()
                rows += evaluate_path(grams, path, settings)
        return rows
    except NotUnderstoodError as reason:
        if settings.scored:
            return [Row(number, retrain=str(reason)) for number in task.numbers]
        return failed_rows(task, settings, str(reason))
    except (NeedsRetrainingError, SupervisedError):
        raise
    except Exception as error:
        scarce = isinstance(error, MemoryError)
        if settings.scored and settings.scoring is not None and not scarce:
            text = f"{type(error).__name__}: {error}"  # failed: a journal does not keep it, and tries again
            return [Row(number, exactness=Exactness.FAILED, retrain=text) for number in task.numbers]
        if settings.raise_errors or (scarce and (task.inputs.transformers is None or views.made)):
            raise
        return failed_rows(task, settings, format_exc())


def failed_rows(task: KernelTask, settings: Settings, reason: str) -> list[Row]:
    """Rows of candidates that failed on every split, all for one reason."""
    rows = [Row(number) for number in task.numbers]
    for row in rows:
        row.fail(reason, list(range(len(settings.folds))))
    return rows


@dataclass
class SharedGram:
    """One Gram matrix for all splits, for criteria of explicit features."""

    task: KernelTask
    whole: FeatureGram
    ledger: Ledger
    judged: dict[Criterion, float] = field(default_factory=dict)

    @property
    def shared(self) -> FeatureGram:
        """The matrix of all rows, whatever the split."""
        return self.whole

    def each_fold(self) -> Iterator[tuple[View, Gram]]:
        """Nothing: splits have no rows of their own."""
        return iter(())


class _KernelGrams:
    """Gram matrices of a kernel: one that all paths share, or a new one whenever a fold's own is asked for."""

    def __init__(self, task: KernelTask, views: Views) -> None:
        self.task, self._views = task, views
        self.judged: dict[Criterion, float] = {}  # criteria of the kernel, whatever the machine

    @property
    def ledger(self) -> Ledger:
        return self._views.ledger

    def fit_transformers(self) -> None:
        """Make the rows as all folds see them, where these are kept: a transformer that fails is noticed first."""
        if self._views.keep_folds or not self.per_fold:
            self._views.of(self.task.kernel)

    @cached_property
    def shared(self) -> Gram | None:
        """The Gram matrix of all folds; None where every fold has one of its own."""
        return None if self.per_fold else self._new(self._views.of(self.task.kernel)[0].problem)

    @property
    def per_fold(self) -> bool:
        return self.task.inputs.per_fold(self.task.kernel)

    @cached_property
    def whole(self) -> Gram:
        """The Gram matrix of all rows, as a machine trained on all of them sees them."""
        if self.shared is not None:
            return self.shared
        return self._new(self._views.whole(self.task.kernel).problem)

    def each_fold(self) -> Iterator[tuple[View, Gram]]:
        """(view, its Gram matrix) of every fold; none is kept, so there is one at a time."""
        for view in self._views.each_fold(self.task.kernel):
            yield view, self._new(view.problem, view.problem.folds.folds[0].train)

    def _new(self, problem: Problem, train: np.ndarray | None = None) -> Gram:
        """A Gram matrix for training on all rows of a problem, or on some."""
        if self.task.explicit:
            return FeatureGram(problem.X, problem.folds, problem.ledger, problem.total)
        kernel, variance = self.task.kernel, None
        if kernel.follows_data:
            variance = variance_of(problem.X if train is None else problem.X[train])
        return DenseGram(problem, kernel.bound(problem.X.shape[1], variance))


def evaluate_path(grams: _KernelGrams | SharedGram, path: Path, settings: Settings) -> list[Row]:
    """Rows of candidates that differ in regularisation only."""
    start = time.perf_counter()
    known: dict[tuple[Series | None, bool], HeldOut] = {}
    appraisal = appraisal_of(grams, path, settings, known)
    if appraisal is not None:
        appraisal.before_holding_out()
    if not settings.scored:
        assert appraisal is not None
        appraisal.after_holding_out()
        rows = _judged_rows(appraisal, path, settings, time.perf_counter() - start)
        for row, entry in zip(rows, path.entries):
            _tell_limits(row, np.searchsorted(path.penalties, entry.penalties), known.values())
        write_criteria(rows, appraisal)
        return rows
    train = None
    if settings.return_train_score and settings.scoring is not None:
        train = TrainScores(settings, settings.scoring, path)
    referee = None
    if settings.certify is not None and grams.shared is not None and path.learner.certifies:
        referee = settings.certify.referee(path.coded, settings, len(path.penalties), grams.ledger)
    held = _hold_out(
        grams, path, train, referee, series=settings.series, scale_penalty=settings.scale_penalty,
        resolve_small=settings.scoring is None or not settings.scoring.averages_errors,
    )  # fmt: skip
    if referee is None:
        known[settings.series, settings.scale_penalty] = held
    if appraisal is not None:
        appraisal.after_holding_out()
    seconds = (time.perf_counter() - start) / len(path.entries)
    rows = [_new_row(entry, path, held, seconds, referee) for entry in path.entries]
    _score_rows(rows, held, path, settings, grams.ledger)
    if train is not None:
        train.write(rows)
    if appraisal is not None:
        write_criteria(rows, appraisal)
    return rows


def _score_rows(rows: list[Row], held: HeldOut, path: Path, settings: Settings, ledger: Ledger) -> None:
    """Give the rows their out-of-fold values (entries, l, c) of each split, or scores and the best rows' values."""
    values, slack = [path.of_candidates(part) for part in held.test], None
    if held.bias_slack is not None:
        slack = np.stack([path.of_candidates(part[:, None])[:, 0] for part in held.bias_slack])
    if path.transformed is not None:
        values, slack = _on_original_scale(rows, values, slack, path.transformed)
    for k, row in enumerate(rows):
        row.values = [part[k] for part in values]
    if settings.scoring is None:
        return
    usable = [k for k, row in enumerate(rows) if row.retrain is None]
    if usable:
        own, parts = [rows[k] for k in usable], [part[usable] for part in values]
        slack = None if slack is None else slack[:, usable]
        with ledger.record("scoring"):
            _score(own, parts, path, settings)
            label_undetermined(own, parts, slack, path, settings, settings.scoring)
    _keep_best_values(rows)


def _on_original_scale(
    rows: list[Row], values: list[Array], slack: Array | None, transformed: TransformedTargets
) -> tuple[list[Array], Array | None]:
    """Predictions and half the intervals of their biases from values (E, l, c), with error bounds of the rows."""
    splits, columns = len(transformed.folds), values[0].shape[2]
    bounds = np.array([row.error_bound for row in rows])
    error = np.broadcast_to(np.where(np.isfinite(bounds), bounds, 0.0)[:, None], (splits, len(rows), columns))
    for row, reach in zip(rows, transformed.reach(values, error).max(axis=0)):
        row.error_bound = float(reach) if np.isfinite(row.error_bound) else row.error_bound
    if slack is not None:
        slack = transformed.reach(values, slack)[:, :, None]
    return transformed.predictions(values), slack


def appraisal_of(grams: _KernelGrams | SharedGram, path: Path, settings: Settings, known: dict) -> Appraisal | None:
    """Appraisal of a path by all criteria; out-of-fold values that are ``known`` are not computed again."""
    if not settings.criteria:
        return None

    def out_of_fold(series: Series | None, scale_penalty: bool) -> HeldOut:
        if (series, scale_penalty) not in known:
            known[series, scale_penalty] = _hold_out(grams, path, series=series, scale_penalty=scale_penalty)
        return known[series, scale_penalty]

    evidence = Evidence(
        grams.whole, settings.target, path, out_of_fold, settings.present,
        loss_weights=settings.loss_weights, score_weights=settings.score_weights,
    )  # fmt: skip
    strict = [not settings.scored and number == 0 for number in range(len(settings.criteria))]
    return Appraisal(settings.criteria, evidence, grams.judged, strict)


def _judged_rows(appraisal: Appraisal, path: Path, settings: Settings, seconds: float) -> list[Row]:
    """Rows whose score is the first criterion, with scikit-learn's sign."""
    criterion, values = settings.criteria[0], appraisal.values[appraisal.names[0]]
    sign = 1.0 if criterion.greater_is_better else -1.0
    rows = []
    for number, value in zip(path.numbers, values):
        row = Row(number, {"score": np.array([sign * value])})
        row.exactness = Exactness.APPROXIMATE if path.frozen else criterion.exactness
        row.status = "shared preprocessing" if path.frozen else "ok"
        row.fit_seconds = seconds / len(path.entries)
        rows.append(row)
    return rows


def write_criteria(rows: list[Row], appraisal: Appraisal) -> None:
    """Natural values, and what is to be said of missing ones."""
    for k, row in enumerate(rows):
        row.criteria = {name: float(values[k]) for name, values in appraisal.values.items()}
        if any(np.isnan(value) for value in row.criteria.values()) and appraisal.remarks:
            row.add_status(*dict.fromkeys(appraisal.remarks))


def _new_row(entry: Entry, path: Path, held: HeldOut, seconds: float, referee: Referee | None) -> Row:
    used = np.searchsorted(path.penalties, entry.penalties)
    row = Row(entry.candidate, fit_seconds=seconds, error_bound=float(held.error[used].max()))
    row.exactness = Exactness.EXACT if held.exact and not path.frozen else Exactness.APPROXIMATE
    if referee is not None and referee.early[used[0]]:
        certified, row.error_bound = referee.outcome(used[0])
        row.exactness = certified if row.exactness == Exactness.EXACT else row.exactness
    row.status = "shared preprocessing" if path.frozen else "ok"
    if held.failed[used].any():
        row.retrain = held.reason
    else:
        _tell_limits(row, used, [held])
    return row


def _tell_limits(row: Row, used: np.ndarray, found: Iterable[HeldOut]) -> None:
    """Say that values at the penalties ``used`` are those of singular systems, or that rounding is seen in them."""
    for held in found:
        if held.least_squares is not None and held.least_squares[used].any():
            row.doubt(f"least-squares solution: {held.reason}")
            row.error_bound = np.inf  # the rank is a matter of rounding
            return
        if held.rounded is not None and held.rounded[used].any():
            row.doubt(held.rounding or ROUNDED)
            return


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


def _hold_out(
    grams: _KernelGrams | SharedGram,
    path: Path,
    train: TrainScores | None = None,
    judge: Referee | None = None,
    **options: Any,
) -> HeldOut:
    """Out-of-fold values of a path, from one view of all folds or from one view for each."""
    if grams.shared is not None:
        report = None if train is None else train.add
        return hold_out(
            path.learner, grams.shared, path.targets, path.penalties, on_train=report, judge=judge, **options
        )
    parts, folds, whole = [], grams.task.inputs.folds, None
    for number, (view, gram) in enumerate(grams.each_fold()):
        report = None if train is None else lambda _, *found, fold=number: train.add(fold, *found)
        targets, whole = path.targets_of(view, number), gram.problem.parent
        parts.append(hold_out(path.learner, gram, targets, path.penalties, on_train=report, **options))
    test = folds.pooled([part.test[0] for part in parts])
    if folds.leave_one_out and whole is not None:
        equalise_left_out(test[0], whole, path.targets)  # transformers may depend on the rows' order
    return HeldOut.of_views(parts, test)


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
        fail_single_class(rows, present, [number], settings)
        return {}
    return scoring.path(settings.scored_rows(number, settings.folds.folds[number].test), values, path.coded.coding)


def _score_pooled(
    rows: list[Row], values: np.ndarray, path: Path, settings: Settings, scoring: Scoring
) -> dict[str, np.ndarray]:
    """Leave-one-out scores of all rows at once, from values (entries, n, c).

    A row whose class nobody else has cannot be predicted as that: it is made to lose.
    """
    for number, present in enumerate(settings.present):
        if present is not None and len(present) < 2:
            fail_single_class(rows, present, [number], settings)
            return {}
    loss, coding = scoring.loss_scorer, path.coded.coding
    losses = None if loss is None else loss.pooled(coding, settings.labels, values, settings.present)
    path.coded.drop_absent(values, settings.folds, settings.present)
    if losses is not None:
        return {"score": losses}
    everything = np.arange(settings.folds.n)
    tested = ScoredRows(settings.X, settings.y, settings.labels, everything, pooled=True)
    return scoring.path(tested, values, path.coded.coding)


def fail_single_class(rows: list[Row], present: np.ndarray, splits: list[int], settings: Settings) -> None:
    """Mark splits whose training rows have one class only as failed, or raise an error."""
    folds = (settings.folds.folds[split] for split in splits)
    weighed = any(len(np.unique(settings.labels[fold.train])) > 1 for fold in folds)
    rows_of = "training rows of positive sample_weight" if weighed else "training rows"
    reason = f"ValueError: the {rows_of} have one class only: {present.tolist()}"
    if settings.raise_errors:
        raise ValueError(reason)
    for row in rows:
        row.fail(reason, splits)
