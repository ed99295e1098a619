"""Checks of options before any work is done for them, and the scorer that ``--scoring`` means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .data import Data


FEW_ROWS = 50
"""Rows on which a score is tried."""

_SUITABLE = {
    "classification": "accuracy, balanced_accuracy and f1_macro suit all classes, roc_auc two of them",
    "regression": "r2, neg_mean_absolute_error and neg_root_mean_squared_error suit numbers",
}

OF_LABELS = ("f1", "precision", "recall", "jaccard")
"""Scores of predicted labels in which one class is positive."""

OF_ONE_CLASS = (*OF_LABELS, "average_precision")
"""Scores whose names in scikit-learn mean the class 1 as the positive one."""


def check_scoring_name(scoring: str | None) -> None:
    """Refuse a score that scikit-learn has no name for, and say what it may have meant."""
    import difflib

    from sklearn.metrics import get_scorer_names

    if scoring is None or scoring in get_scorer_names():
        return
    close = difflib.get_close_matches(scoring, get_scorer_names(), n=3)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    raise ValueError(
        f"--scoring {scoring}: scikit-learn has no such score.{hint} Common ones are accuracy, balanced_accuracy, "
        "f1_macro, roc_auc, r2, neg_mean_absolute_error, neg_root_mean_squared_error."
    )


def check_scoring_suits(scoring: str | None, scorer: Any, estimator: Any, data: Data) -> None:
    """Refuse a score that this machine or this target does not have: it is tried on a few rows of every class."""
    from sklearn.base import clone
    from sklearn.metrics import check_scoring

    if scoring is None:
        return
    rows = _few_rows(data)
    model = clone(estimator).fit(data.X[rows], data.y[rows])
    try:
        check_scoring(model, scorer)(model, data.X[rows], data.y[rows])
    except Exception as error:  # scorers raise what they like
        reason = str(error).rstrip(".")
        raise ValueError(f"--scoring {scoring} cannot be computed here: {reason}. {_SUITABLE[data.task]}.") from error


def _few_rows(data: Data) -> Any:
    """The numbers of some rows, equally many of every class if there are so many."""
    if data.classes is None:
        return np.arange(len(data.y))[:FEW_ROWS]
    each = max(2, FEW_ROWS // len(data.classes))
    return np.concatenate([np.flatnonzero(data.y == label)[:each] for label in data.classes])


def kernel_names(asked: str | None, scale: str) -> list[str] | None:
    """The names between commas; None if none was asked for."""
    if asked is None:
        return None
    names = [name.strip().lower() for name in asked.split(",") if name.strip()]
    if not names or "precomputed" in names:
        raise ValueError(f"--kernel {asked!r}: give names such as gaussian,linear; a matrix cannot be given here.")
    counts = sorted({"chi2", "additive_chi2"} & set(names))
    if counts and scale != "none":
        raise ValueError(
            f"--kernel {counts[0]} needs numbers that are not negative, and scaled ones may be: --scale none."
        )
    return names


def budget_seconds(asked: str | None) -> float | None:
    """The seconds of ``--budget``; None without one."""
    from ..search.deadline import parse_seconds

    try:
        return None if asked is None else parse_seconds(asked)
    except ValueError:
        raise ValueError(f"--budget {asked}: give a time above zero, such as 60s, 5m or 1.5h.") from None


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
