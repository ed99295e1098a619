"""The report of a learned kernel: the path with its outer losses, what was learned, and rows to be wary of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..estimators.kernel_learn import KernelLearnCV
from ..estimators.training_range import count_far_values
from ..kernels import ARD, WeightedSum
from .drawing import chart, dots, horizontal, line, star, vertical
from .page import environment
from .text import number


@dataclass(frozen=True)
class Bars:
    """Named numbers, the largest first."""

    title: str
    names: list[str]
    values: list[float]

    @classmethod
    def of(cls, title: str, names: Sequence[Any], values: Any) -> Bars:
        """Sort and name them."""
        order = np.argsort(-np.asarray(values), kind="stable")
        return cls(title, [str(names[k]) for k in order], [float(values[k]) for k in order])


@dataclass(frozen=True)
class LearnedFacts:
    """Everything that the page says."""

    title: str
    estimator: str
    kernel: str
    chosen: int
    steps: list[tuple[int, float, float, float]]  # step, inner value, outer loss, mean outer score
    outer_score: float
    stop: str | None
    path: str
    bars: list[Bars]
    far: list[tuple[str, int]]  # features with values far outside, and how many


def gather_learned(
    search: KernelLearnCV, *, title: str | None = None, X: Any = None, feature_names: Sequence[str] | None = None
) -> LearnedFacts:
    """The facts of a fitted search; with rows X also where these are far outside of those that it was fitted on."""
    check_is_fitted(search)
    results = search.cv_results_
    columns = (results["step"], results["inner_value"], results["outer_loss"], results["mean_test_score"])
    d = getattr(search, "n_features_in_", 0)
    names: Any = getattr(search, "feature_names_in_", range(d)) if feature_names is None else feature_names
    (kernel,) = (value for name, value in search.best_params_.items() if name.split("__")[-1] == "kernel")
    return LearnedFacts(
        title=title or f"Learned kernel of {type(search.estimator).__name__}",
        estimator=str(search.best_estimator_),
        kernel=str(kernel),
        chosen=search.best_index_,
        steps=[(int(k), float(i), float(o), float(s)) for k, i, o, s in zip(*columns)],
        outer_score=search.outer_score_,
        stop=search.stop,
        path=_path_chart(results["inner_value"], results["outer_loss"], search.best_index_),
        bars=_bars(search, kernel, names),
        far=[] if X is None else _far_values(search, X, names),
    )


def _bars(search: KernelLearnCV, kernel: Any, names: Sequence[Any]) -> list[Bars]:
    found = []
    if hasattr(search, "feature_importances_") and len(names) == len(search.feature_importances_):
        found.append(Bars.of("Importance: share of the predictor's squared slope", names, search.feature_importances_))
    if isinstance(kernel, ARD) and kernel.scales is not None:
        known = names if kernel.groups is None else kernel.groups
        if len(known) == len(kernel.scales):
            found.append(Bars.of("Scale that a feature is multiplied by", known, kernel.scales))
    if isinstance(kernel, WeightedSum):
        found.append(Bars.of("Weight of a kernel", kernel.kernels, kernel.weights))
    return found


def _path_chart(inner: np.ndarray, outer: np.ndarray, chosen: int) -> str:
    """Inner value and outer loss, relative to the first step, over the steps."""
    steps = np.arange(len(inner), dtype=float)
    parts = [inner / inner[0]] + ([outer / outer[0]] if np.isfinite(outer).all() else [])
    x, y = horizontal([0.0, max(1.0, steps[-1])]), vertical(np.concatenate(parts))
    tips = [f"step {int(k)}: {number(value)} of the start" for k, value in zip(steps, parts[-1])]
    marks = line(x(steps), y(parts[0]), "line second")
    if len(parts) > 1:
        marks += line(x(steps), y(parts[1]))
    marks += dots(x(steps), y(parts[-1]), tips) + star(float(x(steps[chosen])), float(y(parts[-1][chosen])))
    label = f"Value that is minimised and loss on outer folds over {len(inner)} steps; step {chosen} was chosen"
    return chart(label, x, y, "step", "relative to the start", marks)


def _far_values(search: KernelLearnCV, X: Any, names: Sequence[Any]) -> list[tuple[str, int]]:
    """Features of which some rows have values far outside of the training rows, with their number."""
    counts = count_far_values(X, search.column_moments_).tolist()
    return [(str(name), count) for name, count in zip(names, counts) if count]


def render_learned(facts: LearnedFacts) -> str:
    """The page: a pure function of the facts."""
    page: str = environment().get_template("learning.html").render(facts=facts)
    return page
