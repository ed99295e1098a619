r"""Held-out values of least squares that rounding may have spoiled, computed again by iterative refinement.

The closed form has errors of some ``eps |K| / alpha``. Where that is more than ``ACCURACY`` of the values, splits are
solved again: by the hold-out identities as long as they are right to a digit, otherwise from a factorisation of their
own, scaled to a unit diagonal. Refinement solves the system of the *given* Gram matrix; rounding of a Gram matrix that
was computed from rows remains, and is estimated:

.. math:: |\delta f_x| \approx \eta\, \Big(\sum_j K_{jj} d_j^2\Big)^{1/2} \Big(K_{xx}^{1/2} + |h_x^T z|\Big),
          \qquad |\delta K_{ij}| \le \eta (K_{ii} K_{jj})^{1/2},

where ``h_x`` are the weights of the targets in the prediction at x, and ``z_i = ± sqrt(K_ii)`` random signs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..._arrays import Array, Indices, Mask
from ...data import Targets
from ...gram import Gram
from ...kernels import Precomputed
from ...linalg.factor import EPS, Factor
from ...linalg.heldout import HeldOutSolver
from ...linalg.refinement import LARGEST_CONDITION, DirectSolver, Solver, refine
from ...machines.contract import HeldOut, OnTrain

ACCURACY = 1e-6
"""Values are exact if their error is at most this share of the largest held-out value or target."""

ONE_DIGIT = 1 / 16
"""Relative error of the hold-out identities up to which they are good enough to refine with."""

GRAM_ROUNDING = 32 * EPS
"""η: a few units of the last place in an entry, and the error of an estimate from one draw of signs."""

BUDGET = 8
"""Multiplications that may be spent on refining a ridge, in n³: about those of an eigendecomposition."""

SMALL = 1e9
"""Multiplications that take less than a second: so many are spent on a ridge even where that is more."""

SAMPLE_OF_ROWS, SAMPLE_OF_FOLDS = 16, 3
"""Splits that the error of all is measured on."""

SAFETY = 32
"""How much larger errors may be than those of the sample. Of 28 paths (Gaussian and linear kernels, 300 and 500 rows,
ridges from 3e-8) the largest was 10 times as large in one, and less than 3 times in 26."""

REFINING = 25
"""Multiplications for refining a column of n coefficients, in n²: two products of ten parts, and solutions."""

FEW_ROWS = 256
"""Refining all splits of so few rows takes a few milliseconds a ridge."""

INACCURATE = (
    "rounding is seen: K + alpha I is too ill-conditioned for the values to be known to six digits; "
    "scale the features or use larger alpha"
)


def mark_inaccurate(held: HeldOut, targets: Targets) -> None:
    """Mark the ridges whose values are not known to ``ACCURACY``."""
    held.rounded = ~held.failed & _inaccurate(held, _largest(held, targets))
    held.rounding = INACCURATE


def _largest(held: HeldOut, targets: Targets | None) -> Array:
    """The largest held-out value or target at every ridge, or of the values alone."""
    sizes = [np.nanmax(np.abs(part), axis=(1, 2), initial=0.0) for part in held.test]
    if targets is not None:
        sizes.append(np.full_like(sizes[0], np.abs(targets.Y).max(initial=0.0)))
    return np.asarray(np.max(sizes, axis=0))


def _inaccurate(held: HeldOut, largest: Array) -> Mask:
    """Which ridges have no unique solution, or values that may be wrong by more than ``ACCURACY`` of the largest."""
    return np.asarray(_singular(held) | ~(held.error <= ACCURACY * largest))


def _singular(held: HeldOut) -> Mask:
    return held.failed if held.least_squares is None else held.failed | held.least_squares


def _unless_rounded(known: Array, refined: Array, rounding: Array | float) -> Array:
    """Refined values, but for those that are no larger than their rounding.

    Far below the targets a value is a sum of terms as small as it is, and ``small_values`` has all its digits;
    refinement has those of the largest entries of K and of the targets only.
    """
    return np.where(np.isfinite(known) & (np.abs(refined) <= rounding), known, refined)


Use = Callable[[int, Indices, Array, Array], Array]
"""Given a split, k positions on the path, refined values (k, n, c) of all rows and their rounding (k,), return what
their errors grow by."""


@dataclass
class Refinement:
    """Refined values for some ridges of a path, written over those that are in doubt."""

    held: HeldOut
    gram: Gram
    targets: Targets
    ridges: Array  # (L,)
    shares: list[float]  # of each split: the factor on its ridge
    bias: bool
    on_train: OnTrain | None

    @property
    def doubtful(self) -> Mask:
        """Which ridges are to be refined.

        Among few rows, where that costs next to nothing, values far below the targets are measured by themselves; not
        with a bias, whose rounding is that of the targets, and not where K is a multiple of I and is never computed.
        """
        by_themselves = self.gram.n <= FEW_ROWS and not self.bias and self.gram.identity() is None
        return _inaccurate(self.held, _largest(self.held, None if by_themselves else self.targets))

    def by_identities(self, factor: Factor) -> None:
        """Splits from the factor of the full data, where that is accurate enough to refine with.

        Among more than a few rows some splits are refined first, those with the largest residuals: their distance to
        the closed form is what its error is like. All splits are refined only where that is too much.

        Cost: O(n²) a split, target and step for each ridge in doubt, and its blocks once more.
        """
        sample = self._sample()
        if len(sample) < len(self.shares):
            self._refine_splits(factor, sample, self._measure)
            if REFINING * self.gram.n**2 * len(self.shares) * self.targets.Y.shape[1] > self._budget:
                return
        self._refine_splits(factor, list(range(len(self.shares))), self._replace)

    def _sample(self) -> list[int]:
        """Splits that stand for all; every one if there are few rows, or rows that count very differently."""
        folds, scale = self.gram.problem.folds, self._scale
        if self.gram.n <= FEW_ROWS or scale.max() > 10 * scale.min():
            return list(range(len(folds)))
        size = SAMPLE_OF_ROWS if folds.leave_one_out else SAMPLE_OF_FOLDS
        k = int(np.argmax(self.doubtful))  # the smallest ridge in doubt
        sizes = [np.abs(self.targets.Y[fold.test] - self._values(i)[k]).max() for i, fold in enumerate(folds)]
        return [int(number) for number in np.argsort(sizes)[::-1][:size]]

    def _refine_splits(self, factor: Factor, splits: list[int], use: Use) -> None:
        """Refine some splits at all ridges in doubt, and hand them on; take note of the errors found."""
        doubtful = self.doubtful & ~self.held.failed
        for share in set(self.shares):
            doubtful &= factor.rounding(self.ridges * share) <= ONE_DIGIT
        chosen = np.flatnonzero(doubtful)
        if not len(chosen):
            return
        K, error = self.gram.problem.gram(self.gram.kernel), np.zeros(len(self.ridges))
        for share in sorted({self.shares[number] for number in splits}):
            own = [number for number in splits if self.shares[number] == share]
            for positions, inverse in factor.inverses(self.ridges[chosen] * share):
                if not inverse.definite:  # a training set may be nearly singular where all rows are not
                    return
                for some in self._in_batches(own, len(positions)):
                    removed = [self.gram.problem.folds.folds[number].removed for number in some]
                    solver = HeldOutSolver(inverse, removed, self._scale, K, self.bias)
                    found = self._refine_batch(K, solver, some, chosen[positions], use)
                    error[chosen[positions]] = np.maximum(error[chosen[positions]], found)
                del inverse  # before the next one is made
        self._accept(chosen, error)

    def _refine_batch(self, K: Array, solver: HeldOutSolver, splits: list[int], positions: Indices, use: Use) -> Array:
        """Errors at the ridges of a solver's inverse (L,) after some splits were refined and used."""
        Y = self.targets.Y
        (n, c), shape = Y.shape, (len(positions), len(splits), Y.shape[1])
        kept = solver.kept_columns(c)
        refined = refine(K, np.tile(Y, shape[0] * shape[1]), solver.diagonals(c), kept, solver, self.bias)
        values = refined.values.reshape(n, *shape)
        settled = np.asarray(refined.settled.reshape(shape).all(axis=2))
        rounding = refined.error.reshape(shape).max(axis=2)
        errors = refined.error + self._gram_error(K, refined.dual, kept, solver)
        wrong = np.where(settled, errors.reshape(shape).max(axis=2), np.inf)
        for split, number in enumerate(splits):
            known = np.flatnonzero(settled[:, split])
            found = values[:, known, split].transpose(1, 0, 2)
            wrong[known, split] += use(number, positions[known], found, rounding[known, split])
        return np.asarray(wrong.max(axis=1))

    def _measure(self, number: int, positions: Indices, values: Array, rounding: Array) -> Array:
        """Error that the values of any split may have, from those of one that are known."""
        test = self.gram.problem.folds.folds[number].test
        return np.asarray(SAFETY * np.abs(self._values(number)[positions] - values[:, test]).max(axis=(1, 2)))

    def _replace(self, number: int, positions: Indices, values: Array, rounding: Array) -> Array:
        """Write refined values (k, n, c) of all rows over those of a split; return how far its values are from them."""
        fold = self.gram.problem.folds.folds[number]
        written = _unless_rounded(self._values(number)[positions], values[:, fold.test], rounding[:, None, None])
        self._values(number)[positions] = written
        if self.on_train is not None:
            fitted = np.full((len(self.ridges), len(fold.train), values.shape[2]), np.nan)
            fitted[positions] = values[:, fold.train]
            self.on_train(number, np.arange(len(self.ridges)), fitted)
        return np.asarray(np.abs(written - values[:, fold.test]).max(axis=(1, 2), initial=0.0))

    @property
    def _budget(self) -> float:
        """Multiplications that may be spent on refining a ridge."""
        return max(BUDGET * self.gram.n**3, SMALL)

    def by_training(self, whatever_it_costs: bool = False) -> None:
        """Every split from a factorisation of its own, unless that costs more than a ridge may cost.

        Values of systems that are too ill-conditioned to refine are those of the factorisation, as retraining has them.
        """
        chosen = np.flatnonzero(self.doubtful)
        sizes = self.gram.problem.folds.training_sizes
        if not len(chosen) or (sum(float(m) ** 3 for m in sizes) / 3 > self._budget and not whatever_it_costs):
            return
        error = np.zeros(len(self.ridges))
        for number in range(len(sizes)):
            self._train(number, chosen, error)
        self._accept(chosen, error)

    def _train(self, number: int, chosen: Indices, error: Array) -> None:
        fold, weights = self.gram.problem.folds.folds[number], self.targets.fold_weights(number)
        used = fold.train if weights is None else fold.train[weights[fold.train] > 0]
        train = fold.train if self.on_train is not None else fold.train[:0]
        rows = np.concatenate([used, train, fold.test])
        K, m = self.gram.block(rows, used), len(used)
        Y = self.targets.Y[used]
        kept: Mask = np.ones(Y.shape, dtype=bool)
        fitted = np.full((len(self.ridges), len(train), Y.shape[1]), np.nan)
        singular = _singular(self.held)
        for k in chosen:
            ridge = self.ridges[k] * self.shares[number]
            diagonal = np.full(m, ridge) if weights is None else ridge / weights[used]
            solver = DirectSolver(K[:m], diagonal, self.bias)
            if not np.isfinite(solver.condition):
                error[k] = np.inf
                continue
            refined = refine(K, Y, np.broadcast_to(diagonal[:, None], Y.shape), kept, solver, self.bias)
            known = refined.settled.all() and solver.condition <= LARGEST_CONDITION
            tested = refined.values[m + len(train) :]
            wrong = float((refined.error + self._gram_error(K, refined.dual, kept, solver)).max())
            if known or not singular[k]:  # those of minimum norm are better than anything that is not known
                rounding = float(refined.error.max()) if known else 0.0
                self._values(number)[k] = _unless_rounded(self._values(number)[k], tested, rounding)
                fitted[k] = refined.values[m : m + len(train)]
            away = float(np.abs(self._values(number)[k] - tested).max())
            error[k] = max(error[k], away + wrong) if known else np.inf
        if self.on_train is not None:
            self.on_train(number, np.arange(len(self.ridges)), fitted)

    def _gram_error(self, K: Array, dual: Array, kept: Mask, solver: Solver) -> Array:
        """Error of values (q,) from rounding of the Gram matrix, nothing if that was given; see the module."""
        if self.gram.kernel == Precomputed():
            return np.zeros(dual.shape[1])
        root = np.sqrt(np.abs(K.diagonal()[: len(dual), None]))
        signs = np.random.default_rng(0).choice([-1.0, 1.0], size=kept.shape)
        probe, bias = solver.solve(np.where(kept, signs * root, 0.0), np.zeros(kept.shape[1]))
        weights = np.abs(K @ probe + bias).max(axis=0)
        return np.asarray(GRAM_ROUNDING * np.linalg.norm(root * dual, axis=0) * (root.max() + weights))

    def _values(self, number: int) -> Array:
        """Held-out values of a split (L, rows, c), to be written to."""
        if self.gram.problem.folds.leave_one_out:
            row = self.gram.problem.folds.folds[number].test[0]
            return self.held.test[0][:, row : row + 1]
        return self.held.test[number]

    def _accept(self, chosen: Indices, error: Array) -> None:
        """Take over what is known now; systems that are known to no digit at all keep their label."""
        known = chosen[np.isfinite(error[chosen])]
        self.held.error[known], self.held.failed[known] = error[known], False
        if self.held.least_squares is not None:
            self.held.least_squares[known] = False

    def _in_batches(self, splits: list[int], n_ridges: int) -> Iterator[list[int]]:
        """Some splits at a time: a dozen arrays of a batch are no more than half of a Gram matrix."""
        n = max(1, max(16, self.gram.n // 32) // (n_ridges * self.targets.Y.shape[1]))
        for start in range(0, len(splits), n):
            yield splits[start : start + n]

    @property
    def _scale(self) -> Array:
        weights = self.targets.fold_weights(0)
        return np.ones(self.gram.n) if weights is None else np.sqrt(weights)
