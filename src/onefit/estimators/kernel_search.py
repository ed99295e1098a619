"""KernelSearchCV: GridSearchCV's answer from one factorisation per kernel."""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from functools import partial

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.model_selection import GridSearchCV
from sklearn.utils import estimator_html_repr, indexable

from .._public import set_module
from ..criteria import resolve_all
from ..data.blocks import readable_rows
from ..machines import Exactness
from ..resources import Ledger
from ..search.choice import Choice
from ..search.deadline import Deadline, parse_seconds
from ..search.execution import Execution
from ..search.journal import Journal
from ..search.plan import plan
from ..search.polish import Polishing, smooth_criterion
from ..search.progress import Progress
from ..search.request import Request, Screen, check_refit_metric, draw_folds, flat_target, scoring_of, validate
from ..search.routing import route, scorer_params
from ..search.scoring import Scoring
from ..search.strategies import Exhaustive, Zooming
from .appending import WithUpdates, seen_by
from .autologging import follow_autologging
from .criterion_parameters import choose_parameters
from .decision import WithDeferredDecisions, out_of_fold
from .default_grid import families
from .delivery import Delivery, deliver
from .feature_delivery import deliver_on_features, landmarks_curve
from .notebook import summary_html


@set_module("onefit")
class KernelSearchCV(WithUpdates, WithDeferredDecisions, GridSearchCV):
    """Exhaustive search over kernels and regularisation, exactly as GridSearchCV but far cheaper.

    Takes GridSearchCV's arguments and gives GridSearchCV's results. For the machines it understands (``SVC``, ``SVR``,
    ``HingeSVC``, ``EpsilonSVR``, ``L2SVC``, ``KernelLogisticRegression``, ``KernelRidge``, ``LSSVC``, ``LSSVR``, also
    in Pipelines, those of imbalanced-learn with samplers too, and inside of ``TransformedTargetRegressor``,
    ``MultiOutputRegressor`` and ``OneVsRestClassifier``) each Gram matrix is computed once, least squares take all
    regularisation values from one factorisation and other machines from one warm-started path, and the held-out values
    of every fold come, where that is cheaper, from the full-data solution: exactly, in double precision whatever the
    type of X. ``Ridge`` and ``RidgeClassifier`` behind ``Nystroem`` or ``RBFSampler`` with a ``random_state`` take all
    ridges from sums of products of features that are computed once for each fold. Everything else is retrained as
    GridSearchCV does, with a warning and a label; other machines behind such features on features that candidates
    share.

    Exact means to a violation of the conditions of optimality of 1e-10, whatever an SVC's ``tol`` says; scores can
    differ from GridSearchCV's by a sample whose decision value is below LIBSVM's ``tol``. ``max_iter`` is honoured by
    retraining, and so are kernels that are not positive semi-definite and ``probability=True`` (see ``calibrated``).

    Parameters
    ----------
    estimator, param_grid, scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in GridSearchCV. ``n_jobs`` threads work on different kernels and share the cores. Ties go to the
        candidate that comes first in the grid. ``param_grid="auto"`` starts with ``default_grid``, extends it as long
        as the best candidate lies at its edge, then refines it around the best, on the same folds, in at most six more
        rounds, each announced by the logger "onefit" and by ``verbose``. ``verbose`` prints GridSearchCV's lines, and
        callbacks see its tasks: of leave-one-out, whose scores are pooled, one for each candidate.
    criterion : str, criterion, or list of these, default="cv"
        What selects: "cv", exact cross-validation with ``scoring``, of support vector machines with
        ``criteria.CV(certify=True, prune=True)`` only until labels are proved; "bif" or ``criteria.BIF(order=…)``, the
        influence-function series; or any other of ``onefit.criteria``, whose value takes the place of a score. Of a
        list the first selects and the others are columns of the results. A criterion's parameter that is a list
        (``criteria.RKS(eta=[0.1, 1.0])``) is chosen by a threefold cross-validation of the whole selection.
    screen : tuple of (str or criterion, int), default=None
        A criterion that needs no machine, such as "sm" or "ckta", and how many kernels are kept for evaluation. The
        candidates of other kernels are labelled "pruned" and have no scores.
    approximation : Landmarks, RandomFeatures or None, default=None
        Explicit features that stand for the kernels: memory for m x m sums instead of n x n matrices. Least squares
        takes one pass over the rows for each kernel (one for each fold where transformers learn on every fold, and one
        more for scorers other than R² and squared errors), other machines ten to a hundred for each value of C; the
        losses of ``SVC`` and ``SVR`` are smoothed a little, which ``status`` says. Scores are those of training the
        approximated machine on every fold, from sums over the folds. ``memory_budget`` is then 2 GiB unless given.
        Other criteria read the features of all rows, which then have to fit into the budget. Not with leave-one-out,
        ``screen``, the criterion "bif" or train scores.
    preprocessing : {"per_fold", "shared", "shared_then_per_fold"}, default="per_fold"
        What learns from the training rows (a Pipeline's transformers, ``class_weight="balanced"``,
        ``gamma="scale"``) is learned anew on every fold, or once on all rows: cheaper, not exactly GridSearchCV's
        answer, and labelled so. "shared_then_per_fold" searches with all rows, then evaluates candidates within one
        standard error of the best on every fold, until the best is one of those: its score is exact.
    scale_penalty : bool, default=False
        Whether the penalty follows the number of training rows (a penalty on the mean loss).
    memory_budget : int, float or str, default=None
        Bytes, or a string such as "4GB". None means what this process may still take: the least of the machine's
        available memory, of what its control groups (a container) leave, and of what ``ulimit`` leaves. Checked before
        any work.
    time_budget : float or str, default=None
        Seconds, or a string such as "60s" or "5m", from the beginning of ``fit``. When they are over nothing more is
        started, the best candidate so far is chosen, and the others are labelled "not reached", with a
        ``TimeBudgetWarning``. What has begun is finished: one path of regularisation values per worker, the choice of
        a criterion's parameters, screening; at least one candidate is evaluated, and the final refit comes on top.
        Kernels are taken from the middle of the grid, coarse to fine.
    journal : str or path, default=None
        A SQLite file, made if it is not there, in which the scores of every kernel are committed as soon as it is
        done, with the out-of-fold values of its best candidates (8 bytes a row and output). A fit with the same data,
        folds, estimator, grid, criterion and scoring goes on where another one was interrupted, killed or out of time,
        and ends with the same results, bit by bit. Searches that differ in any of these share a file without meeting,
        and so do processes. Every row has a checksum: a file that is damaged, locked or no journal is refused with a
        ``JournalError``. ``ledger_`` counts what this fit did.
    polish : bool, default=False
        Whether to go on from the best candidate in the numbers that are searched over (``gamma``, ``C`` or ``alpha``,
        ``epsilon``, parameters of a Kernel object; not ``degree``): by at most 30 evaluations of the squared or
        absolute error, of the ``loss`` of a criterion or of a criterion with derivatives, and their gradients. Scores
        that have none, such as accuracy, have the grid refined around the best candidate. What is found is one more
        round of candidates in ``cv_results_``; ``param_grid="auto"`` has it in place of its rounds of refinement.
    kernels : str or sequence of str, default=None
        With ``param_grid="auto"``: the kernels to try, as in ``default_grid``; None is the estimator's own. The best
        one is followed after the first round.

    Attributes
    ----------
    cv_results_ : dict
        GridSearchCV's table and the columns ``exactness`` (exact, certified, pruned, approximate, retrained, failed,
        not reached), ``error_bound`` (of a held-out value; certified or pruned: of the mean score), ``status`` and
        ``seconds``; of ``param_grid="auto"`` also ``round``. Scores that depend on digits beyond the error bound, or
        of weighted rows on a bias that the data leave open, are approximate, and ``status`` says so; least squares
        is exact where held-out values are known to 1e-6 of the largest held-out value or target.
        Leave-one-out has one score in ``split0_test_score`` instead of n split columns: pooled over all rows, or
        for a retrained candidate the mean over the rows. ``criterion_<name>`` is the natural value of a criterion that
        is no score of out-of-fold values; if such a one selects, ``mean_test_score`` is its value with scikit-learn's
        sign, and there are no split columns. NaN where it is not defined, which ``status`` explains, and for
        candidates that were retrained.
    criteria_ : list
        The criteria as they were used, with parameters that were chosen.
    oof_decision_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Out-of-fold decision values (regression: predictions) of the best candidate; NaN for rows never
        tested, the mean for rows tested more than once. If the best candidate was retrained they are computed when
        they are first asked for, which takes one more training per fold; until then the search refers to the data,
        and a copy or a pickle of it has no such values. Not there for estimators without decision values, nor if a
        criterion selects that is no score of out-of-fold values.
    oof_prediction_ : ndarray of shape (n_samples,)
        Only for support vector machines with more than two classes, whose label is not always that of the largest
        decision value: out-of-fold labels of the best candidate.
    ledger_ : Ledger
        How many matrices, factorisations and fits the search cost.
    best_estimator_ : estimator
        Trained on all rows such that its values are those of the solution that was scored: ``tol`` of a support vector
        machine is lowered for that (not if it is searched over, for SVC and SVR). A candidate whose solver cannot give
        that is scored as it trains, labelled "retrained", and chosen only if it is still the best.
        With an ``approximation`` it is a Pipeline of ``LandmarkFeatures`` (or ``RandomFourierFeatures``) and a linear
        machine, whose clone has the scores of the chosen row when it is trained on the folds (not if it has more
        landmarks, as ``Landmarks(refit_landmarks=...)`` asks for).
    landmarks_curve_ : dict of arrays
        With landmarks, of least-squares machines: ``n_landmarks``, ``mean_test_score`` and ``std_test_score`` of the
        best candidate with an eighth, a quarter, half and all of the landmarks. A ``LandmarksWarning`` says that the
        second half still helped by more than one standard error.
    best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_, multimetric_
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
        approximation=None,
        preprocessing="per_fold",
        scale_penalty=False,
        memory_budget=None,
        time_budget=None,
        journal=None,
        polish=False,
        kernels=None,
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
        self.approximation = approximation
        self.preprocessing = preprocessing
        self.scale_penalty = scale_penalty
        self.memory_budget = memory_budget
        self.time_budget = time_budget
        self.journal = journal
        self.polish = polish
        self.kernels = kernels

    def _html_repr(self):
        """Results, once there are some, above scikit-learn's diagram."""
        diagram = estimator_html_repr(self)
        return f"{summary_html(self)}{diagram}" if hasattr(self, "cv_results_") else diagram

    def __sklearn_is_fitted__(self):
        return hasattr(self, "scorer_")

    @with_callbacks
    def fit(self, X, y=None, **params):
        """Evaluate every candidate and refit the best one on all rows.

        ``params`` (``groups``, ``sample_weight``, …) go where GridSearchCV would send them.
        """
        if "mlflow" in sys.modules and follow_autologging(KernelSearchCV):
            return self.fit(X, y, **params)  # MLflow's wrapper of what follows
        self._forget()
        request, criteria = self._request(X, y, params)
        self.n_splits_ = len(request.folds)
        metadata = {"sample_weight": params["sample_weight"]} if params.get("sample_weight") is not None else None
        data = {"X": request.X, "y": request.y, "metadata": metadata}
        context = self._init_callback_context(max_subtasks=1 + (self.refit is not False))
        context.call_on_fit_task_begin(estimator=self, **data)
        strategy = self._strategy(request.by(criteria))
        candidates = strategy.propose([], [])
        self.criteria_, spent = self._choose_criteria(criteria, request, candidates, params)
        request = request.by(self.criteria_)
        if self.polish:
            strategy = Polishing(strategy, request)
        with nullcontext() if self.journal is None else Journal(self.journal) as journal:
            execution = Execution(request, strategy, candidates, Progress(self, context, request), journal, spent)
            try:
                execution.run()
            except KeyboardInterrupt:
                if execution.keep_finished():
                    self.cv_results_ = execution.table.results()
                raise
            self._conclude(execution, context, data)
        self.scorer_ = request.scoring.scorers
        context.call_on_fit_task_end(estimator=self, **data)
        return self

    def _forget(self, keep=()):
        """Drop what an earlier fit, or a failed one, has learned."""
        vars(self).pop("_later_decisions", None)
        vars(self).pop("_seen", None)
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            if name not in keep:
                delattr(self, name)

    def _request(self, X, y, params, seen=None):
        """(all that is asked for, with splits that are drawn once; the criteria, the first of which selects).

        Rows that are added to those ``seen`` are dealt to the splits of these.
        """
        deadline = Deadline(None if self.time_budget is None or seen is not None else parse_seconds(self.time_budget))
        criteria = resolve_all(self.criterion, scale_penalty=bool(self.scale_penalty))
        validate(self)
        scoring = scoring_of(self, criteria[0])
        X, y = indexable(*readable_rows(X, y, approximated=self.approximation is not None))
        y = flat_target(self.estimator, y)
        routed = self._route(scoring, params)
        scoring = Scoring.build(self.estimator, scoring, self.error_score, partial(scorer_params, self, routed))
        if scoring.named:
            check_refit_metric(self.refit, scoring.metrics)
        same = ("estimator", "preprocessing", "return_train_score", "error_score", "refit", "verbose", "n_jobs",
                "pre_dispatch", "memory_budget", "approximation")  # fmt: skip
        request = Request(
            X=X,
            y=y,
            folds=draw_folds(self.estimator, self.cv, X, y, **routed.splitter) if seen is None else seen.deal(len(y)),
            basis=None if seen is None else seen.basis,
            seen=seen,
            fit_params=routed.estimator,
            score_params=routed.scorer,
            scoring=scoring,
            screen=None if self.screen is None else Screen.of(self.screen),
            scale_penalty=bool(self.scale_penalty),
            deadline=deadline,
            **{name: getattr(self, name) for name in same},
        )
        return request, criteria

    def _route(self, scoring, params):
        """Who gets which of the keyword arguments of ``fit``."""
        return route(self, scoring, params)

    def _strategy(self, request):
        """Proposals of candidates: the grid, or rounds of grids that follow the best candidate."""
        if self.param_grid != "auto":
            return Exhaustive(self.param_grid)
        found = families(self.estimator, request.X, request.y, self.kernels, request.fit_params)
        return Zooming(found, refine=not (self.polish and smooth_criterion(request) is not None))

    def _choose_criteria(self, criteria, request, candidates, params):
        """(the criteria with one value for each of their parameters, what it cost to choose them)."""
        first = [criterion.choices()[0] for criterion in criteria]
        if first == criteria:
            return criteria, Ledger()
        plan(request.by(first), candidates)  # choosing is work: first everything is checked
        return choose_parameters(self, criteria, request, params)

    def _conclude(self, execution, context, data):
        """Choose the best candidate, train it on all rows, and set the attributes of a fitted search."""
        choice = Choice(execution)
        self.cv_results_, self.ledger_, self.multimetric_ = choice.results, execution.ledger, choice.multimetric
        try:
            choice.make()
            if self.refit:
                self._refit(choice, context, data)
            if choice.index is not None:
                self._set_best(choice)
                choice.warn_at_edge()
                if execution.request.basis is not None:
                    vars(self).update(landmarks_curve(choice))
                if execution.request.seen is None:
                    vars(self).update(out_of_fold(choice))
            if execution.request.basis is not None:
                self._seen = seen_by(execution)
        except BaseException:
            self._forget(keep=("cv_results_", "ledger_", "n_splits_", "criteria_"))
            raise
        finally:
            self.cv_results_ = choice.results

    def _set_best(self, choice):
        self.best_index_, self.best_params_ = choice.index, choice.results["params"][choice.index]
        if not callable(self.refit):
            self.best_score_ = choice.results[f"mean_test_{choice.metric}"][choice.index]

    def _refit(self, choice, context, data):
        """Train the best candidate on all rows, such that it is the model that was scored.

        A model that the estimator's own solver trains otherwise is scored as that trains it, and chosen again only if
        it is the best even so. Criteria that are not scores of exact out-of-fold values do not depend on the solver.
        """
        request, model = choice.execution.request, choice.model()
        step = context.subcontext(task_name="refit-with-best-params")
        start = time.time()
        with step.propagate_callback_context(model):
            step.call_on_fit_task_begin(estimator=self, **data)
            delivery = self._deliver(model, choice)
        while request.criterion.scores and request.series is None and not delivery.as_scored:
            choice.make_anew(f"trained on all rows, it differs by {delivery.difference:.1g} of its values")
            delivery = self._deliver(choice.model(), choice)
        delivery.warn()
        self.best_estimator_ = delivery.model
        self.refit_time_ = time.time() - start
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        step.call_on_fit_task_end(estimator=self, **data)

    def _deliver(self, model, choice):
        """The model fitted on all rows: as the estimator is, if that was scored, or as the exact solution is."""
        request = choice.execution.request
        if request.basis is not None:
            return Delivery(deliver_on_features(choice), np.nan)
        return deliver(
            model, request.X, request.y, request.fit_params, exactly=choice.row.exactness != Exactness.RETRAINED,
            keep_tol=any(name.rsplit("__", 1)[-1] == "tol" for name in choice.params),
        )  # fmt: skip
