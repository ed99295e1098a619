"""Really retraining: for what the fast path cannot do, and as its oracle."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from ..core import Exactness, Folds
from ..search.rows import take_block, take_metadata, take_rows
from ..search.tasks import Row


def retrain_row(
    search, candidate: int, params: dict, X, y, folds: Folds, fit_params: dict, reason: str, scale_penalty: bool = False
) -> Row:
    """One candidate by scikit-learn's own GridSearchCV on the splits already drawn.

    With ``scale_penalty`` each split has a penalty, and so a GridSearchCV, of its own.
    """
    row = Row(candidate, exactness=Exactness.RETRAINED, status=f"retrained: {reason}", error_bound=0.0)
    try:
        parts = [
            _grid_search(search, own, splits).fit(X, y, **fit_params).cv_results_
            for own, splits in _penalised(search.estimator, params, folds, scale_penalty)
        ]
    except ValueError as error:
        if search.error_score == "raise" or "fits failed" not in str(error):
            raise
        row.fail(str(error), list(range(len(folds))))
        return row
    names = [key.removeprefix("mean_test_") for key in parts[0] if key.startswith("mean_test_")]
    for kind, scores in (("test", row.test), ("train", row.train)):
        for name in names:
            if f"mean_{kind}_{name}" in parts[0]:
                splits = np.concatenate([_split_scores(results, kind, name) for results in parts])
                scores[name] = splits.mean(keepdims=True) if folds.leave_one_out else splits
    share = len(folds) / len(parts)
    row.fit_seconds = sum(float(results["mean_fit_time"][0]) for results in parts) * share
    row.score_seconds = sum(float(results["mean_score_time"][0]) for results in parts) * share
    return row


def _penalised(estimator, params: dict, folds: Folds, scale_penalty: bool) -> list:
    """(parameters, the splits that are trained with them)."""
    if not scale_penalty:
        return [(params, [(fold.train, fold.test) for fold in folds])]
    model = clone(estimator).set_params(**clone(params, safe=False))
    return [
        ({**params, **scaled_penalty(model, len(fold.train) / folds.n)}, [(fold.train, fold.test)]) for fold in folds
    ]


def _grid_search(search, params: dict, splits: list) -> GridSearchCV:
    return GridSearchCV(
        search.estimator,
        {name: [value] for name, value in params.items()},
        scoring=search.scoring,
        n_jobs=search.n_jobs,
        refit=False,
        cv=splits,
        verbose=max(0, search.verbose - 1),
        error_score=search.error_score,
        return_train_score=search.return_train_score,
    )


def _split_scores(results: dict, kind: str, name: str) -> np.ndarray:
    n_splits = sum(key.startswith("split") and key.endswith(f"_{kind}_{name}") for key in results)
    return np.array([results[f"split{i}_{kind}_{name}"][0] for i in range(n_splits)])


def retrained_decisions(estimator, X, y, folds: Folds, fit_params: dict, scale_penalty: bool = False) -> list:
    """Decision values (regression: predictions) of each fold's test rows, by training on its training rows.

    ``scale_penalty`` follows the share of rows trained on: alpha grows and C falls with it.
    """
    pairwise = get_tags(estimator).input_tags.pairwise
    parts = []
    for fold in folds:
        model = clone(estimator)
        if scale_penalty:
            model.set_params(**scaled_penalty(model, len(fold.train) / folds.n))
        params = {name: take_metadata(value, fold.train, folds.n) for name, value in fit_params.items()}
        target = () if y is None else (take_rows(y, fold.train),)
        model.fit(take_block(pairwise, X, fold.train, fold.train), *target, **params)
        X_test = take_block(pairwise, X, fold.test, fold.train)
        if not is_classifier(model):
            parts.append((np.asarray(model.predict(X_test)), None))
        elif hasattr(model, "decision_function"):
            parts.append((np.asarray(model.decision_function(X_test)), model.classes_))
        else:
            raise ValueError(f"{model} has no decision_function.")
    return parts


def scaled_penalty(estimator, share: float) -> dict:
    """The final estimator's alpha times, or C divided by, the share of rows trained on."""
    prefix = f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""
    params = estimator.get_params()
    if f"{prefix}alpha" in params:
        return {f"{prefix}alpha": np.multiply(params[f"{prefix}alpha"], share)}
    if f"{prefix}C" in params:
        return {f"{prefix}C": params[f"{prefix}C"] / share}
    raise ValueError(f"scale_penalty=True needs an estimator with alpha or C; {estimator} has neither.")
