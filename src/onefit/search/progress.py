"""Telling how far a search is: scikit-learn's callbacks and GridSearchCV's printed lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.folds import take_block, take_metadata, take_rows
from .request import Request
from .tasks import Row

WIDTH = 80
"""Columns of a printed line, as in scikit-learn."""


class SplitLines:
    """GridSearchCV's two lines about one candidate on one split, as detailed as ``verbose`` asks for."""

    def __init__(
        self, verbose: int, params: dict, candidate: int, n_candidates: int, split: int, n_splits: int
    ) -> None:
        self.verbose = verbose
        self.params = ", ".join(f"{name}={params[name]}" for name in sorted(params)) if verbose > 1 else ""
        self.place = f" {split + 1}/{n_splits}" if verbose > 2 else ""
        if verbose > 9:
            self.place += f"; {candidate + 1}/{n_candidates}"

    def start(self) -> None:
        """Print that a fit begins."""
        if self.verbose > 9:
            print(f"[CV{self.place}] START {self.params}".ljust(WIDTH, "."))

    def end(self, test, train, seconds: float) -> None:
        """Print that a fit has ended, with its scores: numbers, or dicts of several metrics; ``train`` may be None."""
        if self.verbose <= 1:
            return
        begin, result = f"[CV{self.place}] END ", self.params + (";" if self.params else "")
        if self.verbose > 2:
            result += _score_text(test, train)
        time = f"{seconds / 60:4.1f}min" if seconds > 60 else f" {max(seconds, 0.0):5.1f}s"  # as joblib writes it
        result += f" total time={time}"
        print(begin + "." * (WIDTH - len(begin) - len(result)) + result)


def _score_text(test, train) -> str:
    if not isinstance(test, dict):
        return f", score=(train={train:.3f}, test={test:.3f})" if train is not None else f", score={test:.3f}"
    texts = []
    for name in sorted(test):
        before = f"train={train[name]:.3f}, " if train is not None else ""
        texts.append(f" {name}: ({before}test={test[name]:.3f})")
    return "".join(texts)


class Progress:
    """One task of scikit-learn's callbacks, and one printed line, for every candidate and split.

    Leave-one-out has one of each per candidate: its scores are pooled, and contexts of n splits would cost more than
    the search.
    """

    def __init__(self, search, context, request: Request) -> None:
        self.search, self.context, self.request = search, context, request
        self.steps = 1 if request.folds.leave_one_out else len(request.folds)
        self.total = 0
        self.told: set[int] = set()
        self._contexts: dict[int, list] = {}
        self.task: Any = None

    def begin(self, n_candidates: int, known: bool) -> None:
        """Announce candidates; ``known`` says that there will be no others."""
        self.total += n_candidates
        if self.request.verbose > 0:
            n_splits, total = len(self.request.folds), len(self.request.folds) * n_candidates
            print(f"Fitting {n_splits} folds for each of {n_candidates} candidates, totalling {total} fits")
        if self.task is None:
            self.task = self.context.subcontext(
                task_name="search", max_subtasks=self.total * self.steps if known else None, sequential_subtasks=False
            ).call_on_fit_task_begin(estimator=self.search)

    def end(self) -> None:
        """Say that all candidates are done."""
        self.task.call_on_fit_task_end(estimator=self.search)

    def contexts(self, number: int) -> list:
        """The callback contexts of a candidate, one for each split."""
        if number not in self._contexts:
            self._contexts[number] = [
                self.task.subcontext(task_name="candidate-split-evaluation", task_id=number * self.steps + split)
                for split in range(self.steps)
            ]
        return self._contexts[number]

    def tell(self, row: Row, params: dict) -> None:
        """Report a candidate that is done, once."""
        if row.candidate in self.told:
            return
        self.told.add(row.candidate)
        for split, context in enumerate(self.contexts(row.candidate)):
            self.call(context, split)
        self._print(row, params)

    def call(self, context, split: int) -> None:
        """Begin and end the callbacks' task of one split; they read its training rows only if they want to."""
        request = self.request
        train, n, weights = request.folds.folds[split].train, request.folds.n, request.fit_params.get("sample_weight")
        data = {
            "X": lambda: take_block(request.pairwise, request.X, train, train),
            "y": lambda: take_rows(request.y, train),
            "metadata": None if weights is None else lambda: {"sample_weight": take_metadata(weights, train, n)},
        }
        context.call_on_fit_task_begin(estimator=self.search, **data)
        context.call_on_fit_task_end(estimator=self.search, **data)

    def _print(self, row: Row, params: dict) -> None:
        if self.request.verbose <= 1 or not row.test or row.left_out:
            return
        single = list(row.test) == ["score"]
        n_splits = len(next(iter(row.test.values())))
        seconds = (row.fit_seconds + row.score_seconds) / n_splits
        for split in range(n_splits):
            test, train = _of_split(row.test, split, single), _of_split(row.train, split, single)
            lines = SplitLines(self.request.verbose, params, row.candidate, self.total, split, n_splits)
            lines.start()
            lines.end(test, train, seconds)


def _of_split(scores: dict[str, np.ndarray], split: int, single: bool):
    """The scores of one split, as a scorer returns them; None if there are none."""
    if not scores:
        return None
    return float(scores["score"][split]) if single else {name: float(values[split]) for name, values in scores.items()}
