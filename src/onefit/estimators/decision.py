"""Out-of-fold decision values of one estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import indexable

from .._exceptions import NotUnderstoodError, warn_caller
from .._public import set_module
from ..data import Folds
from ..data.coding import Coding, PairCoding
from ..machines import Exactness
from ..machines.contract import Series
from ..machines.registry import read_model
from ..search.choice import Choice
from ..search.deadline import Deadline
from ..search.execution import RetrainingWarning, evaluate_single
from ..search.plan import plan
from ..search.request import Request, draw_folds
from ..search.retraining import retrained_decisions
from ..search.routing import routing_enabled, sample_weight_of


@dataclass(frozen=True)
class LaterDecisions:
    """Out-of-fold values that nobody has asked for yet: ``compute`` gives the attributes of a search, by ``names``."""

    estimator: Any
    compute: Callable[[], dict[str, np.ndarray]]
    trainings: int
    names: tuple[str, ...] = ("oof_decision_",)


class WithDeferredDecisions:
    """Gives a search the out-of-fold values of a retrained candidate when they are first asked for.

    ``_later_decisions`` knows how to compute the values; it refers to the training data, and is None in copies.
    """

    def __getattr__(self, name):
        # Not a property: whatever lists all attributes, such as the representation in notebooks, would train models.
        if name not in ("oof_decision_", "oof_prediction_") or "_later_decisions" not in vars(self):
            return object.__getattribute__(self, name)  # the error that there is
        later = vars(self)["_later_decisions"]
        if later is not None and name not in later.names:
            return object.__getattribute__(self, name)
        if later is None:
            raise AttributeError(
                f"{name} of a retrained candidate takes one more training per fold. It was not asked for before "
                "the search was copied or pickled: use onefit.cross_val_decision(search.best_estimator_, X, y)."
            )
        del self._later_decisions
        try:
            vars(self).update(later.compute())
        except Exception as error:
            raise AttributeError(f"{later.estimator} has no out-of-fold decision values: {error}") from error
        self.ledger_.add("fit", later.trainings, 0.0)
        return object.__getattribute__(self, name)

    def __getstate__(self):
        state = dict(super().__getstate__())
        if "_later_decisions" in state:
            state["_later_decisions"] = None  # it holds the training data
        return state


@set_module("onefit")
def cross_val_decision(
    estimator,
    X,
    y,
    *,
    cv=None,
    groups=None,
    sample_weight=None,
    method="exact",
    order=5,
    h=None,
    start="smoothed",
    scale_penalty=False,
    preprocessing="per_fold",
    n_jobs=None,
):
    """Out-of-fold values of ``decision_function`` (regression: ``predict``) for every row.

    Parameters
    ----------
    estimator : estimator
        ``SVC``, ``SVR``, ``HingeSVC``, ``EpsilonSVR``, ``L2SVC``, ``KernelLogisticRegression``, ``KernelRidge``,
        ``LSSVC``, ``LSSVR``, or one of the estimators around them that ``KernelSearchCV`` understands; others are
        retrained, with a warning.
    X, y, cv, groups
        As in ``cross_val_predict``, but the splits may overlap and need not cover all rows.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights for fitting.
    method : {"exact", "bif", "retrain"}, default="exact"
        From the full-data solution; approximated by the influence-function series of the given ``order``; or by
        really retraining.
    order : int or np.inf, default=5
        Order of the series.
    h : float, default=None
        Over how much on both sides of its kinks the series smooths the hinge loss (None: 0.01) and the
        epsilon-insensitive one (None: a hundredth of ``epsilon``).
    start : {"smoothed", "plug-in"}, default="smoothed"
        Where the series of a loss with kinks starts from: the minimiser of the smoothed loss, or that of the loss
        itself, as in the paper. Without kinks the two are the same.
    scale_penalty : bool, default=False
        Whether the penalty follows the number of training rows.
    preprocessing : {"per_fold", "shared"}, default="per_fold"
        Whether transformers and balanced class weights learn from each fold's training rows or from all rows.
    n_jobs : int, default=None
        Accepted for symmetry with scikit-learn; one estimator is one kernel, which is not divided.

    Returns
    -------
    ndarray of shape (n_samples,) or (n_samples, n_outputs)
        NaN for rows that are never tested and the mean for rows tested more than once, with a warning.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import cross_val_decision
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KernelRidge(kernel="rbf", gamma=1.0, alpha=0.01)
    >>> exact = cross_val_decision(model, X, y, cv=10)
    >>> retrained = cross_val_decision(model, X, y, cv=10, method="retrain")
    >>> bool(abs(exact - retrained).max() < 1e-8)
    True
    """
    if method not in ("exact", "bif", "retrain"):
        raise ValueError(f'method must be "exact", "bif" or "retrain", got {method!r}.')
    if preprocessing not in ("per_fold", "shared"):
        raise ValueError(f'preprocessing must be "per_fold" or "shared", got {preprocessing!r}.')
    series = Series(order, h, start)  # checks them, whatever the method
    X, y = indexable(X, y)
    folds = draw_folds(estimator, cv, X, y, groups=groups)
    fit_params = {} if sample_weight is None else {_weight_name(estimator): sample_weight}
    parts, coding, present = decisions(
        estimator, X, y, folds, fit_params, preprocessing=preprocessing, scale_penalty=scale_penalty,
        series=series if method == "bif" else None, retrain=method == "retrain",
    )  # fmt: skip
    return assemble(parts, folds, coding, present)


def decisions(estimator, X, y, folds, fit_params, *, preprocessing, scale_penalty, series, retrain=False):
    """(values of each split, their coding, the classes each split trains on), retrained where need be."""
    if not retrain:
        request = Request(
            estimator, X, y, folds, fit_params, preprocessing,
            series=series, scale_penalty=scale_penalty, error_score="raise",
        )  # fmt: skip
        planned = plan(request, [{}])
        if planned.refused:
            raise planned.refused[0]
        reason = planned.retrain.get(0)
        if reason is None:
            _refuse_single_class(planned.settings.present)
            row = evaluate_single(planned)
            reason = row.retrain
            if reason is None:
                return row.values, planned.paths[0].coded.coding, planned.settings.present
        warn_caller(f"Retraining on every fold: {reason}.", RetrainingWarning)
    return _aligned(estimator, retrained_decisions(estimator, X, y, folds, fit_params, scale_penalty), y)


def out_of_fold(choice: Choice) -> dict[str, Any]:
    """Attributes of a search that hold out-of-fold values of its best candidate.

    Values are those at hand, or computed for the candidate alone; retrained ones are computed when they are asked for.
    """
    execution, row = choice.execution, choice.row
    request = execution.request
    if row.exactness == Exactness.FAILED or not request.criterion.scores:
        return {}
    found: dict[str, Any] = {}
    if request.classifier:
        weights = sample_weight_of(request.estimator, request.fit_params)
        found["_oof_labels"] = np.asarray(request.y)
        found["_oof_weights"] = None if weights is None else np.asarray(weights)
    model = choice.model()
    if request.basis is not None:
        later = LaterDecisions(model, partial(_on_features, request, choice.params), trainings=0)
        return {**found, "_later_decisions": later}
    if row.exactness == Exactness.RETRAINED:
        several = request.classifier and len(np.unique(np.asarray(request.y))) > 2
        names = ("oof_decision_", "oof_prediction_") if several else ("oof_decision_",)
        later = LaterDecisions(model, partial(_by_training, model, request), len(request.folds), names)
        return {**found, "_later_decisions": later}
    if row.values is not None:
        parts, coding, present = row.values, execution.coded[row.candidate].coding, execution.present
    else:
        try:
            parts, coding, present = decisions(
                model, request.X, request.y, request.folds, request.fit_params,
                preprocessing="shared" if request.preprocessing == "shared" else "per_fold",
                scale_penalty=request.scale_penalty, series=request.series,
            )  # fmt: skip
        except Exception:  # an extra must not cost a finished search: not every estimator has such values
            return found
    found["oof_decision_"] = assemble(parts, request.folds, coding, present, warn=False)
    if isinstance(coding, PairCoding) and len(np.asarray(coding.classes)) > 2:
        labels = predictions(parts, request.folds, coding, present)
        if labels is not None:
            found["oof_prediction_"] = labels
    return found


def _on_features(request: Request, params: dict[str, Any]) -> dict[str, np.ndarray]:
    """Values of a candidate on explicit features: a pass over the rows for the sums, and one for the values."""
    planned = plan(replace(request, scoring=None, deadline=Deadline()), [params])
    row = evaluate_single(planned)
    present = planned.known_settings.present
    coding = planned.paths[0].coded.coding
    return {"oof_decision_": assemble(row.values, request.folds, coding, present, warn=False)}


def _by_training(estimator, request: Request) -> dict[str, np.ndarray]:
    """Values and labels of a retrained candidate: a training on every fold."""
    folds = request.folds
    trained = retrained_decisions(estimator, request.X, request.y, folds, request.fit_params, request.scale_penalty)
    parts, coding, present = _aligned(estimator, trained, request.y)
    found = {"oof_decision_": assemble(parts, folds, coding, present, warn=False)}
    if all(labels is not None for _, _, labels in trained):
        labels = commonest_labels([labels for _, _, labels in trained], folds, np.unique(np.asarray(request.y)))
        if labels is not None:
            found["oof_prediction_"] = labels
    return found


def _aligned(estimator, trained, y):
    """(values of each split, their coding, classes of each split): classes that a fold lacks are moved to columns."""
    classes = np.unique(np.asarray(y)) if is_classifier(estimator) else None
    values = [np.asarray(value) for value, _, _ in trained]
    flat = values[0].ndim == 1
    if classes is None or all(len(found) == len(classes) for _, found, _ in trained):
        coding = Coding(None, flat=flat)  # nothing to align: columns are what the estimator returns
        return [v[:, None] if v.ndim == 1 else v for v in values], coding, [None] * len(trained)
    coding, parts, present = Coding(classes, flat=True), [], []
    for value, (_, found, _) in zip(values, trained):
        columns = np.searchsorted(classes, found)
        if decides_pairs(estimator) or (value.ndim > 1 and value.shape[1] != len(found)):
            raise ValueError(
                "A split lacks a class, and the estimator has one decision value for each pair of classes."
            )
        part = np.zeros((len(value), 1 if len(classes) == 2 else len(classes)))
        if len(classes) == 2:
            part[:, 0] = value
        elif value.ndim == 1:  # two of several classes: one value, negated for the other
            part[:, columns] = np.column_stack([-value, value])
        else:
            part[:, columns] = value
        parts.append(part)
        present.append(None if len(found) == len(classes) else found)
    return parts, coding, present


def decides_pairs(estimator) -> bool:
    """Whether decision values are said to be those of pairs: of three classes there are as many pairs as classes."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return getattr(estimator, "decision_function_shape", "ovr") == "ovo"


def _refuse_single_class(present) -> None:
    for number, classes in enumerate(present):
        if classes is not None and len(classes) < 2:
            raise ValueError(f"Split {number} trains on one class only: {classes.tolist()}.")


def _weight_name(estimator) -> str:
    """How the final estimator's weights are called in ``fit``; with metadata routing its steps ask for them."""
    try:
        return read_model(estimator).weight_name
    except NotUnderstoodError:
        if isinstance(estimator, Pipeline) and not routing_enabled():
            return f"{estimator.steps[-1][0]}__sample_weight"
    return "sample_weight"


def assemble(parts, folds: Folds, coding: Coding, present, *, warn: bool = True) -> np.ndarray:
    """(n,) or (n, outputs) from each split's decision values: the mean of rows tested more than once, NaN
    where a row is never tested.

    A class that a split's training rows do not have gets the smallest number, as in scikit-learn.
    """
    if folds.leave_one_out and len(parts) == 1:
        parts = [parts[0][fold.test] for fold in folds]  # they are pooled, in the order of the rows
    decisions = [coding.full_decision(part, classes) for part, classes in zip(parts, present)]
    times = np.bincount(np.concatenate([fold.test for fold in folds]), minlength=folds.n)
    mean = np.where(times[:, None] > 0, np.zeros((folds.n, decisions[0].shape[1])), np.nan)
    for fold, decision in zip(folds, decisions):  # each row's share: the smallest numbers must not add up
        np.add.at(mean, fold.test, decision / times[fold.test, None])
    if warn and (times == 0).any():
        warn_caller(f"{int((times == 0).sum())} rows are never tested: their values are NaN.")
    if warn and (times > 1).any():
        warn_caller("Some rows are tested more than once: their values are means.")
    flat = coding.flat if coding.classes is None else len(coding.classes) == 2
    return mean[:, 0] if flat else mean


def predictions(parts, folds: Folds, coding: Coding, present):
    """The label of each row, the commonest where it is tested more than once; None if some row never is."""
    if folds.leave_one_out and len(parts) == 1:
        parts = [parts[0][fold.test] for fold in folds]
    labels = [coding.predict(part, classes) for part, classes in zip(parts, present)]
    return commonest_labels(labels, folds, np.asarray(coding.classes))


def commonest_labels(labels, folds: Folds, known: np.ndarray) -> np.ndarray | None:
    """The label, among those ``known``, that each row has most often; None if some row is never tested."""
    votes = np.zeros((folds.n, len(known)), dtype=np.intp)
    for fold, own in zip(folds, labels):
        np.add.at(votes, (fold.test, np.searchsorted(known, own)), 1)
    return known[votes.argmax(axis=1)] if votes.any(axis=1).all() else None
