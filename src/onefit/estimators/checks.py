"""Constructor arguments of a search, checked before any work."""

from __future__ import annotations

import numbers
import os

import numpy as np
from sklearn.base import is_classifier

from ..criteria.losses import refuse_loss_of_classes
from ..search.deadline import parse_seconds
from ..search.loss_scorer import LossScorer


def check_search(search) -> None:
    """Refuse arguments that make no sense, by name."""
    if not hasattr(search.estimator, "fit"):
        raise ValueError(f"estimator must have a fit method, got {search.estimator!r}.")
    if search.preprocessing not in ("per_fold", "shared"):
        raise ValueError(f'preprocessing must be "per_fold" or "shared", got {search.preprocessing!r}.')
    if search.gram_dtype not in ("float64", "float32"):
        raise ValueError(f'gram_dtype must be "float64" or "float32", got {search.gram_dtype!r}.')
    if search.time_budget is not None:
        parse_seconds(search.time_budget)
    if search.journal is not None and not isinstance(search.journal, str | os.PathLike):
        raise ValueError(f"journal must be None or the path of a file, got {search.journal!r}.")
    if search.error_score != "raise" and not isinstance(search.error_score, numbers.Number):
        raise ValueError(f"error_score must be 'raise' or a number, got {search.error_score!r}.")
    for name in ("scale_penalty", "return_train_score"):
        if not isinstance(getattr(search, name), bool | numbers.Integral):
            raise ValueError(f"{name} must be True or False, got {getattr(search, name)!r}.")
    if not isinstance(search.refit, bool | np.bool_ | str) and not callable(search.refit):
        raise ValueError(f"refit must be True, False, a metric's name or a callable, got {search.refit!r}.")
    for name in ("n_jobs", "verbose"):
        value = getattr(search, name)
        if not isinstance(value, numbers.Integral | np.bool_) and not (value is None and name == "n_jobs"):
            raise ValueError(f"{name} must be a whole number, got {value!r}.")


def scoring_of(search, criterion):
    """What scores candidates: ``scoring``, or the loss of the criterion where it has one.

    A criterion that is no score of out-of-fold values decides alone.
    """
    if criterion.scores and criterion.loss is not None:
        if search.scoring is not None:
            raise ValueError(f"{criterion} selects by its loss: leave out scoring, which is {search.scoring!r}.")
        if not is_classifier(search.estimator):
            refuse_loss_of_classes(criterion.name, criterion.loss)
        return LossScorer(criterion.loss)
    if not criterion.scores and isinstance(search.scoring, list | tuple | set | dict):
        raise ValueError(f"The criterion {criterion.name} selects by itself: scoring must be one metric, or None.")
    return search.scoring


def check_refit_metric(refit, names) -> None:
    """With several metrics ``refit`` has to say which one decides."""
    if refit is not False and not callable(refit) and refit not in names:
        raise ValueError(
            "For multi-metric scoring, the parameter refit must be set to a scorer key or a callable to refit "
            "an estimator with the best parameter setting on the whole data and make the best_* attributes "
            "available for that metric. If this is not needed, refit should be set to False explicitly. "
            f"{refit!r} was passed."
        )
