"""Requests: everything that a search is asked for, and whether it makes sense."""

from __future__ import annotations

import numbers
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import column_or_1d, get_tags

from .._checks import is_count
from .._exceptions import NotUnderstoodError, warn_caller
from ..criteria import CV, REGISTRY, Criterion, resolve
from ..criteria.base import needs_no_machine
from ..criteria.row_losses import refuse_loss_of_classes
from ..data import Folds
from ..gram.approximation import Landmarks, RandomFeatures
from ..gram.basis import Basis
from ..machines import Exactness
from ..machines.contract import Series
from ..machines.registry import read_model
from .deadline import Deadline, parse_seconds
from .scorers import LossScorer
from .scoring import Scoring
from .seen_rows import SeenRows
from .tasks import KernelTask, Row


@dataclass(frozen=True)
class Request:
    """An estimator, data, folds drawn once, and what is to be found out about candidates.

    ``fit_params`` and ``score_params`` are full-length metadata of the estimator and of its scorers. ``criterion``
    selects; if it is a score of out-of-fold values ``scoring`` gives it, otherwise it is the first of ``columns``, the
    criteria whose natural values are reported. Without ``scoring`` only out-of-fold values are wanted. ``basis`` is
    what an ``approximation`` has drawn, once it has. ``seen`` are rows that came before these, of which sums are known.
    """

    estimator: Any
    X: Any
    y: Any
    folds: Folds
    fit_params: dict[str, Any] = field(default_factory=dict)
    preprocessing: str = "per_fold"
    scoring: Scoring | None = None
    score_params: dict[str, Any] = field(default_factory=dict)
    criterion: Criterion = field(default_factory=CV)
    columns: tuple[Criterion, ...] = ()
    screen: Screen | None = None
    series: Series | None = None
    scale_penalty: bool = False
    return_train_score: bool = False
    error_score: Any = np.nan
    refit: Any = True
    verbose: int = 0
    n_jobs: int | None = None
    pre_dispatch: Any = "2*n_jobs"
    memory_budget: float | str | None = None
    approximation: Landmarks | RandomFeatures | None = None
    basis: Basis | None = None
    seen: SeenRows | None = None
    deadline: Deadline = field(default_factory=Deadline)

    def by(self, criteria: Sequence[Criterion]) -> Request:
        """The request with other criteria: the first of them selects."""
        first = criteria[0]
        return replace(
            self,
            criterion=first,
            columns=tuple(criteria[1:] if first.scores else criteria),
            series=first.series,
            scale_penalty=self.scale_penalty or bool(getattr(first, "scale_penalty", False)),
        )

    @property
    def shared(self) -> bool:
        """Whether transformers, weights and kernels learn from all rows once, at least at first."""
        return self.preprocessing != "per_fold"

    @property
    def classifier(self) -> bool:
        """Whether the estimator is one."""
        return bool(is_classifier(self.estimator))

    @property
    def pairwise(self) -> bool:
        """Whether X is a precomputed Gram matrix."""
        return bool(get_tags(self.estimator).input_tags.pairwise)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Every criterion that will be read: the one that selects, those of columns, and that of screening."""
        screening = () if self.screen is None else (self.screen.criterion,)
        return (self.criterion, *self.columns, *screening)


def validate(search) -> None:
    """Refuse constructor arguments of a search that make no sense, by name, before any work."""
    if not hasattr(search.estimator, "fit"):
        raise ValueError(f"estimator must have a fit method, got {search.estimator!r}.")
    if search.preprocessing not in (known := ("per_fold", "shared", "shared_then_per_fold")):
        raise ValueError(f"preprocessing must be one of {', '.join(map(repr, known))}, got {search.preprocessing!r}.")
    if isinstance(search.param_grid, str) and search.param_grid != "auto":
        raise ValueError(f'param_grid must be a dict, a list of dicts or "auto", got {search.param_grid!r}.')
    if search.kernels is not None and not isinstance(search.param_grid, str):
        raise ValueError(f'kernels={search.kernels!r} needs param_grid="auto": another grid names its own.')
    if search.time_budget is not None:
        parse_seconds(search.time_budget)
    if search.journal is not None and not isinstance(search.journal, str | os.PathLike):
        raise ValueError(f"journal must be None or the path of a file, got {search.journal!r}.")
    if search.error_score != "raise" and not isinstance(search.error_score, numbers.Number):
        raise ValueError(f"error_score must be 'raise' or a number, got {search.error_score!r}.")
    if search.approximation is not None:
        _validate_approximation(search)
    for name in ("scale_penalty", "return_train_score", "polish"):
        if not isinstance(getattr(search, name), bool | numbers.Integral):
            raise ValueError(f"{name} must be True or False, got {getattr(search, name)!r}.")
    if not isinstance(search.refit, bool | np.bool_ | str) and not callable(search.refit):
        raise ValueError(f"refit must be True, False, a metric's name or a callable, got {search.refit!r}.")
    for name in ("n_jobs", "verbose"):
        value = getattr(search, name)
        if not isinstance(value, numbers.Integral | np.bool_) and not (value is None and name == "n_jobs"):
            raise ValueError(f"{name} must be a whole number, got {value!r}.")


def _validate_approximation(search) -> None:
    """Refuse an approximation that is none, or together with what it does not serve."""
    approximation = search.approximation
    if not isinstance(approximation, Landmarks | RandomFeatures):
        raise ValueError(f"approximation must be None, Landmarks(...) or RandomFeatures(...), got {approximation!r}.")
    approximation.check()
    for name, unset in (("screen", None), ("return_train_score", False)):
        if getattr(search, name) != unset:
            raise ValueError(f"{name}={getattr(search, name)!r} is not available with an approximation.")
    drawn = not (isinstance(approximation, Landmarks) and approximation.given)
    if search.journal is not None and drawn and not isinstance(approximation.random_state, numbers.Integral):
        raise ValueError(
            f"journal needs an int as random_state of {type(approximation).__name__}: a search that draws others each "
            "time cannot be resumed."
        )


def check_approximable(request: Request) -> None:
    """Refuse splits that explicit features do not serve."""
    if request.folds.leave_one_out:
        raise ValueError("Leave-one-out is not available with an approximation: use a number of folds.")


def scoring_of(search, criterion):
    """The scoring of candidates: ``scoring``, or the loss of the criterion where it has one.

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


def draw_folds(estimator, cv, X, y, **params) -> Folds:
    """Draw the splits once, for all candidates; ``params`` are those of the splitter."""
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    folds = Folds.from_splits(splitter.split(X, y, **params), X.shape[0] if hasattr(X, "shape") else len(X))
    expected = splitter.get_n_splits(X, y, **params)
    if len(folds) != expected:
        raise ValueError(
            f"cv.split and cv.get_n_splits return inconsistent results. Expected {expected} splits, got {len(folds)}"
        )
    return folds


def flat_target(estimator, y):
    """The target without a second dimension of length one, with scikit-learn's warning, for machines of one target."""
    if getattr(y, "ndim", 1) != 2 or y.shape[1] != 1 or is_classifier(estimator):
        return y
    try:
        model = read_model(estimator)
        several = model.machine().learner.several_outputs
    except (NotUnderstoodError, TypeError, ValueError):
        return y
    return column_or_1d(y, warn=True) if model.plain and not several else y


@dataclass(frozen=True)
class Screen:
    """A criterion, and how many kernels it leaves."""

    criterion: Criterion
    keep: int

    @classmethod
    def of(cls, screen) -> Screen:
        """From the pair that a search is given."""
        if not isinstance(screen, tuple | list) or len(screen) != 2:
            raise ValueError(f'screen must be None or a pair such as ("sm", 5), got {screen!r}.')
        criterion, keep = resolve(screen[0]), screen[1]
        if not needs_no_machine(criterion) or len(criterion.choices()) > 1:
            able = ", ".join(name for name, kind in REGISTRY.items() if needs_no_machine(kind()))
            raise ValueError(f"screen needs a criterion that reads the kernel only ({able}), not {criterion}.")
        if not is_count(keep):
            raise ValueError(f"screen must keep a positive whole number of kernels, got {keep!r}.")
        return cls(criterion.choices()[0], int(keep))

    def value(self, rows: Sequence[Row]) -> float:
        """The criterion's value of a kernel, from the rows of its candidates."""
        return rows[0].criteria.get(self.criterion.name, np.nan)

    def divide(self, tasks: Sequence[KernelTask], found: dict[int, list[Row]]) -> tuple[list[KernelTask], list[Row]]:
        """(tasks to evaluate, rows of the candidates of all others). Ties go to the kernel that comes first.

        ``found`` are the rows of each task, by its number.
        """
        name, sign = self.criterion.name, 1.0 if self.criterion.greater_is_better else -1.0
        values = [self.value(found[number]) for number in range(len(tasks))]
        order = np.argsort(-sign * np.array(values), kind="stable").tolist()  # NaN comes last
        without = [number for number in range(len(tasks)) if np.isnan(values[number])]
        if without:
            reason = found[without[0]][0].status
            warn_caller(f"{name} has no value for {len(without)} of {len(tasks)} kernels, which come last: {reason}.")
        pruned = [
            Row(candidate, exactness=Exactness.PRUNED, status=f"screened out by {name}")
            for number in order[self.keep :]
            for candidate in tasks[number].numbers
        ]
        return [tasks[number] for number in sorted(order[: self.keep])], pruned
