"""KernelSearchCV: GridSearchCV's answer from one factorisation per kernel."""

from __future__ import annotations

import time

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.callback import with_callbacks
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.utils import indexable

from ..core import Exactness, Folds
from ..core.memory import check_budget
from ..criteria import resolve
from ..search.evaluate import Row, Settings
from ..search.results import build_table, report_failures
from ..search.run import check_memory, order_tasks, run_tasks
from ..search.scoring import NeedsRetrainingError, Scoring
from .checks import check_refit_metric, check_search
from .decision import decisions
from .oof import assemble
from .preparation import Preparation, say_duplicates, warn_retraining
from .retrain import retrain_row
from .routing import final_weights, route, scorer_params
from .selection import select_best, warn_at_edge
from .weights import check_sample_weight


class KernelSearchCV(GridSearchCV):
    """Exhaustive search over kernels and regularisation, exactly as GridSearchCV but far cheaper.

    Takes GridSearchCV's arguments and gives GridSearchCV's results. For the machines it understands
    (``KernelRidge``, ``LSSVC``, ``LSSVR``, also at the end of a Pipeline) each Gram matrix is computed once, all
    regularisation values come from one factorisation, and the held-out values of every fold from the
    full-data solution, exactly. Everything else is retrained as GridSearchCV does, with a warning and a label.

    Parameters
    ----------
    estimator, param_grid, scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in GridSearchCV. ``n_jobs`` threads work on different kernels and share the cores. Ties go to the
        candidate that comes first in the grid.
    criterion : str or criterion, default="cv"
        "cv": exact cross-validation. "bif" or ``criteria.BIF(order=…)``: the influence-function series.
    preprocessing : {"per_fold", "shared"}, default="per_fold"
        What learns from the training rows (a Pipeline's transformers, ``class_weight="balanced"``) is learned
        anew on every fold, or once on all rows: cheaper, not exactly GridSearchCV's answer, and labelled so.
    scale_penalty : bool, default=False
        Whether the penalty follows the number of training rows (a penalty on the mean loss).
    memory_budget : int, float or str, default=None
        Bytes, or a string such as "4GB". None means what the machine has available. Checked before any work.
    screen, time_budget, journal
        Reserved; must be None.

    Attributes
    ----------
    cv_results_ : dict
        GridSearchCV's table and the columns ``exactness`` (exact, approximate, retrained, failed),
        ``error_bound`` (of a held-out value), ``status`` and ``seconds``. Leave-one-out has one pooled
        score in ``split0_test_score`` instead of n split columns.
    oof_decision_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Out-of-fold decision values (regression: predictions) of the best candidate; NaN for rows never
        tested, the mean for rows tested more than once.
    ledger_ : Ledger
        How many matrices, factorisations and fits the search cost.
    best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_, multimetric_
        As in GridSearchCV.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import KernelSearchCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> grid = {"gamma": [0.1, 1, 10, 100], "alpha": [1e-3, 1e-2, 0.1, 1, 10]}
    >>> search = KernelSearchCV(KernelRidge(kernel="rbf"), grid, cv=10).fit(X, y)
    >>> search.best_params_
    {'alpha': 0.01, 'gamma': 1}
    >>> search.ledger_["base"], search.ledger_["eigendecomposition"] <= 4
    (1, True)
    """

    def __init__(
        self,
        estimator,
        param_grid,
        *,
        criterion="cv",
        screen=None,
        preprocessing="per_fold",
        scale_penalty=False,
        memory_budget=None,
        time_budget=None,
        journal=None,
        scoring=None,
        n_jobs=None,
        refit=True,
        cv=None,
        verbose=0,
        pre_dispatch="2*n_jobs",
        error_score=np.nan,
        return_train_score=False,
    ):
        super().__init__(
            estimator,
            param_grid,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.criterion = criterion
        self.screen = screen
        self.preprocessing = preprocessing
        self.scale_penalty = scale_penalty
        self.memory_budget = memory_budget
        self.time_budget = time_budget
        self.journal = journal

    def __sklearn_is_fitted__(self):
        return hasattr(self, "scorer_")

    @with_callbacks
    def fit(self, X, y=None, **params):
        """Evaluate every candidate and refit the best one on all rows.

        ``params`` (``groups``, ``sample_weight``, …) go where GridSearchCV would send them.
        """
        self._forget()
        criterion = check_search(self, resolve(self.criterion))
        X, y = indexable(X, y)
        multi = check_scoring(self.estimator, self.scoring)
        routed = route(self, multi, params)
        named = multi if isinstance(self.scoring, list | tuple | set | dict) else None
        scoring = Scoring.build(
            self.estimator,
            self.scoring,
            self.error_score,
            lambda name, scorer: scorer_params(self, routed, name, scorer, named),
        )
        if scoring.multimetric:
            check_refit_metric(self.refit, scoring.metrics)
        metadata = {"sample_weight": params["sample_weight"]} if params.get("sample_weight") is not None else None
        context = self._init_callback_context(max_subtasks=1 + (self.refit is not False))
        context.call_on_fit_task_begin(estimator=self, X=X, y=y, metadata=metadata)
        folds = self._draw_folds(X, y, routed)
        run = _Run(self, X, y, folds, routed, scoring, criterion, context)
        try:
            run.evaluate()
        except KeyboardInterrupt:
            run.keep_finished()
            raise
        self._conclude(run, X, y, routed, metadata)
        context.call_on_fit_task_end(estimator=self, X=X, y=y, metadata=metadata)
        return self

    def _forget(self):
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)

    def _draw_folds(self, X, y, routed):
        """Draw the splits once, for all candidates."""
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        self.n_splits_ = splitter.get_n_splits(X, y, **routed.splitter)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        folds = Folds.from_splits(splitter.split(X, y, **routed.splitter), n)
        if len(folds) != self.n_splits_:
            raise ValueError(
                "cv.split and cv.get_n_splits return inconsistent results. "
                f"Expected {self.n_splits_} splits, got {len(folds)}"
            )
        return folds

    def _conclude(self, run, X, y, routed, metadata):
        """Results table, choice, refit."""
        rows = run.finished()
        report_failures(rows, self.n_splits_, self.error_score)
        results = build_table(run.candidates, rows, self.return_train_score)
        metric = self._refit_metric(run)
        if self.refit or not self.multimetric_:
            self.best_index_ = select_best(self.refit, metric, results)
            if not callable(self.refit):
                self.best_score_ = results[f"mean_test_{metric}"][self.best_index_]
                warn_at_edge(self.param_grid, results, self.best_index_, metric)
            self.best_params_ = results["params"][self.best_index_]
            self._set_out_of_fold(run, X, y)
        if self.refit:
            self._refit(run.context, X, y, routed, metadata)
        self.scorer_ = run.scoring.scorers
        self.cv_results_ = results
        self.ledger_ = run.ledger

    def _set_out_of_fold(self, run, X, y):
        """Out-of-fold values of the best candidate: those at hand, or computed once more for it alone."""
        row = run.finished()[self.best_index_]
        if row.values is not None:
            settings = run.settings(scoring=False)
            parts, coding, present = row.values, settings.coding, settings.present
        elif y is None or row.exactness == Exactness.FAILED:
            return
        else:
            model = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
            if not (is_regressor(model) or (is_classifier(model) and hasattr(model, "decision_function"))):
                return  # there are no decision values
            parts, coding, present = decisions(
                model, X, y, run.folds, run.routed.estimator, preprocessing=self.preprocessing,
                scale_penalty=self.scale_penalty, order=run.criterion.order,
                retrain=row.exactness == Exactness.RETRAINED,
            )  # fmt: skip
        self.oof_decision_ = assemble(parts, run.folds, coding, present, warn=False)

    def _refit_metric(self, run):
        names = list(run.finished()[0].test)
        self.multimetric_ = names != ["score"] or run.scoring.multimetric
        if not self.multimetric_:
            return "score"
        check_refit_metric(self.refit, names)
        return self.refit

    def _refit(self, context, X, y, routed, metadata):
        self.best_estimator_ = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
        step = context.subcontext(task_name="refit-with-best-params")
        with step.propagate_callback_context(self.best_estimator_):
            step.call_on_fit_task_begin(estimator=self, X=X, y=y, metadata=metadata)
            start = time.time()
            target = () if y is None else (y,)
            self.best_estimator_.fit(X, *target, **routed.estimator)
            self.refit_time_ = time.time() - start
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        step.call_on_fit_task_end(estimator=self, X=X, y=y, metadata=metadata)


class _Run:
    """One evaluation of all candidates: what is planned, what has finished."""

    def __init__(self, search, X, y, folds, routed, scoring, criterion, context):
        self.search, self.X, self.y, self.folds = search, X, y, folds
        self.routed, self.scoring, self.criterion, self.context = routed, scoring, criterion, context
        self.candidates = list(ParameterGrid(search.param_grid))
        self.rows: dict[int, Row] = {}
        self.preparation = Preparation(search.estimator, X, y, folds, routed.estimator, search.preprocessing)
        self.ledger = self.preparation.ledger

    def evaluate(self):
        """Fill ``rows``, kernel by kernel, then what has to be retrained."""
        search = self.search
        check_budget(self.folds.n, bases=1, views=1, workers=1, budget=search.memory_budget)
        self.plan = self.preparation.plan(self.candidates)
        tasks = order_tasks(self.plan.tasks)
        check_memory(tasks, search.n_jobs, search.memory_budget)
        warn_retraining(self.plan.retrain, len(self.candidates))
        say_duplicates(self.plan, search.verbose)
        self.planned = len(tasks) + len(self.plan.retrain)
        self._announce(tasks)
        self.progress = self.context.subcontext(
            task_name="search", max_subtasks=self.planned, sequential_subtasks=False
        ).call_on_fit_task_begin(estimator=search)
        self._run_kernels(tasks)
        self._retrain_rest(len(tasks))
        self.progress.call_on_fit_task_end(estimator=search)

    def _run_kernels(self, tasks):
        if not tasks:
            return
        search = self.search
        settings = self.settings()
        try:
            finished = run_tasks(tasks, settings, n_jobs=search.n_jobs, pre_dispatch=search.pre_dispatch)
            for number, rows in finished:
                self._tick("kernel-evaluation", number)
                for row in rows:
                    if row.retrain:
                        self.plan.retrain[row.candidate] = row.retrain
                    else:
                        self.rows[row.candidate] = row
                if search.verbose > 1:
                    print(f"[onefit] {tasks[number].kernel}: {len(rows)} candidates, {len(self.rows)} finished")
        except NeedsRetrainingError as reason:
            left = [i for task in tasks for i in task.candidates if i not in self.rows]
            new = dict.fromkeys(left, str(reason))
            warn_retraining(new, len(self.candidates))
            self.plan.retrain.update(new)

    def settings(self, scoring=True):
        """What all kernels of this search share."""
        coded = self.preparation.coded
        weight, _ = final_weights(self.search.estimator, self.routed.estimator)
        weights = check_sample_weight(weight, self.folds.n)
        return Settings(
            self.X, coded.labels, self.folds, coded.coding, self.scoring if scoring else None,
            coded.present_classes(self.folds, weights), self.criterion.order, self.search.scale_penalty,
            self.search.return_train_score,
        )  # fmt: skip

    def _retrain_rest(self, first_step):
        for step, (number, reason) in enumerate(sorted(self.plan.retrain.items())):
            row = retrain_row(
                self.search, number, self.candidates[number], self.X, self.y, self.folds,
                self.routed.retraining, reason,
            )  # fmt: skip
            self.rows[number] = row
            self.ledger.add("fit", len(self.folds), row.fit_seconds)
            self._tick("retraining", first_step + step)

    def _announce(self, tasks):
        if self.search.verbose > 0:
            print(
                f"[onefit] {len(self.candidates)} candidates on {len(self.folds)} folds: {len(tasks)} kernels, "
                f"{len(self.plan.retrain)} candidates to retrain"
            )

    def _tick(self, name, number):
        if number >= self.planned:  # retrained although it was not planned: progress cannot show more than all
            return
        step = self.progress.subcontext(task_name=name, task_id=number)
        step.call_on_fit_task_begin(estimator=self.search)
        step.call_on_fit_task_end(estimator=self.search)

    def finished(self):
        """One row per candidate, repeated ones copied from those they repeat."""
        for number, source in self.plan.same_as.items():
            if source in self.rows and number not in self.rows:
                original = self.rows[source]
                self.rows[number] = Row(
                    number, original.test, original.train, original.exactness, original.error_bound,
                    f"same as candidate {source}", failures=original.failures, values=original.values,
                )  # fmt: skip
        self._fill_failed()
        return [self.rows[number] for number in sorted(self.rows)]

    def _fill_failed(self):
        """Candidates that could not be trained at all get ``error_score`` in every metric and split."""
        scored = next((row for row in self.rows.values() if row.test), None)
        for row in self.rows.values():
            if not row.test and scored is not None:
                row.test = {name: np.full(len(s), self.search.error_score) for name, s in scored.test.items()}
                row.train = {name: np.full(len(s), self.search.error_score) for name, s in scored.train.items()}

    def keep_finished(self):
        """After Ctrl-C: the table of the candidates that were finished, and nothing else."""
        if hasattr(self, "plan") and (rows := [row for row in self.finished() if row.test]):
            self.search.cv_results_ = build_table(
                [self.candidates[row.candidate] for row in rows], rows, self.search.return_train_score
            )
