r"""Least squares: kernel ridge regression and LS-SVMs, with or without an unpenalised bias.

.. math:: \min_{f, b} \sum_i w_i (y_i - f(x_i) - b)^2 + \alpha \|f\|^2

The solution is ``f = Σ dual_i k(x_i, ·)`` with ``(K + alpha W^{-1}) dual + b 1 = y`` and, with a bias,
``Σ dual = 0``. In coordinates scaled by ``S = sqrt(W)`` the system is ``S K S + alpha I``, symmetric with a
plain ridge, and the bias is a direction that is projected out: one algebra for all four cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._arrays import Array, Indices
from ...data import Fold, Targets
from ...gram import Gram
from ...linalg import heldout
from ...linalg.cost import Route
from ...linalg.factor import EPS, Factor, Inverse, NotPositiveDefiniteError
from ...machines.capabilities import HeldOutTangent, RidgeInverse, Smoother
from ...machines.contract import HeldOut, Judge, OnTrain, Series
from ..primal.held_out import held_out_on_features
from ..primal.least_squares import FromSums
from ..primal.series import series_on_features
from . import small_values
from .refined import Refinement, mark_inaccurate
from .series import mean_loss_series, sum_loss_series, sum_loss_tail
from .smoother import smoother_path
from .tangent import square_tangent
from .training import fit_gram

SINGULAR = "K + alpha I is singular to working precision"

LAST_DIGITS = 16 * EPS
"""Rounding of sums of a few terms of the size of the values, however well-conditioned the system is."""


@dataclass(frozen=True)
class SquareLoss:
    """The learner: what it can do along a path of ridges on one Gram.

    With ``minimum_norm`` singular systems have their least-squares solution of minimum norm; else they fail.
    """

    bias: bool = False
    minimum_norm: bool = False
    name = "least squares"
    offers = frozenset({"fitted", "smoother", "series"})
    loss = "squared"
    primal = FromSums()
    certifies = False
    several_outputs = True

    def squares(self, columns: int) -> int:
        """Gram matrix, and LAPACK's work space of two."""
        return 3

    def heldout(
        self,
        gram: Gram,
        targets: Targets,
        penalties: Array,
        *,
        scale_penalty: bool = False,
        series: Series | None = None,
        resolve_small: bool = True,
        on_train: OnTrain | None = None,
        judge: Judge | None = None,
    ) -> HeldOut:
        """Out-of-fold values for every ridge and split.

        The influence-function ``series`` of infinite order is exact. ``scale_penalty`` multiplies the
        ridge by the share of rows that a split trains on (a penalty on the mean loss). ``resolve_small=False``
        replaces values that are below the rounding of the targets by what a machine without neighbours predicts.
        Nothing is gained by less than exact values, so that there is nothing to ask a ``judge``.

        Cost: one factorisation for all ridges and splits (see ``linalg.cost``), then O(Σ l_i² n) a ridge,
        leave-one-out O(n²). Splits that the identities cannot serve are factorised one by one; so are all of them
        for ridges whose system is singular, all such ridges together. With explicit features splits are trained
        from sums over their rows (see ``primal.held_out``).
        """
        ridges, problem, folds = penalties, gram.problem, gram.problem.folds
        order = np.inf if series is None else series.order
        route: Route = "per_fold"
        if folds.removable and targets.shared:
            n_ridges = len(ridges) * (len(set(folds.training_sizes)) if scale_penalty else 1)
            positive = bool((ridges > 0).all())
            route = gram.route(folds.training_sizes, n_ridges, leave_one_out=folds.leave_one_out, positive=positive)
            if np.isfinite(order):
                route = "spectrum"
        if gram.Z is not None and np.isfinite(order) and route == "spectrum" and (ridges > 0).all():
            with problem.ledger.record("heldout"):
                assert series is not None
                options: dict[str, Any] = {"scale_penalty": scale_penalty, "on_train": on_train}
                return series_on_features(self, gram, targets, ridges, series, **options)
        fits = _FoldFits(self, gram, targets, ridges, scale_penalty, on_train)
        with problem.ledger.record("heldout"):
            if gram.features is not None and not (np.isfinite(order) or folds.leave_one_out) and (ridges > 0).all():
                held = held_out_on_features(
                    gram.features, folds, targets, ridges, bias=self.bias, shares=fits.shares, on_train=on_train
                )
                mark_inaccurate(held, targets)
                return held
            if route == "per_fold":
                held = fits.run()
                if gram.refinable:
                    fits.refinement(held).by_training(whatever_it_costs=True)
                mark_inaccurate(held, targets)
                return held
            fit = _OneFit(self, gram, targets, ridges, scale_penalty, on_train, order, resolve_small)
            try:
                held = fit.run(route)
            except NotPositiveDefiniteError:
                held = fit.run("spectrum")
            factor = fit.factor
            del fit
            if not np.isfinite(order) and gram.refinable:
                refinement = fits.refinement(held)
                refinement.by_identities(factor)
                if refinement.doubtful.any():
                    del factor
                    gram.forget_factors()
                    refinement.by_training()
            if self.minimum_norm and held.failed.any():
                gram.forget_factors()
                fits.train_singular(held)
            if not np.isfinite(order):
                mark_inaccurate(held, targets)
            return held

    def trainable(self, y: Array, weights: Array) -> bool:
        """Whether the rows of positive weight can be trained on: any can."""
        return True

    def tangent(self, gram: Gram, targets: Targets, penalty: float, *, scale_penalty: bool = False) -> HeldOutTangent:
        """Held-out values for one ridge, with derivatives."""
        shares = [_penalty_share(gram, len(fold.train), scale_penalty) for fold in gram.problem.folds]
        return square_tangent(gram, targets, penalty, self.bias, shares)

    def inverse(self, gram: Gram, targets: Targets, penalty: float) -> RidgeInverse:
        """The inverse that functions of the machine trained on all rows are differentiated with."""
        return RidgeInverse.of(gram, targets, penalty, self.bias)

    def smoother(
        self, gram: Gram, targets: Targets, penalties: Array, *, spectral: bool, values: bool = False
    ) -> Smoother:
        """The machine trained on all rows, for every ridge."""
        return smoother_path(gram, targets, penalties, bias=self.bias, spectral=spectral, values=values)


@dataclass
class _Fits:
    """A learner along a path of ridges on one Gram: what all ways to its held-out values share."""

    learner: SquareLoss
    gram: Gram
    targets: Targets
    ridges: Array
    scale_penalty: bool
    on_train: OnTrain | None

    @property
    def shares(self) -> list[float]:
        """The factor on the ridge of every split."""
        return [_penalty_share(self.gram, len(fold.train), self.scale_penalty) for fold in self.gram.problem.folds]


class _FoldFits(_Fits):
    """Every split from a factorisation of its own."""

    def run(self) -> HeldOut:
        """Train on every split from its part of the shared base: t factorisations, the whole path from each."""
        problem, gram, targets, ridges = self.gram.problem, self.gram, self.targets, self.ridges
        parts, singular_somewhere, error = [], np.zeros(len(ridges), dtype=bool), np.zeros(len(ridges))
        for number, (fold, share) in enumerate(zip(problem.folds, self.shares)):
            weights = targets.fold_weights(number)
            rows = _rows_with_weight(fold.train, weights)
            fitted = fit_gram(
                gram.part(rows), targets.Y[rows], ridges * share, weights=None if weights is None else weights[rows],
                bias=self.learner.bias, minimum_norm=self.learner.minimum_norm,
            )  # fmt: skip
            singular_somewhere |= fitted.singular
            values = fitted.predict(gram.block(fold.test, rows))
            largest = np.maximum(np.abs(values).max(axis=(1, 2)), float(np.abs(targets.Y).max(initial=0.0)))
            error = np.fmax(error, (fitted.error + LAST_DIGITS) * largest)
            parts.append(values)
            if self.on_train is not None:
                self.on_train(number, np.arange(len(ridges)), fitted.predict(gram.block(fold.train, rows)))
        nowhere = np.zeros(len(ridges), dtype=bool)
        solvable = self.learner.minimum_norm
        failed, solved = (nowhere, singular_somewhere) if solvable else (singular_somewhere, nowhere)
        test = problem.folds.pooled(parts)
        return HeldOut(test, error, failed, exact=True, reason=SINGULAR, least_squares=solved)

    def refinement(self, held: HeldOut) -> Refinement:
        """Values that can be computed again where rounding is seen in them."""
        return Refinement(held, self.gram, self.targets, self.ridges, self.shares, self.learner.bias, self.on_train)

    def train_singular(self, held: HeldOut) -> None:
        """Replace the values of ridges that failed by those of the solutions of minimum norm."""
        failed, tell = held.failed.copy(), self.on_train

        def report(number: int, _: Indices, values: Array) -> None:
            everything = np.full((len(failed), *values.shape[1:]), np.nan)
            everything[failed] = values
            assert tell is not None
            tell(number, np.arange(len(failed)), everything)

        found = replace(self, ridges=self.ridges[failed], on_train=None if tell is None else report).run()
        for part, values in zip(held.test, found.test):
            part[failed] = values
        held.error[failed], held.failed[failed] = found.error, False
        held.least_squares = np.zeros(len(failed), dtype=bool)
        held.least_squares[failed] = found.least_squares  # a training set may be regular where all rows are not


@dataclass
class _OneFit(_Fits):
    """All splits from one factorisation of the full data."""

    order: float
    resolve_small: bool

    def run(self, route: Route) -> HeldOut:
        problem, ridges = self.gram.problem, self.ridges
        weights = self.targets.fold_weights(0)
        self.scale = np.ones((problem.n, 1)) if weights is None else np.sqrt(weights)[:, None]
        self.factor: Factor = self.gram.factor(weights, self.learner.bias, route)
        self.pooled = problem.folds.leave_one_out
        L, c = len(ridges), self.targets.Y.shape[1]
        sizes = [problem.n] if self.pooled else [len(fold.test) for fold in problem.folds]
        groups = list(self._penalty_groups())
        bad = np.any([self.factor.singular(ridges * share) for share, _ in groups], axis=0)
        self.result = HeldOut(
            [np.empty((L, size, c)) for size in sizes], np.zeros(L), bad, not np.isfinite(self.order), SINGULAR,
            least_squares=np.zeros(L, dtype=bool),
        )  # fmt: skip
        relative_error, self.growth = np.zeros(L), np.zeros(L)
        for share, numbers in groups:
            usable = self.factor.harmless(ridges * share, bad)
            for positions, inverse in self.factor.inverses(usable):
                self._fill(positions, inverse, numbers)
                del inverse  # before the next one is made
            relative_error = np.fmax(relative_error, self.factor.rounding(usable))
        size = self._size()
        self.result.error += (np.fmax(relative_error, self.growth) + LAST_DIGITS) * size
        if not self.resolve_small:
            self.result.error += small_values.THRESHOLD * float(np.abs(self.targets.Y).max())
        for part in self.result.test:
            bad |= ~np.isfinite(part).all(axis=(1, 2))  # a training set without a unique solution
        for part in self.result.test:
            part[bad] = np.nan
        return self.result

    def _size(self) -> Array:
        """The largest value or target, for every ridge, to which rounding in scaled coordinates is relative."""
        parts = [np.abs(part).max(axis=(1, 2)) for part in [*self.result.test, self.targets.Y[None]]]
        largest = np.nanmax(np.array(np.broadcast_arrays(*parts)), axis=0)
        return np.asarray(largest * (self.scale.max() / self.scale.min()))

    def _penalty_groups(self) -> Iterator[tuple[float, list[int]]]:
        """(factor on the ridge, split numbers): one group unless the penalty follows the training size.

        A finite series starts from the full-data fit: its ridge is not scaled here, its terms are.
        """
        folds = self.gram.problem.folds
        numbers = list(range(len(folds)))
        if not self.scale_penalty or np.isfinite(self.order):
            yield 1.0, numbers
            return
        for size in sorted(set(folds.training_sizes)):
            yield _penalty_share(self.gram, size, True), [i for i in numbers if folds.training_sizes[i] == size]

    def _fill(self, positions: Indices, inverse: Inverse, numbers: list[int]) -> None:
        """Write the out-of-fold values of some ridges and splits."""
        problem = self.gram.problem
        dual = inverse.apply(self.targets.Y * self.scale)
        exact = not np.isfinite(self.order)
        if self.pooled and exact:
            self.result.test[0][positions] = self._left_out_singly(positions, inverse, dual)
            if self.on_train is None:
                return
        for number in numbers:
            fold = problem.folds.folds[number]
            if exact:
                residuals = heldout.block_residuals(inverse, dual, fold.removed)
                self._note_growth(positions, inverse, dual[:, fold.removed], residuals)
            else:
                residuals = self._series(inverse, dual, fold, positions)
            if not self.pooled:
                values = self._without_rounding(inverse, dual, fold, residuals, exact)
                self.result.test[number][positions] = values[:, fold.test_in_removed]
            elif not exact:
                values = self._without_rounding(inverse, dual, fold, residuals, exact)
                self.result.test[0][positions[:, None], fold.test] = values
            if self.on_train is not None:
                self._report_training_rows(number, positions, inverse, dual, fold, residuals)

    def _note_growth(self, positions: Indices, inverse: Inverse, dual: Array, residuals: Array) -> None:
        r"""Keep the relative rounding of held-out values of an indefinite K, :math:`10 \epsilon \|G\| \|G_{II}^{-1}\|`.

        Training sets may be nearly singular where all rows are not: :math:`\|G_{II}^{-1}\|` may exceed the norm of K,
        as it cannot where K is definite. Residuals (L, l, c) :math:`G_{II}^{-1} dual_I` show how far: those of
        small eigenvalues are the large ones.
        """
        if not inverse.definite:
            grown = np.linalg.norm(residuals, axis=(1, 2)) / np.linalg.norm(dual, axis=(1, 2))
            self.growth[positions] = np.fmax(self.growth[positions], 10 * EPS * inverse.norms() * grown)

    def _left_out_singly(self, positions: Indices, inverse: Inverse, dual: Array) -> Array:
        """Leave-one-out values of all rows (L, n, c)."""
        Y, weights = self.targets.Y, self.targets.fold_weights(0)
        residuals = heldout.single_residuals(inverse, dual)
        for row in [] if inverse.definite else range(len(Y)):
            self._note_growth(positions, inverse, dual[:, [row]], residuals[:, [row]])
        return small_values.left_out_values(
            self.gram, inverse, dual, residuals, Y, weights, self.factor.coupling, resolve=self.resolve_small
        )

    def _without_rounding(self, inverse: Inverse, dual: Array, fold: Fold, residuals: Array, exact: bool) -> Array:
        """Values of the removed rows (L, l, c); where y - residual is rounding only, computed without y.

        A finite series of a penalty on the mean loss is not: its lost values are those without neighbours.
        """
        Y, weights = self.targets.Y, self.targets.fold_weights(0)
        values = np.asarray(Y[fold.removed] - residuals / self.scale[fold.removed])
        centre = small_values.mean_target(Y, weights, self.learner.bias, fold.train)
        lost = small_values.lost_values(values, Y, centre)
        rows = np.flatnonzero(lost.any(axis=(0, 2)))
        if len(rows):
            repaired = np.broadcast_to(centre, values[:, rows].shape)
            if self.resolve_small and exact:
                repaired = self._from_others(inverse, dual, fold, residuals, fold.removed[rows])
            elif self.resolve_small and not self.scale_penalty:
                residuals = heldout.block_residuals(inverse, dual, fold.removed)
                repaired = self._from_others(inverse, dual, fold, residuals, fold.removed[rows])
                tail = sum_loss_tail(inverse, residuals, fold.removed, int(self.order))
                repaired = repaired + tail[:, rows] / self.scale[fold.removed[rows]]
            values[:, rows] = np.where(lost[:, rows], repaired, values[:, rows])
        return values

    def _from_others(self, inverse: Inverse, dual: Array, fold: Fold, residuals: Array, rows: Indices) -> Array:
        """Values of removed ``rows`` from the coefficients of the others."""
        after = heldout.remaining_dual(inverse, dual, fold.removed, residuals) * self.scale
        weights = self.targets.fold_weights(0)
        return small_values.block_values(self.gram, rows, fold, after, self.targets.Y, weights, self.factor.coupling)

    def _series(self, inverse: Inverse, dual: Array, fold: Fold, positions: Indices) -> Array:
        """Residuals by the influence-function series; its error bound is kept."""
        order = int(self.order)
        if self.scale_penalty:
            spectrum = self.gram.spectrum(self.targets.fold_weights(0), self.learner.bias)
            norms = spectrum.norm / (spectrum.norm + inverse.ridges)
            residuals, bounds = mean_loss_series(inverse, dual, fold.removed, order, norms, spectrum.null)
            if spectrum.smallest < 0:
                bounds = np.full_like(bounds, np.inf)
        else:
            residuals, bounds = sum_loss_series(inverse, dual, fold.removed, order)
        bounds = bounds / float(self.scale[fold.removed].min())
        self.result.error[positions] = np.maximum(self.result.error[positions], bounds)
        return residuals

    def _report_training_rows(
        self, number: int, positions: Indices, inverse: Inverse, dual: Array, fold: Fold, residuals: Array
    ) -> None:
        """``f = y - ridge dual / w`` on the rows that were trained on."""
        remaining = heldout.remaining_dual(inverse, dual, fold.removed, residuals)[:, fold.train]
        fitted = self.targets.Y[fold.train] - inverse.ridges[:, None, None] * remaining / self.scale[fold.train]
        assert self.on_train is not None
        self.on_train(number, positions, fitted)


def _penalty_share(gram: Gram, n_train: int, scale_penalty: bool) -> float:
    """The factor on the ridge of a split: one, or the share of all rows that it trains on."""
    return n_train / (gram.problem.total or gram.n) if scale_penalty else 1.0


def _rows_with_weight(train: Indices, weights: Array | None) -> Indices:
    """Training rows without those of weight zero, which have no coefficient; all of them if none has a weight."""
    if weights is None or not (weights[train] > 0).any():
        return train
    return train[weights[train] > 0]
