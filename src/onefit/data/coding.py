"""Classes as numbers, and numbers as classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from .._arrays import Array, Mask
from .folds import Folds

Columns = tuple[Array, Array, Mask]
"""(targets, decision values, which targets count)."""
Link = Callable[[Array], Array]
"""From decision values t to the probability of the class that is set against another, or the rest:
p(-t) = 1 - p(t). It is sent to other processes: a function of a module of ours."""


@dataclass(frozen=True)
class Coding:
    """How decision values (…, c) relate to what an estimator returns.

    ``classes`` is None in regression. ``flat`` says that the target had one dimension. ``link`` takes decision values
    to probabilities where the machine has such (see ``class_probabilities``).
    """

    classes: NDArray[Any] | None
    flat: bool
    link: Link | None = field(default=None, kw_only=True)

    def code(self, labels: NDArray[Any]) -> Array:
        """Labels as columns of numbers (n, c): ±1 one-vs-rest, or targets of a regression as they are."""
        if self.classes is None:
            return labels.reshape(len(labels), -1).astype(np.float64)
        return code_classes(labels, self.classes)

    def decision(self, values: Array, present: NDArray[Any] | None = None) -> Array:
        """Decision values, or predictions in regression, as the estimator would return them for values (…, l, c).

        ``present`` are the classes that were trained on: two of them leave one column, as in a retrained model.
        """
        if self.classes is None:
            return values[..., 0] if self.flat else values
        if values.shape[-1] == 1:
            return values[..., 0]
        columns = np.searchsorted(self.classes, self.classes if present is None else present)
        return values[..., columns[1]] if len(columns) == 2 else values[..., columns]

    def predict(self, values: Array, present: NDArray[Any] | None = None) -> NDArray[Any]:
        """Labels (or values in regression) for values (…, l, c)."""
        decision = self.decision(values, present)
        if self.classes is None:
            return decision
        present = self.classes if present is None else present
        if len(present) == 2:
            return np.asarray(present[(decision > 0).astype(np.intp)])
        return np.asarray(present[decision.argmax(axis=-1)])

    def columns(self, labels: NDArray[Any], values: Array, present: NDArray[Any] | None = None) -> Columns:
        """Targets as numbers and decision values, column by column, as a machine trained on ``present`` has them.

        ``labels`` (l,) or (l, c) and ``values`` (…, l, c) become targets (l, k), values (…, l, k), and which of the
        targets count (l, k). With two classes a row of another one has no target.
        """
        if self.classes is None:
            Y = labels.reshape(len(labels), -1)
            return Y, values, np.ones(Y.shape, dtype=bool)
        present = self.classes if present is None else present
        decision = self.decision(values, present)
        if len(present) > 2:
            Y = code_classes(labels, present)
            return Y, decision, np.ones(Y.shape, dtype=bool)
        return code_classes(labels, present), decision[..., None], np.isin(labels, present)[:, None]

    def full_decision(self, values: Array, present: NDArray[Any] | None = None) -> Array:
        """``decision`` as columns (l, k) that do not depend on which classes are ``present``.

        A class that was not trained on gets the smallest number, as in scikit-learn.
        """
        decision = self.decision(values)
        decision = decision[:, None] if decision.ndim == 1 else decision
        if self.classes is None or present is None or len(self.classes) == 2:
            return decision
        return self._without_absent(values, decision, present)

    def _without_absent(self, values: Array, decision: Array, present: NDArray[Any]) -> Array:
        full = np.full(decision.shape, np.finfo(np.float64).min)
        columns = np.isin(np.asarray(self.classes), present)
        full[:, columns] = decision[:, columns]
        return full

    def lose(self, values: Array, absent: Mask) -> None:
        """Make classes that were not trained on lose: ``values`` (…, c) are changed."""
        values[..., absent] = np.finfo(np.float64).min


@dataclass(frozen=True)
class PairCoding(Coding):
    """One value for each pair (i, j), i < j, of classes: positive for class j. What SVC returns for them.

    ``shape`` is SVC's ``decision_function_shape``: "ovr" has a column per class (votes, and less than a third for
    confidence), "ovo" one per pair, with LIBSVM's sign. A value of exactly zero is a vote for j.
    """

    shape: str = "ovr"
    break_ties: bool = False

    def code(self, labels: NDArray[Any]) -> Array:
        """Labels as a column for each pair (n, c): see ``code_pairs``."""
        return code_pairs(labels, np.asarray(self.classes))

    def decision(self, values: Array, present: NDArray[Any] | None = None) -> Array:
        first, second, columns = self._pairs(present)
        if len(columns) == 1:
            return np.asarray(values[..., columns[0]])
        if self.shape == "ovo":
            return -values[..., columns]
        return _votes_and_confidence(values[..., columns], first, second)

    def columns(self, labels: NDArray[Any], values: Array, present: NDArray[Any] | None = None) -> Columns:
        """One column for each pair of classes that were trained on; targets count in the pairs of their class."""
        Y = code_pairs(labels, np.asarray(self.classes if present is None else present))
        return Y, values[..., self._pairs(present)[2]], Y != 0

    def predict(self, values: Array, present: NDArray[Any] | None = None) -> NDArray[Any]:
        first, second, columns = self._pairs(present)
        classes = np.asarray(self.classes if present is None else present)
        if len(columns) > 1 and self.break_ties:
            return np.asarray(classes[self.decision(values, present).argmax(axis=-1)])
        chosen = values[..., columns] >= 0
        votes = np.zeros((*chosen.shape[:-1], len(classes)), dtype=np.intp)
        for k, (i, j) in enumerate(zip(first, second)):
            votes[..., j] += chosen[..., k]
            votes[..., i] += ~chosen[..., k]
        return np.asarray(classes[votes.argmax(axis=-1)])

    def vote_bounds(self, lower: Array, upper: Array, present: NDArray[Any] | None = None) -> tuple[Any, Any]:
        """(fewest, most) votes (…, l, k) of the present classes for values within intervals (…, l, c).

        With ``break_ties`` more than two classes are told apart by ``decision``, where a zero is a vote for i.
        """
        first, second, columns = self._pairs(present)
        if self.break_ties and len(columns) > 1:
            surely, possibly = lower[..., columns] > 0, upper[..., columns] > 0
        else:
            surely, possibly = lower[..., columns] >= 0, upper[..., columns] >= 0
        fewest = np.zeros((*surely.shape[:-1], int(second.max()) + 1), dtype=np.intp)
        most = fewest.copy()
        for k, (i, j) in enumerate(zip(first, second)):
            fewest[..., j] += surely[..., k]
            most[..., j] += possibly[..., k]
            fewest[..., i] += ~possibly[..., k]
            most[..., i] += ~surely[..., k]
        return fewest, most

    def can_win(self, lower: Array, upper: Array, present: NDArray[Any] | None = None) -> Mask:
        """Which of the present classes (…, l, k) may be predicted for values within intervals (…, l, c).

        A class is ruled out if another is sure of more votes than it can have, or of as many and comes first; with
        ``break_ties`` the values decide between equal votes.
        """
        fewest, most = self.vote_bounds(lower, upper, present)
        possible = np.ones(fewest.shape, dtype=bool)
        for c in range(fewest.shape[-1]):
            beaten = fewest > most[..., [c]]
            if not self.break_ties:
                beaten[..., :c] |= fewest[..., :c] == most[..., [c]]
            beaten[..., c] = False
            possible[..., c] = ~beaten.any(axis=-1)
        return possible

    def _without_absent(self, values: Array, decision: Array, present: NDArray[Any]) -> Array:
        """Columns of classes, or NaN in those of pairs."""
        full = np.full(decision.shape, np.nan if self.shape == "ovo" else np.finfo(np.float64).min)
        if self.shape == "ovo":
            columns = self._pairs(present)[2]
            full[:, columns] = -values[:, columns]
            return full
        part = self.decision(values, present)
        columns = np.searchsorted(np.asarray(self.classes), present)
        full[:, columns] = np.column_stack([-part, part]) if part.ndim == 1 else part
        return full

    def lose(self, values: Array, absent: Mask) -> None:
        first, second = np.triu_indices(len(absent), 1)
        values[..., absent[second]] = -1.0
        values[..., absent[first]] = 1.0

    def _pairs(self, present: NDArray[Any] | None) -> tuple[Any, Any, Any]:
        """(first, second) among the present classes, and the columns of all pairs that these are."""
        classes = np.asarray(self.classes)
        places = np.arange(len(classes)) if present is None else np.searchsorted(classes, present)
        return _pairs_of(len(classes), tuple(places.tolist()))


@lru_cache(maxsize=64)
def _pairs_of(n_classes: int, places: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """``PairCoding._pairs`` of the classes at some places: a certified search asks for them after every step."""
    first, second = np.triu_indices(len(places), 1)
    number = np.zeros((n_classes, n_classes), dtype=np.intp)
    number[np.triu_indices(n_classes, 1)] = np.arange(n_classes * (n_classes - 1) // 2)
    chosen = np.array(places)
    return first, second, number[chosen[first], chosen[second]]


def _votes_and_confidence(values: Array, first: Any, second: Any) -> Array:
    """Votes of all pairs, and the sums of their values squeezed into less than a third, as in scikit-learn."""
    k = int(second.max()) + 1
    votes, sums = np.zeros((*values.shape[:-1], k)), np.zeros((*values.shape[:-1], k))
    for column, (i, j) in enumerate(zip(first, second)):
        value = values[..., column]
        sums[..., i] -= value
        sums[..., j] += value
        votes[..., j] += value > 0
        votes[..., i] += ~(value > 0)
    return np.asarray(votes + sums / (3 * (np.abs(sums) + 1)))


@dataclass(frozen=True)
class Pairs:
    """How a machine that is trained on pairs of classes puts them together: SVC's two parameters."""

    shape: str = "ovr"
    break_ties: bool = False


@dataclass(frozen=True)
class CodedTargets:
    """A validated target: as given (``labels``), as numbers ``Y`` (n, c), and how the two relate."""

    labels: NDArray[Any]
    Y: Array
    coding: Coding

    def of_labels(self, labels: NDArray[Any]) -> CodedTargets:
        """Other labels of the same classes, coded alike."""
        return CodedTargets(labels, self.coding.code(labels), self.coding)

    def drop_absent(self, values: Array, folds: Folds, present: list[NDArray[Any] | None]) -> None:
        """In pooled leave-one-out values (…, n, c), make a class that a row's training set lacks lose."""
        for fold, found in zip(folds, present):
            if found is not None:
                self.coding.lose(values[..., fold.test[0], :], ~np.isin(np.asarray(self.coding.classes), found))

    def present_classes(self, folds: Folds, weights: Array | None) -> list[NDArray[Any] | None]:
        """The classes that each fold trains on with positive weight; None where all are, and in regression."""
        classes = self.coding.classes
        if classes is None:
            return [None] * len(folds)
        used = np.ones(len(self.labels), dtype=np.intp) if weights is None else (weights > 0).astype(np.intp)
        number = np.searchsorted(classes, self.labels)
        everywhere = np.bincount(number, used, len(classes))
        present: list[NDArray[Any] | None] = []
        for fold in folds:  # by the rows removed, which are few in leave-one-out
            remaining = everywhere - np.bincount(number[fold.removed], used[fold.removed], len(classes)) > 0
            present.append(None if remaining.all() else classes[remaining])
        return present


def class_probabilities(decision: Array, link: Link) -> Array:
    """Probabilities (l, k) from what ``decision_function`` returns: (l,) for two classes, (l, k) one-vs-rest for more.

    Those of several classes are normalised to one; where all of them underflow, classes are equally probable.
    """
    if decision.ndim == 1:
        return np.column_stack([link(-decision), link(decision)])
    found = link(decision)
    total = found.sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0, found, 1.0) / np.where(total > 0, total, found.shape[1]))


def code_targets(
    y: Any,
    classifier: bool,
    pairs: Pairs | None = None,
    link: Link | None = None,
    known: NDArray[Any] | None = None,
) -> CodedTargets:
    """Validate and code a target, one-vs-rest or in ``pairs``; what is wrong with it is an error that says so.

    ``known`` are its classes, all of which may not occur in it; None is those that do.
    """
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    if classifier:
        labels = column_or_1d(y, warn=True)
        if labels.dtype.kind == "f":
            assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        classes = np.unique(labels) if known is None else known
        if len(classes) < 2:
            raise ValueError(f"The target y has one class only: {classes.tolist()}. Two classes are needed.")
        if pairs is not None:
            coding: Coding = PairCoding(classes, True, pairs.shape, pairs.break_ties, link=link)
        else:
            coding = Coding(classes, flat=True, link=link)
        return CodedTargets(labels, coding.code(labels), coding)
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
    class_weight: Any,
    targets: CodedTargets,
    folds: Folds,
    sample_weight: Array | None,
    *,
    shared: bool,
    balance_weighted: bool = True,
) -> Array | tuple[Array, ...] | None:
    """Sample weights times class weights: alike for all folds, or one array per fold.

    Balanced class weights follow the training rows of each fold unless ``shared``; ``balance_weighted`` says whether
    they balance sample weights or rows.
    """
    classes = targets.coding.classes
    if class_weight is None or classes is None:
        return sample_weight
    if class_weight != "balanced":
        return class_weights(dict(class_weight), classes, targets.labels, sample_weight)

    def balanced(present: NDArray[Any], y: NDArray[Any], given: Array | None) -> Array:
        return np.asarray(trained_weights("balanced", present, y, given, balance_weighted=balance_weighted))

    if shared:
        return balanced(classes, targets.labels, sample_weight)
    per_fold = []
    for fold in folds:
        y = targets.labels[fold.train]
        given = None if sample_weight is None else sample_weight[fold.train]
        present = np.unique(y if given is None else y[given > 0])
        full = np.zeros(folds.n)
        full[fold.train] = balanced(present, y, given)
        per_fold.append(full)
    return tuple(per_fold)


def code_classes(y: NDArray[Any], classes: NDArray[Any]) -> Array:
    """±1 columns, one-vs-rest; a single column (+1 for the second class) if there are two."""
    if len(classes) == 2:
        return np.where(y == classes[1], 1.0, -1.0)[:, None]
    return np.where(y[:, None] == classes, 1.0, -1.0)


def code_pairs(y: NDArray[Any], classes: NDArray[Any]) -> Array:
    """A column per pair (i, j) of classes, i < j: -1 for i, +1 for j, 0 for rows of other classes."""
    first, second = np.triu_indices(len(classes), 1)
    return np.where(y[:, None] == classes[second], 1.0, np.where(y[:, None] == classes[first], -1.0, 0.0))


def trained_weights(
    class_weight: str | Mapping[Any, float] | None,
    classes: NDArray[Any],
    y: NDArray[Any],
    sample_weight: Array | None,
    *,
    balance_weighted: bool,
) -> Array | None:
    """``class_weights`` of the rows that are trained on; balanced ones balance sample weights, or numbers of rows."""
    if class_weight == "balanced" and not balance_weighted and sample_weight is not None:
        return np.asarray(class_weights("balanced", np.unique(y), y, None)) * sample_weight
    return class_weights(class_weight, classes, y, sample_weight)


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
