"""The place of a search in a journal: what it is known by, and what is said of it."""

from __future__ import annotations

import logging

import sklearn

from .. import __version__
from .fingerprint import fingerprint
from .journal import Journal, Record

LOGGER = logging.getLogger("onefit")


def record_of(run, journal: Journal) -> Record:
    """The record of this very search in the journal, old or new, with a word in the log about what it knows."""
    mark = fingerprint(_ingredients(run))
    record = journal.record(mark, _facts(run))
    finished = {search["fingerprint"]: search["finished"] for search in journal.searches()}
    if finished[mark]:
        LOGGER.info(f"the journal knows {finished[mark]} candidates of this search")
    elif len(finished) > 1:
        LOGGER.info("the journal knows other searches only: data, folds or options were different")
    return record


def _ingredients(run) -> dict:
    """Everything that the rows depend on."""
    options = ("estimator", "scoring", "screen", "preprocessing", "gram_dtype", "error_score", "return_train_score")
    return {
        "versions": (__version__, sklearn.__version__),
        "data": (run.X, run.y),
        "folds": [(fold.test, fold.removed, fold.given_train) for fold in run.folds],
        "metadata": (run.routed.estimator, run.routed.scorer),
        "criteria": (run.criterion, run.columns, run.scale_penalty),
        "candidates": (type(run.strategy), run.candidates),
        **{name: getattr(run.search, name) for name in options},
    }


def _facts(run) -> dict:
    """Facts that a reader of the journal wants to know of the search."""
    scoring = run.search.scoring
    return {
        "estimator": str(run.search.estimator),
        "criterion": run.criterion.name,
        "scoring": scoring if isinstance(scoring, str) else str(scoring),
        "candidates": len(run.candidates) if run.strategy.rounds == 1 else None,
        "rows": run.folds.n,
        "folds": len(run.folds),
        "onefit": __version__,
    }
