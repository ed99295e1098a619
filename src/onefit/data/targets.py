"""Targets, coded for a learner or as criteria without a machine read them, and the weights of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from .._arrays import Array, Indices
from .coding import code_classes
from .problem import Problem


def as_numbers(sample_weight: Any, name: str = "sample_weight") -> Array:
    """Weights as a float array; what is none is refused under the name of the argument."""
    try:
        return np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers: {error}.") from error


def check_sample_weight(sample_weight: Any, n: int) -> Array | None:
    """A float array of n non-negative weights, or None; a number counts for every row."""
    if sample_weight is None:
        return None
    weights = as_numbers(sample_weight)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}, expected ({n},): one weight for each row.")
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight contains NaN or infinity.")
    if (weights < 0).any():
        raise ValueError("sample_weight must be non-negative.")
    if not weights.any():
        raise ValueError("All sample weights are zero: there is nothing to train on.")
    return weights


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

    def split_weights(self, problem: Problem, number: int, scale_penalty: bool = False) -> Array:
        """How often and how much each row counts in a split, in units of C; zero for rows that it does not train on."""
        counts, given = problem.folds.folds[number].counts, self.fold_weights(number)
        weights = counts if given is None else counts * given
        return problem.growth(number) * weights if scale_penalty else weights

    def take(self, rows: Indices, number: int) -> Targets:
        """The targets of some rows, with the weights of fold ``number``."""
        weights = self.fold_weights(number)
        return Targets(self.Y[rows], None if weights is None else weights[rows])


@dataclass(frozen=True)
class Labels:
    """Classes as columns: ``member`` (n, m) has a one where a row is of a class, and is None in regression.

    ``codes`` (n, k) are the one-vs-rest columns of ±1, a single one (+1 for the larger label) for two classes or one;
    in regression the target itself.
    """

    codes: Array
    member: Array | None

    @property
    def n_classes(self) -> int | None:
        """How many classes there are; None in regression."""
        return None if self.member is None else self.member.shape[1]

    @property
    def positive(self) -> Array:
        """The columns of ``member`` that ``codes`` set against the rest (n, k)."""
        assert self.member is not None
        return self.member if self.member.shape[1] > 2 else self.member[:, -1:]


def read_labels(y: Any, classifier: bool | None = None) -> Labels:
    """Labels of a target. A regression's are classes if there are two values only.

    ``classifier`` says what the estimator is; None, without one: whole numbers and text are classes.
    """
    if classifier is not True and np.ndim(y) == 2 and np.shape(y)[1] > 1:
        return Labels(np.asarray(y, dtype=np.float64), None)
    values = column_or_1d(y, warn=False)
    if values.dtype.kind == "f":
        assert_all_finite(values, input_name="y")
    if classifier:
        check_classification_targets(values)
    continuous = type_of_target(values) == "continuous"
    found, number = np.unique(values, return_inverse=True)
    if len(found) > 2 and (classifier is False or (classifier is None and continuous)):
        return Labels(values.astype(np.float64)[:, None], None)
    member = np.eye(len(found))[number]
    codes = np.ones((len(values), 1)) if len(found) == 1 else code_classes(values, found)
    return Labels(codes, member)
