"""Adding rows to a search: ``update``, what a search keeps of the rows that it has seen, and when that is enough."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils import indexable
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ..data import Folds
from ..data.blocks import readable_rows
from ..data.views import checked_rows
from ..resources import Ledger
from ..search.execution import Execution
from ..search.journal import Journal
from ..search.plan import Plan, plan
from ..search.progress import Progress
from ..search.request import Request
from ..search.seen_rows import SeenRows
from ..search.strategies import Exhaustive
from ..solvers.least_squares.learner import SquareLoss


class WithUpdates:
    """A search to which rows can be added, where sums over the rows are all that its machines need."""

    @with_callbacks
    def update(self, X, y, **params):
        """Add rows to those of the last fit, and choose again: in the time that the new rows take.

        For least squares (``KernelRidge``, ``LSSVC``, ``LSSVR``) with an ``approximation`` and a ``journal``, where
        sums over the rows that were seen are kept. Landmarks stay as they are. Old rows keep their folds; new ones are
        dealt to the folds round-robin. The result is that of a fit to all rows with these landmarks and folds. Squared
        errors follow from sums: candidates are scored by R² or squared errors, and classes by the squared loss,
        ``criterion=criteria.CV(loss="squared")``. There are no out-of-fold values afterwards, which would need the rows
        that were seen before. A search that cannot be updated stays as it was.

        Parameters
        ----------
        X, y : arrays, memory maps, scans or dask arrays, as in ``fit``
            New rows, with the columns of those that were fitted, and their targets.
        **params
            ``sample_weight`` of the new rows, if ``fit`` was given one.

        Returns
        -------
        KernelSearchCV
            The search itself.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sklearn.datasets import load_diabetes
        >>> from onefit import LSSVR, KernelSearchCV, Landmarks
        >>> X, y = load_diabetes(return_X_y=True)
        >>> grid = {"gamma": [0.1, 1, 10], "alpha": [0.01, 0.1, 1.0, 10.0]}
        >>> with TemporaryDirectory() as folder:
        ...     search = KernelSearchCV(
        ...         LSSVR(), grid, approximation=Landmarks(50, random_state=0), journal=f"{folder}/journal.sqlite"
        ...     )
        ...     search = search.fit(X[:400], y[:400]).update(X[400:], y[400:])
        >>> search.best_params_
        {'alpha': 1.0, 'gamma': 10}
        """
        before = vars(self).copy()
        try:
            self._update(X, y, params)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise
        return self

    def _update(self, X, y, params):
        X, y = indexable(*readable_rows(X, y, approximated=True))
        X = X if hasattr(X, "shape") else np.asarray(X)
        request, _ = self._request(X, y, params, check_new_rows(self, X, y, params))
        request = request.by(self.criteria_)
        candidates = list(self.cv_results_["params"])
        check_appendable(request, plan(request, candidates))
        data = {"X": request.X, "y": request.y, "metadata": None}
        context = self._init_callback_context(max_subtasks=1 + (self.refit is not False))
        context.call_on_fit_task_begin(estimator=self, **data)
        with Journal(self.journal) as journal:
            strategy = Exhaustive([{name: [value] for name, value in params.items()} for params in candidates])
            execution = Execution(request, strategy, candidates, Progress(self, context, request), journal, Ledger())
            execution.run()
            self._forget(keep=("criteria_", "n_splits_", "scorer_"))
            self._conclude(execution, context, data)
            execution.sums.forget_earlier()
        context.call_on_fit_task_end(estimator=self, **data)


def seen_by(execution: Execution) -> SeenRows | None:
    """Rows that a finished search has seen; None without a journal or without an approximation."""
    request, record = execution.request, execution.record
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
