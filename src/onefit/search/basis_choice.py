"""Drawing the landmarks or the seed of random features, once for all kernels, folds and rounds of a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array, check_random_state

from .._exceptions import warn_caller
from ..data.blocks import RowScan, check_no_missing
from ..data.folds import take_rows
from ..data.views import Inputs, checked_rows
from ..gram.approximation import Landmarks, RandomFeatures
from ..gram.basis import Basis
from ..gram.landmarks import choose, middle_kernel, reservoir
from ..kernels.parameters import variance_of
from .tasks import KernelTask


def choose_basis(approximation: Landmarks | RandomFeatures, tasks: Sequence[KernelTask], X: Any) -> Basis:
    """Draw what an approximation asks for, on the inputs and kernels of some tasks; ``X`` are the rows as given.

    Landmarks are chosen on a sample of the rows, as transformers that learn from this sample show them: labels play no
    part in it, unless a transformer cannot do without.
    """
    inputs, n = tasks[0].inputs, tasks[0].inputs.folds.n
    rng = check_random_state(approximation.random_state)
    if isinstance(approximation, RandomFeatures):
        return Basis(approximation.n_features, seed=int(rng.randint(2**31 - 1)))
    if approximation.given:
        rows = approximation.method
        _check_given(rows, inputs.X.shape[1], getattr(X, "columns", None))
        if inputs.transformers is None:  # what they make of missing values is their affair
            check_array(rows, accept_sparse="csr", dtype=np.float64, input_name="method of Landmarks")
        return Basis(rows.shape[0], rows)
    m = min(approximation.n_landmarks, n)
    if m < approximation.n_landmarks:
        warn_caller(f"n_landmarks={approximation.n_landmarks} exceeds the {n} rows: all of them are landmarks.")
    numbers = reservoir(n, m, rng)
    sample = _sample(inputs, numbers)
    kernels = [task.kernel.bound(sample.shape[1], variance_of(sample)) for task in tasks if task.inputs is inputs]
    chosen = numbers[choose(approximation.method, sample, middle_kernel(kernels, sample), m, rng)]
    return Basis(m, take_rows(inputs.X, chosen))


def _sample(inputs: Inputs, numbers: np.ndarray) -> Any:
    """Some rows after the transformers."""
    X, scanned = take_rows(inputs.X, numbers), isinstance(inputs.X, RowScan)
    if scanned and not inputs.X.framed:  # others have been looked at
        check_no_missing(X, numbers)
    if inputs.transformers is None:
        return checked_rows(X)
    try:
        found = clone(inputs.transformers).fit_transform(X)
    except Exception:  # transformers that need y
        found = clone(inputs.transformers).fit_transform(X, take_rows(inputs.y, numbers))
    if scanned:
        check_no_missing(found, numbers)
    return checked_rows(found)


def _check_given(rows: Any, features: int, columns: Any) -> None:
    """Refuse landmarks that are not rows like those of the data, with so many features and these names of columns."""
    if rows.shape[1] != features or not rows.shape[0]:
        raise ValueError(
            f"method of Landmarks holds rows with {rows.shape[1]} features ({rows.shape[0]} of them), "
            f"but X has {features} features."
        )
    names = getattr(rows, "columns", None)
    if names is not None and columns is not None and list(names) != list(columns):
        raise ValueError(f"method of Landmarks has the columns {list(names)}, but X has {list(columns)}.")
