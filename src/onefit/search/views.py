"""The data as each fold sees them: one view for all folds, or one for each.

A Pipeline's transformers learn from the training rows, so every fold has inputs of its own; with
``preprocessing="shared"`` they learn from all rows once.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array

from ..core import Fold, Folds, Ledger, Problem
from ..core.machine import NotUnderstoodError
from .indexing import take_metadata, take_rows


@dataclass(frozen=True)
class View:
    """A Problem and the rows of the full data that its rows are."""

    problem: Problem
    rows: np.ndarray


@dataclass(frozen=True)
class Views:
    """One view of all folds, or (``per_fold``) one view for each."""

    views: Sequence[View]
    per_fold: bool


@dataclass
class ViewSource:
    """Makes the views when they are first asked for, and can forget them: transformers cost work and memory.

    ``transformers`` is None or a Pipeline; ``fit_params`` its full-length metadata; ``check_train`` asks
    that training rows look the same to ``fit_transform`` and ``transform``, as train scores need.
    """

    X: Any
    y: Any
    folds: Folds
    ledger: Ledger
    transformers: Any = None
    shared: bool = False
    fit_params: dict[str, Any] = field(default_factory=dict)
    check_train: bool = False
    keep_bases: bool = True
    _views: Views | None = field(default=None, repr=False)
    _whole: View | None = field(default=None, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    @property
    def frozen(self) -> bool:
        """True if transformers see the test rows."""
        return self.transformers is not None and self.shared

    @property
    def n_views(self) -> int:
        """How many views there are going to be."""
        return 1 if self.transformers is None or self.shared else len(self.folds)

    def views(self, *, apart: bool = False) -> Views:
        """The views; whatever a transformer raises is raised here.

        ``apart`` asks for one view per fold of the same rows, for kernels that follow the training rows.
        """
        with self._lock:
            if self._views is None:
                self._views = self._make()
                for view in self._views.views:
                    view.problem.keep_bases = self.keep_bases
            if apart and not self._views.per_fold and not self.shared:
                (whole,) = self._views.views
                parts = [View(whole.problem.of_fold(number), whole.rows) for number in range(len(self.folds))]
                return Views(parts, per_fold=True)
            return self._views

    def whole(self) -> View:
        """All rows as a model trained on all of them sees them: transformers learn from all rows and targets."""
        with self._lock:
            if self.transformers is None or self.shared:
                return self.views().views[0]
            if self._whole is None:
                X = clone(self.transformers).fit_transform(self.X, self.y, **self.fit_params)
                self._whole = self._one(X).views[0]
                self._whole.problem.keep_bases = self.keep_bases
            return self._whole

    def made(self) -> list[View]:
        """The views that there are at the moment."""
        views = [] if self._views is None else list(self._views.views)
        return views if self._whole is None else [*views, self._whole]

    def forget(self) -> None:
        """Free the views and their base matrices."""
        self._views = self._whole = None

    def _make(self) -> Views:
        if self.transformers is None:
            return self._one(self.X)
        if self.shared:
            return self._one(self._transformed_without_y())
        return Views([self._of_fold(fold) for fold in self.folds], per_fold=True)

    def _one(self, X: Any) -> Views:
        problem = Problem(checked_rows(X), self.folds, self.ledger)
        return Views([View(problem, np.arange(self.folds.n))], per_fold=False)

    def _transformed_without_y(self) -> Any:
        """Transformers that need y would leak the test rows' labels: they are not given any."""
        try:
            return clone(self.transformers).fit_transform(self.X, **self.fit_params)
        except Exception as error:
            raise SupervisedError(
                f'preprocessing="shared" is refused for {self.transformers}: it cannot be fitted without y, whose '
                f'test rows would leak. Use preprocessing="per_fold". ({type(error).__name__}: {error})'
            ) from error

    def _of_fold(self, fold: Fold) -> View:
        model = clone(self.transformers)
        train = fold.train
        params = {key: take_metadata(value, train, self.folds.n) for key, value in self.fit_params.items()}
        X_train = take_rows(self.X, train)
        trained = model.fit_transform(X_train, take_rows(self.y, train), **params)
        if self.check_train and not _same(trained, model.transform(X_train)):
            raise NotUnderstoodError("train scores: a transformer's fit_transform differs from its transform")
        tested = model.transform(take_rows(self.X, fold.test))
        m, n = len(train), len(train) + len(fold.test)
        one = Folds.from_splits([(np.arange(m), np.arange(m, n))], n)
        rows = np.concatenate([train, fold.test])
        problem = Problem(checked_rows(_stack(trained, tested)), one, self.ledger, total=self.folds.n)
        return View(problem, rows)


class SupervisedError(ValueError):
    """Transformers that use y were asked to see all rows."""


def checked_rows(X: Any) -> Any:
    """X as a float64 array or CSR matrix without missing values."""
    return check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")


def _stack(first, second):
    if sparse.issparse(first):
        return sparse.vstack([first, second], format="csr")
    return np.vstack([np.asarray(first), np.asarray(second)])


def _same(first, second) -> bool:
    if hasattr(first, "toarray"):
        return first.shape == second.shape and abs(first - second).max() <= 1e-10 * abs(first).max()
    first, second = np.asarray(first), np.asarray(second)
    return first.shape == second.shape and bool(np.allclose(first, second, rtol=1e-10, atol=1e-12))
