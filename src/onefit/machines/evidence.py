"""Everything that criteria may ask about the candidates of one regularisation path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ..data.folds import Fold, Folds
from ..data.targets import Labels, Targets
from ..gram.contract import Gram
from ..kernels import NotDifferentiableError
from ..linalg.spectrum import Spectrum
from .capabilities import Ball, HeldOutTangent, Margin, RidgeInverse, Smoother, fitted_values
from .contract import (
    BallLearner,
    FittedLearner,
    HeldOut,
    LinearLearner,
    MachinePath,
    MarginLearner,
    Series,
    equalise_left_out,
    hold_out,
)

Array = NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True)
class OutOfFold:
    """Out-of-fold values of E candidates: ``parts[i]`` (E, rows tested by split i, c), leave-one-out one part."""

    folds: Folds
    present: list[NDArray[np.generic] | None]  # classes that each split trains on; None: all
    parts: list[Array]
    failed: NDArray[np.bool_]  # (E,)

    @property
    def tested(self) -> list[NDArray[np.intp]]:
        """The rows that each part is about."""
        folds = self.folds
        return [np.arange(folds.n)] if folds.leave_one_out else [fold.test for fold in folds]


@dataclass
class Evidence:
    """All that criteria can ask about E candidates that differ in regularisation only.

    Everything is computed when it is first asked for, from one Gram matrix of all rows, and kept. ``hold_out(series,
    scale_penalty)`` gives out-of-fold values; ``spectral`` says that some criterion reads a spectrum, so that one
    shall serve them all. ``reasons`` say why values are missing.
    ``loss_weights`` are those of the rows in mean held-out losses that are asked for, ``score_weights`` in those of
    predictions, as a search's scorer has them (None: equal).
    """

    gram: Gram
    labels: Labels | None = None
    machine_path: MachinePath | None = None
    hold_out: Callable[[Series | None, bool], HeldOut] | None = None
    present: list[NDArray[np.generic] | None] | None = None
    spectral: bool = False
    reasons: list[str] = field(default_factory=list)
    loss_weights: Array | None = None
    score_weights: Array | None = None
    _cache: dict[object, object] = field(default_factory=dict, repr=False)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.gram.n

    @property
    def size(self) -> int:
        """Number of candidates."""
        return 1 if self.machine_path is None else len(self.machine_path.penalties_of_candidates)

    def once(self, key: object, compute: Callable[[], T]) -> T:
        """The result of ``compute``, called when ``key`` is first asked for: quantities that criteria share."""
        if key not in self._cache:
            self._cache[key] = compute()
        return cast(T, self._cache[key])

    @cached_property
    def images(self) -> Array:
        """``K codes`` (n, k): the Gram matrix times the labels."""
        assert self.labels is not None
        if self.labels.member is None:
            return self.gram.times(self.labels.codes)
        if self.labels.n_classes == 1:
            return self.gram.sums[:, None].copy()
        return 2.0 * self.class_sums - self.gram.sums[:, None]

    @cached_property
    def class_sums(self) -> Array:
        """Sums of each row of K over the classes that are set against the rest (n, k)."""
        assert self.labels is not None
        return self.gram.times(self.labels.positive)

    def spectrum(self, weights: Array | None = None) -> Spectrum:
        """The spectrum of ``S K S``, S the square roots of the weights."""
        return self.gram.spectrum(weights)

    def eigenvalues(self, weights: Array | None = None) -> Array:
        """All eigenvalues of ``S K S``, descending."""
        spectrum = self.spectrum(weights)
        values = spectrum.values
        if spectrum.flat is not None:
            values = np.append(values, np.full(self.n - len(values), spectrum.flat))
        return np.sort(values)[::-1]

    @property
    def machine(self) -> MachinePath:
        """The machine; an error of the program, not of its user, if there is none."""
        assert self.machine_path is not None
        return self.machine_path

    def smoother(self, share: float = 1.0, *, values: bool = False) -> Smoother:
        """The linear machine on all rows, for every candidate, with ``share`` of its ridge.

        ``values`` asks for leave-one-out predictions as well; a machine that has them serves those who do not ask.
        """

        def compute() -> Smoother:
            machine = self.machine
            ridges = machine.penalties * share
            learner = cast(LinearLearner, machine.learner)
            found = learner.smoother(self.gram, machine.targets, ridges, spectral=self.spectral, values=values)
            found = found.of_columns(machine.positions)
            if found.left_out_values is not None:
                equalise_left_out(found.left_out_values, self.gram.problem, machine.targets)
            if found.failed.any():
                self.reasons.append("K + alpha I is singular to working precision")
                found.unit_residuals[found.failed] = np.nan
                found.left_out[found.failed] = np.nan
            return found

        with_values = ("smoother", share, True)
        return self.once(with_values if values or with_values in self._cache else ("smoother", share, False), compute)

    @cached_property
    def margins(self) -> list[list[Margin]]:
        """The margin machine on all rows: for every candidate a list with one entry for each column."""
        machine = self.machine
        learner = cast(MarginLearner, machine.learner)
        found = learner.margins(self.gram, machine.targets, machine.penalties)
        if not all(margin.converged for row in found for margin in row):
            self.reasons.append("the solver did not converge")
        return [[found[place][k] for k, place in enumerate(places)] for places in machine.positions]

    def of_margins(self, number: Callable[[Margin], float]) -> Array:
        """A number of each candidate's margin machine of two classes (E,); NaN where its solution was not found."""
        return np.array([number(margin) if margin.converged else np.nan for (margin,) in self.margins])

    @cached_property
    def fitted(self) -> Array:
        """Values of all rows by the machine trained on all rows (E, n, c); NaN where it has no solution."""
        machine = self.machine
        if "smoother" in machine.learner.offers:  # which other criteria may have asked for
            return machine.targets.Y - self.smoother().residuals
        if "margin" in machine.learner.offers and self.gram.Z is None:  # margins are those of the dual problem
            return np.array([fitted_values(row) for row in self.margins])
        found = cast(FittedLearner, machine.learner).fitted(self.gram, machine.targets, machine.penalties)
        if np.isnan(found).any():
            self.reasons.append("the solver did not converge")
        return machine.of_candidates(found)

    @cached_property
    def balls(self) -> list[Ball]:
        """The smallest ball around all rows, for every candidate."""
        machine = self.machine
        found = cast(BallLearner, machine.learner).balls(self.gram, machine.targets, machine.penalties)
        return [found[place] for place in machine.positions[:, 0]]

    def held(self, series: Series | None, scale_penalty: bool) -> OutOfFold:
        """Out-of-fold values of every candidate."""

        def compute() -> OutOfFold:
            assert self.hold_out is not None
            assert self.present is not None
            found = self.hold_out(series, scale_penalty)
            return self._of_candidates(found, self.gram.problem.folds, self.present)

        return self.once(("held", series, scale_penalty), compute)

    def _of_candidates(self, found: HeldOut, folds: Folds, present: list[NDArray[np.generic] | None]) -> OutOfFold:
        machine = self.machine
        parts = [machine.of_candidates(part) for part in found.test]
        failed = np.asarray(found.failed[machine.positions].any(axis=1))
        if failed.any():
            self.reasons.append(found.reason)
        return OutOfFold(folds, present, parts, failed)

    @cached_property
    def _single_rows(self) -> tuple[Folds, list[NDArray[np.generic] | None]]:
        """Leave-one-out folds, and the classes that each of them trains on."""
        n = self.n
        folds = Folds(n, tuple(Fold(n, np.array([i]), np.array([i])) for i in range(n)))
        return folds, self.machine.coded.present_classes(folds, None)

    @property
    def some_class_left_out(self) -> bool:
        """Whether some row is the only one of its class."""
        return any(classes is not None for classes in self._single_rows[1])

    def left_out(self, share: float = 1.0) -> OutOfFold:
        """Values of every row without it, exactly, of a linear machine; weights are those on all rows."""
        found = self.smoother(share, values=True)
        assert found.left_out_values is not None
        lacking = np.isnan(found.left_out_values).any(axis=(1, 2)) & ~found.failed
        if lacking.any():
            self.reasons.append("K + alpha I without one of its rows is singular to working precision")
        return OutOfFold(*self._single_rows, [found.left_out_values], found.failed | lacking)

    @property
    def _one_penalty(self) -> float:
        """The penalty of the only candidate, the same for all targets."""
        penalties = self.machine.penalties
        if len(penalties) != 1:
            raise NotDifferentiableError("Derivatives are those of one penalty for all targets.")
        return float(penalties[0])

    def tangent(self, scale_penalty: bool) -> HeldOutTangent:
        """Out-of-fold values of the only candidate, with derivatives."""
        machine = self.machine
        return machine.learner.tangent(self.gram, machine.targets, self._one_penalty, scale_penalty=scale_penalty)

    def left_out_tangent(self, share: float = 1.0) -> HeldOutTangent:
        """``left_out`` of the only candidate, with derivatives."""
        machine, (folds, _) = self.machine, self._single_rows
        targets = Targets(machine.targets.Y, machine.targets.whole_weights)
        return machine.learner.tangent(self.gram.with_folds(folds), targets, share * self._one_penalty)

    def inverse(self) -> RidgeInverse:
        """The inverse that functions of a linear machine on all rows are differentiated with."""
        learner = cast(LinearLearner, self.machine.learner)
        return learner.inverse(self.gram, self.machine.targets, self._one_penalty)

    def left_out_by_series(self, series: Series) -> OutOfFold:
        """Values of every row without it, by a series from the solution on all rows; weights are those on all rows."""

        def compute() -> OutOfFold:
            machine = self.machine
            folds, present = self._single_rows
            gram = self.gram.with_folds(folds)
            targets = Targets(machine.targets.Y, machine.targets.whole_weights)
            found = hold_out(machine.learner, gram, targets, machine.penalties, series=series)
            return self._of_candidates(found, folds, present)

        return self.once(("left out", series), compute)
