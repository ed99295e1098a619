"""Losses that criteria average over rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Mask
from ..data.coding import Coding
from ..kernels import NotDifferentiableError
from ..losses.margin import HingeLoss, SlopedLoss
from ..losses.residual import AbsoluteLoss, SquaredLoss

Loss = str | Callable[[Array, Array], Array]

ERROR = "error"


_BY_NAME: dict[str, SlopedLoss] = {"squared": SquaredLoss(), "hinge": HingeLoss(), "absolute": AbsoluteLoss()}

LOSSES: dict[str, Callable[[Array, Array], Array]] = {name: loss.value for name, loss in _BY_NAME.items()}
"""Losses of a target and a decision value by name. "error", a wrong label, is one of a prediction and is not here."""

_STEP = 3e-4
"""Step of the differences that stand for the derivative of a user's loss: their error is its fourth power."""


def loss_slope(loss: Loss, y: Array, f: Array) -> Array:
    """``d loss / df`` of targets and values (m,); of a function that is given by central differences of order four."""
    if isinstance(loss, str):
        if loss == ERROR:
            raise NotDifferentiableError('loss="error" counts labels and has no derivative: use "squared" or "hinge".')
        return _BY_NAME[loss].slope(y, f)
    h = _STEP * np.maximum(1.0, np.abs(f))
    near, far = loss(y, f + h) - loss(y, f - h), loss(y, f + 2 * h) - loss(y, f - 2 * h)
    return np.asarray((8.0 * near - far) / (12.0 * h))


def check_loss(loss: Any) -> None:
    """Refuse, by a ValueError, what is neither the name of a loss nor a function nor None."""
    if loss is not None and not callable(loss) and loss not in (ERROR, *LOSSES):
        known = ", ".join(f'"{name}"' for name in (ERROR, *LOSSES))
        raise ValueError(f"loss must be None, one of {known}, or a function of (y, f), got {loss!r}.")


def check_aggregate(aggregate: str) -> None:
    """Refuse what is not a way of putting rows together."""
    if aggregate not in ("points", "folds"):
        raise ValueError(f'aggregate must be "points" or "folds", got {aggregate!r}.')


def refuse_loss_of_classes(name: str, loss: Any) -> None:
    """Refuse, by a ValueError, the losses of a regression that need classes."""
    if loss in (ERROR, "hinge"):
        raise ValueError(f'The criterion {name} has loss="{loss}", which needs classes: the estimator is a regressor.')


def row_losses(loss: Loss, coding: Coding, labels: NDArray[Any], values: Array, present: Any = None) -> Array:
    """The loss of every row (E, l), from decision values (E, l, c) of E machines.

    ``present`` are the classes that the machines were trained on (None: all). A row of several outputs has the mean
    of their losses; so has a row of one-vs-rest columns, whose targets are -1 and +1. Of machines for pairs of classes
    a row has the mean over the pairs that its class is in, and NaN if its class was not trained on.
    """
    if isinstance(loss, str) and loss == ERROR:
        return np.asarray(coding.predict(values, present) != labels, dtype=np.float64)
    Y, F, counted = coding.columns(labels, values, present)
    losses = LOSSES[loss](Y, F) if isinstance(loss, str) else _called(loss, Y, F, counted)
    with np.errstate(invalid="ignore"):  # 0 / 0: a class that was not trained on
        return np.asarray(np.where(counted, losses, 0.0).sum(axis=2) / counted.sum(axis=1))


def mean_of_rows(losses: Array, weights: Any = None) -> Array:
    """Weighted means (E,) of the losses (E, l) of rows; NaN where no row has a weight."""
    if weights is not None and not np.any(weights):
        return np.full(len(losses), np.nan)
    return np.asarray(np.average(losses, axis=1, weights=weights))


def left_out_losses(loss: Loss, coding: Coding, labels: NDArray[Any], values: Array, present: Sequence[Any]) -> Array:
    """``row_losses`` of rows that were left out one at a time; ``present`` are the classes that each leaves behind."""
    losses = row_losses(loss, coding, labels, values)
    for i, classes in enumerate(present):
        if classes is not None:  # a class has one row only: without it machines have fewer columns
            row = slice(i, i + 1)
            losses[:, row] = row_losses(loss, coding, labels[row], values[:, row], classes)
    return losses


def _called(loss: Callable[[Array, Array], Array], Y: Array, F: Array, counted: Mask) -> Array:
    """A user's function, called for one machine at a time with the targets and values that count (m,)."""
    losses = np.zeros(F.shape)
    y = Y[counted]
    for values, found in zip(F, losses):
        answer = np.asarray(loss(y, values[counted]), dtype=np.float64)
        if answer.shape != y.shape:
            raise ValueError(f"loss must return one number for each of {len(y)} rows, got shape {answer.shape}.")
        found[counted] = answer
    return losses
