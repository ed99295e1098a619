"""Machines on explicit features, trained on every split: which algorithm serves which loss, and what it may use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import Fold, Folds, Targets
from ..data.blocks import RowScan, scanned_variance
from ..data.feature_views import FeatureView, views_of_folds
from ..gram.basis import Basis
from ..gram.cells import Cells, divide_rows
from ..gram.feature_map import FeatureMap
from ..gram.streamed import LANES, PassRecord
from ..kernels import Precomputed
from ..kernels.parameters import variance_of
from ..losses.margin import LogisticLoss, SquaredHingeLoss
from ..machines.contract import Machine
from ..resources import Ledger
from ..resources.memory import human
from ..solvers.least_squares.learner import SquareLoss
from ..solvers.logistic.learner import Logistic
from ..solvers.primal.least_squares import SplitSolution, SplitSolutions, solve_splits
from ..solvers.primal.newton import columns_by_newton
from ..solvers.primal.ridge_path import RidgePath
from ..solvers.primal.smoothed import SmoothedLoss, columns_smoothed, hinge_stages, tube_stages
from ..solvers.svm.epsilon_insensitive import EpsilonInsensitive
from ..solvers.svm.hinge import Hinge
from ..solvers.svm.squared_hinge import SquaredHinge
from .tasks import KernelTask, Path, Settings

Array = NDArray[np.float64]

SHARE = 0.5
"""Part of the memory budget for sums, and for out-of-fold values."""

USUAL_PASSES: dict[type, int] = {SquaredHinge: 5, Logistic: 10, Hinge: 40, EpsilonInsensitive: 60}
"""Passes over the rows for each penalty and column of labels where solutions are iterative: for six penalties a factor
of ten apart, and wide and narrow kernels, they were 5, 9 to 11, 31 to 48 and 50 to 72."""


def refuse_on_features(machine: Machine) -> str | None:
    """Why a machine cannot be trained on explicit features; None if it can."""
    if not isinstance(machine.learner, SquareLoss | SquaredHinge | Logistic | Hinge | EpsilonInsensitive):
        return f"An approximation does not serve {machine.learner.name}."
    if isinstance(machine.learner, EpsilonInsensitive) and machine.learner.epsilon == 0:
        return "With an approximation epsilon must be positive: its loss is smoothed over a hundredth of it."
    if isinstance(machine.kernel, Precomputed):
        return "An approximation needs kernels of rows: a precomputed Gram matrix has none."
    if isinstance(machine.learner, SquareLoss) and min(machine.penalties) <= 0:
        return f"With an approximation alpha must be positive, got {min(machine.penalties):g}."
    return None


def usual_passes(path: Path) -> float:
    """Passes over all rows that training the candidates usually takes, for each view of the rows."""
    if isinstance(path.learner, SquareLoss):
        return 1.0
    Y = path.targets.Y
    columns = 1.0 if path.coded.coding.classes is None else np.count_nonzero(Y) / len(Y)  # pairs of classes: some rows
    (passes,) = (number for kind, number in USUAL_PASSES.items() if isinstance(path.learner, kind))
    return passes * columns * len(path.penalties)


def train_on_all_rows(
    task: KernelTask, path: Path, settings: Settings, ledger: Ledger
) -> tuple[RidgePath, FeatureMap, Any]:
    """(coefficients, feature map, fitted transformers) of the machine trained on all rows: those of the only split."""
    solver = FeatureSolver(task, path, settings, ledger)
    (view,) = views_of_folds(task.inputs, solver.basis.landmarks, per_fold=True)
    feature_map = solver.feature_map(view)
    (solution,) = solver.solve(view, feature_map).splits
    return solution.paths[-1], feature_map, view.transformers


@dataclass(frozen=True)
class FeatureSolver:
    """Trains candidates that differ in regularisation only, on the features of one kernel."""

    task: KernelTask
    path: Path
    settings: Settings
    ledger: Ledger

    @property
    def basis(self) -> Basis:
        """The landmarks or random features."""
        assert self.task.basis is not None
        return self.task.basis

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of landmarks for which there are solutions; of iterative ones all landmarks only."""
        return self.basis.sizes if isinstance(self.path.learner, SquareLoss) else self.basis.sizes[-1:]

    @property
    def smoothed(self) -> bool:
        """Whether the loss has kinks, and is smoothed around them."""
        return isinstance(self.path.learner, Hinge | EpsilonInsensitive)

    @cached_property
    def stages(self) -> list[SmoothedLoss]:
        """The losses that are minimised one after another, of machines whose loss has kinks: the last one counts."""
        learner = self.path.learner
        if isinstance(learner, EpsilonInsensitive):
            return tube_stages(learner.epsilon, float(self.path.targets.Y.std()))
        return hinge_stages()

    def feature_map(self, view: FeatureView) -> FeatureMap:
        """The features of the kernel as a view shows rows and landmarks."""
        kernel, variance = self.task.kernel, None
        if kernel.follows_data:
            variance = _variance(view.X, view.folds.folds[0] if len(view.folds) == 1 else None)
        d = view.X.shape[1]
        return self.basis.feature_map(kernel.bound(d, variance), view.companions, d)

    def solve(self, view: FeatureView, feature_map: FeatureMap) -> SplitSolutions:
        """Coefficients of every candidate, split and number of landmarks."""
        targets = self.path.targets.take(view.rows, view.splits[0]) if len(view.splits) == 1 else self.path.targets
        groups = divide_rows(view.folds, targets, self._most_cells(feature_map.width))
        shares = self._training_shares(view.folds) if self.settings.scale_penalty else [1.0] * len(view.folds)
        if not isinstance(self.path.learner, SquareLoss):
            return SplitSolutions(self._by_newton(view, feature_map, targets, groups, np.array(shares)))
        widths = [feature_map.leading(size) or feature_map.width for size in self.sizes]
        records = [self._record(view, feature_map, targets.Y, cells) for cells in groups]
        with self.ledger.record("heldout"):
            solutions = solve_splits(
                feature_map, view.X, targets.Y, groups, self.path.penalties, bias=self.path.learner.bias,
                widths=widths, shares=shares, threads=self.settings.streaming.threads, records=records,
                on_all_rows=self.task.inputs.transformers is None and not self.task.inputs.per_fold(self.task.kernel),
            )  # fmt: skip
        self.ledger.add("pass", len(groups), 0.0)
        return solutions

    def _training_shares(self, folds: Folds) -> list[float]:
        """The share of all rows that each split trains on."""
        total, seen = self.task.inputs.folds.n, self.settings.streaming.seen
        if seen is None:
            return [len(fold.train) / total for fold in folds]
        return [1.0 - (before + len(fold.test)) / (seen.n + total) for before, fold in zip(seen.tested, folds)]

    def _record(self, view: FeatureView, feature_map: FeatureMap, Y: Array, cells: Cells) -> PassRecord | None:
        """Where the sums of a pass are kept; None without a journal."""
        sums = self.settings.streaming.sums
        if sums is None:
            return None
        key = f"{self.path.entries[0].candidate}/{view.splits[0]}/{cells.splits[0]}"
        ends = [chunk.numbers.stop for chunk in view.X.chunks] if isinstance(view.X, RowScan) else []
        return sums.of_pass(key, (feature_map.width, Y, cells.number, cells.share, cells.weights, ends))

    def _by_newton(
        self, view: FeatureView, feature_map: FeatureMap, targets: Targets, groups: list[Cells], shares: Array
    ) -> list[SplitSolution]:
        """Coefficients of every candidate and split, for losses other than squares; C grows as ridges shrink."""
        learner, bias = self.path.learner, self.path.learner.bias
        common: dict[str, Any] = {"bias": bias, "ratios": 1.0 / shares, "threads": self.settings.streaming.threads}
        given = (feature_map, view.X, targets.Y, groups, self.path.penalties)
        gap = None
        with self.ledger.record("heldout"):
            if self.smoothed:
                pairs = isinstance(learner, Hinge)
                found, decrement, gap, passes = columns_smoothed(*given, self.stages, pairs=pairs, **common)
            else:
                loss = SquaredHingeLoss() if isinstance(learner, SquaredHinge) else LogisticLoss()
                found, decrement, passes = columns_by_newton(*given, loss, **common)
        self.ledger.add("pass", passes, 0.0)
        accuracy = np.sqrt(decrement.max(axis=2))  # (splits, L)
        bound = accuracy if gap is None else np.sqrt(2.0 * gap.max(axis=2))
        coef, constant = (found[:, :, :-1], found[:, :, -1]) if bias else (found, np.zeros_like(found[:, :, 0]))
        paths = [[RidgePath(*own)] for own in zip(coef, constant)]
        return [SplitSolution(own, (), *errors) for own, *errors in zip(paths, accuracy, bound)]

    def _most_cells(self, width: int) -> int:
        """Cells whose sums fit into the memory budget; an error if not even two do."""
        needed, budget = 8.0 * width**2 * (LANES + 1), self.settings.streaming.budget
        most = int(SHARE * budget / needed)
        if most < 2:
            raise ValueError(
                f"Sums of {width} features need {human(2 * needed / SHARE)} at least, more than the memory budget of "
                f"{human(budget)}. Use fewer landmarks or features, or raise memory_budget."
            )
        return most


def _variance(X: Any, fold: Fold | None) -> float:
    """The variance of the rows that a fold trains on, or of all."""
    if isinstance(X, RowScan):
        return scanned_variance(X, None if fold is None else fold.counts > 0)
    return variance_of(X if fold is None else X[fold.train])
