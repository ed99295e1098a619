"""Exact cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .base import Criterion
from .held_out import held_out_loss


@dataclass(frozen=True)
class CV(Criterion):
    """t-fold cross-validation, exact: the loss of really retraining on every fold.

    Cost    one factorisation of K and O(Σ l_i² n) for folds of l_i rows.
    Oracle  retraining on every fold.
    Laws    with squared error, V(c y) = c² V(y); with an intercept, V(y + c) = V(y).

    >>> import numpy as np
    >>> from onefit import LSSVR, criteria
    >>> K = np.eye(4)
    >>> round(criteria.CV()(K, np.ones(4), LSSVR(kernel="precomputed"), cv=2), 12)
    0.0
    """

    scale_penalty: bool = False
    aggregate: str = "points"

    name = "cv"
    reads = ("heldout",)
    greater_is_better = False

    def __call__(self, K: Any, y: Any, estimator: Any, cv: Any = None) -> float:
        """The mean loss on held-out rows."""
        return held_out_loss(
            K, y, estimator, cv, series=None, scale_penalty=self.scale_penalty, aggregate=self.aggregate
        )
