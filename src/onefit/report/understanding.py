"""Needs of the chosen model: more rows (learning curve), and which columns (permutation importance)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import train_test_split

SHARES = (1 / 8, 1 / 4, 1 / 2, 1.0)
"""Parts of the rows, each within the next."""

FEWEST_ROWS = 80
"""Rows without which a part of them says nothing."""

MOST_ROWS = 4000
"""Rows beyond which neither is computed: a part of the report must not cost more than the search."""

MOST_COLUMNS = 60
"""Columns whose importance is computed."""

TESTED_ROWS = 500
"""Rows on which columns are shuffled."""

REPEATS = 5
"""Shufflings of a column."""


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Rows, cross-validated scores of the chosen candidate on them, and their standard errors."""

    rows: np.ndarray
    values: np.ndarray
    errors: np.ndarray
    score: str


@dataclass(frozen=True, eq=False)
class Importance:
    """Columns by falling importance: by how much the score falls when a column is shuffled, and the spread of that."""

    names: list[str]
    falls: np.ndarray
    spreads: np.ndarray
    rows: int


def learning_curve_of(search: Any, scores: Any, X: Any, y: Any, groups: Any = None) -> LearningCurve | None:
    """Scores of the chosen candidate on nested parts of the rows, each by one exact cross-validation."""
    from .. import KernelSearchCV

    if not can_be_computed(search, scores, X, y):
        return None
    y = np.asarray(y)
    order = np.random.default_rng(0).permutation(len(y))
    grid = {name: [value] for name, value in scores.params[scores.best].items()}
    found = []
    for share in SHARES:
        rows = np.sort(order[: max(2, round(share * len(y)))])
        own = {} if groups is None else {"groups": np.asarray(groups)[rows]}
        part = KernelSearchCV(search.estimator, grid, cv=search.cv, scoring=search.scoring, preprocessing="shared",
                              refit=False, error_score=np.nan)  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                part.fit(_rows(X, rows), y[rows], **own)
            except ValueError:  # too few rows of a class for the folds
                continue
        found.append((len(rows), *_score_of(part, search)))
    known = [point for point in found if np.isfinite(point[1])]
    if len(known) < 2:
        return None
    rows, values, errors = np.array(known, dtype=float).T
    return LearningCurve(rows, values, errors, scores.name)


def importance_of(search: Any, scores: Any, X: Any, y: Any, names: Any = None) -> Importance | None:
    """By how much the score on rows that the model has not seen falls when a column of them is shuffled.

    The chosen candidate is trained once, on other rows.
    """
    from sklearn.inspection import permutation_importance
    from sklearn.metrics import check_scoring

    if not can_be_computed(search, scores, X, y) or isinstance(search.scoring, list | tuple) or hasattr(X, "toarray"):
        return None
    table, y = np.asarray(X), np.asarray(y)
    if table.shape[1] > MOST_COLUMNS:
        return None
    if names is None:
        names = getattr(X, "columns", [f"column {k + 1}" for k in range(table.shape[1])])
    model = clone(search.estimator).set_params(**scores.params[scores.best])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            stratify = y if is_classifier(search.estimator) else None
            train, test = train_test_split(np.arange(len(y)), test_size=min(0.25, TESTED_ROWS / len(y)),
                                           random_state=0, stratify=stratify)  # fmt: skip
            scoring = _single(search.scoring, search.refit)
            model.fit(_rows(X, train), y[train])
            shuffled = permutation_importance(model, _rows(X, test), y[test], n_repeats=REPEATS, random_state=0,
                                              scoring=check_scoring(model, scoring))  # fmt: skip
        except (ValueError, TypeError):
            return None
    falls, spreads = shuffled.importances_mean, shuffled.importances_std
    order = np.argsort(-falls, kind="stable")
    called = [str(names[k]) for k in order]
    return Importance(called, falls[order], spreads[order], len(test))


def can_be_computed(search: Any, scores: Any, X: Any, y: Any) -> bool:
    """Whether there is a table of moderate size, one target, and a search with kernel matrices that held rows out."""
    if getattr(search, "approximation", None) is not None:  # what is shown would be of another machine
        return False
    if X is None or y is None or not scores.tested or np.asarray(y).ndim > 1:
        return False
    shape = getattr(X, "shape", np.asarray(X).shape)
    return len(shape) == 2 and FEWEST_ROWS <= shape[0] <= MOST_ROWS


def _rows(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]


def _single(scoring: Any, refit: Any) -> Any:
    """The scorer that selects, of a search with one or several."""
    return scoring[refit if isinstance(refit, str) else next(iter(scoring))] if isinstance(scoring, dict) else scoring


def _score_of(part: Any, search: Any) -> tuple[float, float]:
    """Mean score of the only candidate, and its standard error."""
    metric = search.refit if isinstance(search.refit, str) else "score"
    results = part.cv_results_
    mean = (
        f"mean_test_{metric}"
        if f"mean_test_{metric}" in results
        else next(k for k in results if k.startswith("mean_test"))
    )
    deviation = float(results[mean.replace("mean", "std")][0])
    return float(results[mean][0]), deviation / np.sqrt(max(part.n_splits_ - 1, 1))
