"""The rows as explicit features see them: after the transformers, with companions that are transformed like them.

Companions are rows, such as landmarks, that belong to no fold. Every fold's own transformers show them as they show the
rows that they are compared with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from . import Fold, Folds
from .blocks import RowScan, TransformedRows
from .folds import take_metadata, take_rows
from .streamed_fit import fit_streamed
from .views import Inputs, SupervisedError, checked_rows, stack


@dataclass(frozen=True)
class FeatureView:
    """Rows X after the transformers, and some of the splits of a search in terms of these rows.

    ``X[start:stop]`` are consecutive rows. ``rows`` are the numbers of the full data that they have, ``splits`` the
    numbers of the splits that ``folds`` are, ``transformers`` what the rows went through.
    """

    X: Any
    rows: NDArray[np.intp]
    folds: Folds
    splits: Sequence[int]
    companions: Any = None
    transformers: Any = None  # fitted


def views_of_folds(inputs: Inputs, companions: Any, *, per_fold: bool) -> Iterator[FeatureView]:
    """One view of all splits, or one for each; one at a time exists."""
    folds = inputs.folds
    if isinstance(inputs.X, RowScan) and inputs.transformers is not None:
        yield from _scanned(inputs, companions, per_fold=per_fold)
        return
    if inputs.transformers is not None and per_fold:
        yield from (_of_fold(inputs, number, fold, companions) for number, fold in enumerate(folds))
        return
    view = whole_view(inputs, companions, supervised=False)
    if not per_fold:
        yield view
        return
    for number, fold in enumerate(folds):
        yield FeatureView(view.X, view.rows, Folds(folds.n, (fold,)), [number], view.companions)


def _scanned(inputs: Inputs, companions: Any, *, per_fold: bool) -> Iterator[FeatureView]:
    """Views of rows that are read a block at a time, all of whose transformers learn in the same pass."""
    folds, everything = inputs.folds, np.arange(inputs.folds.n)
    if inputs.fit_params:
        raise ValueError(f"Transformers of scanned rows take no {', '.join(sorted(inputs.fit_params))}.")
    train = [fold.counts > 0 for fold in folds] if per_fold else [None]
    models = fit_streamed(inputs.transformers, inputs.X, train)
    for number, model in enumerate(models):
        columns = model.transform(inputs.X[:1]).shape[1]
        X, near = TransformedRows(inputs.X, model, columns), _transformed(model, companions)
        own = Folds(folds.n, (folds.folds[number],)) if per_fold else folds
        yield FeatureView(X, everything, own, [number] if per_fold else range(len(folds)), near, model)


def whole_view(inputs: Inputs, companions: Any, *, supervised: bool = True) -> FeatureView:
    """All rows and splits; transformers learn from all rows, and from their targets if ``supervised``."""
    folds = inputs.folds
    everything, splits = np.arange(folds.n), range(len(folds))
    if inputs.transformers is None:
        near = None if companions is None else checked_rows(companions)
        return FeatureView(checked_rows(inputs.X), everything, folds, splits, near)
    model, y = clone(inputs.transformers), (inputs.y,) if supervised else ()
    try:
        X = model.fit_transform(inputs.X, *y, **inputs.fit_params)
    except Exception as error:
        if supervised:
            raise
        raise SupervisedError.of(inputs.transformers, error) from error
    return FeatureView(checked_rows(X), everything, folds, splits, _transformed(model, companions), model)


def _of_fold(inputs: Inputs, number: int, fold: Fold, companions: Any) -> FeatureView:
    train, total = fold.train, inputs.folds.n
    model = clone(inputs.transformers)
    params = {key: take_metadata(value, train, total) for key, value in inputs.fit_params.items()}
    trained = model.fit_transform(take_rows(inputs.X, train), take_rows(inputs.y, train), **params)
    tested = model.transform(take_rows(inputs.X, fold.test))
    m, n = len(train), len(train) + len(fold.test)
    one = Folds.from_splits([(np.arange(m), np.arange(m, n))], n)
    X = checked_rows(stack(trained, tested))
    return FeatureView(X, np.concatenate([train, fold.test]), one, [number], _transformed(model, companions), model)


def _transformed(model: Any, companions: Any) -> Any:
    return None if companions is None else checked_rows(model.transform(companions))
