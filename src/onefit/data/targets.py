"""Targets, coded for a learner, and the weights of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Targets:
    """Coded targets Y (n x c) and the weights of the rows' losses.

    ``weights`` is None (one each), one array, or a tuple with an array per fold where they depend on the
    training rows (balanced class weights); ``whole`` are then the weights for training on all rows.
    """

    Y: Array
    weights: Array | tuple[Array, ...] | None = None
    whole: Array | None = None

    @property
    def whole_weights(self) -> Array | None:
        """The weights for training on all rows."""
        return self.whole if isinstance(self.weights, tuple) else self.weights

    @property
    def mean_weights(self) -> Array | None:
        """The weights of all rows as splits have them: of each row the mean over the splits that train on it."""
        if not isinstance(self.weights, tuple):
            return self.weights
        return np.asarray(np.sum(self.weights, axis=0) / np.maximum(np.sum([w > 0 for w in self.weights], axis=0), 1))

    @property
    def shared(self) -> bool:
        """True if every fold has the same positive weights: one factorisation can serve all of them."""
        if isinstance(self.weights, tuple):
            return False
        return self.weights is None or bool((self.weights > 0).all())

    def fold_weights(self, number: int) -> Array | None:
        """The weights of all rows in fold ``number``."""
        return self.weights[number] if isinstance(self.weights, tuple) else self.weights

    def take(self, rows: Rows, number: int) -> Targets:
        """The targets of some rows, with the weights of fold ``number``."""
        weights = self.fold_weights(number)
        return Targets(self.Y[rows], None if weights is None else weights[rows])
