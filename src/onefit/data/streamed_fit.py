"""Transformers that learn from rows a block at a time: on all rows, or on the training rows of every fold at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from .blocks import RowScan, blocks

Mask = NDArray[np.bool_]


def check_streamable(transformers: Any) -> None:
    """Refuse, by name, transformers that have to see all rows at once."""
    for step in _steps(transformers):
        if not hasattr(step, "partial_fit") and not _stateless(step):
            raise ValueError(
                f"{type(step).__name__} learns from all rows at once, and these are read a block at a time: use "
                "transformers with partial_fit (StandardScaler, MinMaxScaler, MaxAbsScaler, IncrementalPCA, …), or "
                "ones that learn nothing."
            )


def _steps(transformers: Any) -> list[Any]:
    steps = [step for _, step in transformers.steps] if isinstance(transformers, Pipeline) else [transformers]
    return [step for step in steps if step is not None and step != "passthrough"]


def _stateless(step: Any) -> bool:
    """Whether a transformer needs no rows, or only their number of columns: categories may be given to it."""
    given = getattr(step, "categories", "auto")
    return not get_tags(step).requires_fit or not (isinstance(given, str) and given == "auto")


def fit_streamed(transformers: Any, X: RowScan, train: Sequence[Mask | None]) -> list[Any]:
    """Transformers fitted on the marked rows, one for each mask; None marks all rows.

    Cost: one pass over the rows for each transformer with ``partial_fit``, for all masks together.
    """
    fitted: list[list[Any]] = [[] for _ in train]
    for step in _steps(transformers):
        own = [clone(step) for _ in train]
        for rows, block in blocks(X):
            for model, before, mask in zip(own, fitted, train):
                part = block if mask is None else block[mask[rows]]
                for earlier in before:
                    part = earlier.transform(part) if len(part) else part
                if len(part) and hasattr(model, "partial_fit"):
                    model.partial_fit(part)
                elif len(part) and not hasattr(model, "n_features_in_"):
                    model.fit(part)
            if not hasattr(step, "partial_fit") and all(hasattr(model, "n_features_in_") for model in own):
                break
        for before, model in zip(fitted, own):
            before.append(model)
    return [_pipeline(transformers, models) for models in fitted]


def _pipeline(transformers: Any, models: list[Any]) -> Any:
    """The fitted models with the names of the steps that they were cloned from."""
    if not isinstance(transformers, Pipeline):
        return models[0]
    left = iter(models)
    steps = [(name, step if step is None or step == "passthrough" else next(left)) for name, step in transformers.steps]
    return Pipeline(steps)
