"""Scores of predictions that are known already, by scikit-learn's scorers, with bootstrap intervals."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from ..report.evaluation import Interval
from .predicting import Predictions
from .validation import scorer_of_class

OF_VALUES = ("roc_auc", "average_precision", "top_k")
"""How names of scores begin that read decision values."""

OF_PROBABILITIES = ("neg_log_loss", "neg_brier_score", "d2_log_loss_score", "d2_brier_score")
"""Scores that read probabilities."""

LEVEL = 0.95


class _Recorded(BaseEstimator):
    """A model whose input is the numbers of rows with known predictions."""

    def __init__(self, predictions: Predictions, classes: Any = None) -> None:
        self.predictions = predictions
        self.classes = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        """Predictions of the rows."""
        return self.predictions.values[X]


class _RecordedRegressor(RegressorMixin, _Recorded):
    """Predicted numbers."""


class _RecordedClassifier(ClassifierMixin, _Recorded):
    """Predicted labels, decision values and probabilities."""

    @property
    def classes_(self) -> Any:
        """The classes."""
        return np.asarray(self.classes)

    def decision_function(self, X: Any) -> Any:
        """Decision values of the rows; probabilities where there are only those."""
        found = self.predictions.decision
        if found is None:
            assert self.predictions.probability is not None
            found = self.predictions.probability[:, 1] if len(self.classes) == 2 else self.predictions.probability
        return found[X]

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the rows."""
        assert self.predictions.probability is not None
        return self.predictions.probability[X]


def scoring_of(facts: dict[str, Any]) -> str:
    """scikit-learn's name of the score by which a model was chosen."""
    return {"R²": "r2"}.get(facts["metric"], facts["metric"])


def needs_values(scoring: str) -> tuple[bool, bool]:
    """Whether a score reads decision values, and whether it reads probabilities."""
    return scoring.startswith(OF_VALUES), scoring in OF_PROBABILITIES or scoring.startswith("roc_auc_ov")


def measure(
    scoring: str, facts: dict[str, Any], predictions: Predictions, y: Any, *, replicates: int = 0, seed: int = 0
) -> Interval:
    """A score of known predictions; NaN where it is not defined for these rows.

    The interval has the 2.5 % and 97.5 % quantiles of the score over samples of as many rows, drawn with replacement.
    """
    from sklearn.metrics import get_scorer

    kind = _RecordedRegressor if facts["task"] == "regression" else _RecordedClassifier
    model = kind(predictions, facts["classes"])
    scorer = get_scorer(scorer_of_class(scoring, facts.get("positive")))
    rows = np.arange(len(y))

    def value(chosen: np.ndarray) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a class that these rows have not
            try:
                return float(scorer(model, chosen, y[chosen]))
            except ValueError:
                return np.nan

    rng = np.random.default_rng(seed)
    drawn = np.array([value(rng.integers(0, len(y), len(y))) for _ in range(replicates)])
    known = drawn[np.isfinite(drawn)]
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) if len(known) > 1 else (np.nan, np.nan)
    return Interval(facts["metric"] if scoring == scoring_of(facts) else scoring, value(rows), float(low), float(high))


def scorings_for(facts: dict[str, Any], predictions: Predictions) -> list[str]:
    """Scores worth knowing of a model, that by which it was chosen first."""
    if facts["task"] == "regression":
        usual = ["r2", "neg_root_mean_squared_error", "neg_mean_absolute_error", "neg_median_absolute_error"]
    else:
        usual = ["accuracy", "balanced_accuracy"]
        if len(facts["classes"]) == 2:
            usual += ["f1", "precision", "recall", "roc_auc", "average_precision"]
        else:
            usual += ["f1_macro"]
        if predictions.probability is not None:
            usual += ["neg_log_loss", "neg_brier_score"]
    return list(dict.fromkeys([scoring_of(facts), *usual]))
