"""Finished paths of a gradient search in a journal, so that another fit goes on where one was interrupted."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Any

from ..kernels.naming import from_plain, to_plain
from ..search.content_hash import content_hash
from ..search.journal import Journal
from ..search.tasks import Row
from .kernel_path import PathTask
from .outer_folds import OuterFold, OuterOutcome

_PATH = {"path": "all rows"}


class LearningJournal:
    """The part of a journal that belongs to one fit; without a file it knows nothing and keeps nothing."""

    def __init__(self, path: Any, search: Any, task: PathTask, outer: list[OuterFold]) -> None:
        self._stack, self._record, self._count = ExitStack(), None, len(outer)
        if path is None:
            return
        to_plain(task.kernel)  # a kernel that cannot be written is refused before any work
        journal = self._stack.enter_context(Journal(path))
        splits = [(fold.train, fold.test, fold.folds) for fold in outer]
        same = ("estimator", "kernel", "X", "y", "folds", "routed", "criterion", "loss", "max_iter", "start",
                "method", "regularised", "seconds")  # fmt: skip
        content = {name: getattr(task, name) for name in same}
        mark = content_hash(["KernelLearnCV", content, splits, search.scoring])
        self._record = journal.record(mark, {"estimator": str(task.estimator), "kernel": str(task.kernel)})

    def __enter__(self) -> LearningJournal:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def steps(self) -> list[dict[str, Any]] | None:
        """The path on all rows, if it is known."""
        rows = {} if self._record is None else self._record.known("learning", {0: _PATH})
        steps = json.loads(rows[0].status) if rows else None
        return steps and [{name: from_plain(value) for name, value in step.items()} for step in steps]

    def add_steps(self, steps: list[dict[str, Any]]) -> None:
        """Keep the path on all rows."""
        if self._record is not None:
            plain = [{name: to_plain(value) for name, value in step.items()} for step in steps]
            self._record.add("learning", [Row(0, status=json.dumps(plain))], [_PATH])

    def outcomes(self) -> dict[int, OuterOutcome]:
        """Outcomes of the outer folds that are known."""
        if self._record is None:
            return {}
        rows = self._record.known("learning", {number: _fold(number) for number in range(self._count)})
        return {k: OuterOutcome(row.test["loss"], row.test["score"], row.error_bound) for k, row in rows.items()}

    def add_outcome(self, number: int, outcome: OuterOutcome) -> None:
        """Keep what an outer fold has found."""
        if self._record is not None:
            row = Row(0, {"loss": outcome.loss, "score": outcome.score}, error_bound=outcome.weight)
            self._record.add("learning", [row], [_fold(number)])


def _fold(number: int) -> dict[str, Any]:
    return {"path": f"outer fold {number}"}
