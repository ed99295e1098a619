"""Transformers that learn from rows a block at a time: on all rows, or on the training rows of every fold at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, get_tags

from .blocks import RowScan, blocks

Mask = NDArray[np.bool_]

EXAMPLES = 1000
"""Rows by which transformers are tried, and a ColumnTransformer finds its columns."""


def streamable_rows(X: RowScan, transformers: Any) -> RowScan:
    """The rows as transformers read them: frames where these name columns.

    Refuses, before any work, transformers that have to see all rows at once, by name, and such as leave text or dates.
    """
    for step in _leaves(transformers):
        if not _learns_in_blocks(step) and not _learns_nothing(step):
            raise ValueError(
                f"{type(step).__name__} learns from all rows at once, and these are read a block at a time: use "
                "transformers with partial_fit (StandardScaler, MinMaxScaler, MaxAbsScaler, IncrementalPCA, …), "
                "encoders whose categories are given (OneHotEncoder(categories=[…])), or ones that learn nothing."
            )
    if not X.framed and _names_columns(transformers):
        X = X.as_frames()
    if X.framed:
        _try_out(transformers, X[:EXAMPLES])
    return X


def _try_out(transformers: Any, rows: Any) -> None:
    """An error, of the first rows, if transformers do not turn them into numbers."""
    try:
        found = rows if transformers is None else clone(transformers).fit_transform(rows)
        check_array(found, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
    except Exception as error:
        raise ValueError(
            "X has columns of text or dates, and kernels read numbers: begin a Pipeline with a ColumnTransformer that "
            "encodes text by OneHotEncoder(categories=[…]) and dates by a FunctionTransformer, or drops them. "
            f"({type(error).__name__}: {error})"
        ) from error


def _leaves(transformers: Any) -> Iterator[Any]:
    """The transformers inside of Pipelines and ColumnTransformers."""
    if isinstance(transformers, Pipeline):
        inside = [step for _, step in transformers.steps]
    elif isinstance(transformers, ColumnTransformer):
        inside = [*(model for _, model, _ in transformers.transformers), transformers.remainder]
    else:
        if transformers is not None and not isinstance(transformers, str):  # "drop", "passthrough"
            yield transformers
        return
    for model in inside:
        yield from _leaves(model)


def _learns_in_blocks(step: Any) -> bool:
    return hasattr(step, "partial_fit")


def _learns_nothing(step: Any) -> bool:
    """Whether a transformer needs no rows, or some of them only for the number of columns: categories may be given."""
    tags = get_tags(step)
    if not tags.requires_fit:
        return True
    given = getattr(step, "categories", "auto")
    chosen = any(getattr(step, name, None) is not None for name in ("min_frequency", "max_categories"))
    return not (isinstance(given, str) or chosen or tags.target_tags.required)


def _names_columns(transformers: Any) -> bool:
    """Whether the first transformer chooses columns by their names or contents."""
    if isinstance(transformers, Pipeline):
        steps = [step for _, step in transformers.steps if step is not None and step != "passthrough"]
        return bool(steps) and _names_columns(steps[0])
    if not isinstance(transformers, ColumnTransformer):
        return False
    return any(_are_names(columns) for _, _, columns in transformers.transformers)


def _are_names(columns: Any) -> bool:
    if isinstance(columns, slice):
        return isinstance(columns.start, str) or isinstance(columns.stop, str)
    return isinstance(columns, str) or callable(columns) or any(isinstance(name, str) for name in np.ravel(columns))


def fit_streamed(transformers: Any, X: RowScan, train: Sequence[Mask | None]) -> list[Any]:
    """Transformers fitted on the marked rows, one for each mask; None marks all rows.

    Cost: one pass over the rows for all masks together, and one more for each transformer with ``partial_fit`` that
    stands behind another one. Oracle: ``fit`` of the rows as one frame or array.
    """
    models = [clone(transformers) for _ in train]
    learners = [_learner_of(model) for model in models]
    while not all(learner.done for learner in learners):
        for rows, block in blocks(X):
            for learner, mask in zip(learners, train):
                part = block if mask is None else block[mask[rows]]
                if len(part) and not learner.done:
                    learner.learn(part)
            if all(learner.done for learner in learners):
                break
        for learner in learners:
            learner.end_pass()
    return models


class _Learner(ABC):
    """A transformer that is learned in place, from the blocks of some passes over the rows."""

    done = False
    """Whether there is nothing left to learn."""

    @abstractmethod
    def learn(self, X: Any) -> None:
        """Learn from some rows, at least one."""

    @abstractmethod
    def end_pass(self) -> None:
        """All rows have been seen once more."""


class _Single(_Learner):
    """A transformer with ``partial_fit``, or one that learns nothing."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def learn(self, X: Any) -> None:
        if _learns_in_blocks(self.model):
            self.model.partial_fit(X)
        else:
            self.model.fit(X)
            self.done = True

    def end_pass(self) -> None:
        self.done = True


class _Chain(_Learner):
    """The steps of a Pipeline: each learns from what those before it, which have to be done, make of the rows."""

    def __init__(self, model: Pipeline) -> None:
        steps = [step for _, step in model.steps if step is not None and step != "passthrough"]
        self._steps = [(step, _learner_of(step)) for step in steps]

    @property
    def done(self) -> bool:  # type: ignore[override]
        return all(learner.done for _, learner in self._steps)

    def learn(self, X: Any) -> None:
        for step, learner in self._steps:
            if not learner.done:
                learner.learn(X)
            if not learner.done:
                return
            X = step.transform(X)

    def end_pass(self) -> None:
        for _, learner in self._steps:
            if not learner.done:
                learner.end_pass()
                return  # what stands behind it has seen nothing yet


class _Columns(_Learner):
    """A ColumnTransformer. It finds its columns by the first rows; parts that learn more are learned one by one."""

    def __init__(self, model: ColumnTransformer) -> None:
        self._model = model
        self._parts: list[tuple[Any, _Learner]] | None = None

    @property
    def done(self) -> bool:  # type: ignore[override]
        return self._parts is not None and all(learner.done for _, learner in self._parts)

    def learn(self, X: Any) -> None:
        if self._parts is None:
            self._parts = self._begun(X[:EXAMPLES])
        for columns, learner in self._parts:
            if not learner.done:
                learner.learn(_take_columns(X, columns))

    def end_pass(self) -> None:
        for _, learner in self._parts or ():
            if not learner.done:
                learner.end_pass()

    def _begun(self, X: Any) -> list[tuple[Any, _Learner]]:
        """(columns, learner) of the parts that learn from more rows; those that do not are fitted to these."""
        fitted, parts = self._model.fit(X).transformers_, []
        for k, (name, model, columns) in enumerate(fitted):
            if any(_learns_in_blocks(step) for step in _leaves(model)):
                own = clone(model)
                fitted[k] = name, own, columns
                parts.append((columns, _learner_of(own)))
        return parts


def _learner_of(model: Any) -> _Learner:
    if isinstance(model, Pipeline):
        return _Chain(model)
    return _Columns(model) if isinstance(model, ColumnTransformer) else _Single(model)


def _take_columns(X: Any, columns: Any) -> Any:
    """Columns as a fitted ColumnTransformer names them, as it shows them to their transformer."""
    if not hasattr(X, "iloc"):
        return X[:, columns]
    return X.loc[:, columns] if _are_names(columns) else X.iloc[:, columns]
