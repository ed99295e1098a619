"""Classes as numbers, and numbers as classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from .folds import Folds

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Coding:
    """How decision values (…, c) relate to what an estimator returns.

    ``classes`` is None in regression. ``flat`` says that the target had one dimension.
    """

    classes: NDArray[Any] | None
    flat: bool

    def decision(self, values: Array, present: NDArray[Any] | None = None) -> Array:
        """What ``decision_function`` (or ``predict`` in regression) would return for values (…, l, c).

        ``present`` are the classes that were trained on: two of them leave one column, as in a retrained model.
        """
        if self.classes is None:
            return values[..., 0] if self.flat else values
        if values.shape[-1] == 1:
            return values[..., 0]
        columns = np.searchsorted(self.classes, self.classes if present is None else present)
        return values[..., columns[1]] if len(columns) == 2 else values[..., columns]

    def predict(self, decision: Array, present: NDArray[Any] | None = None) -> NDArray[Any]:
        """Labels (or values) for what ``decision`` returned."""
        if self.classes is None:
            return decision
        present = self.classes if present is None else present
        if len(present) == 2:
            return np.asarray(present[(decision > 0).astype(np.intp)])
        return np.asarray(present[decision.argmax(axis=-1)])


@dataclass(frozen=True)
class CodedTargets:
    """A validated target: as given (``labels``), as numbers ``Y`` (n, c), and how the two relate."""

    labels: NDArray[Any]
    Y: Array
    coding: Coding

    def present_classes(self, folds: Folds, weights: Array | None) -> list[NDArray[Any] | None]:
        """The classes that each fold trains on with positive weight; None where all are, and in regression."""
        classes = self.coding.classes
        if classes is None:
            return [None] * len(folds)
        present: list[NDArray[Any] | None] = []
        for fold in folds:
            rows = fold.train if weights is None else fold.train[weights[fold.train] > 0]
            found = np.unique(self.labels[rows])
            present.append(None if len(found) == len(classes) else found)
        return present


def code_targets(y: Any, classifier: bool) -> CodedTargets:
    """Validate and code a target; what is wrong with it is an error that says so."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    if classifier:
        labels = column_or_1d(y, warn=True)
        if labels.dtype.kind == "f":
            assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        classes = np.unique(labels)
        if len(classes) < 2:
            raise ValueError(f"The target y has one class only: {classes.tolist()}. Two classes are needed.")
        return CodedTargets(labels, code_classes(labels, classes), Coding(classes, flat=True))
    if np.iscomplexobj(y):
        raise ValueError("Complex data not supported: the target y is complex.")
    try:
        values = np.asarray(y).astype(np.float64)
    except (TypeError, ValueError):
        message = "The target y holds text or other objects, but the estimator is a regressor: numbers are needed."
        raise ValueError(message) from None
    if values.ndim not in (1, 2):
        raise ValueError(f"The target y must have one or two dimensions, got shape {values.shape}.")
    assert_all_finite(values, input_name="y")
    return CodedTargets(values, values.reshape(len(values), -1), Coding(None, flat=values.ndim == 1))


def row_weights(
    class_weight: Any, targets: CodedTargets, folds: Folds, sample_weight: Array | None, *, shared: bool
) -> Array | tuple[Array, ...] | None:
    """Sample weights times class weights: alike for all folds, or one array per fold.

    Balanced class weights follow the training rows of each fold unless ``shared``.
    """
    classes = targets.coding.classes
    if class_weight is None or classes is None:
        return sample_weight
    if class_weight != "balanced" or shared:
        setting = class_weight if class_weight == "balanced" else dict(class_weight)
        return class_weights(setting, classes, targets.labels, sample_weight)
    per_fold = []
    for fold in folds:
        y = targets.labels[fold.train]
        given = None if sample_weight is None else sample_weight[fold.train]
        present = np.unique(y if given is None else y[given > 0])
        full = np.zeros(folds.n)
        full[fold.train] = class_weights("balanced", present, y, given)
        per_fold.append(full)
    return tuple(per_fold)


def code_classes(y: NDArray[Any], classes: NDArray[Any]) -> Array:
    """±1 columns, one-vs-rest; a single column (+1 for the second class) if there are two."""
    if len(classes) == 2:
        return np.where(y == classes[1], 1.0, -1.0)[:, None]
    return np.where(y[:, None] == classes, 1.0, -1.0)


def class_weights(
    class_weight: str | Mapping[Any, float] | None,
    classes: NDArray[Any],
    y: NDArray[Any],
    sample_weight: Array | None,
) -> Array | None:
    """Sample weights multiplied by the weight of each row's class; rows of no listed class weigh nothing."""
    if class_weight is None:
        return sample_weight
    used = np.isin(y, classes)
    per_class = compute_class_weight(
        class_weight,
        classes=classes,
        y=y[used],
        sample_weight=None if sample_weight is None else sample_weight[used],
    )
    weights = np.zeros(len(y))
    weights[used] = per_class[np.searchsorted(classes, y[used])]
    return weights if sample_weight is None else weights * sample_weight
