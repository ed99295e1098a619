"""The score that selects: scikit-learn's, told which class is positive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .data import Data

OF_LABELS = ("f1", "precision", "recall", "jaccard")
"""Scores of predicted labels in which one class is positive."""

OF_ONE_CLASS = (*OF_LABELS, "average_precision")
"""Scores whose names in scikit-learn mean the class 1 as the positive one."""


def scorer_of(scoring: str | None, data: Data) -> Any:
    """The argument ``scoring`` of scikit-learn: a name, or a scorer that knows which class is positive."""
    from sklearn import metrics

    if scoring not in OF_ONE_CLASS or data.positive is None or data.positive == 1:
        return scoring
    function = getattr(metrics, f"{scoring}_score")
    if scoring in OF_LABELS:
        return metrics.make_scorer(function, pos_label=data.positive, zero_division=0)
    response = ("decision_function", "predict_proba")
    return metrics.make_scorer(function, pos_label=data.positive, response_method=response)


def search_arguments(scoring: str | None, data: Data) -> dict[str, Any]:
    """``scoring`` and ``refit`` of a search; a scorer of our own is told by scikit-learn's name of it."""
    scorer = scorer_of(scoring, data)
    return {"scoring": scorer} if scorer is scoring else {"scoring": {scoring: scorer}, "refit": scoring}
