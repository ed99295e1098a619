"""Outer folds of a gradient search: paths on training rows, scored on test rows; and the table of its results."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from .._arrays import Indices
from ..criteria import CV
from ..data.folds import Fold, Folds, take_rows
from ..kernels import ARD, Columns, Kernel, Metric, Product, Scaled, Sum, WeightedSum
from ..machines.registry import Model
from ..search.request import draw_folds
from ..search.routing import sample_weight_of
from ..search.scorers import LossScorer
from .kernel_path import NoStartError, PathTask, RoutedSearch


@dataclass(frozen=True)
class OuterFold:
    """A search on all rows, of which the training rows of one outer fold are taken, with ``folds`` of their own."""

    task: PathTask
    train: Indices
    test: Indices
    folds: Folds
    scoring: Any

    @classmethod
    def drawn(cls, task: PathTask, outer: Fold, cv: Any, scoring: Any) -> OuterFold:
        """Draw the folds of the training rows."""
        train = outer.train
        metadata = task.routed.of_rows(train, len(task.y)).splitter
        folds = draw_folds(task.estimator, cv, take_rows(task.X, train), take_rows(task.y, train), **metadata)
        return cls(task, train, outer.test, folds, scoring)

    def inner(self) -> PathTask:
        """The search on the training rows."""
        task = self.task
        X, y = take_rows(task.X, self.train), take_rows(task.y, self.train)
        routed = task.routed.of_rows(self.train, len(task.y))
        return replace(task, X=X, y=y, folds=self.folds, routed=routed, on_step=None)

    def evaluate(self, steps: list[dict[str, Any]], **how: Any) -> dict[str, Any]:
        """The table of estimators that are trained on the training rows and scored on the test rows."""
        grid = [{name: [value] for name, value in step.items()} for step in steps]
        search = RoutedSearch(self.task.estimator, grid, cv=[(self.train, self.test)], refit=False, **how)
        return search.fit_quietly(self.task).cv_results_


@dataclass(frozen=True)
class OuterOutcome:
    """Loss and score of every step on the test rows of one outer fold, and how much these weigh."""

    loss: np.ndarray
    score: np.ndarray
    weight: float


def run_outer(fold: OuterFold) -> OuterOutcome:
    """Repeat the whole search on the training rows, and score its steps on the test rows."""
    task = fold.task
    try:
        steps, _ = fold.inner().run()
    except NoStartError as error:
        warnings.warn(f"An outer fold cannot be searched and does not count. {error}", UserWarning, stacklevel=2)
        return OuterOutcome(np.array([np.nan]), np.array([np.nan]), 0.0)
    weights = sample_weight_of(task.estimator, task.routed.estimator)
    if weights is None and not task.routed.scorer:
        found = fold.evaluate(steps, scoring={"loss": LossScorer(task.loss), "score": fold.scoring})
        return OuterOutcome(-found["split0_test_loss"], found["split0_test_score"], float(len(fold.test)))
    # the loss is weighted as the machine is, the score as its scorer asks for
    loss = -fold.evaluate(steps, criterion=CV(loss=task.loss))["split0_test_score"]
    score = fold.evaluate(steps, scoring=fold.scoring)["split0_test_score"]
    weight = float(len(fold.test)) if weights is None else float(np.asarray(weights)[fold.test].sum())
    return OuterOutcome(loss, score, weight)


@dataclass(frozen=True)
class OuterScores:
    """Losses and scores (folds, steps) of all outer folds; paths that ended early stay where they ended."""

    losses: np.ndarray
    scores: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, outcomes: list[OuterOutcome], steps: int) -> OuterScores:
        """Put folds together; ``steps`` is the number of steps of the path on all rows."""
        if not outcomes:
            return cls(np.full((0, steps), np.nan), np.full((0, steps), np.nan), np.empty(0))

        def as_long(values: np.ndarray) -> np.ndarray:
            return values[np.minimum(np.arange(steps), len(values) - 1)]

        return cls(
            np.array([as_long(outcome.loss) for outcome in outcomes]),
            np.array([as_long(outcome.score) for outcome in outcomes]),
            np.array([outcome.weight for outcome in outcomes]),
        )

    @property
    def pooled_loss(self) -> np.ndarray:
        """The mean loss over the test rows of all folds, at every step; NaN without folds."""
        used = self.weights > 0
        if not used.any():
            return np.full(self.losses.shape[1], np.nan)
        return np.asarray(np.average(self.losses[used], axis=0, weights=self.weights[used]))

    def best(self, margin: float = 0.0) -> int:
        """The first step at which the pooled loss is smallest; the start if no fold says anything.

        With a ``margin`` the first step whose losses are, in the mean over folds, not above those by more than so many
        standard errors of the difference.
        """
        losses = np.where(np.isnan(self.pooled_loss), np.inf, self.pooled_loss)
        chosen = int(losses.argmin())
        used = self.losses[self.weights > 0]
        if not margin or len(used) < 2:
            return chosen
        above = used[:, : chosen + 1] - used[:, [chosen]]
        errors = above.std(axis=0, ddof=1) / np.sqrt(len(used))
        return int(np.flatnonzero(above.mean(axis=0) <= margin * errors)[0])


def learning_table(steps: list[dict[str, Any]], inner: np.ndarray, outer: OuterScores) -> dict[str, Any]:
    """``cv_results_``: one entry for each step of the path."""
    count = len(steps)
    table: dict[str, Any] = {"params": list(steps), "step": np.arange(count), "inner_value": np.asarray(inner)}
    for name in steps[0]:
        column = np.ma.MaskedArray(np.empty(count, dtype=object), mask=False)
        for k, step in enumerate(steps):
            column[k] = step[name]
        table[f"param_{name}"] = column
    table["outer_loss"] = outer.pooled_loss
    for k, scores in enumerate(outer.scores):
        table[f"split{k}_test_score"] = scores
    counted = outer.scores[outer.weights > 0]
    mean = counted.mean(axis=0) if len(counted) else np.full(count, np.nan)
    table["mean_test_score"] = mean
    table["std_test_score"] = counted.std(axis=0) if len(counted) else np.full(count, np.nan)
    ranked = np.where(np.isnan(mean), -np.inf, mean)
    table["rank_test_score"] = np.array([1 + int((ranked > value).sum()) for value in ranked], dtype=np.int32)
    return table


def name_columns(kernel: Kernel, names: Callable[[], list[str]]) -> Kernel:
    """The kernel with positions in place of names of columns; ``names`` is asked only if there are any."""
    if isinstance(kernel, Columns):
        found = kernel.named(names() if any(isinstance(column, str) for column in kernel.columns) else [])
        return replace(found, kernel=name_columns(kernel.kernel, lambda: [names()[k] for k in found.columns]))
    if isinstance(kernel, Sum | Product):
        return type(kernel)(name_columns(kernel.left, names), name_columns(kernel.right, names))
    if isinstance(kernel, Metric) and kernel.matrix is not None:  # what is inside sees directions, not columns
        return replace(kernel, kernel=name_columns(kernel.kernel, list))
    if isinstance(kernel, Scaled | ARD | Metric):
        return replace(kernel, kernel=name_columns(kernel.kernel, names))
    if isinstance(kernel, WeightedSum):
        return replace(kernel, kernels=tuple(name_columns(one, names) for one in kernel.kernels))
    return kernel


def seen_names(model: Model, X: Any, y: Any) -> list[str]:
    """Names of the columns that the machine sees: those of a data frame, or what transformers make of them."""
    if not hasattr(X, "columns"):
        return []
    if model.transformers is None:
        return [str(name) for name in X.columns]
    fitted = clone(model.transformers).fit(X, y, **model.transformer_params)
    try:
        return [str(name) for name in fitted.get_feature_names_out()]
    except AttributeError as error:
        raise ValueError(f"The kernel has names of columns, which the transformers lose: {error}") from error
