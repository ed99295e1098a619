"""Polishing: from the best cell of a grid on, in the continuous parameters.

A grid says where the optimum lies to half a step. A dozen evaluations of a smooth criterion and its gradient find it to
three digits. Scores without a gradient (accuracy, areas under curves) have their grid refined around the best cell
instead. What is proposed is evaluated as every other candidate, and chosen only if it is better.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone

from .._exceptions import NotUnderstoodError
from ..criteria import CV, Criterion
from ..data.views import checked_rows
from ..kernels import Kernel, NotDifferentiableError
from ..kernels.parameters import variance_of
from .gradient import Objective, Point, descend, problem_of
from .request import Request
from .routing import split_pipeline
from .scorers import LossScorer
from .strategies import Strategy

EVALUATIONS = 30
"""Evaluations of the criterion and its gradient, at most."""

_LOSSES = {
    "r2": "squared",
    "neg_mean_squared_error": "squared",
    "neg_root_mean_squared_error": "squared",
    "neg_mean_absolute_error": "absolute",
}
"""Scores by name, and the loss whose mean they follow."""


class Polishing:
    """A strategy, and after it one more round next to the best of its candidates."""

    rounds = None

    def __init__(self, strategy: Strategy, request: Request) -> None:
        self.strategy, self.request = strategy, request
        self.text: str | None = None

    def propose(self, candidates: list[dict], scores: Sequence[float]) -> list[dict]:
        """Candidates of the strategy; when it proposes none, the polished best candidate."""
        proposed = self.strategy.propose(candidates, scores) if self.text is None else []
        if proposed or not candidates or self.text is not None:
            return proposed
        known = np.where(np.isnan(scores), -np.inf, scores)
        best = int(np.argmax(known))
        self.text = "polishes the best candidate"
        if known[best] == -np.inf:
            return []
        criterion = smooth_criterion(self.request)
        found = None if criterion is None else polished(self.request, candidates[best], criterion)
        proposed = refined(candidates, best) if found is None else [found]
        return [params for params in proposed if params not in candidates]

    def describe(self) -> str:
        """The purpose of the last round."""
        return self.strategy.describe() if self.text is None else self.text


def smooth_criterion(request: Request) -> Criterion | None:
    """The criterion with derivatives that a search follows, None if its score has none."""
    criterion = request.criterion
    if request.approximation is not None:
        return None
    if not criterion.scores:
        return criterion if criterion.differentiable else None
    assert request.scoring is not None
    given = request.scoring.given
    if isinstance(given, LossScorer):
        loss: Any = None if given.loss == "error" else given.loss
    elif given is None:
        loss = None if request.classifier else "squared"
    else:
        loss = _LOSSES.get(given) if isinstance(given, str) else None
    return None if loss is None else CV(loss=loss, aggregate="folds", scale_penalty=request.scale_penalty)


def polished(request: Request, params: dict[str, Any], criterion: Criterion) -> dict[str, Any] | None:
    """Parameters at the end of a descent from a candidate, in those of its numbers that are continuous.

    None where there is no descent: machines, kernels and criteria without derivatives, nothing continuous.
    """
    try:
        estimator = clone(request.estimator).set_params(**params)
        model = split_pipeline(estimator, request.fit_params)
        X, final, prefix = model.transformed(request.X, request.y), model.final, model.prefix
        X = checked_rows(X)
        problem, machine = problem_of(final, X, request.y, model.sample_weight, request.folds, criterion)
        if len(machine.penalties) != 1 or machine.penalties[0] <= 0:
            return None
        epsilon = getattr(final, "epsilon", None) or None
        start = Point(machine.kernel.bound(X.shape[1], variance_of(X)), machine.penalties[0], epsilon)
        searched = {name.removeprefix(prefix) for name in params}
        learned = _learned(start, searched, final)
        if not learned.any():
            return None
        end = descend(Objective(problem, start, learned=learned), EVALUATIONS, max_evaluations=EVALUATIONS)[-1]
    except (NotDifferentiableError, NotUnderstoodError, np.linalg.LinAlgError):
        return None
    found = dict(params)
    for name, value in _as_params(end, final).items():
        if name in searched:
            found[f"{prefix}{name}"] = value
    return found


def _penalty_name(final: Any) -> str:
    return "alpha" if "alpha" in final.get_params() else "C"


def _learned(start: Point, searched: set[str], final: Any) -> np.ndarray:
    """Which coordinates of a point belong to parameters that are searched over."""
    names = start.kernel.parameter_names
    if isinstance(final.kernel, Kernel):
        kernel = ["kernel" in searched] * len(names)
    else:
        kernel = [name in searched and isinstance(getattr(final, name, None), int | float) for name in names]
    others = [_penalty_name(final) in searched] + ["epsilon" in searched] * (start.epsilon is not None)
    return np.array([*kernel, *others], dtype=bool)


def _as_params(point: Point, final: Any) -> dict[str, Any]:
    """The parameters of an estimator that mean a point."""
    found: dict[str, Any] = {_penalty_name(final): point.penalty}
    if point.epsilon is not None:
        found["epsilon"] = point.epsilon
    if isinstance(final.kernel, Kernel):
        return {**found, "kernel": point.kernel}
    for name in ("gamma", "coef0"):
        if hasattr(point.kernel, name):
            found[name] = getattr(point.kernel, name)
    return found


def refined(candidates: list[dict], best: int) -> list[dict]:
    """Candidates half a step from the best one, on a logarithmic scale, in every parameter that has several numbers."""
    chosen, values = candidates[best], {}
    for name, value in chosen.items():
        others = {params[name] for params in candidates if _is_positive(params.get(name))}
        if not _is_positive(value) or len(others) < 2 or name.endswith("degree"):
            values[name] = [value]
            continue
        tried = sorted(others)
        at = tried.index(value)
        near = [float(np.sqrt(tried[k] * tried[k + 1])) for k in (at - 1, at) if 0 <= k < len(tried) - 1]
        values[name] = [value, *near]
    return [dict(zip(values, one)) for one in product(*values.values())]


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0
