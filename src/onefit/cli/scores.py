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
    return scorer_of_class(scoring, data.positive)


def scorer_of_class(scoring: str | None, positive: Any) -> Any:
    """The argument ``scoring`` where ``positive`` is the positive class, None if there are not two."""
    from sklearn import metrics

    if scoring not in (*OF_ONE_CLASS, "neg_brier_score") or positive is None or positive == 1:
        return scoring
    if scoring == "neg_brier_score":
        loss, response = metrics.brier_score_loss, "predict_proba"
        return metrics.make_scorer(loss, greater_is_better=False, response_method=response, pos_label=positive)
    function = getattr(metrics, f"{scoring}_score")
    if scoring in OF_LABELS:
        return metrics.make_scorer(function, pos_label=positive, zero_division=0)
    either = ("decision_function", "predict_proba")
    return metrics.make_scorer(function, pos_label=positive, response_method=either)


def search_arguments(scoring: str | None, data: Data) -> dict[str, Any]:
    """``scoring`` and ``refit`` of a search; a scorer of our own is told by scikit-learn's name of it."""
    scorer = scorer_of(scoring, data)
    return {"scoring": scorer} if scorer is scoring else {"scoring": {scoring: scorer}, "refit": scoring}
