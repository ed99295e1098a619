"""Choosing the best candidate of a search."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.base import clone

from .execution import Execution
from .request import check_refit_metric
from .row import Row
from .selection import select_best, warn_at_edge
from .table import report_failures


class Choice:
    """The results of a search, and the candidate that ``refit`` takes from them.

    ``index`` is None where there are several metrics and ``refit`` names none. An error says that no candidate could be
    trained.
    """

    def __init__(self, execution: Execution) -> None:
        self.execution, self.refit = execution, execution.request.refit
        self.index: int | None = None
        rows = execution.table.finished()
        report_failures(rows, len(execution.request.folds), execution.request.error_score)
        self.results = execution.table.results()
        self.multimetric = execution.table.multimetric

    @property
    def metric(self) -> str:
        """The name of the metric that decides."""
        return self.refit if self.multimetric else "score"

    @property
    def row(self) -> Row:
        """The row of the best candidate."""
        assert self.index is not None
        return self.execution.table.finished()[self.index]

    def model(self) -> Any:
        """The best candidate, not yet trained."""
        return clone(self.execution.request.estimator).set_params(**clone(self.params, safe=False))

    @property
    def params(self) -> dict:
        """The parameters of the best candidate."""
        return self.results["params"][self.index]

    def make(self) -> None:
        """Take the best candidate; to be delivered, none whose scores depend on a bias that is left open.

        Such a candidate is trained on every fold, as GridSearchCV does. Where that confirms its scores it stays the
        best; otherwise they take their place, and the choice is made again.
        """
        if self.multimetric:
            check_refit_metric(self.refit, list(self.execution.table.finished()[0].test))
            if not self.refit:
                return
        self.index = select_best(self.refit, self.metric, self.results)
        while self.refit and self.row.open_bias:
            self._train(self.row.status, confirm=True)

    def make_anew(self, reason: str) -> None:
        """Score the best candidate by training it on every fold, for a reason, and choose again."""
        self._train(reason, confirm=False)
        self.make()

    def _train(self, reason: str, confirm: bool) -> None:
        """Score the best candidate by training it, or ``confirm`` its scores so, and select again."""
        assert self.index is not None
        self.execution.score_by_training(self.index, reason, confirm)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said of the first table
            self.results = self.execution.table.results()
        self.index = select_best(self.refit, self.metric, self.results)

    def warn_at_edge(self) -> None:
        """Warn if the best candidate lies at the edge of the grid; a callable ``refit`` has its own reasons."""
        if self.index is not None and not callable(self.refit):
            warn_at_edge(self.results, self.index, self.metric)
