"""Parameters of a criterion that are chosen by cross-validating the whole selection."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import PredefinedSplit, check_cv

from ..criteria import Criterion
from ..data.folds import take_block, take_metadata, take_rows
from ..resources import Ledger
from ..search.appraisal import column_names
from ..search.choice import GridEdgeWarning
from ..search.request import Request

SPLITS = 3
"""Folds of the cross-validation that chooses parameters of a criterion."""

_OF_ALL_ROWS = (PredefinedSplit, type(check_cv([])))


def choose_parameters(search, criteria, request: Request, params) -> tuple[list[Criterion], Ledger]:
    """(the criteria with one value for each of their parameters, what it cost to choose them).

    Where a criterion has lists of parameters, every combination selects a candidate on two thirds of the rows; the
    selected models are scored on the remaining third, for each of three thirds, and the best combination is kept.
    """
    spent, settled = Ledger(), []
    for criterion in criteria:
        choices = criterion.choices()
        settled.append(choices[0] if len(choices) == 1 else _best(search, choices, request, params, spent))
    return settled, spent


def _best(search, choices, request: Request, params, spent: Ledger) -> Criterion:
    scores = np.zeros(len(choices))
    for train, test in check_cv(SPLITS, request.y, classifier=request.classifier).split(request.X, request.y):
        scores += _scores(search, choices, request, params, spent, train, test)
    return choices[int(np.argmax(np.where(np.isnan(scores), -np.inf, scores)))]


def _scores(search, choices, request: Request, params, spent, train, test) -> np.ndarray:
    """The score on ``test`` of the model that each choice selects on ``train``."""
    X, y, pairwise, n = request.X, request.y, request.pairwise, request.folds.n
    inner = clone(search).set_params(
        criterion=list(choices), screen=None, refit=False, scoring=None, verbose=0, return_train_score=False,
        time_budget=None, journal=None, cv=_inner_folds(search, choices[0]),
    )  # fmt: skip
    X_train, y_train = take_block(pairwise, X, train, train), take_rows(y, train)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridEdgeWarning)
        inner.fit(X_train, y_train, **{name: take_metadata(value, train, n) for name, value in params.items()})
    spent.include(inner.ledger_)
    X_test, y_test = take_block(pairwise, X, test, train), take_rows(y, test)
    single = search.scoring is None or isinstance(search.scoring, str) or callable(search.scoring)
    scorer = check_scoring(search.estimator, search.scoring if single else None)
    known: dict[int, float] = {}
    chosen = []
    for criterion, name in zip(choices, column_names(choices)):
        values = inner.cv_results_[f"criterion_{name}"] * (1.0 if criterion.greater_is_better else -1.0)
        best = int(np.argmax(np.where(np.isnan(values), -np.inf, values)))
        if best not in known:
            model = clone(search.estimator).set_params(**clone(inner.cv_results_["params"][best], safe=False))
            model.fit(X_train, y_train, **{key: take_metadata(v, train, n) for key, v in request.fit_params.items()})
            known[best] = float(scorer(model, X_test, y_test))
        chosen.append(known[best])
    spent.add("fit", len(known), 0.0)
    return np.array(chosen)


def splits_any_rows(cv) -> bool:
    """Whether folds can be drawn of fewer rows: lists of row numbers, and what is made of them, are of all rows."""
    return cv is None or isinstance(cv, int | np.integer) or (hasattr(cv, "split") and not isinstance(cv, _OF_ALL_ROWS))


def _inner_folds(search, criterion: Criterion):
    """The search's own splitter, for criteria that hold rows out."""
    if "heldout" not in criterion.reads:
        return None
    if not splits_any_rows(search.cv):
        raise ValueError(
            f"The parameters of {criterion.name} are chosen on fewer rows than cv splits: "
            "give a splitter or a number of folds instead of splits of all rows."
        )
    return search.cv
