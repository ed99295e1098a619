"""The target as criteria without a machine read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from .coding import code_classes

Array = NDArray[np.float64]


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
