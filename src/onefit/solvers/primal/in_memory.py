"""Machines of iterative solvers on explicit features in memory, as criteria read them: on all rows, and held out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...data import Folds, Targets
from ...gram import Gram
from ...gram.cells import Cells, divide_rows
from ...gram.feature_map import IdentityMap
from ...machines.contract import HeldOut, OnTrain
from ...machines.primal import FeatureProblem, PrimalSolver, SplitSolution
from .held_out import MOST_CELLS

Array = NDArray[np.float64]

REASON = "Newton's method did not converge"


class PrimalLearner(Protocol):
    """A learner with a solver on explicit features."""

    @property
    def bias(self) -> bool: ...

    @property
    def primal(self) -> PrimalSolver: ...

    def trainable(self, y: Array, weights: Array) -> bool:
        """Whether the rows of positive weight can be trained on."""


def fitted_on_features(learner: PrimalLearner, gram: Gram, targets: Targets, penalties: Array) -> Array:
    """Values (L, n, c) of all rows by the machine trained on all rows; NaN where it was not found.

    Cost    a few sums of squares, n m² each, for each penalty and column; memory some m x m arrays.
    Oracle  a general minimiser of the objective as it is written.
    """
    whole = _all_rows(gram.n, targets.whole_weights)
    with gram.problem.ledger.record("full solution"):
        (solution,) = _solve(learner.primal, learner.bias, _features(gram), targets, [whole], penalties, np.ones(1))
    (path,) = solution.paths
    values = path.values(_features(gram) @ path.stacked)
    values[solution.unsolved] = np.nan
    return values


def trained_on_all(
    primal: PrimalSolver, bias: bool, Z: Array, targets: Targets, penalties: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """(coefficients, then the constant if there is one (L, q, c), penalties (L,) at which they were not found).

    Rows have the mean of their weights in the splits. Of a solver from sums they are zero: one Newton step is as good.
    """
    L, c = len(penalties), targets.Y.shape[1]
    if primal.from_sums:
        return np.zeros((L, Z.shape[1] + bias, c)), np.zeros(L, dtype=bool)
    (solution,) = _solve(primal, bias, Z, targets, [_all_rows(len(Z), targets.mean_weights)], penalties, np.ones(1))
    (path,) = solution.paths
    return np.concatenate([path.coef, path.intercept[:, None]], axis=1) if bias else path.coef, solution.unsolved


def held_out_by_solver(
    learner: PrimalLearner,
    gram: Gram,
    targets: Targets,
    penalties: Array,
    *,
    scale_penalty: bool = False,
    on_train: OnTrain | None = None,
) -> HeldOut:
    """Values of the tested rows of every split; NaN where a split cannot be trained on.

    They are exact but for kinks that are smoothed. ``error`` is the bound of the coefficients times the length of the
    longest features; it leaves aside a bias that is not determined. Cost and memory: see ``newton`` and ``smoothed``,
    for splits that share a pass over the rows.
    """
    folds, Z = gram.problem.folds, _features(gram)
    shares = split_shares(gram, scale_penalty)
    groups = divide_rows(folds, targets, MOST_CELLS)
    solutions = _solve(learner.primal, learner.bias, Z, targets, groups, penalties, shares)
    parts, failed, error = [], np.zeros(len(penalties), dtype=bool), np.zeros(len(penalties))
    longest = float(np.sqrt(gram.diagonal.max(initial=0.0)))
    for number, (fold, solution) in enumerate(zip(folds, solutions)):
        (path,) = solution.paths
        lacking = untrainable(learner, folds, targets, number)
        values = path.values(Z[fold.test] @ path.stacked)
        values[:, :, lacking] = np.nan
        parts.append(values)
        failed |= solution.unsolved
        if solution.bound is not None:
            error = np.maximum(error, solution.bound * longest)
        if on_train is not None:
            trained = path.values(Z[fold.train] @ path.stacked)
            trained[:, :, lacking] = np.nan
            on_train(number, np.arange(len(penalties)), trained)
    exact = learner.primal.half_width(targets.Y) is None
    return HeldOut(folds.pooled(parts), error, failed, exact, REASON)


def split_shares(gram: Gram, scale_penalty: bool) -> Array:
    """The share of all rows that each split trains on where the penalty follows it, else one."""
    total = gram.problem.total or gram.n
    return np.array([len(fold.train) / total if scale_penalty else 1.0 for fold in gram.problem.folds])


def untrainable(learner: PrimalLearner, folds: Folds, targets: Targets, number: int) -> NDArray[np.bool_]:
    """The columns (c,) of the targets that a split cannot be trained on."""
    weights, given = folds.folds[number].counts, targets.fold_weights(number)
    weights = weights if given is None else weights * given
    return np.array([not learner.trainable(y, weights) for y in targets.Y.T])


def _features(gram: Gram) -> Array:
    assert gram.Z is not None
    return gram.Z


def _solve(
    primal: PrimalSolver,
    bias: bool,
    Z: Array,
    targets: Targets,
    groups: Sequence[Cells],
    penalties: Array,
    shares: Array,
) -> list[SplitSolution]:
    width = Z.shape[1]
    problem = FeatureProblem(IdentityMap(width), Z, targets.Y, groups, penalties, shares, bias, widths=[width])
    return primal.solve(problem).splits


def _all_rows(n: int, weights: Array | None) -> Cells:
    """One cell, which the only split trains on."""
    return Cells([0], np.zeros(n, dtype=np.intp), np.ones((1, 1)), weights, np.array([-1]))
