"""From out-of-fold values to scores."""

from __future__ import annotations

import numbers
import warnings
from dataclasses import dataclass, field
from inspect import signature
from traceback import format_exc
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.utils.metadata_routing import get_routing_for_object

from .rows import take_rows
from .stand_in import StandInClassifier, StandInRegressor
from .twins import TWINS


class NeedsRetrainingError(Exception):
    """A scorer asked for more than out-of-fold decision values."""


@dataclass(frozen=True)
class Metric:
    """One scorer, its vectorised twin if there is one, and its full-length metadata."""

    scorer: Any
    twin: Any = None
    params: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scoring:
    """All scorers of a search.

    ``metrics`` maps names to Metric; a single metric is called "score". A callable ``scoring`` may return a
    dict: its metrics are known only after the first call.
    """

    metrics: dict[str, Metric]
    multimetric: bool
    from_callable: bool = False
    error_score: Any = np.nan

    @classmethod
    def build(cls, estimator, scoring, error_score, params_of=None) -> Scoring:
        """Resolve ``scoring`` as GridSearchCV does. ``params_of(name, scorer)`` gives metadata for a scorer."""
        params_of = params_of or (lambda name, scorer: {})
        check_scoring(estimator, scoring)  # scikit-learn's own error messages
        if scoring is None or isinstance(scoring, str) or callable(scoring):
            scorer = scoring if callable(scoring) else check_scoring(estimator, scoring)
            metrics = {"score": Metric(scorer, _twin(estimator, scoring), params_of("score", scorer))}
            return cls(metrics, False, callable(scoring), error_score)
        names = scoring if isinstance(scoring, dict) else {name: name for name in scoring}
        metrics = {}
        for name, what in names.items():
            scorer = check_scoring(estimator, what)
            metrics[name] = Metric(scorer, _twin(estimator, what), params_of(name, scorer))
        return cls(metrics, True, False, error_score)

    @property
    def scorers(self):
        """What scikit-learn stores as ``scorer_``."""
        if self.multimetric:
            return {name: metric.scorer for name, metric in self.metrics.items()}
        return self.metrics["score"].scorer

    def failed(self, length, reason):
        """The scores of a path on a split that could not be trained on."""
        if self.error_score == "raise":
            raise ValueError(reason)
        return {name: np.full(length, self.error_score, dtype=float) for name in self.metrics}

    def path(self, X, y, rows, values, coding, present, pooled=False):
        """Scores of L candidates on one split: {name: (L,)}.

        ``values`` (L, l, c) are the decision values of ``rows``; ``present`` the classes trained on.
        Pooled leave-one-out scores do not weigh the rows: a fold of one row is not weighed either.
        """
        decision = coding.decision(values, present)
        known = coding.predict(decision, present)
        scores: dict[str, Any] = {}
        for name, metric in self.metrics.items():
            params = {} if pooled else {key: take_rows(value, rows) for key, value in metric.params.items()}
            if metric.twin is not None and len(rows) > 1 and _plain(params):
                scores[name] = _with_twin(metric.twin, y[rows], known, coding, params.get("sample_weight"))
                continue
            X_rows, y_rows = take_rows(X, rows), y[rows]
            called = [
                self._call(metric.scorer, X_rows, y_rows, params, d, p, coding, present)
                for d, p in zip(decision, known)
            ]
            if any(isinstance(score, dict) for score in called):
                names = next(score for score in called if isinstance(score, dict))
                for key in names:
                    scores[key] = np.array(
                        [s[key] if isinstance(s, dict) else self.error_score for s in called], dtype=float
                    )
            else:
                scores[name] = np.array(called, dtype=float)
        return scores

    def _call(self, scorer, X, y, params, decision, prediction, coding, present):
        if coding.classes is None:
            model = StandInRegressor(decision, prediction)
        else:
            model = StandInClassifier(decision, prediction, coding.classes if present is None else present)
        try:
            score = scorer(model, X, y, **params)
        except Exception as error:
            if model.asked:
                raise NeedsRetrainingError(
                    f"the scorer {scorer} needs {', '.join(sorted(model.asked))} of a trained model"
                ) from error
            if self.error_score == "raise":
                raise
            warnings.warn(
                "Scoring failed. The score on this train-test partition for these parameters will be set to "
                f"{self.error_score}. Details: \n{format_exc()}",
                UserWarning,
                stacklevel=2,
            )
            return self.error_score
        return _checked(score, scorer)


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
    weights = params.get("sample_weight")
    return set(params) <= {"sample_weight"} and (weights is None or (np.ndim(weights) == 1 and bool(np.any(weights))))


def _with_twin(twin, y, known, coding, weights):
    if coding.classes is None and coding.flat:
        y, known = y[:, None], known[..., None]
    return twin(y, known, weights)


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
