"""One evaluation of all candidates of a search: what is planned, what has finished."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags

from ..core import Exactness
from ..criteria.base import situation_of
from ..search.appraisal import column_names
from ..search.certify import Certify, check_certifiable
from ..search.results import build_table
from ..search.run import check_memory, order_tasks, run_tasks, waves
from ..search.scoring import NeedsRetrainingError, Tested
from ..search.tasks import Row
from .preparation import Preparation, warn_retraining
from .retrain import retrain_row, scaled_penalty
from .screening import Screen


class SearchRun:
    """Candidates in, one row each out; rows that are finished survive an interruption."""

    def __init__(self, search, X, y, folds, routed, scoring, criteria, context):
        self.search, self.X, self.y, self.folds = search, X, y, folds
        self.routed, self.scoring, self.context = routed, scoring, context
        self.criterion = criteria[0]
        self.columns = tuple(criteria[self.criterion.scores :])  # what is not a score of out-of-fold values
        self.screen = Screen.of(search.screen)
        self.candidates = list(ParameterGrid(search.param_grid))
        if not self.candidates:
            raise ValueError("param_grid holds no candidate.")
        self.rows: dict[int, Row] = {}
        self.preparation = Preparation(
            search.estimator, X, y, folds, routed.estimator, search.preprocessing, search.return_train_score,
            whole=bool(self.columns),
        )  # fmt: skip
        self.ledger = self.preparation.ledger
        self.scale_penalty = bool(search.scale_penalty or getattr(self.criterion, "scale_penalty", False))

    def evaluate(self):
        """Fill ``rows``, kernel by kernel, then what has to be retrained."""
        search = self.search
        tasks = self.refuse()
        self.certify = self._certify(tasks)
        check_memory(tasks, search.n_jobs, search.memory_budget, criteria=bool(self.columns))
        if self.scale_penalty and self.plan.retrain:
            scaled_penalty(search.estimator, 1.0)  # an error now if there is no penalty to scale
        warn_retraining(self.plan.retrain, len(self.candidates), depth=5)
        self._announce(tasks)
        if tasks:
            self.settings = self._settings()
        if self.screen is not None and len(tasks) > self.screen.keep:
            tasks = self._keep_best(tasks)
        self.planned = len(tasks) + len(self.plan.retrain)
        self.progress = self.context.subcontext(
            task_name="search", max_subtasks=self.planned, sequential_subtasks=False
        ).call_on_fit_task_begin(estimator=search)
        if tasks:
            self._run_kernels(tasks)
        self._retrain_rest(len(tasks))
        self.progress.call_on_fit_task_end(estimator=search)

    def refuse(self):
        """Plan: the tasks in order, or an error if a criterion is not defined for some candidate, before any work."""
        self.plan = self.preparation.plan(self.candidates)
        tasks = order_tasks(self.plan.tasks)
        asked = [self.criterion, *self.columns] + ([] if self.screen is None else [self.screen.criterion])
        self.target = self.preparation.target() if self.columns or self.screen is not None else None
        refuse_undefined(asked, self.plan, self.target)
        if self.plan.retrain and not self.criterion.scores:
            raise ValueError(
                f"The criterion {self.criterion.name} reads kernels, and some candidates have none that is known: "
                f"{next(iter(self.plan.retrain.values()))}. Use cv."
            )
        return tasks

    def _keep_best(self, tasks):
        """The kernels that are best by the screening criterion; the candidates of others are not evaluated."""
        search = self.search
        settings = replace(self.settings, criteria=(self.screen.criterion,), scored=False, raise_errors=False)
        finished = run_tasks(tasks, settings, n_jobs=search.n_jobs, pre_dispatch=search.pre_dispatch, later=tasks)
        kept, pruned = self.screen.divide(tasks, dict(finished))
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
        )

    def _run_kernels(self, tasks):
        search = self.search
        new: dict[int, str] = {}
        try:
            for number, rows in self._finished(tasks):
                self._tick("kernel-evaluation", number)
                new.update({row.candidate: row.retrain for row in rows if row.retrain})
                self.rows.update({row.candidate: row for row in rows if not row.retrain})
                if search.verbose > 1:
                    print(f"[onefit] {tasks[number].kernel}: {len(rows)} candidates, {len(self.rows)} finished")
        except NeedsRetrainingError as reason:
            new = {i: str(reason) for task in tasks for i in task.candidates if i not in self.rows}
        warn_retraining(new, len(self.candidates), depth=6)
        self.plan.retrain.update(new)

    def _finished(self, tasks):
        """(task number, its rows) as tasks finish; with pruning in waves, whatever the number of workers."""
        options = {"n_jobs": self.search.n_jobs, "pre_dispatch": self.search.pre_dispatch}
        if self.certify is None or not self.certify.prune:
            yield from run_tasks(tasks, self.settings, **options)
            return
        for wave, later in waves(len(tasks)):
            found = []
            rest = [tasks[i] for i in later]
            for number, rows in run_tasks([tasks[i] for i in wave], self.settings, later=rest, **options):
                found += rows
                yield wave[number], rows
            self.settings = self.settings.after(found)

    def _certify(self, tasks):
        """How well held-out values have to be known, checked against what is scored; None if exactly."""
        criterion, search = self.criterion, self.search
        if not getattr(criterion, "certify", False) or not any(p.learner.certifies for t in tasks for p in t.paths):
            return None
        rows = self.folds.folds[0].test
        train = self.folds.folds[0].train if get_tags(search.estimator).input_tags.pairwise else None
        tested = Tested(self.X, self.y, np.asarray(self.y), rows, train)
        check_certifiable(criterion, search, self.scoring, tested)
        return Certify(criterion.tolerance, criterion.prune)

    def _retrain_rest(self, first_step):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for step, (number, reason) in enumerate(sorted(self.plan.retrain.items())):
                row = retrain_row(
                    self.search, number, self.candidates[number], self.X, self.y, self.folds,
                    self.routed.retraining, reason, self.scale_penalty,
                )  # fmt: skip
                self.rows[number] = row
                self.scoring.multimetric = self.scoring.multimetric or (bool(row.test) and list(row.test) != ["score"])
                self.ledger.add("fit", len(self.folds), row.fit_seconds)
                self._tick("retraining", first_step + step)
        for text, category in dict.fromkeys((str(w.message), w.category) for w in caught):
            if "non-finite" not in text:  # said once, of the whole table
                warnings.warn(text, category, stacklevel=5)

    def _announce(self, tasks):
        if self.search.verbose > 0:
            print(
                f"[onefit] {len(self.candidates)} candidates on {len(self.folds)} folds: {len(tasks)} kernels, "
                f"{len(self.plan.retrain)} candidates to retrain"
            )
            if self.plan.same_as:
                n_same = len(self.plan.same_as)
                print(f"[onefit] {n_same} candidates repeat others (parameters without effect): evaluated once")

    def _tick(self, name, number):
        if number >= self.planned:  # retrained although it was not planned: progress cannot show more than all
            return
        step = self.progress.subcontext(task_name=name, task_id=number)
        step.call_on_fit_task_begin(estimator=self.search)
        step.call_on_fit_task_end(estimator=self.search)

    def finished(self):
        """One row per candidate, repeated ones copied from those they repeat."""
        for number, source in self.plan.same_as.items():
            if source in self.rows and number not in self.rows:
                original = self.rows[source]
                self.rows[number] = Row(
                    number, original.test, original.train, original.exactness, original.error_bound,
                    f"same as candidate {source}", failures=original.failures, values=original.values,
                    coded=original.coded, criteria=original.criteria,
                )  # fmt: skip
        self._fill_failed()
        return [self.rows[number] for number in sorted(self.rows)]

    def _fill_failed(self):
        """Candidates that could not be trained at all get ``error_score`` in every metric and split."""
        scored = next((row for row in self.rows.values() if row.test), None)
        missing = np.nan if self.search.error_score == "raise" else self.search.error_score
        for row in self.rows.values():
            if scored is not None and row.exactness in (Exactness.FAILED, Exactness.PRUNED):
                for mine, theirs in ((row.test, scored.test), (row.train, scored.train)):
                    for name, scores in theirs.items():
                        value = np.nan if row.exactness == Exactness.PRUNED else missing
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
        return build_table(candidates, rows, train, names, splits=self.criterion.scores)

    def keep_finished(self):
        """After Ctrl-C: the table of the candidates that were finished, and nothing else."""
        if hasattr(self, "plan") and (rows := [row for row in self.finished() if row.test]):
            self.search.cv_results_ = self.table(rows)


def refuse_undefined(criteria, plan, target):
    """An error if a criterion is not defined for some candidate that the plan does not retrain."""
    situations = {situation_of(target, path.trained) for task in plan.tasks for path in task.paths}
    for criterion in criteria:
        for situation in situations:
            criterion.check(situation)
