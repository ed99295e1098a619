"""KernelLearnCV: all parameters of a kernel by gradients of exact criteria, with a brake."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from functools import cache
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone, is_classifier
from sklearn.callback import with_callbacks
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils import indexable
from sklearn.utils.parallel import Parallel, delayed

from .._checks import check_number
from .._exceptions import warn_caller
from .._public import set_module
from ..criteria import resolve
from ..criteria.base import Criterion
from ..data.targets import check_sample_weight
from ..kernels import ARD, Kernel, Metric, NotDifferentiableError, Precomputed, WeightedSum
from ..machines.registry import read_machine
from ..search.deadline import TimeBudgetWarning, parse_seconds
from ..search.request import draw_folds, flat_target
from ..search.routing import route, split_pipeline
from .delivery import deliver
from .kernel_path import KernelPath, PathTask, evaluate_candidates, natural_values
from .learning_journal import LearningJournal
from .outer_folds import OuterFold, OuterScores, learning_table, name_columns, run_outer, seen_names
from .training_range import column_moments

LOGGER = logging.getLogger("onefit")
SCALERS = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)
"""Transformers whose factors the scales of features stand for."""


@set_module("onefit")
class KernelLearnCV(GridSearchCV):
    """Learn all parameters of a kernel by gradient descent on an exact criterion, stopped by outer cross-validation.

    A grid over one width and the penalty gives the start. From there L-BFGS follows the gradient of the criterion in
    the logarithms of all parameters, penalty included: one scale for each feature (``kernels.ARD``), weights of several
    kernels (``kernels.WeightedSum``). Value and all derivatives take a few factorisations, however many parameters
    there are.

    A criterion with many parameters overfits (Cawley & Talbot, 2010): its value at the end of the path is no estimate
    of the error, and the last step is often not the best. With ``stop="outer"`` everything, the start included, is
    repeated on the training rows of outer folds, and the step is taken at which the loss on their test rows is
    smallest; step 0 is the answer of the grid. ``outer_score_`` is the score at that step.

    Parameters
    ----------
    estimator : estimator
        ``KernelRidge``, ``LSSVR``, ``LSSVC``, ``SVC``, ``SVR``, ``HingeSVC``, ``EpsilonSVR``, ``L2SVC`` or
        ``KernelLogisticRegression``, or a Pipeline that ends in one. Transformers are fitted once on all rows of a
        path, and anew on those of every outer fold; a scaler of single features changes nothing for ``ARD``, whose
        scales stand for its factors.
    kernel : Kernel
        The kernel whose parameters are learned, such as ``ARD(Gaussian())``. Its width is where the default grid
        has its centre.
    method : {None, "gradient", "uniform", "align", "alignf"}, default=None
        How weights of a ``WeightedSum`` are found: by descent (None, "gradient"), not at all ("uniform"), or from the
        alignment of the kernels with the target; only the penalty is then chosen besides.
    criterion : str or criterion, default="cv"
        What is minimised: cross-validation of the machine's own loss (regression: squared error), or any other
        criterion with derivatives, such as "loo", "gcv", "lml" or ``criteria.CV(loss="squared")``.
    cv : int, splitter or iterable, default=None
        The folds of the criterion, as in GridSearchCV. With ``stop="outer"`` a list of splits is no use: folds
        of the training rows of outer folds have to be drawn.
    stop : {"outer", "penalty", None}, default="outer"
        "outer" as above; "penalty" adds a Bayesian regulariser of the parameters and takes the last step; None takes
        the last step of the plain descent.
    outer_cv : int, splitter or iterable, default=5
        The outer folds.
    margin : float, default=0.0
        The first step is taken whose loss on outer folds is not above the smallest by more than so many standard
        errors, over the folds, of the difference. Zero takes the step with the smallest loss; one, the rule of one
        standard error, gives up some gains and most of the losses.
    max_iter : int, default=40
        Steps of L-BFGS.
    start : {"grid", "agop"}, default="grid"
        "agop" sets the scales of an ``ARD``, or the matrix of a ``Metric``, from the average gradient outer product of
        the predictor, five times, before the descent; these are steps of the path as well.
    scoring : str or callable, default=None
        The score that is reported; the steps are chosen by the loss of the criterion.
    n_jobs : int, default=None
        Paths of outer folds that run at once.
    random_state : int, default=None
        A number shuffles the rows before they are divided into ``outer_cv`` folds, if that is a number too.
    time_budget : float or str, default=None
        Seconds, or a string such as "5m", shared by the paths. A path that is out of time ends after the step it is in.
    journal : str or path, default=None
        A SQLite file in which finished paths are kept: a fit with the same data and parameters goes on where another
        one was interrupted.
    verbose : int, default=0
        Whether steps are printed.

    Attributes
    ----------
    cv_results_ : dict
        One entry for each step: ``params``, ``inner_value``, the criterion that was minimised in its own sign and unit,
        ``outer_loss``, ``mean_test_score`` and the scores of outer folds (NaN without them).
    best_index_, best_params_, best_score_
        The chosen step, its parameters and its outer score.
    outer_score_ : float
        The mean score on outer folds at the chosen step; NaN without outer folds.
    best_estimator_ : estimator
        The estimator with the learned kernel, trained on all rows.
    path_ : ndarray of shape (n_steps, n_parameters)
        Logarithms of the kernel's parameters at every step; ``parameter_names_`` are their names.
    feature_importances_ : ndarray of shape (n_features,)
        The mean over rows of ``(∂f/∂x_j)² var(x_j)`` of the columns that the machine sees, with sum one; not there for
        kernels without derivatives in x.
    column_moments_ : ndarray of shape (2, n_columns)
        Mean and standard deviation of every column of X, NaN of columns that are no numbers: ``report.write`` counts
        values of other rows that are far from there.
    n_iter_ : int
        Number of steps, that of the grid included.
    scorer_, n_splits_, refit_time_
        As in GridSearchCV; ``n_splits_`` counts outer folds.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import KernelLearnCV, LSSVR
    >>> from onefit.kernels import ARD, Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 5))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=80)
    >>> search = KernelLearnCV(LSSVR(), ARD(Gaussian())).fit(X, y)
    >>> bool(search.feature_importances_[0] > 0.9)
    True
    >>> bool(search.outer_score_ > search.cv_results_["mean_test_score"][0])
    True
    """

    param_grid: ClassVar[dict] = {}  # what GridSearchCV's methods read
    refit, error_score, return_train_score, pre_dispatch = True, np.nan, False, "2*n_jobs"

    def __init__(
        self,
        estimator,
        kernel,
        *,
        method=None,
        criterion="cv",
        cv=None,
        stop="outer",
        outer_cv=5,
        margin=0.0,
        max_iter=40,
        start="grid",
        scoring=None,
        n_jobs=None,
        random_state=None,
        time_budget=None,
        journal=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.kernel = kernel
        self.method = method
        self.criterion = criterion
        self.cv = cv
        self.stop = stop
        self.outer_cv = outer_cv
        self.margin = margin
        self.max_iter = max_iter
        self.start = start
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.time_budget = time_budget
        self.journal = journal
        self.verbose = verbose

    def __sklearn_is_fitted__(self):
        return hasattr(self, "best_estimator_")

    @with_callbacks
    def fit(self, X, y=None, **params):
        """Learn the kernel, choose a step, and train on all rows.

        ``params`` (``groups``, ``sample_weight``, …) go where GridSearchCV would send them.
        """
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        self._validate()
        context = self._init_callback_context(max_subtasks=0)
        if y is None:
            raise ValueError("KernelLearnCV requires y to be passed, but the target y is None.")
        X, y = indexable(X, y)
        y = flat_target(self.estimator, y)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y, metadata=None)
        task, outer = self._plan(X, y, params)
        self._run(task, outer)
        context.call_on_fit_task_end(estimator=self, X=X, y=y, metadata=None)
        return self

    def _validate(self):
        """Refuse parameters that make no sense, by name, before any work."""
        if not isinstance(self.kernel, Kernel):
            raise ValueError(
                f"kernel must be an object of onefit.kernels, such as ARD(Gaussian()), got {self.kernel!r}."
            )
        choices = {
            "stop": ("outer", "penalty", None),
            "start": ("grid", "agop"),
            "method": (None, "gradient", "uniform", "align", "alignf"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {allowed}, got {getattr(self, name)!r}.")
        if self.method not in (None, "gradient") and not isinstance(self.kernel, WeightedSum):
            raise ValueError(f'method="{self.method}" finds weights: kernel must be a WeightedSum, got {self.kernel}.')
        if self.start == "agop" and not isinstance(self.kernel, ARD | Metric):
            raise ValueError(
                f'start="agop" learns scales or a metric: kernel must be ARD or Metric, got {self.kernel}.'
            )
        if not isinstance(self.max_iter, Integral) or isinstance(self.max_iter, bool) or self.max_iter < 0:
            raise ValueError(f"max_iter must be a whole number that is not negative, got {self.max_iter!r}.")
        check_number("margin", self.margin, "non-negative")
        if isinstance(self.scoring, list | tuple | set | dict):
            raise ValueError(f"scoring must be one metric, or None, got {self.scoring!r}.")
        drawn = self.cv is None or isinstance(self.cv, Integral) or hasattr(self.cv, "split")
        if self.stop == "outer" and not drawn:
            raise ValueError('cv must be a number or a splitter with stop="outer", which draws folds of other rows.')
        if self.time_budget is not None:
            parse_seconds(self.time_budget)
        effective_n_jobs(self.n_jobs)  # refuses zero

    def _plan(self, X, y, params) -> tuple[PathTask, list[OuterFold]]:
        """The path on all rows, and those of the outer folds."""
        routed = route(self, self.scoring, params)
        model = split_pipeline(self.estimator, routed.estimator)
        check_sample_weight(model.sample_weight, len(y))
        kernel = name_columns(self.kernel, cache(lambda: seen_names(model, X, y)))
        if Precomputed.base in kernel.bases:
            raise ValueError("A Precomputed kernel has nothing to learn: Given(K) is one that sums and weights take.")
        learner = read_machine(clone(model.final).set_params(kernel=self.kernel)).learner
        self.scorer_ = check_scoring(self.estimator, scoring=self.scoring)
        criterion = self._criterion(learner)
        loss = criterion.loss or self._smooth_loss(learner)
        folds = draw_folds(self.estimator, self.cv, X, y, **routed.splitter)
        stopped = self.stop == "outer"
        outer = draw_folds(self.estimator, self._outer_splitter(), X, y, **routed.splitter) if stopped else ()
        self.n_splits_ = len(outer)
        self._tell_transformers()
        task = PathTask(
            estimator=self.estimator,
            kernel=kernel,
            X=X,
            y=y,
            folds=folds,
            routed=routed,
            criterion=criterion,
            loss=loss,
            max_iter=int(self.max_iter),
            start=self.start,
            method=self.method,
            regularised=self.stop == "penalty",
            seconds=None if self.time_budget is None else parse_seconds(self.time_budget) / (1 + len(outer)),
        )
        return task, [OuterFold.drawn(task, fold, self.cv, self.scoring) for fold in outer]

    def _criterion(self, learner) -> Criterion:
        """The criterion with a loss that has derivatives, and folds averaged as searches do."""
        criterion: Any = resolve(self.criterion)
        if not criterion.differentiable:
            raise NotDifferentiableError(f"The criterion {criterion.name} has no derivatives: it cannot be descended.")
        if criterion.loss is None and (hasattr(criterion, "aggregate") or criterion.name == "loo"):
            criterion = replace(criterion, loss=self._smooth_loss(learner))
        if criterion.name == "sm" and isinstance(self.kernel, WeightedSum):
            warn_caller(
                "The spectral measure of a sum of kernels is largest for a single one: it chooses, not combines."
            )
        return replace(criterion, aggregate="folds") if hasattr(criterion, "aggregate") else criterion

    def _smooth_loss(self, learner):
        """A differentiable loss: the machine's own for classes, the squared error in regression."""
        return learner.loss if is_classifier(self.estimator) else "squared"

    def _outer_splitter(self):
        if self.random_state is None or not isinstance(self.outer_cv, Integral):
            return self.outer_cv
        kind = StratifiedKFold if is_classifier(self.estimator) else KFold
        return kind(int(self.outer_cv), shuffle=True, random_state=self.random_state)

    def _tell_transformers(self):
        """Say that transformers are not fitted on every inner fold, and whether that matters."""
        transformers = split_pipeline(self.estimator).transformers
        if transformers is None:
            return
        message = "Transformers are fitted on all rows of a path, and on those of every outer fold, not on inner folds"
        if isinstance(self.kernel, ARD) and all(isinstance(step, SCALERS) for _, step in transformers.steps):
            message += ": the scales of the kernel stand for the factors of a scaler"
        LOGGER.info(f"{message}.")

    def _run(self, task, outer):
        """The path on all rows, those of outer folds, the choice of a step, and the refit."""
        steps, values, began = [], None, time.monotonic()

        def keep(params):
            steps.append(params)
            if self.verbose:
                print(f"[KernelLearnCV] step {len(steps) - 1}: {params}")

        with LearningJournal(self.journal, self, task, outer) as journal:
            try:
                known = journal.steps()
                if known is None:
                    _, values = replace(task, on_step=keep).run()
                    journal.add_steps(steps)
                else:
                    steps.extend(known)
                scores = OuterScores.of(self._outer_outcomes(outer, journal), len(steps))
            except KeyboardInterrupt:
                if steps:
                    nothing = OuterScores.of([], len(steps))
                    self.cv_results_ = learning_table(steps, np.full(len(steps), np.nan), nothing)
                raise
        if self.time_budget is not None and time.monotonic() - began >= parse_seconds(self.time_budget):
            warn_caller(f"The time budget of {self.time_budget} ended paths before their end.", TimeBudgetWarning)
        self._conclude(task, steps, self._inner_values(task, steps, values), scores)

    def _inner_values(self, task, steps, known):
        """The criterion at every step, computed where the path has not told it."""
        values = np.full(len(steps), np.nan) if known is None else np.array(known)
        missing = np.flatnonzero(np.isnan(values))
        if len(missing):
            grid = [{name: [value] for name, value in steps[k].items()} for k in missing]
            values[missing] = natural_values(evaluate_candidates(task, grid, task.criterion), task.criterion)
        return values

    def _outer_outcomes(self, outer, journal):
        """Outcomes of all outer folds, from the journal or computed now."""
        found = journal.outcomes()
        missing = [number for number in range(len(outer)) if number not in found]
        parallel = Parallel(n_jobs=self.n_jobs, return_as="generator")
        for number, outcome in zip(missing, parallel(delayed(run_outer)(outer[number]) for number in missing)):
            journal.add_outcome(number, outcome)
            found[number] = outcome
            if self.verbose:
                print(f"[KernelLearnCV] outer fold {number}: smallest loss at step {int(outcome.loss.argmin())}")
        return [found[number] for number in range(len(outer))]

    def _conclude(self, task, steps, inner, scores):
        """Attributes of a fitted search."""
        self.cv_results_ = learning_table(steps, inner, scores)
        self.best_index_ = scores.best(float(self.margin)) if self.stop == "outer" else len(steps) - 1
        self.best_params_ = steps[self.best_index_]
        self.best_score_ = self.outer_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        if self.stop == "outer" and np.isnan(self.outer_score_):
            warn_caller(f"outer_score_ is NaN: scoring={self.scoring!r} gave no number on some outer folds.")
        self.multimetric_, self.n_iter_ = False, len(steps)
        path = KernelPath(task)
        kernels = [path.point(step).kernel for step in steps]
        self.parameter_names_ = kernels[0].parameter_names
        self.path_ = np.array([kernel.log_parameters for kernel in kernels])
        importances = path.importances(self.best_params_)
        if importances is not None:
            self.feature_importances_ = importances
        self.column_moments_ = column_moments(task.X)
        began = time.perf_counter()
        model = clone(self.estimator).set_params(**self.best_params_)
        delivery = deliver(model, task.X, task.y, task.routed.estimator, exactly=True)
        delivery.warn()
        self.best_estimator_ = delivery.model
        self.refit_time_ = time.perf_counter() - began
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
