"""One evaluation of all candidates of a search: what is planned, what has finished."""

from __future__ import annotations

import logging
import warnings
from contextlib import suppress
from dataclasses import replace

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.utils import get_tags

from ..core import Exactness, Ledger
from ..core.coding import CodedTargets
from ..criteria.base import situation_of
from ..search.appraisal import column_names
from ..search.certify import Certify, check_certifiable
from ..search.deadline import Deadline, TimeBudgetWarning
from ..search.executors import Executor
from ..search.journal import Journal, JournalError, Record
from ..search.ordering import order_tasks, spread_tasks, waves
from ..search.planning import Preparation, warn_retraining
from ..search.progress import Progress
from ..search.resources import allot
from ..search.results import build_table
from ..search.resuming import record_of
from ..search.retraining import Retraining, retrained_row, scaled_penalty
from ..search.row import Row
from ..search.scoring import NeedsRetrainingError, Tested
from ..search.screening import Screen
from ..search.strategies import Strategy

LOGGER = logging.getLogger("onefit")


class SearchRun:
    """Candidates in, one row each out; rows that are finished survive an interruption."""

    def __init__(
        self, search, X, y, folds, routed, scoring, criteria, context,
        strategy: Strategy, deadline: Deadline | None = None,
    ):  # fmt: skip
        self.search, self.X, self.y, self.folds = search, X, y, folds
        self.routed, self.scoring, self.context = routed, scoring, context
        self.progress = Progress(search, context, X, y, folds, routed.estimator.get("sample_weight"))
        self.strategy, self.deadline = strategy, deadline
        self.record: Record | None = None
        self.criterion = criteria[0]
        self.columns = tuple(criteria[self.criterion.scores :])  # what is not a score of out-of-fold values
        self.screen = Screen.of(search.screen)
        self.candidates = list(strategy.propose([], []))
        self.rounds = [0] * len(self.candidates)
        self.same_as: dict[int, int] = {}
        self.rows: dict[int, Row] = {}
        self.proved = -np.inf  # the best score that certificates have proved
        self.preparation = Preparation(
            search.estimator, X, y, folds, routed.estimator, search.preprocessing, search.return_train_score,
            whole=bool(self.columns),
        )  # fmt: skip
        self.ledger = Ledger()
        self.coded: dict[int, CodedTargets] = {}  # how the values of candidates with a fast path are read
        self.scale_penalty = bool(search.scale_penalty or getattr(self.criterion, "scale_penalty", False))

    def resume(self, journal: Journal | None):
        """Go on from what the journal knows of this very search, and enter there what will be finished."""
        if journal is not None:
            self.record = record_of(self, journal)

    def evaluate(self):
        """Fill ``rows``, round by round, until the strategy proposes nothing more or time is over."""
        self._evaluate_from(0)
        while proposed := self.strategy.propose(self.candidates, self._scores()):
            if self.deadline is not None and self.deadline.passed():
                break
            first = len(self.candidates)
            self.candidates += proposed
            self.rounds += [self.rounds[-1] + 1] * len(proposed)
            self._announce_round()
            self._evaluate_from(first)
        self.progress.end()
        self._warn_out_of_time(len(proposed))

    def _evaluate_from(self, first):
        """The candidates from this number on: kernel by kernel, then what has to be retrained."""
        search = self.search
        tasks = self.refuse(first)
        self.certify = self._certify(tasks)
        resources = allot(tasks, search.n_jobs, search.memory_budget, criteria=bool(self.columns))
        self.executor = Executor(resources, search.pre_dispatch)
        if self.scale_penalty and (self.plan.retrain or self.plan.refused):
            scaled_penalty(search.estimator, 1.0)  # an error now if there is no penalty to scale
        warn_retraining(self.plan.retrain, len(self.candidates), depth=6)
        self._announce(tasks, first)
        if tasks:
            self.settings = self._settings()
        if self.screen is not None and len(tasks) > self.screen.keep:
            tasks = self._keep_best(tasks)
        if tasks:
            self._run_kernels(tasks)
        del self.executor  # and the base matrices that it keeps
        self._retrain_rest()
        for row in self.finished()[first:]:  # also what repeats others, was pruned or failed
            self.progress.tell(row, self.candidates[row.candidate])

    def _scores(self):
        """The mean score of every candidate, by which the next round is proposed."""
        metric = self.search.refit
        rows = self.finished()
        if not isinstance(metric, str) or not any(metric in row.test for row in rows):
            metric = next((name for row in rows for name in row.test), None)
        return [float(np.mean(row.test.get(metric, np.nan))) for row in rows]

    def refuse(self, first=0):
        """Plan: the tasks in order, or an error if a criterion is not defined for some candidate, before any work."""
        self.plan = self.preparation.plan(self.candidates[first:], first)
        self.same_as.update(self.plan.same_as)
        paths = [path for task in self.plan.tasks for path in task.paths]
        self.coded.update({entry.candidate: path.coded for path in paths for entry in path.entries})
        tasks = order_tasks(self.plan.tasks)
        asked = [self.criterion, *self.columns] + ([] if self.screen is None else [self.screen.criterion])
        self.target = self.preparation.target() if self.columns or self.screen is not None else None
        refuse_undefined(asked, self.plan, self.target)
        if not self.criterion.scores:
            self._fail_refused()
        if self.plan.retrain and not self.criterion.scores:
            raise ValueError(
                f"The criterion {self.criterion.name} reads kernels, and some candidates have none that is known: "
                f"{next(iter(self.plan.retrain.values()))}. Use cv."
            )
        return tasks

    def _fail_refused(self):
        """Candidates with parameters that make no sense fail, where a criterion selects and nothing is retrained."""
        for number, error in self.plan.refused.items():
            if self.search.error_score == "raise":
                raise error
            self.rows[number] = Row(number)
            self.rows[number].fail(f"{type(error).__name__}: {error}", list(range(len(self.folds))))
        self.plan.refused.clear()

    def _keep_best(self, tasks):
        """The kernels that are best by the screening criterion; the candidates of others are not evaluated."""
        settings = replace(
            self.settings, criteria=(self.screen.criterion,), scored=False, raise_errors=False, deadline=None
        )
        kept, pruned = self.screen.divide(tasks, dict(self._run(tasks, settings, "screening")))
        self.rows.update({row.candidate: row for row in pruned})
        return kept

    def _settings(self):
        search = self.search
        return self.preparation.settings(
            self.scoring,
            series=self.criterion.series,
            certify=self.certify,
            scale_penalty=self.scale_penalty,
            single=search.gram_dtype == "float32",
            return_train_score=search.return_train_score,
            pairwise=get_tags(search.estimator).input_tags.pairwise,
            raise_errors=search.error_score == "raise",
            criteria=self.columns,
            scored=self.criterion.scores,
            target=self.target,
            deadline=self.deadline,
        )

    def _run_kernels(self, tasks):
        new = {}
        if self.deadline is not None and not self._pruning:  # pruning has an order of its own
            tasks = spread_tasks(tasks)
        try:
            for number, rows in self._finished(tasks):
                new.update({row.candidate: row.retrain for row in rows if row.retrain})
                self.rows.update({row.candidate: row for row in rows if not row.retrain})
                for row in rows:
                    if row.test and not row.retrain:
                        self.progress.tell(row, self.candidates[row.candidate])
                LOGGER.debug(f"{tasks[number].kernel}: {len(rows)} candidates, {len(self.rows)} finished")
        except NeedsRetrainingError as reason:
            new = {i: str(reason) for task in tasks for i in task.candidates if i not in self.rows}
        warn_retraining(new, len(self.candidates), depth=7)
        self.plan.retrain.update(new)

    def _finished(self, tasks):
        """(task number, its rows) as tasks finish; with pruning in waves, whatever the number of workers."""
        if not self._pruning:
            yield from self._run(tasks, self.settings, "kernel")
            return
        for wave in waves(len(tasks)):
            found = []
            for number, rows in self._run([tasks[i] for i in wave], self.settings, "kernel"):
                found += rows
                yield wave[number], rows
            self.settings = self.settings.after(found)
            self.proved = self.settings.certify.proved

    @property
    def _pruning(self):
        return self.certify is not None and self.certify.prune

    def _run(self, tasks, settings, stage):
        """(task number, its rows) as tasks finish, first those that the journal knows; new rows are entered there."""
        known = self._known(stage, [number for task in tasks for number in task.candidates])
        rows = [[known[number] for number in task.candidates if number in known] for task in tasks]
        left = [number for number, task in enumerate(tasks) if len(rows[number]) < len(task.candidates)]
        yield from ((number, found) for number, found in enumerate(rows) if number not in left)
        if not left:
            return
        unknown = [tasks[number].without(known) for number in left]
        for k, outcome in self.executor.run(unknown, settings):
            self.ledger.include(outcome.ledger)
            new = [row for row in outcome.rows if row.candidate not in known]
            if settings.deadline is not None:
                settings.deadline.note_scores(new)
            self._enter(stage, new)
            yield left[k], rows[left[k]] + new

    def _known(self, stage, numbers):
        """Rows of the journal for some candidates; one whose kernel could not be evaluated may have been retrained."""
        if self.record is None:
            return {}
        candidates = {number: self.candidates[number] for number in numbers}
        known = self.record.known(stage, candidates)
        return self.record.known("retraining", candidates) | known if stage == "kernel" else known

    def _enter(self, stage, rows):
        """Finished rows, and candidates that repeat theirs, into the journal; what has failed is tried again."""
        if self.record is None:
            return
        finished = {row.candidate: row for row in rows if row.finished}
        copies = [self._copy(number, finished[source]) for number, source in self.same_as.items() if source in finished]
        if finished:
            entered = [*finished.values(), *copies]
            self.record.add(stage, entered, [self.candidates[row.candidate] for row in entered])

    def _certify(self, tasks):
        """How well held-out values have to be known, checked against what is scored; None if exactly."""
        criterion, search = self.criterion, self.search
        if not getattr(criterion, "certify", False) or not any(p.learner.certifies for t in tasks for p in t.paths):
            return None
        rows = self.folds.folds[0].test
        train = self.folds.folds[0].train if get_tags(search.estimator).input_tags.pairwise else None
        tested = Tested(self.X, self.y, np.asarray(self.y), rows, train)
        check_certifiable(criterion, search, self.scoring, tested)
        return Certify(criterion.tolerance, criterion.prune, self.proved)

    def _retrain_rest(self):
        """Candidates without a fast path, and those whose parameters were refused: scikit-learn has the last word."""
        reasons = dict(sorted((self.plan.retrain | {k: str(error) for k, error in self.plan.refused.items()}).items()))
        self.rows.update(self._known("retraining", list(reasons)))
        left = [number for number in reasons if number not in self.rows]
        contexts = {} if self.folds.leave_one_out else {number: self.progress.contexts(number) for number in left}
        for row in self._trained({number: reasons[number] for number in left}, contexts, self.deadline):
            self.rows[row.candidate] = row
            if contexts:
                self.progress.told.add(row.candidate)
            if self.deadline is not None:
                self.deadline.note_scores([row])
        self.rows.update({number: Row.unreached(number) for number in left if number not in self.rows})
        taken = [number for number in self.plan.refused if self.rows[number].exactness == Exactness.RETRAINED]
        warn_retraining({number: reasons[number] for number in taken}, len(self.candidates), depth=7)

    def _trained(self, reasons, contexts, deadline):
        """Rows of candidates that are trained on every split, as they finish; ``contexts`` report single splits."""
        outcomes = self._retraining(verbose=self.search.verbose if contexts else 0).run(
            {number: self.candidates[number] for number in reasons}, self.folds, total=len(self.candidates),
            contexts=contexts or {}, deadline=deadline, n_jobs=self.search.n_jobs,
            pre_dispatch=self.search.pre_dispatch,
        )  # fmt: skip
        for number, found in outcomes:
            row = retrained_row(number, reasons[number], found, self.search.error_score, self.folds.leave_one_out)
            self.ledger.add("fit", len(self.folds), row.fit_seconds)
            self._enter("retraining", [row])
            yield row

    def score_by_training(self, number, reason, confirm):
        """Replace the row of a candidate by that of training it on every split, also if time is over.

        With ``confirm`` a row with the same scores stays, and is exact.
        """
        LOGGER.info(f"candidate {number} is trained on every split: {reason}")
        known = self._known("retraining", [number])
        (trained,) = known.values() or self._trained({number: reason}, None, None)
        if confirm and self.rows[number].agrees(trained):
            self.rows[number].confirm()
        else:
            trained.criteria = self.rows[number].criteria  # of the kernel and of training on all rows
            self.rows[number] = trained
        for copy in [copy for copy, source in self.same_as.items() if source == number]:
            self.rows.pop(copy, None)

    def _retraining(self, verbose):
        search, scoring = self.search, self.scoring
        raises = search.error_score == "raise"
        named = scoring.named
        return Retraining(
            search.estimator, self.X, self.y, self.folds.n, self.routed.estimator,
            check_scoring(search.estimator, search.scoring, raise_exc=raises) if named else scoring.scorers,
            self.routed.scorer if any(metric.params for metric in scoring.metrics.values()) else {},
            named, search.error_score, search.return_train_score, self.scale_penalty, verbose, search,
        )  # fmt: skip

    def _announce(self, tasks, first):
        self.progress.begin(len(self.candidates) - first, known=self.strategy.rounds == 1)
        LOGGER.info(
            f"{len(self.candidates) - first} candidates on {len(self.folds)} folds: {len(tasks)} kernels, "
            f"{len(self.plan.retrain)} candidates to retrain"
        )
        if self.plan.same_as:
            LOGGER.info(f"{len(self.plan.same_as)} candidates repeat others (parameters without effect)")

    def _announce_round(self):
        """Say what the next round is for; GridSearchCV, whose lines are left alone, has no rounds."""
        text = f"round {self.rounds[-1]}: {self.strategy.describe()}"
        LOGGER.info(text)
        if self.search.verbose > 0:
            print(text)

    def _warn_out_of_time(self, proposed):
        """Say what there was no time for: candidates, or a round that was ``proposed``."""
        missing = sum(row.exactness == Exactness.UNREACHED for row in self.rows.values())
        if missing or proposed:
            rest = f"; another round of {proposed} was not begun" if proposed else ""
            warnings.warn(
                f"The time budget of {self.deadline.seconds:g} s is used up: {len(self.candidates) - missing} of "
                f"{len(self.candidates)} candidates were evaluated{rest}. The best of these is chosen.",
                TimeBudgetWarning,
                stacklevel=5,
            )

    def finished(self):
        """One row per candidate, repeated ones copied from those they repeat."""
        for number, source in self.same_as.items():
            if source in self.rows and number not in self.rows:
                self.rows[number] = self._copy(number, self.rows[source])
        self._fill_failed()
        return [self.rows[number] for number in sorted(self.rows)]

    def _copy(self, number, row):
        """The row of a candidate that repeats another one's."""
        return replace(
            row, candidate=number, status=f"same as candidate {row.candidate}", fit_seconds=0.0, score_seconds=0.0
        )

    def _fill_failed(self):
        """Candidates that could not be trained at all get ``error_score`` in every metric and split."""
        scored = next((row for row in self.rows.values() if row.test), None)
        missing = np.nan if self.search.error_score == "raise" else self.search.error_score
        for row in self.rows.values():
            if scored is not None and (row.left_out or row.exactness == Exactness.FAILED):
                for mine, theirs in ((row.test, scored.test), (row.train, scored.train)):
                    for name, scores in theirs.items():
                        value = np.nan if row.left_out else missing
                        mine.setdefault(name, np.full(len(scores), value, dtype=float))

    def table(self, rows):
        """``cv_results_`` of some rows."""
        candidates = [self.candidates[row.candidate] for row in rows]
        names = column_names(self.columns)
        if self.screen is not None and self.screen.values:
            *names, own = column_names((*self.columns, self.screen.criterion))
            if self.screen.criterion in self.columns:
                own = names[self.columns.index(self.screen.criterion)]
            else:
                names.append(own)
            for row in rows:
                if row.candidate in self.screen.values:
                    row.criteria.setdefault(own, self.screen.values[row.candidate])
        train = self.search.return_train_score and self.criterion.scores
        table = build_table(candidates, rows, train, names, splits=self.criterion.scores)
        if self.strategy.rounds != 1:
            table["round"] = np.array([self.rounds[row.candidate] for row in rows])
        return table

    def keep_finished(self):
        """After Ctrl-C: the table of the candidates that were finished, those of the journal if there is one."""
        if not hasattr(self, "plan"):
            return
        with suppress(JournalError):  # Ctrl-C is what the caller has to hear of
            self.rows.update(self._known("kernel", range(len(self.candidates))))
        self.rows = {number: row for number, row in self.rows.items() if row.finished}
        if rows := self.finished():
            self.search.cv_results_ = self.table(rows)


def refuse_undefined(criteria, plan, target):
    """An error if a criterion is not defined for some candidate that the plan does not retrain."""
    situations = {situation_of(target, path.trained) for task in plan.tasks for path in task.paths}
    for criterion in criteria:
        for situation in situations:
            criterion.check(situation)
