"""The data as each fold sees them: one view for all folds, or one for each.

A Pipeline's transformers learn from the training rows, so every fold has inputs of its own; with
``preprocessing="shared"`` they learn from all rows once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array

from .._exceptions import NotUnderstoodError
from ..kernels import Kernel
from ..resources import Ledger
from . import Fold, Folds, Problem
from .blocks import RowScan
from .indexing import take_metadata, take_rows


@dataclass(frozen=True, eq=False)
class Inputs:
    """Rows and targets that machines are trained on, and the transformers that stand before the machine.

    ``transformers`` is None or a Pipeline, and ``fit_params`` its full-length metadata; ``shared`` lets them learn from
    all rows once. ``check_train`` asks that training rows look the same to ``fit_transform`` and ``transform``, as
    train scores need.
    """

    X: Any
    y: Any
    folds: Folds
    transformers: Any = None
    shared: bool = False
    fit_params: dict[str, Any] = field(default_factory=dict)
    check_train: bool = False

    @property
    def frozen(self) -> bool:
        """True if transformers see the test rows."""
        return self.transformers is not None and self.shared

    @property
    def n_views(self) -> int:
        """How many different sets of inputs there are."""
        return 1 if self.transformers is None or self.shared else len(self.folds)

    def per_fold(self, kernel: Kernel) -> bool:
        """True if transformers, or the kernel, learn from the training rows of each fold."""
        return not self.shared and (self.transformers is not None or kernel.follows_data)


@dataclass(frozen=True)
class View:
    """A Problem and the rows of the full data that its rows are."""

    problem: Problem
    rows: NDArray[np.intp]


@dataclass
class Views:
    """The inputs as machines see them, made when they are first asked for: transformers cost work and memory.

    Views belong to one worker. Whatever a transformer raises is raised where views are asked for.
    """

    inputs: Inputs
    ledger: Ledger
    keep_bases: bool = True
    _views: list[View] | None = field(default=None, repr=False)
    _whole: View | None = field(default=None, repr=False)

    def of(self, kernel: Kernel) -> Sequence[View]:
        """One view of all folds, or one for each fold (see ``Inputs.per_fold``)."""
        if self._views is None:
            self._views = self._make()
        if self.inputs.transformers is None and self.inputs.per_fold(kernel):
            (all_folds,) = self._views
            folds = range(len(self.inputs.folds))
            return [View(all_folds.problem.of_fold(number), all_folds.rows) for number in folds]
        return self._views

    def whole(self, kernel: Kernel) -> View:
        """All rows as a model trained on all of them sees them: transformers learn from all rows and targets."""
        inputs = self.inputs
        if inputs.transformers is None or inputs.shared:
            self.of(kernel)
            assert self._views is not None
            return self._views[0]
        if self._whole is None:
            self._whole = self._one(clone(inputs.transformers).fit_transform(inputs.X, inputs.y, **inputs.fit_params))
        return self._whole

    @property
    def made(self) -> list[View]:
        """The views that there are at the moment."""
        return [*(self._views or ()), *([] if self._whole is None else [self._whole])]

    def _make(self) -> list[View]:
        inputs = self.inputs
        if inputs.transformers is None:
            return [self._one(inputs.X)]
        if inputs.shared:
            return [self._one(self._transformed_without_y())]
        return [self._of_fold(fold) for fold in inputs.folds]

    def _one(self, X: Any) -> View:
        folds = self.inputs.folds
        return View(Problem(checked_rows(X), folds, self.ledger, self.keep_bases), np.arange(folds.n))

    def _transformed_without_y(self) -> Any:
        """Transformers that need y would leak the test rows' labels: they are not given any."""
        transformers = self.inputs.transformers
        try:
            return clone(transformers).fit_transform(self.inputs.X, **self.inputs.fit_params)
        except Exception as error:
            raise SupervisedError.of(transformers, error) from error

    def _of_fold(self, fold: Fold) -> View:
        inputs, train, total = self.inputs, fold.train, self.inputs.folds.n
        model = clone(inputs.transformers)
        params = {key: take_metadata(value, train, total) for key, value in inputs.fit_params.items()}
        X_train = take_rows(inputs.X, train)
        trained = model.fit_transform(X_train, take_rows(inputs.y, train), **params)
        if inputs.check_train and not _same(trained, model.transform(X_train)):
            raise NotUnderstoodError("train scores: a transformer's fit_transform differs from its transform")
        tested = model.transform(take_rows(inputs.X, fold.test))
        m, n = len(train), len(train) + len(fold.test)
        one = Folds.from_splits([(np.arange(m), np.arange(m, n))], n)
        rows = np.concatenate([train, fold.test])
        return View(Problem(checked_rows(stack(trained, tested)), one, self.ledger, self.keep_bases, total), rows)


class SupervisedError(ValueError):
    """Transformers that use y were asked to see all rows."""

    @classmethod
    def of(cls, transformers: Any, error: Exception) -> SupervisedError:
        """The error that some transformers raised without y, explained."""
        return cls(
            f'preprocessing="shared" is refused for {transformers}: it cannot be fitted without y, whose '
            f'test rows would leak. Use preprocessing="per_fold". ({type(error).__name__}: {error})'
        )


def checked_rows(X: Any) -> Any:
    """X as a float64 array or CSR matrix without missing values; scans, looked at when they are read, as they are."""
    if isinstance(X, RowScan):
        return X
    return check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")


def stack(first: Any, second: Any) -> Any:
    """Rows of two arrays or sparse matrices, one below the other."""
    if hasattr(first, "toarray"):
        return sparse.vstack([first, second], format="csr")
    return np.vstack([np.asarray(first), np.asarray(second)])


def _same(first: Any, second: Any) -> bool:
    if hasattr(first, "toarray"):
        return first.shape == second.shape and bool(abs(first - second).max() <= 1e-10 * abs(first).max())
    first, second = np.asarray(first), np.asarray(second)
    return first.shape == second.shape and bool(np.allclose(first, second, rtol=1e-10, atol=1e-12))
