"""Losses of a machine that is trained again on parts of the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state

from .._arrays import Array, Indices
from ..criteria.row_losses import LOSSES, Loss
from ..machines.registry import read_machine


@dataclass(frozen=True)
class Retraining:
    """A Gram matrix, its target and a machine that can be trained on any rows of it."""

    K: Array
    y: NDArray[Any]
    codes: Array  # (n,): -1 and +1 for two classes, the target itself in regression
    estimator: Any
    loss: Callable[[Array, Array], Array]
    scale_penalty: bool

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.K)

    def losses(self, train: Indices, tested: Indices) -> Array:
        """Losses of ``tested`` rows by the machine that is trained on ``train``."""
        model = clone(self.estimator)
        if self.scale_penalty:
            share = len(train) / self.n
            parameters = model.get_params(deep=False)
            scaled = {"alpha": share, "C": 1.0 / share}
            model.set_params(**{name: parameters[name] * by for name, by in scaled.items() if name in parameters})
        model.fit(self.K[np.ix_(train, train)], self.y[train])
        values = model.decision_function if is_classifier(model) else model.predict
        return np.asarray(self.loss(self.codes[tested], values(self.K[np.ix_(tested, train)])), dtype=np.float64)


def read_retraining(K: Any, y: Any, estimator: Any, loss: Loss | None, scale_penalty: bool) -> Retraining:
    """Check the arguments that all estimates of stability share."""
    K, y = np.asarray(K, dtype=np.float64), np.asarray(y)
    if K.ndim != 2 or K.shape != (len(y), len(y)):
        raise ValueError(f"The Gram matrix has shape {K.shape} for {len(y)} targets: it must be square.")
    if getattr(estimator, "kernel", None) != "precomputed":
        raise ValueError(f'An estimate of stability needs kernel="precomputed", got {estimator}.')
    codes = y
    if is_classifier(estimator):
        classes = np.unique(y)
        if len(classes) != 2:
            raise ValueError(f"An estimate of stability needs two classes: the target has {len(classes)}.")
        codes = np.where(y == classes[1], 1.0, -1.0)
    found = read_machine(estimator).learner.loss if loss is None else loss
    if isinstance(found, str):
        if found not in LOSSES:
            raise ValueError(f"loss must be None, one of {', '.join(LOSSES)}, or a function of (y, f), got {found!r}.")
        found = LOSSES[found]
    return Retraining(K, y, np.asarray(codes, dtype=np.float64), estimator, found, scale_penalty)


@dataclass(frozen=True)
class Draw:
    """Rows to train on, one of them that is removed or replaced, its replacement, and the rows that are left over."""

    train: Indices
    removed: int
    replacement: int
    rest: Indices

    @property
    def without(self) -> Indices:
        """The training rows less the removed one."""
        return np.asarray(self.train[self.train != self.removed])

    @property
    def replaced(self) -> Indices:
        """The training rows with the replacement in place of the removed one."""
        return np.asarray(np.where(self.train == self.removed, self.replacement, self.train))


def draws(n: int, train_size: int | None, repeats: int, random_state: Any) -> list[Draw]:
    """Random draws of ``train_size`` of n rows (None: half of them)."""
    size = n // 2 if train_size is None else train_size
    if not 2 <= size <= n - 3:
        raise ValueError(f"train_size must be from 2 to {n - 3} of {n} rows, got {size!r}.")
    if repeats < 1:
        raise ValueError(f"repeats must be positive, got {repeats!r}.")
    rng = check_random_state(random_state)
    orders = [rng.permutation(n) for _ in range(repeats)]
    return [Draw(order[:size], order[0], order[size], order[size + 1 :]) for order in orders]
