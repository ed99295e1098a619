"""One search, from the data to a fitted model, its score and what it cost."""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .savings import Savings
from .validation import search_arguments
from .yardsticks import Yardstick, baseline, expected

if TYPE_CHECKING:
    from .data import Data


_SPLIT = re.compile(r"split\d+_test_.*")

PENALTIES = ("C", "alpha", "epsilon")
"""Parameters that are none of the kernel's."""


@dataclass(frozen=True)
class SearchArguments:
    """Arguments of a search from the command line."""

    estimator: Any
    splitter: Any
    kernels: list[str] | None = None
    criterion: str = "cv"
    scoring: str | None = None
    budget: float | None = None
    journal: Path | None = None
    jobs: int = 1
    approximation: Any = None
    memory: str | None = None


@dataclass(frozen=True)
class Selection:
    """The chosen model, fitted on all rows.

    ``score`` and ``error``, its standard error, are those of cross-validation with every transformer refitted on every
    fold, unless the search was ``interrupted``; ``exactness`` and ``bound`` say how well they are known. ``value`` is
    that of the criterion that selected, None if that is cross-validation. ``finished`` of ``candidates`` were
    evaluated. ``calibration`` has the curves of probabilities of a classifier. ``fold_scores`` and ``baseline`` are the
    scores on every fold of the model and of guessing; ``expected`` is the score that new rows may be expected to have,
    and its standard error, where every fold of every candidate is known.
    """

    search: Any
    model: Any
    params: dict[str, Any]
    metric: str
    score: float
    error: float
    exactness: str
    bound: float
    value: float | None
    candidates: int
    finished: int
    folds: int
    interrupted: bool
    savings: Savings
    fold_scores: Any
    baseline: Yardstick | None
    expected: tuple[float, float] | None
    calibration: list[list[float]] | None

    @property
    def described(self) -> Any:
        """The chosen machine with its kernel: of a model on landmarks, the one that it approximates."""
        from sklearn.base import clone

        if self.search.approximation is None:
            return self.model
        return clone(self.search.estimator).set_params(**self.params)


@dataclass(frozen=True)
class EndedSearch:
    """A search that has ended, by itself or by Ctrl-C, its seconds and those of processors."""

    search: Any
    seconds: float
    worked: float
    interrupted: bool
    resumed: bool


def find(request: SearchArguments, data: Data) -> EndedSearch:
    """Search. Ctrl-C ends it; what is finished can be chosen from.

    Transformers do not see the target, so for choosing they are fitted once on all rows, which makes the search as
    many times cheaper as there are folds.
    """
    search = _search(request, data, "auto", request.criterion, "shared")
    search.set_params(kernels=request.kernels, time_budget=request.budget, journal=request.journal)
    resumed = request.journal is not None and request.journal.exists()
    start, worked, interrupted = time.perf_counter(), time.process_time(), False
    try:
        search.fit(data.X, data.y, **fit_arguments(request.estimator, data))
    except KeyboardInterrupt:
        if not hasattr(search, "cv_results_"):
            raise
        interrupted = True
    spent = time.perf_counter() - start, time.process_time() - worked
    return EndedSearch(search, *spent, interrupted, resumed)


def judge(found: EndedSearch, request: SearchArguments, data: Data) -> Selection:
    """The best candidate that was found, fitted on all rows, and its score.

    The score is computed anew, with transformers refitted on every fold: what GridSearchCV would say of this candidate.
    A criterion that judges kernels alone leaves the penalty open: that is then chosen by cross-validation. After Ctrl-C
    nobody wants to wait: the score is the search's own, and nothing is timed.
    """
    from ..criteria import resolve
    from ..criteria.base import needs_no_machine
    from ..machines import Exactness
    from ..report.scores import read_scores

    search = found.search
    scores = read_scores(search)
    params, value = scores.params[scores.best], _known(float(scores.values[scores.best]), scores.name)
    if needs_no_machine(resolve(request.criterion)) and not found.interrupted:
        search = _choose_penalty(request, scores.params, params, data)
        params = search.best_params_
    told, row, told_by = scores, scores.best, search
    if found.interrupted:
        model = _trained(request, data, params)
    else:
        grid = {name: [value] for name, value in params.items()}
        # without an approximation a single candidate "per_fold" would be left to scikit-learn, with its tol
        how = "shared_then_per_fold" if request.approximation is None else "per_fold"
        exact = _search(request, data, grid, "cv", how)
        told_by = exact.fit(data.X, data.y, **fit_arguments(request.estimator, data))
        told, row, model = read_scores(told_by), 0, exact.best_estimator_
    reached = int((scores.exactness != Exactness.UNREACHED).sum())
    savings = _savings(found, request, data, scores, reached * search.n_splits_)
    return Selection(
        search=search,
        model=model,
        params=params,
        metric=told.name,
        score=_known(float(told.values[row]), told.name),
        error=float(told.errors[row]),
        exactness=str(told.exactness[row]),
        bound=float(told.bounds[row]),
        value=None if request.criterion == "cv" else value,
        candidates=len(scores),
        finished=reached,
        folds=search.n_splits_,
        interrupted=found.interrupted,
        savings=savings,
        fold_scores=_fold_scores(told_by),
        baseline=None if found.interrupted else baseline(request, data),
        expected=None if found.interrupted else expected(_fold_scores(told_by), split_scores(search)),
        calibration=None if found.interrupted else _calibration(told_by, data),
    )


def _trained(request: SearchArguments, data: Data, params: dict[str, Any]) -> Any:
    """A candidate, trained on all rows as a search delivers it."""
    if request.approximation is not None:
        single = {name: [value] for name, value in params.items()}
        search = _search(request, data, single, "cv", "shared")
        return search.fit(data.X, data.y, **fit_arguments(request.estimator, data)).best_estimator_
    from sklearn.base import clone

    from ..estimators.delivery import deliver

    chosen = clone(request.estimator).set_params(**params)
    return deliver(chosen, data.X, data.y, weight_arguments(request.estimator, data.weights), exactly=True).model


def _savings(found: EndedSearch, request: SearchArguments, data: Data, scores: Any, trainings: int) -> Savings:
    """The cost of the search beside that of ``trainings``, less those that were done; timed unless interrupted."""
    from ..machines import Exactness

    trained = int((scores.exactness == Exactness.RETRAINED).sum()) * found.search.n_splits_
    savings = Savings(trainings - trained, found.seconds, found.worked, found.resumed)
    if found.interrupted or request.approximation is not None:  # a training would need the Gram matrix
        return savings
    return savings.timed_on(request.estimator, scores.params, data, request.splitter, request.scoring)


def _calibration(search: Any, data: Data) -> list[list[float]] | None:
    """Curves of probabilities from the out-of-fold decision values of the chosen model, which sees no label of them."""
    from ..estimators.calibration import logistic_curves

    if data.classes is None or not hasattr(search, "oof_decision_"):
        return None
    return logistic_curves(search.oof_decision_, data.y, data.classes)


def _fold_scores(search: Any) -> Any:
    """The scores of the only candidate on every fold; of a search with several, which was interrupted, none."""
    scores = split_scores(search)
    return scores[:, 0] if scores.shape[1] == 1 else np.array([])


def split_scores(search: Any) -> np.ndarray:
    """The scores of all candidates on every fold, (n_splits, n_candidates)."""
    results = search.cv_results_
    names = sorted((key for key in results if _SPLIT.fullmatch(key)), key=lambda key: int(key[5:].split("_")[0]))
    return np.array([results[name] for name in names], dtype=float).reshape(len(names), len(results["params"]))


def _known(value: float, name: str) -> float:
    """The value; an error if it is none, since nothing can be chosen by it."""
    if not math.isfinite(value):
        raise ValueError(f"{name} is not a finite number for any candidate: warnings above may say why.")
    return value


def _choose_penalty(request: SearchArguments, tried: list[dict[str, Any]], params: dict[str, Any], data: Data) -> Any:
    """A search over all penalties that were tried, with the kernel as it was chosen."""
    from ..report.text import last_part

    grid = {
        name: sorted({other[name] for other in tried if name in other}) if last_part(name) in PENALTIES else [value]
        for name, value in params.items()
    }
    return _search(request, data, grid, "cv", "shared").fit(data.X, data.y, **fit_arguments(request.estimator, data))


def _search(request: SearchArguments, data: Data, grid: Any, criterion: str, preprocessing: str) -> Any:
    from .. import KernelSearchCV

    return KernelSearchCV(
        request.estimator, grid, criterion=criterion, preprocessing=preprocessing, cv=request.splitter,
        n_jobs=request.jobs, approximation=request.approximation, memory_budget=request.memory,
        **search_arguments(request.scoring, data),
    )  # fmt: skip


def fit_arguments(estimator: Any, data: Data) -> dict[str, Any]:
    """Groups for the splitter, and weights for the last step of the estimator, a Pipeline where there are weights."""
    groups = {} if data.groups is None else {"groups": data.groups}
    return groups | weight_arguments(estimator, data.weights)


def weight_arguments(estimator: Any, weights: Any) -> dict[str, Any]:
    """Weights as ``fit`` of a Pipeline takes them."""
    return {} if weights is None else {f"{estimator.steps[-1][0]}__sample_weight": weights}
