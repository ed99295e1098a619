"""From out-of-fold values to scores."""

from __future__ import annotations

import numbers
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from inspect import signature
from traceback import format_exc
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.utils.metadata_routing import get_routing_for_object

from ..criteria.row_losses import LOSSES
from ..data.folds import take_block, take_metadata, take_rows
from .scorers import (
    OF_SQUARES,
    TWINS,
    LossScorer,
    StandInClassifier,
    StandInLabels,
    StandInRegressor,
    StandInWithProbabilities,
    neg_mean_squared_error,
    roc_auc,
)


class NeedsRetrainingError(Exception):
    """A scorer asked for more than out-of-fold decision values."""


@dataclass(frozen=True)
class Metric:
    """One scorer, its vectorised twin if there is one, and its full-length metadata."""

    scorer: Any
    twin: Any = None
    params: dict[str, Any] = field(default_factory=dict)

    def of_squares(self, classes: bool) -> Any:
        """The metric as a function of mean squared errors and variances of targets; None if it is none.

        Targets of ``classes`` are codes, whose squared errors are a loss and no metric of labels.
        """
        if isinstance(self.scorer, LossScorer):
            return OF_SQUARES[neg_mean_squared_error] if self.scorer.loss == "squared" else None
        return None if classes else OF_SQUARES.get(self.twin)

    @property
    def averages_errors(self) -> bool:
        """Whether it is a mean of errors that are continuous in the values."""
        if isinstance(self.scorer, LossScorer):
            return self.scorer.loss in LOSSES
        return self.twin not in (None, TWINS["accuracy"])


@dataclass(frozen=True)
class ScoredRows:
    """The rows of one score: the data as the user gave them, and which classes were trained on."""

    X: Any
    y: Any
    labels: np.ndarray
    rows: np.ndarray
    columns: np.ndarray | None = None  # training rows, where X is a precomputed Gram matrix
    present: np.ndarray | None = None
    pooled: bool = False


@dataclass(frozen=True)
class Scoring:
    """All scorers of a search.

    ``metrics`` maps names to Metric; a single metric is called "score". A callable ``scoring`` may return a
    dict: then it is several metrics, which is known only after the first call.
    """

    metrics: dict[str, Metric]
    named: bool  # several scorers by name, as opposed to one
    error_score: Any = np.nan
    given: Any = None  # what a search was given

    @classmethod
    def build(cls, estimator, scoring, error_score, params_of=None) -> Scoring:
        """Resolve ``scoring`` as GridSearchCV does.

        ``params_of(name, scorer, multi)`` gives metadata for a scorer; ``multi`` is scikit-learn's scorer of several
        metrics that it belongs to, or None.
        """
        params_of = params_of or (lambda name, scorer, multi: {})
        multi = check_scoring(estimator, scoring)  # scikit-learn's own error messages
        if scoring is None or isinstance(scoring, str) or callable(scoring):
            scorer = scoring if callable(scoring) else multi
            metrics = {"score": Metric(scorer, _twin(estimator, scoring), params_of("score", scorer, None))}
            return cls(metrics, False, error_score, scoring)
        names = scoring if isinstance(scoring, dict) else {name: name for name in scoring}
        metrics = {}
        for name, what in names.items():
            scorer = check_scoring(estimator, what)
            metrics[name] = Metric(scorer, _twin(estimator, what), params_of(name, scorer, multi))
        return cls(metrics, True, error_score, scoring)

    @property
    def averages_errors(self) -> bool:
        """True if every metric is a mean of errors, blind to signs and ranks of very small values."""
        return all(metric.averages_errors for metric in self.metrics.values())

    @property
    def loss_scorer(self) -> LossScorer | None:
        """The scorer of a criterion's own loss, if it is that."""
        scorer = next(iter(self.metrics.values())).scorer
        return scorer if isinstance(scorer, LossScorer) else None

    @property
    def weights(self) -> np.ndarray | None:
        """Weights of the rows in the first metric; None if it has none."""
        weights = next(iter(self.metrics.values())).params.get("sample_weight")
        return None if weights is None else np.asarray(weights, dtype=float)

    @property
    def reads_labels(self) -> bool:
        """True if every metric is known to read nothing but the labels of classes."""
        return all(metric.twin is TWINS["accuracy"] for metric in self.metrics.values())

    @property
    def scorers(self):
        """The scorer, or scorers by name, that scikit-learn stores as ``scorer_``."""
        if self.named:
            return {name: metric.scorer for name, metric in self.metrics.items()}
        return self.metrics["score"].scorer

    def path(self, tested: ScoredRows, values, coding) -> dict[str, np.ndarray]:
        """Scores of L candidates from their decision values (L, l, c): {name: (L,)}.

        Pooled leave-one-out scores do not weigh the rows: a fold of one row is not weighed either.
        """
        decision = coding.decision(values, tested.present)
        known = coding.predict(values, tested.present)
        scores: dict[str, Any] = {}
        for name, metric in self.metrics.items():
            n = len(tested.labels)
            params = {} if tested.pooled else _rows_of(metric.params, tested.rows, n)
            if isinstance(metric.scorer, LossScorer):
                weights = params.get("sample_weight")
                labels = tested.labels[tested.rows]
                scores[name] = metric.scorer.path(coding, labels, values, tested.present, weights)
                continue
            if metric.twin is not None and len(tested.rows) > 1 and _plain(params) and _finite(known):
                labels = tested.labels[tested.rows]
                scores[name] = _with_twin(metric.twin, labels, known, coding, params.get("sample_weight"))
                continue
            if self._is_area(name, tested, coding, params) and np.isfinite(decision).all():
                scores[name] = roc_auc(tested.labels[tested.rows] == coding.classes[1], decision)
                continue
            called = [self._call(metric.scorer, tested, params, d, p, coding) for d, p in zip(decision, known)]
            scores.update(self._collect(name, called))
        return scores

    def _is_area(self, name: str, tested: ScoredRows, coding, params) -> bool:
        """Whether a metric is the area under the ROC curve of two classes that are both there, without weights."""
        asked = self.given[name] if isinstance(self.given, dict) else name if self.named else self.given
        if not isinstance(asked, str) or asked != "roc_auc" or params.get("sample_weight") is not None:
            return False
        if coding.classes is None or len(coding.classes) != 2 or set(params) - {"sample_weight"}:
            return False
        everybody = tested.present is None or len(tested.present) == 2
        return everybody and len(np.unique(tested.labels[tested.rows])) == 2

    def wanting_values(self, tested: ScoredRows, classes) -> str | None:
        """The name of a metric that asks for more than labels, if there is one."""
        X = take_block(tested.columns is not None, tested.X, tested.rows, tested.columns)
        for name, metric in self.metrics.items():
            if metric.twin is not None:
                continue
            model = StandInLabels(X, None, tested.labels[tested.rows], classes)
            params = _rows_of(metric.params, tested.rows, len(tested.labels))
            with suppress(Exception):  # what else is wrong with it is said when it is called in earnest
                metric.scorer(model, X, take_rows(tested.y, tested.rows), **params)
            if model.asked:
                return name
        return None

    def _collect(self, name: str, called: list) -> dict[str, np.ndarray]:
        """Scores of one scorer, which may have returned dicts."""
        example = next((score for score in called if isinstance(score, dict)), None)
        if example is None:
            return {name: np.array(called, dtype=float)}
        return {
            key: np.array([s[key] if isinstance(s, dict) else self.error_score for s in called], dtype=float)
            for key in example
        }

    def _call(self, scorer, tested: ScoredRows, params, decision, prediction, coding):
        X = take_block(tested.columns is not None, tested.X, tested.rows, tested.columns)
        y = take_rows(tested.y, tested.rows)
        known = (X, decision, prediction, coding.classes if tested.present is None else tested.present)
        if coding.link is not None:
            model = StandInWithProbabilities(*known, coding.link)
        else:
            model = (StandInRegressor if coding.classes is None else StandInClassifier)(*known)
        try:
            score = scorer(model, X, y, **params)
        except Exception as error:
            if model.asked:
                raise _needs_retraining(scorer, model) from error
            if self.error_score == "raise":
                raise
            _warn_of_failure(self.error_score, format_exc())
            return self.error_score
        # scikit-learn's scorers look which response methods there are; other callables get what they ask for
        if model.asked and not hasattr(scorer, "get_metadata_routing"):
            raise _needs_retraining(scorer, model)
        return _checked(score, scorer)


def score_model(scorer, model, X, y, params: dict[str, Any], *, named: bool, error_score) -> Any:
    """A trained model's score, or a dict of them; what fails is ``error_score`` with a warning, as in GridSearchCV.

    ``named`` says that the scorer is scikit-learn's of several metrics, which returns the texts of errors.
    """
    target = () if y is None else (y,)
    try:
        score = scorer(model, X, *target, **params)
    except Exception:
        if named or error_score == "raise":
            raise
        _warn_of_failure(error_score, format_exc())
        return error_score
    if named:
        for text in (value for value in score.values() if isinstance(value, str)):
            _warn_of_failure(error_score, text)
        score = {name: error_score if isinstance(value, str) else value for name, value in score.items()}
    return _checked(score, scorer)


def _warn_of_failure(error_score, details: str) -> None:
    warnings.warn(
        "Scoring failed. The score on this train-test partition for these parameters will be set to "
        f"{error_score}. Details: \n{details}",
        UserWarning,
        stacklevel=3,
    )


def _needs_retraining(scorer, model) -> NeedsRetrainingError:
    return NeedsRetrainingError(f"the scorer {scorer} needs {', '.join(sorted(model.asked))} of a trained model")


def _rows_of(params, rows, n):
    return {key: take_metadata(value, rows, n) for key, value in params.items()}


def _twin(estimator, scoring):
    """Accuracy has a twin for classifiers, the others for regressors."""
    classifier = is_classifier(estimator)
    if scoring is None:
        scoring = "accuracy" if classifier else "r2"
    if not isinstance(scoring, str) or (scoring == "accuracy") != classifier:
        return None
    return TWINS.get(scoring)


def _plain(params) -> bool:
    """Nothing but sample weights, and some of those positive: what a twin takes."""
    if not set(params) <= {"sample_weight"}:
        return False
    weights = params.get("sample_weight")
    return weights is None or (np.ndim(weights) == 1 and bool(np.any(np.asarray(weights) > 0)))


def _finite(known) -> bool:
    """Whether predictions are labels or finite numbers: scikit-learn's scorers refuse others."""
    return known.dtype.kind != "f" or bool(np.isfinite(known).all())


def _with_twin(twin, y, known, coding, weights):
    if coding.classes is None and coding.flat:
        y, known = y[:, None], known[..., None]
    return twin(y, known, None if weights is None else np.asarray(weights))


def _checked(score, scorer):
    """A number, or a dict of numbers."""
    if isinstance(score, dict):
        return {name: _checked(value, name) for name, value in score.items()}
    if hasattr(score, "item") and np.size(score) == 1:
        score = score.item()
    if not isinstance(score, numbers.Number):
        raise ValueError(f"scoring must return a number, got {score} ({type(score)}) instead. (scorer={scorer})")
    return score


def accepts_sample_weight(scorer, estimator, scoring) -> bool:
    """Whether a scorer takes ``sample_weight``, by its public routing request or its signature."""
    if scoring is None:
        return "sample_weight" in signature(estimator.score).parameters
    if hasattr(scorer, "get_metadata_routing"):
        return "sample_weight" in get_routing_for_object(scorer).score.requests
    return "sample_weight" in signature(scorer).parameters
