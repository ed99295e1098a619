"""Running a search: round by round its candidates are planned, run and entered into the table."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from .._exceptions import warn_caller
from .._public import set_module
from ..data.coding import CodedTargets
from ..machines import Exactness
from ..resources import Ledger
from .basis_choice import choose_basis
from .deadline import Deadline, TimeBudgetWarning
from .executors import Executor, blas_limit
from .forecast import Pace, forecast
from .journal import Journal, JournalError, record_of
from .kept_sums import KeptSums
from .plan import Plan, plan
from .progress import Progress
from .request import Request
from .retraining import Retraining, retrained_row
from .scoring import NeedsRetrainingError
from .strategies import Strategy
from .table import Table
from .tasks import KernelTask, Row, Settings, spread_tasks, waves

LOGGER = logging.getLogger("onefit")


def evaluate_single(planned: Plan) -> Row:
    """The row of the only candidate of a plan, which has a fast path."""
    ((_, outcome),) = Executor(planned.resources).run(planned.tasks, planned.known_settings)
    (row,) = outcome.rows
    return row


class Execution:
    """Evaluates the candidates that a strategy proposes, and fills the ``table`` and the ``ledger``."""

    def __init__(
        self,
        request: Request,
        strategy: Strategy,
        candidates: list[dict],
        progress: Progress,
        journal: Journal | None,
        ledger: Ledger,
    ) -> None:
        self.request, self.strategy, self.progress = request, strategy, progress
        self.table = Table(request, candidates, several_rounds=strategy.rounds != 1)
        self.record = None if journal is None else record_of(journal, request, strategy, candidates)
        self.ledger = ledger
        self.coded: dict[int, CodedTargets] = {}  # how the values of candidates with a fast path are read
        self.present: list[np.ndarray | None] = []  # classes that each fold trains on
        self._proved = -np.inf  # the best score that certificates have proved
        self._pace: Pace | None = None  # of passes over many rows

    def run(self) -> None:
        """Evaluate rounds until the strategy proposes nothing more or time is over."""
        table = self.table
        self._run_round(table.candidates, 0)
        while proposed := self.strategy.propose(table.candidates, table.scores()):
            if self.request.deadline.passed():
                break
            first = table.add_round(proposed)
            self._announce_round()
            self._run_round(proposed, first)
        if self.request.preprocessing == "shared_then_per_fold" and self.request.criterion.scores:
            self._judge_per_fold()
        self.progress.end()
        self._warn_out_of_time(len(proposed))

    def _judge_per_fold(self) -> None:
        """Evaluate the best candidates again, everything learned anew on every fold, until the best is one of them.

        First those within one standard error of the best; then, as long as a candidate that was not judged looks better
        than all that were, the better ones of these.
        """
        request, judged = replace(self.request, preprocessing="per_fold"), set[int]()
        while left := [k for k in self.table.close_to_best(judged) if k not in judged]:
            if request.deadline.passed():
                return
            judged.update(left)
            planned = plan(request, [self.table.candidates[k] for k in left])
            if planned.settings is None:  # nothing has a fast path: they are retrained already
                continue
            for _, outcome in Executor(planned.resources, request.pre_dispatch).run(planned.tasks, planned.settings):
                self.ledger.include(outcome.ledger)
                for row in outcome.rows:
                    if row.scored and not row.retrain:
                        self.table.replace(replace(row, candidate=left[row.candidate]))

    def keep_finished(self) -> list[Row]:
        """After Ctrl-C: rows of the candidates that were finished, those of the journal if there is one."""
        with suppress(JournalError):  # Ctrl-C is what the caller has to hear of
            self.table.add(self._recorded("kernel", range(len(self.table.candidates))).values())
        self.table.rows = {number: row for number, row in self.table.rows.items() if row.finished}
        return self.table.finished()

    def _run_round(self, candidates: list[dict], first: int) -> None:
        """Evaluate candidates, numbered from ``first`` on: kernel by kernel, then those that have to be retrained."""
        planned = plan(self.request, candidates, first, hand_over=self.strategy.rounds == 1)
        if self.request.approximation is not None and self.request.basis is None and planned.tasks:
            basis = choose_basis(self.request.approximation, planned.tasks, self.request.X)
            self.request = replace(self.request, basis=basis)
            planned.tasks = [replace(task, basis=basis) for task in planned.tasks]
        self.table.same_as.update(planned.same_as)
        self.coded.update({number: path.coded for path in planned.paths for number in path.numbers})
        warn_retraining(planned.retrain, len(self.table.candidates))
        self._announce(planned, len(candidates))
        if self.request.basis is not None and planned.tasks:
            self._announce_passes(planned)
        reasons = planned.retrain | planned.handed | (self._run_tasks(planned) if planned.tasks else {})
        if not self.request.criterion.scores or self.request.approximation is not None:
            self._fail(planned.refused)
        elif reasons := reasons | {number: str(error) for number, error in planned.refused.items()}:
            self._retrain(reasons, planned)
        for row in self.table.finished()[first:]:  # also what repeats others, was pruned or failed
            self.progress.tell(row, self.table.candidates[row.candidate])

    def _fail(self, refused: dict[int, Exception]) -> None:
        """Candidates whose parameters make no sense fail, where a criterion selects and nothing is retrained."""
        for number, error in refused.items():
            row = Row(number)
            row.fail(f"{type(error).__name__}: {error}", list(range(len(self.request.folds))))
            self.table.add([row])

    def _run_tasks(self, planned: Plan) -> dict[int, str]:
        """Evaluate kernels; of candidates that have to be retrained after all, the reasons."""
        settings, tasks = planned.known_settings, planned.tasks
        self.present = settings.present
        if settings.certify is not None:
            settings = replace(settings, certify=settings.certify.after([self._proved]))
        if self.request.approximation is not None:
            settings = replace(settings, streaming=replace(settings.streaming, sums=self.sums))
        executor = Executor(planned.resources, self.request.pre_dispatch)
        reasons: dict[int, str] = {}
        try:
            tasks = self._screen(tasks, settings, executor)
            for task, rows in self._outcomes(tasks, settings, executor):
                reasons.update({row.candidate: row.retrain for row in rows if row.retrain})
                done = [row for row in rows if not row.retrain]
                self.table.add(done)
                for row in done:
                    if row.test:
                        self.progress.tell(row, self.table.candidates[row.candidate])
                if self._pace is not None:
                    self._say(self._pace.after(str(task.kernel), sum(row.fit_seconds for row in rows)))
                text = f"{task.kernel}: {len(rows)} candidates, {len(self.table.rows)} finished"
                LOGGER.debug(text, extra={"finished": len(rows)})
        except NeedsRetrainingError as reason:
            reasons = {i: str(reason) for task in tasks for i in task.numbers if i not in self.table.rows}
        warn_retraining(reasons, len(self.table.candidates))
        return reasons

    def _screen(self, tasks: list[KernelTask], settings: Settings, executor: Executor) -> list[KernelTask]:
        """The kernels that are best by the screening criterion; candidates of others are not evaluated."""
        screen = self.request.screen
        if screen is None or len(tasks) <= screen.keep:
            return tasks
        settings = replace(
            settings, criteria=(screen.criterion,), scored=False, raise_errors=False, deadline=Deadline(), certify=None
        )
        found = dict(self._run_new("screening", tasks, settings, executor))
        for number, task in enumerate(tasks):
            self.table.screened.update(dict.fromkeys(task.numbers, screen.value(found[number])))
        kept, pruned = screen.divide(tasks, found)
        self.table.add(pruned)
        return kept

    def _outcomes(
        self, tasks: list[KernelTask], settings: Settings, executor: Executor
    ) -> Iterator[tuple[KernelTask, list[Row]]]:
        """(task, its rows) as tasks finish; with pruning in waves, whatever the number of workers."""
        if settings.certify is None or not settings.certify.prune:
            if settings.deadline.limited:
                tasks = spread_tasks(tasks)
            for number, rows in self._run_new("kernel", tasks, settings, executor):
                yield tasks[number], rows
            return
        for wave in waves(len(tasks)):
            found = []
            for number, rows in self._run_new("kernel", [tasks[i] for i in wave], settings, executor):
                found += rows
                yield tasks[wave[number]], rows
            settings = settings.after(found)
            assert settings.certify is not None
            self._proved = settings.certify.proved

    def _run_new(
        self, stage: str, tasks: list[KernelTask], settings: Settings, executor: Executor
    ) -> Iterator[tuple[int, list[Row]]]:
        """(task number, its rows) as tasks finish, first those that the journal knows; new rows are entered there."""
        known = self._recorded(stage, [number for task in tasks for number in task.numbers])
        rows = [[known[number] for number in task.numbers if number in known] for task in tasks]
        left = [number for number, task in enumerate(tasks) if len(rows[number]) < len(task.numbers)]
        yield from ((number, found) for number, found in enumerate(rows) if number not in left)
        for k, outcome in executor.run([tasks[number].without(known) for number in left], settings):
            self.ledger.include(outcome.ledger)
            new = [row for row in outcome.rows if row.candidate not in known]
            settings.deadline.note_scores(new)
            self._enter(stage, new)
            yield left[k], rows[left[k]] + new

    def _retrain(self, reasons: dict[int, str], planned: Plan) -> None:
        """Train candidates without a fast path on every split; of refused ones scikit-learn has the last word."""
        table = self.table
        table.add(self._recorded("retraining", sorted(reasons)).values())
        left = {number: reasons[number] for number in sorted(reasons) if number not in table.rows}
        by_split = not self.request.folds.leave_one_out
        contexts = {number: self.progress.contexts(number) for number in left} if by_split else {}
        for row in self._trained(left, contexts, self.request.verbose if contexts else 0, limited=True):
            table.add([row])
            if contexts:
                self.progress.told.add(row.candidate)
            self.request.deadline.note_scores([row])
        table.add(Row.unreached(number) for number in left if number not in table.rows)
        taken = [number for number in planned.refused if table.rows[number].exactness == Exactness.RETRAINED]
        warn_retraining({number: reasons[number] for number in taken}, len(table.candidates))

    def _trained(
        self, reasons: dict[int, str], contexts: dict[int, list] | None = None, verbose: int = 0, limited: bool = False
    ) -> Iterator[Row]:
        """Rows of candidates that are trained on every split, as they finish; ``contexts`` report single splits."""
        request = self.request
        candidates = {number: self.table.candidates[number] for number in reasons}
        outcomes = Retraining.of(request, verbose, self.progress.search).run(
            candidates, request.folds, request.deadline if limited else Deadline(), total=len(self.table.candidates),
            contexts=contexts or {}, n_jobs=request.n_jobs, pre_dispatch=request.pre_dispatch,
        )  # fmt: skip
        for number, found in outcomes:
            row = retrained_row(number, reasons[number], found, request.error_score, request.folds.leave_one_out)
            self.ledger.add("fit", len(request.folds), row.fit_seconds)
            self._enter("retraining", [row])
            yield row

    def score_by_training(self, number: int, reason: str, confirm: bool) -> None:
        """Replace the row of a candidate by that of training it on every split, also if time is over.

        With ``confirm`` a row with the same scores stays, and is exact.
        """
        LOGGER.info(f"candidate {number} is trained on every split: {reason}")
        (trained,) = self._recorded("retraining", [number]).values() or self._trained({number: reason})
        row = self.table.rows[number]
        if confirm and row.agrees(trained):
            row.confirm()
            trained = row
        trained.criteria = row.criteria  # of the kernel and of training on all rows
        self.table.replace(trained)

    def _recorded(self, stage: str, numbers: Iterable[int]) -> dict[int, Row]:
        """Rows of some candidates in the journal; one whose kernel could not be evaluated may have been retrained."""
        if self.record is None:
            return {}
        candidates = {number: self.table.candidates[number] for number in numbers}
        known = self.record.known(stage, candidates)
        return self.record.known("retraining", candidates) | known if stage == "kernel" else known

    def _enter(self, stage: str, rows: list[Row]) -> None:
        """Enter finished rows in the journal, and candidates that repeat theirs; what has failed is tried again."""
        finished = {row.candidate: row for row in rows if row.finished}
        if self.record is not None and finished:
            entered = [*finished.values(), *self.table.copies(finished)]
            self.record.add(stage, entered, [self.table.candidates[row.candidate] for row in entered])

    @property
    def sums(self) -> KeptSums | None:
        """Where sums over the rows are kept; None without a journal."""
        if self.record is None:
            return None
        earlier = None if self.request.seen is None else self.request.seen.mark
        return KeptSums(os.path.abspath(self.record.journal.path), self.record.mark, earlier)

    def _announce(self, planned: Plan, count: int) -> None:
        self.progress.begin(count, known=self.strategy.rounds == 1)
        LOGGER.info(
            f"{count} candidates on {len(self.request.folds)} folds: {len(planned.tasks)} kernels, "
            f"{len(planned.retrain)} candidates to retrain",
            extra={"candidates": count},
        )
        if planned.same_as:
            LOGGER.info(f"{len(planned.same_as)} candidates repeat others (parameters without effect)")

    def _announce_passes(self, planned: Plan) -> None:
        """Say how long passes over many rows will take, before the first."""
        with blas_limit(planned.resources.blas_threads):
            expected = forecast(planned.tasks, planned.known_settings, planned.resources.workers)
        self._pace = None if expected is None else Pace(expected, planned.resources.workers)
        if expected is not None:
            self._say(str(expected))

    def _say(self, text: str) -> None:
        LOGGER.info(text)
        if self.request.verbose > 0:
            print(text)

    def _announce_round(self) -> None:
        """Say what the next round is for; GridSearchCV, whose lines are left alone, has no rounds."""
        self._say(f"round {self.table.rounds[-1]}: {self.strategy.describe()}")

    def _warn_out_of_time(self, proposed: int) -> None:
        """Say what there was no time for: candidates, or a round that was ``proposed``."""
        seconds, total = self.request.deadline.seconds, len(self.table.candidates)
        missing = sum(row.exactness == Exactness.UNREACHED for row in self.table.rows.values())
        if missing or proposed:
            rest = f"; another round of {proposed} was not begun" if proposed else ""
            warn_caller(
                f"The time budget of {seconds:g} s is used up: {total - missing} of {total} candidates were "
                f"evaluated{rest}. The best of these is chosen.",
                TimeBudgetWarning,
            )


@set_module("onefit")
class RetrainingWarning(UserWarning):
    """The fast path could not serve some candidates."""


def warn_retraining(reasons: dict[int, str], total: int) -> None:
    """Name in one warning why some of ``total`` candidates are retrained."""
    if reasons:
        texts = "; ".join(dict.fromkeys(reasons.values()))
        warn_caller(
            f"{len(reasons)} of {total} candidates are retrained on every fold, as GridSearchCV does: {texts}.",
            RetrainingWarning,
        )
