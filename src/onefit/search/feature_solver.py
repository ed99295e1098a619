"""Machines on explicit features, trained on every split by their own solver: what it is given, and what it may use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import Fold, Folds
from ..data.blocks import RowScan, scanned_variance
from ..data.feature_views import FeatureView, views_of_folds
from ..gram.basis import Basis
from ..gram.cells import Cells, divide_rows
from ..gram.feature_map import FeatureMap
from ..gram.streamed import LANES, PassRecord
from ..kernels import Precomputed
from ..kernels.parameters import variance_of
from ..machines.contract import Machine
from ..machines.primal import FeatureProblem, LinearPath, PrimalSolver, SplitSolutions
from ..resources import Ledger
from ..resources.memory import human
from .tasks import KernelTask, Path, Settings

Array = NDArray[np.float64]

SHARE = 0.5
"""Part of the memory budget for sums, and for out-of-fold values."""


def refuse_on_features(machine: Machine) -> str | None:
    """Why a machine cannot be trained on explicit features; None if it can."""
    if machine.learner.primal is None:
        return f"An approximation does not serve {machine.learner.name}."
    if isinstance(machine.kernel, Precomputed):
        return "An approximation needs kernels of rows: a precomputed Gram matrix has none."
    return machine.learner.primal.refuse(machine.penalties)


def usual_passes(path: Path) -> float:
    """Passes over all rows that training the candidates usually takes, for each view of the rows."""
    primal, Y = path.learner.primal, path.targets.Y
    assert primal is not None
    columns = 1.0 if path.coded.coding.classes is None else np.count_nonzero(Y) / len(Y)  # pairs of classes: some rows
    return primal.usual_passes(columns, len(path.penalties))


def train_on_all_rows(
    task: KernelTask, path: Path, settings: Settings, ledger: Ledger
) -> tuple[LinearPath, FeatureMap, Any]:
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
    def primal(self) -> PrimalSolver:
        """The solver of the machine."""
        assert self.path.learner.primal is not None
        return self.path.learner.primal

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of landmarks for which there are solutions; of iterative ones all landmarks only."""
        return self.basis.sizes if self.primal.from_sums else self.basis.sizes[-1:]

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
        problem = FeatureProblem(
            feature_map, view.X, targets.Y, groups, self.path.penalties, np.array(shares), self.path.learner.bias,
            widths=[feature_map.leading(size) or feature_map.width for size in self.sizes],
            threads=self.settings.streaming.threads,
            records=[self._record(view, feature_map, targets.Y, cells) for cells in groups],
            on_all_rows=self.task.inputs.transformers is None and not self.task.inputs.per_fold(self.task.kernel),
        )  # fmt: skip
        with self.ledger.record("heldout"):
            solutions = self.primal.solve(problem)
        self.ledger.add("pass", solutions.passes, 0.0)
        return solutions

    def _training_shares(self, folds: Folds) -> list[float]:
        """The share of all rows that each split trains on."""
        total, seen = self.task.inputs.folds.n, self.settings.streaming.seen
        if seen is None:
            return [len(fold.train) / total for fold in folds]
        return [1.0 - (before + len(fold.test)) / (seen.n + total) for before, fold in zip(seen.tested, folds)]

    def _record(self, view: FeatureView, feature_map: FeatureMap, Y: Array, cells: Cells) -> PassRecord | None:
        """Where the sums of a pass are kept; None without a journal, and where the pass is one of many."""
        sums = self.settings.streaming.sums
        if sums is None or not self.primal.from_sums:
            return None
        key = f"{self.path.entries[0].candidate}/{view.splits[0]}/{cells.splits[0]}"
        ends = [chunk.numbers.stop for chunk in view.X.chunks] if isinstance(view.X, RowScan) else []
        return sums.of_pass(key, (feature_map.width, Y, cells.number, cells.share, cells.weights, ends))

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
