"""The data as each fold sees them: one view for all folds, or one for each.

A Pipeline's transformers learn from the training rows, so every fold has inputs of its own; with
``preprocessing="shared"`` they learn from all rows once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from .folds import take_metadata, take_rows
from .transformed_target import Recorder, TransformedTargets


@dataclass(frozen=True, eq=False)
class Resampler:
    """A model whose samplers choose or make the training rows; its parameter ``place`` holds the machine."""

    model: Any
    place: str

    def fit(self, X: Any, y: Any) -> tuple[Recorder, Any]:
        """(what the machine would be trained on, the model fitted up to it)."""
        recorder = Recorder()
        return recorder, clone(self.model).set_params(**{self.place: recorder}).fit(X, y)


@dataclass(frozen=True, eq=False)
class Inputs:
    """Rows and targets that machines are trained on, and the transformers that stand before the machine.

    ``transformers`` is None, a Pipeline or a Resampler, and ``fit_params`` its full-length metadata; ``shared`` lets
    them learn from all rows once. ``check_train`` asks that training rows look the same to ``fit_transform`` and
    ``transform``, as train scores need. A ``target`` that differs from split to split makes for one view of each, even
    of the same rows; transformers learn from it if they stand ``behind_target``, and from each of its outputs or
    classes if these are ``separate``: all have to see the same rows.
    """

    X: Any
    y: Any
    folds: Folds
    transformers: Any = None
    shared: bool = False
    fit_params: dict[str, Any] = field(default_factory=dict)
    check_train: bool = False
    target: TransformedTargets | None = None
    behind_target: bool = False
    separate: str | None = None

    @property
    def frozen(self) -> bool:
        """True if transformers see the test rows."""
        return self.transformers is not None and self.shared

    @property
    def n_views(self) -> int:
        """How many different sets of inputs there are."""
        return 1 if self.one_set else len(self.folds)

    @property
    def most_rows(self) -> int:
        """Rows of the largest view, about: samplers may give every class as many as the largest has."""
        if not isinstance(self.transformers, Resampler):
            return self.folds.n
        counts = np.unique(np.asarray(self.y), return_counts=True)[1]
        return max(self.folds.n, len(counts) * int(counts.max()))

    @property
    def one_set(self) -> bool:
        """True if all folds see the same inputs."""
        return self.transformers is None or self.shared

    def per_fold(self, kernel: Kernel) -> bool:
        """True if transformers, the kernel or targets learn from the training rows of each fold."""
        if self.target is not None and not self.target.shared:
            return True
        return not self.shared and (self.transformers is not None or kernel.follows_data)

    def targets_seen(self, number: int) -> list[Any]:
        """The targets of the training rows of a split that transformers learn from: one, or one for each machine."""
        y = take_rows(self.y, self.folds.folds[number].train)
        if self.target is not None and self.behind_target:
            y = self.target.of_splits[number].y
        if self.separate is None:
            return [y]
        y = np.asarray(y)
        if self.separate == "outputs":
            return list(y.T)
        classes = np.unique(y)
        return [(y == label).astype(int) for label in (classes[1:] if len(classes) == 2 else classes)]


@dataclass(frozen=True)
class View:
    """A Problem, the rows of the full data that its rows are, and their ``labels`` where samplers have made rows."""

    problem: Problem
    rows: NDArray[np.intp]
    labels: NDArray[Any] | None = None


@dataclass
class Views:
    """The inputs as machines see them, made when they are first asked for: transformers cost work and memory.

    Views belong to one worker. Whatever a transformer raises is raised where views are asked for. ``keep_folds=False``
    forgets the view of a fold before that of the next is made, for features that are larger than the rows.
    """

    inputs: Inputs
    ledger: Ledger
    keep_bases: bool = True
    keep_folds: bool = True
    _views: list[View] | None = field(default=None, repr=False)
    _whole: View | None = field(default=None, repr=False)

    def of(self, kernel: Kernel) -> Sequence[View]:
        """One view of all folds, or one for each fold (see ``Inputs.per_fold``)."""
        if self._views is None:
            self._views = self._make()
        if self.inputs.one_set and self.inputs.per_fold(kernel):
            (all_folds,) = self._views
            folds = range(len(self.inputs.folds))
            return [View(all_folds.problem.of_fold(number), all_folds.rows) for number in folds]
        return self._views

    def each_fold(self, kernel: Kernel) -> Iterator[View]:
        """One view after another, for each fold, where they differ."""
        if self.inputs.n_views == 1 or self.keep_folds:
            yield from self.of(kernel)
        else:
            yield from (self._of_fold(number, fold) for number, fold in enumerate(self.inputs.folds))

    def whole(self, kernel: Kernel) -> View:
        """All rows as a model trained on all of them sees them: transformers learn from all rows and targets."""
        inputs = self.inputs
        if inputs.one_set:
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
        if isinstance(inputs.transformers, Resampler):
            return [self._resampled(fold, inputs.transformers) for fold in inputs.folds]
        return [self._of_fold(number, fold) for number, fold in enumerate(inputs.folds)]

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

    def _of_fold(self, number: int, fold: Fold) -> View:
        inputs, train, total = self.inputs, fold.train, self.inputs.folds.n
        params = {key: take_metadata(value, train, total) for key, value in inputs.fit_params.items()}
        X_train, X_test = take_rows(inputs.X, train), take_rows(inputs.X, fold.test)
        found: tuple[Any, Any] | None = None
        for y in inputs.targets_seen(number):
            model = clone(inputs.transformers)
            trained = model.fit_transform(X_train, y, **params)
            if inputs.check_train and not _same(trained, model.transform(X_train)):
                raise NotUnderstoodError("train scores: a transformer's fit_transform differs from its transform")
            rows = trained, model.transform(X_test)
            if found is not None and not all(_same(one, other) for one, other in zip(found, rows)):
                raise NotUnderstoodError("transformers learn from the target, and each output or class has its own")
            found = rows
        assert found is not None
        return self._apart(*found, fold)

    def _resampled(self, fold: Fold, resampler: Resampler) -> View:
        """The rows that samplers make of the training rows, and the test rows as they are."""
        y = np.asarray(take_rows(self.inputs.y, fold.train))
        recorder, model = resampler.fit(take_rows(self.inputs.X, fold.train), y)
        model.predict(take_rows(self.inputs.X, fold.test))
        made = np.asarray(recorder.y)
        if not np.array_equal(np.unique(made), np.unique(y)):
            raise NotUnderstoodError("samplers change the values of the target")
        labels = np.concatenate([made, np.asarray(take_rows(self.inputs.y, fold.test))])
        return self._apart(recorder.X, recorder.asked, fold, labels)

    def _apart(self, trained: Any, tested: Any, fold: Fold, labels: NDArray[Any] | None = None) -> View:
        """A view of one fold: rows that are trained on, and those that are tested."""
        m = len(fold.train) if labels is None else len(labels) - len(fold.test)
        n = m + len(fold.test)
        one = Folds.from_splits([(np.arange(m), np.arange(m, n))], n)
        rows = np.concatenate([fold.train, fold.test])
        problem = Problem(checked_rows(stack(trained, tested)), one, self.ledger, self.keep_bases, self.inputs.folds.n)
        return View(problem, rows, labels)


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
