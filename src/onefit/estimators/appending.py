"""Adding rows to a search: what it keeps of the rows that it has seen, and when that is enough."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ..data import Folds
from ..data.views import checked_rows
from ..search.execution import Execution
from ..search.plan import Plan
from ..search.request import Request
from ..search.seen_rows import SeenRows
from ..solvers.least_squares.learner import SquareLoss


def seen_by(execution: Execution) -> SeenRows | None:
    """Rows that a finished search has seen; None without a journal or without an approximation."""
    request, record = execution.request, execution.journal.record
    if record is None or request.basis is None:
        return None
    if request.seen is not None:
        return request.seen.after(record.mark, request.folds)
    shape = np.shape(request.y)
    return SeenRows(
        mark=record.mark,
        basis=request.basis,
        tested=np.array([len(fold.test) for fold in request.folds], dtype=np.intp),
        classes=np.unique(request.y) if request.classifier else None,
        weighted=bool(request.fit_params),
        outputs=shape[1] if len(shape) == 2 else None,
        complete=_tests_each_row_once(request.folds) and all(found is None for found in execution.present),
    )


def _tests_each_row_once(folds: Folds) -> bool:
    tested = np.bincount(np.concatenate([fold.test for fold in folds]), minlength=folds.n)
    plain = all(fold.given_train is None and len(fold.removed) == len(fold.test) for fold in folds)
    return plain and bool((tested == 1).all())


def check_new_rows(search: Any, X: Any, y: Any, params: dict[str, Any]) -> SeenRows:
    """The rows that a search has seen; an error that says why these cannot be added to them."""
    check_is_fitted(search)
    if search.approximation is None or search.journal is None:
        missing = "approximation" if search.approximation is None else "journal"
        raise ValueError(
            f"update adds rows to sums over those that were seen, which a search with an approximation keeps in its "
            f"journal: this one has {missing}=None."
        )
    seen: SeenRows | None = vars(search).get("_seen")
    if seen is None:
        raise ValueError("update needs a search that was fitted with its journal; this one was fitted without.")
    check_consistent_length(X, y)
    columns = None if seen.basis.landmarks is None else seen.basis.landmarks.shape[1]
    columns = getattr(search, "n_features_in_", columns)
    if X.ndim != 2 or X.shape[1] != columns:
        raise ValueError(f"X has shape {X.shape}, but the rows that were seen have {columns} features.")
    names = getattr(X, "columns", None)
    if names is not None and hasattr(search, "feature_names_in_") and list(names) != list(search.feature_names_in_):
        raise ValueError(
            f"X has the columns {list(names)}, but the rows that were seen have {list(search.feature_names_in_)}."
        )
    shape = np.shape(y)
    if (shape[1] if len(shape) == 2 else None) != seen.outputs:
        raise ValueError(f"y has shape {shape}, but the targets that were seen have {seen.outputs or 'no'} columns.")
    if bool(params) != seen.weighted:
        given = "without" if seen.weighted else "with"
        raise ValueError(f"update was called {given} sample_weight, unlike fit.")
    if seen.classes is not None and len(unknown := np.setdiff1d(np.unique(y), seen.classes)):
        raise ValueError(
            f"y has classes that were not seen before: {unknown.tolist()}; known are {seen.classes.tolist()}. "
            "Fit again with all rows."
        )
    checked_rows(X)
    return seen


def check_appendable(request: Request, planned: Plan) -> None:
    """Raise an error if the scores of a search do not follow from sums over the rows, to which others can be added."""
    if reason := _obstacle(request, planned):
        raise ValueError(f"update cannot add rows to this search: {reason}.")


def _obstacle(request: Request, planned: Plan) -> str | None:
    """Why rows cannot be added; None if they can."""
    for path in planned.paths:
        if not isinstance(path.learner, SquareLoss):
            return f"sums over the rows are all that least squares needs, and {path.learner.name} needs the rows"
        if isinstance(path.targets.weights, tuple):
            return 'class_weight="balanced" follows the rows, and would change with new ones; a dict would not'
    for task in planned.tasks:
        if task.inputs.transformers is not None:
            return f"{task.inputs.transformers} is learned from the rows, and would change with new ones"
        if task.kernel.follows_data:
            return f"the width of {task.kernel} follows the data, and would change with new rows; a number would not"
    if request.columns:
        return f"the criterion {request.columns[0].name} reads all rows"
    if getattr(request.approximation, "refit_landmarks", None) is not None:
        return "refit_landmarks draws landmarks for the delivered model, which needs sums of all rows with these"
    assert request.scoring is not None
    assert request.seen is not None
    for name, metric in request.scoring.metrics.items():
        if metric.of_squares(request.classifier) is None:
            return (
                f"the scoring {name} needs predictions for all rows, and sums give squared errors only: select by R² "
                "or squared errors, or classes by criterion=criteria.CV(loss='squared')"
            )
    if not request.seen.complete:
        return "its splits do not test every row once, or some of them train on rows that lack a class"
    return None
