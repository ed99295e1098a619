"""The place of a search in a journal: what it is known by, and which of its rows are there."""

from __future__ import annotations

import logging
import os

import sklearn

from .. import __version__
from .content_hash import content_hash
from .journal import Journal, Record
from .kept_sums import KeptSums
from .request import Request
from .strategies import Strategy
from .table import Table
from .tasks import Row

LOGGER = logging.getLogger("onefit")


class Resumption:
    """Rows that a journal knows of this very search, and new ones that are entered there; without one, nothing."""

    def __init__(self, journal: Journal | None, request: Request, strategy: Strategy, table: Table) -> None:
        self.table, self.earlier = table, None if request.seen is None else request.seen.mark
        self.record = None if journal is None else _record(journal, request, strategy, table.candidates)

    def known(self, stage: str, numbers) -> dict[int, Row]:
        """Rows of some candidates; one whose kernel could not be evaluated may have been retrained."""
        if self.record is None:
            return {}
        candidates = {number: self.table.candidates[number] for number in numbers}
        known = self.record.known(stage, candidates)
        return self.record.known("retraining", candidates) | known if stage == "kernel" else known

    @property
    def sums(self) -> KeptSums | None:
        """Where sums over the rows are kept."""
        if self.record is None:
            return None
        return KeptSums(os.path.abspath(self.record.journal.path), self.record.mark, self.earlier)

    def enter(self, stage: str, rows: list[Row]) -> None:
        """Enter finished rows, and candidates that repeat theirs; what has failed is tried again."""
        if self.record is None:
            return
        finished = {row.candidate: row for row in rows if row.finished}
        if finished:
            entered = [*finished.values(), *self.table.copies(finished)]
            self.record.add(stage, entered, [self.table.candidates[row.candidate] for row in entered])


def _record(journal: Journal, request: Request, strategy: Strategy, candidates: list[dict]) -> Record:
    """The record of this search in the journal, old or new, with a word in the log about what it knows."""
    mark = content_hash(_ingredients(request, strategy, candidates))
    record = journal.record(mark, _facts(request, strategy, candidates))
    finished = {search["fingerprint"]: search["finished"] for search in journal.searches()}
    if finished[mark]:
        LOGGER.info(f"the journal knows {finished[mark]} candidates of this search")
    elif len(finished) > 1:
        LOGGER.info("the journal knows other searches only: data, folds or options were different")
    return record


def _ingredients(request: Request, strategy: Strategy, candidates: list[dict]) -> dict:
    """Everything that the rows depend on."""
    options = ("estimator", "screen", "preprocessing", "error_score", "return_train_score",
               "approximation")  # fmt: skip
    return {
        "versions": (__version__, sklearn.__version__),
        "data": (request.X, request.y),
        "folds": [(fold.test, fold.removed, fold.given_train) for fold in request.folds],
        "metadata": (request.fit_params, request.score_params),
        "criteria": (request.criterion, request.columns, request.scale_penalty),
        "candidates": (type(strategy), candidates),
        "scoring": None if request.scoring is None else request.scoring.given,
        **({} if request.seen is None else {"rows before": request.seen.mark}),
        **{name: getattr(request, name) for name in options},
    }


def _facts(request: Request, strategy: Strategy, candidates: list[dict]) -> dict:
    """Facts that a reader of the journal wants to know of the search."""
    scoring = None if request.scoring is None else request.scoring.given
    return {
        "estimator": str(request.estimator),
        "criterion": request.criterion.name,
        "scoring": scoring if isinstance(scoring, str) else str(scoring),
        "candidates": len(candidates) if strategy.rounds == 1 else None,
        "rows": request.folds.n,
        "folds": len(request.folds),
        "onefit": __version__,
    }
