r"""Held-out values of support vector machines by the Bouligand influence function (BIF) series.

The loss is smoothed over h around its kinks, if it has any. Let f = K beta + b be the minimiser on all rows, S the rows
at which the loss is curved, and D = 1 / (C v w) on them, one over its second derivative there: the ridge of the
smoothed dual problem. A split changes the weights v of the rows by the shares :math:`\Delta` (one where a row is left
out; where the penalty is on the *mean* loss, -l/(n-l) elsewhere). Each term of the series is
:math:`T = K a + b' 1`, where

.. math:: (K + D)_{SS} \, a_S + b' 1 = r_S, \quad a_O = -(\Delta \beta)_O \text{ elsewhere}, \quad \sum a = 0
          \text{ with a bias};

          r = -D \Delta \beta - K_{SO} a_O \text{ for } T_1, \quad r = \Delta \, T_s \text{ for } T_{s+1}
          \text{ (and then } a_O = 0 \text{)}.

On S a term is ``T = D (-Delta beta - a)``, the later ones ``r - D a``, so that all orders need one inverse and no
product with K. The sum of all terms is that of the first with the ridge ``D / (1 - Delta)`` of the split on the rows
of S that it keeps: one Newton step of the retrained machine. S is frozen, so neither is exact cross-validation.
Values of the whole series keep their signs below the rounding of u; those of a finite order, in which part of a row's
own coefficient remains, are known to that rounding.

Source: Liu, Liao, Jiang, Ding, Lin & Wang, fast cross-validation by BIF; their weight -1/(t-1) is right for equal
folds only, and they start from the minimiser of another loss ("plug-in"). Oracle: the dense operators of the paper, and
for the whole series a Newton step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..._arrays import Array, Indices, Mask
from .bias import best_bias
from .bordered import Bordered, BorderedDense, BorderedDiagonal
from .dual import Dual
from .subproblem import Subproblem

SMALL = 1e-3
"""Ridge, relative to the diagonal of K, below which solutions are refined."""

SEEN = 1e-13
"""Residual, relative to the right side, above which they are."""


@dataclass(frozen=True)
class Start:
    """Where a series starts: minus the slopes of the losses, the curved rows and their ridge, ``u``, the bias.

    ``dual`` is the smoothed problem, if that was solved; else ``lacking`` is what the coefficients are more than minus
    the slopes.
    """

    slopes: Array
    curved: Mask
    ridge: Array
    u: Array
    b: float
    dual: Dual | None = None
    lacking: Array | None = None

    @property
    def beta(self) -> Array:
        """The coefficients."""
        return self.slopes if self.lacking is None else self.slopes + self.lacking


class Changes:
    """How some splits change the weights of the rows, whatever the penalty: arrays (n, t)."""

    def __init__(self, problem: Subproblem, numbers: list[int]) -> None:
        self.numbers = numbers
        used = problem.full_weights > 0
        weights = np.where(used, problem.full_weights, np.inf)
        self.growth = np.array([problem.growth(number) for number in numbers])
        # the share of its weight that a row keeps; the division comes first, so that equal shares stay equal
        self.kept = np.column_stack([problem.weights(number) / weights for number in numbers]) * self.growth
        self.delta = used[:, None] - self.kept
        self.divide = np.count_nonzero(self.delta) <= 2 * len(self.delta)  # the rows among the splits, or nearly


@dataclass
class Terms:
    """The terms of the series of one start, put together."""

    problem: Subproblem
    start: Start
    C: float
    order: float
    _last: tuple[float, Bordered] | None = None

    def __post_init__(self) -> None:
        self.bias = self.problem.run.learner.bias
        self.S = np.flatnonzero(self.start.curved)
        small = self.start.ridge[self.S].min(initial=np.inf) < SMALL * self.problem.magnitude
        self.refinements = 2 if small and self.problem.identity is None else 0

    def heldout(self, changes: Changes, tested: list[Indices]) -> Iterable[Array]:
        """Values of the rows that each split tests."""
        apart = changes.divide and not self._first(changes)[~self.start.curved].any()
        if apart and len(self.S) and self.order < np.inf:
            return self._local(changes, tested)
        return self.values(*self.total(changes), tested)

    def _local(self, changes: Changes, tested: list[Indices]) -> list[Array]:
        """Values of tested rows if splits divide the rows among them and no row rests at a bound.

        Then r is zero but on the curved rows that a split changes, and a part of the inverse tells T there.
        Cost: O(m³) for the inverse, O(Σ l²) an order.
        """
        system, start, first, delta = self.system(1.0), self.start, self._first(changes), changes.delta
        right, values, elsewhere = np.zeros((len(self.S), len(tested))), [np.empty(0)] * len(tested), []
        place = np.empty(len(start.curved), dtype=np.intp)
        place[self.S] = np.arange(len(self.S))
        for k, rows in enumerate(tested):
            inside = start.curved & (delta[:, k] != 0)
            changed = np.flatnonzero(inside)
            parts = start.ridge[changed], delta[changed, k], first[changed, k]
            right[place[changed], k], total = self._terms_of_part(system.block(place[changed]), *parts)
            if len(start.u) == self.problem.run.gram.n and inside[rows].all():
                values[k] = start.u[rows] + start.b + total[np.searchsorted(changed, rows)]
            else:
                elsewhere.append(k)
        if elsewhere:
            a = np.zeros((len(start.u), len(elsewhere)))
            a[self.S], biases = self.solve(system, right[:, elsewhere], np.zeros(len(elsewhere)))
            for k, found in zip(elsewhere, self.values(a, biases, [tested[k] for k in elsewhere])):
                values[k] = found
        return values

    def _terms_of_part(self, block: Array, ridge: Array, delta: Array, first: Array) -> tuple[Array, Array]:
        """The sums of r and of T of all orders on the rows of a split, from their part of the inverse."""
        right = ridge * first
        term = right - ridge * (block @ right)
        rights, terms = right, term
        for _ in range(int(self.order) - 1):
            right = delta * term
            term = right - ridge * (block @ right)
            rights, terms = rights + right, terms + term
        return rights, terms

    def total(self, changes: Changes) -> tuple[Array, Array]:
        """(a (n, t), b' (t,)) of all terms together."""
        first = self._first(changes)
        if not len(self.S):
            return first, self._biases_of_bounds(changes, first)
        return self._newton(changes, first) if self.order == np.inf else self._finite(changes, first)

    def _first(self, changes: Changes) -> Array:
        """First term ``a`` (n, t): all of the series if no row were curved."""
        first: Array = -changes.delta * self.start.slopes[:, None]
        if self.start.lacking is not None:
            first += self.start.lacking[:, None] * (changes.growth - 1.0)
        return first

    def _finite(self, changes: Changes, first: Array) -> tuple[Array, Array]:
        """The series of a finite order.

        Cost: O(m³ + m² t) for m curved rows, and for each order O(Σ l²), or O(m² t) if the penalty follows the number
        of rows.
        """
        system, start = self.system(1.0), self.start
        S, ridge = self.S, start.ridge[self.S, None]
        a = np.where(start.curved[:, None], 0.0, first)
        right = ridge * first[S] - self.image(a)[S]
        sums = -a.sum(axis=0)
        if self.order > 1:
            term = ridge * (first[S] - system.solve(right, sums)[0])  # the ridge is small where rounding is large
            right += self._later(system, ridge, changes.delta[S], term)
        a[S], biases = self.solve(system, right, sums)
        return a, biases

    def solve(self, system: Bordered, right: Array, sums: Array) -> tuple[Array, Array]:
        """The solution on S, refined where rounding of the inverse would be seen."""
        x, b = system.solve(right, sums)
        S, spread = self.S, np.zeros((len(self.start.slopes), right.shape[1]))
        for _ in range(self.refinements if system.exact else 2):
            spread[S] = x
            residual = right - self.image(spread)[S] - self.start.ridge[S, None] * x - b
            if np.abs(residual).max() <= SEEN * np.abs(right).max():
                break
            dx, db = system.solve(residual, sums - x.sum(axis=0))
            x, b = x + dx, b + db
        return x, b

    def _later(self, system: Bordered, ridge: Array, delta: Array, term: Array) -> Array:
        """The sum of ``r = Delta T`` of the orders from two on; ``term`` is the first."""
        total, orders = np.zeros_like(term), int(self.order) - 1
        supports = [np.flatnonzero(column) for column in delta.T]
        if sum(map(len, supports)) > 2 * len(delta):  # the splits do not divide the rows among them
            for _ in range(orders):
                right = delta * term
                total += right
                term = right - ridge * system.solve(right, np.zeros(right.shape[1]))[0]
            return total
        for k, rows in enumerate(supports):
            block, inner, share = system.block(rows), term[rows, k], delta[rows, k]
            for _ in range(orders):
                right = share * inner
                total[rows, k] += right
                inner = right - ridge[rows, 0] * (block @ right)
        return total

    def _newton(self, changes: Changes, first: Array) -> tuple[Array, Array]:
        """The whole series: the first term with the ridges and the curved rows that each split keeps.

        Cost: O(m³) once, and O(m l + l³) for a split that leaves out l rows and keeps the weights of the others.
        """
        kept = self.start.curved[:, None] & (changes.kept > 0)
        ridge = self.start.ridge[:, None] / np.where(kept, changes.kept, 1.0)
        a = np.where(kept, 0.0, first)
        right = kept * (ridge * first - self.image(a))
        sums = -a.sum(axis=0)
        for columns, system in self._systems(changes, kept, ridge):
            a[:, columns] += self._kept_step(
                system, right[:, columns], kept[:, columns], sums[columns], ridge[:, columns]
            )
        if not self.bias:
            return a, np.zeros(a.shape[1])
        lacking = (kept * (ridge * (first - a) - self.image(a))).sum(axis=0)
        none = ~kept.any(axis=0)
        biases = lacking / np.where(none, 1, kept.sum(axis=0))
        if none.any():
            biases[none] = self._biases_of_bounds(changes, a)[none]
        return a, biases

    def _systems(self, changes: Changes, kept: Mask, ridge: Array) -> Iterator[tuple[Indices, Bordered]]:
        """Splits that have the same ridge on the curved rows that they keep, and its system, one at a time."""
        groups: dict[float, list[int]] = {}
        for k in np.flatnonzero(kept.any(axis=0)):
            shares = np.unique(changes.kept[kept[:, k], k])
            if len(shares) == 1:
                groups.setdefault(float(shares[0]), []).append(int(k))
            else:
                yield np.array([k]), self._new_system(ridge[:, k])
        for share, members in groups.items():
            yield np.array(members), self.system(1.0 / share)

    def _kept_step(self, system: Bordered, right: Array, kept: Mask, sums: Array, ridge: Array) -> Array:
        """The solutions on the rows that splits keep, refined likewise; NaN if there is none."""
        x, lacking = np.zeros_like(right), right
        for _ in range(1 + self.refinements):
            step = system.without(lacking, kept, sums - x.sum(axis=0))
            if step is None:
                return np.full_like(right, np.nan)
            x = x + step
            if not self.refinements:
                break
            lacking = kept * (right - self.image(x) - ridge * x)
            if self.bias:
                lacking -= kept * (lacking.sum(axis=0) / kept.sum(axis=0))
            if np.abs(lacking).max() <= SEEN * np.abs(right).max():
                break
        return x

    def _biases_of_bounds(self, changes: Changes, a: Array) -> Array:
        """Without curved rows the bias is the best for the coefficients: the middle of its interval."""
        if not self.bias:
            return np.zeros(a.shape[1])
        u = self.start.u[:, None] + self.image(a)
        duals = [self.problem.dual(number, self.C) for number in changes.numbers]
        return np.array([sum(best_bias(dual, column)) / 2 for dual, column in zip(duals, u.T)]) - self.start.b

    def values(self, a: Array, biases: Array, rows: list[Indices]) -> Iterator[Array]:
        """Values of some rows of the full data for every split."""
        problem, start = self.problem, self.start
        if len(problem.y) < problem.run.gram.n:
            for k, part in enumerate(rows):
                yield problem.combination(start.beta + a[:, k], start.b + biases[k], part)
            return
        few = problem.identity is None and 2 * sum(map(len, rows)) < a.size
        image = None if few else self.image(a)
        for k, part in enumerate(rows):
            change = self.problem.solver.K[part] @ a[:, k] if image is None else image[part, k]
            yield problem.with_small_digits(start.u[part] + change, start.beta + a[:, k], start.b + biases[k], part)

    def image(self, a: Array) -> Array:
        """``K a`` for a of shape (n, t)."""
        if self.problem.identity is not None:
            return self.problem.identity[0] * a
        return np.asarray(self.problem.solver.K @ a)

    def image_at(self, rows: Indices, a: Array) -> Array:
        """``K a`` for a of shape (n, t), at one row of each column."""
        if self.problem.identity is not None:
            return np.asarray(self.problem.identity[0] * a[rows, np.arange(len(rows))])
        return np.asarray(np.einsum("ki,ik->k", self.problem.solver.K[rows], a))

    def system(self, growth: float) -> Bordered:
        """The system with the ridge of all curved rows multiplied by a number; the last one is kept."""
        if self._last is None or self._last[0] != growth:
            self._last = None  # before the next one is made
            dual = self.start.dual
            if growth == 1.0 and dual is not None and self.problem.identity is None:
                system = BorderedDense(self.problem.solver.inverse(dual, self.start.slopes), self.bias)
                self.S = system.shared.base  # in another order
                self._last = growth, system
            else:
                self._last = growth, self._new_system(self.start.ridge * growth)
        return self._last[1]

    def _new_system(self, ridge: Array) -> Bordered:
        problem = self.problem
        if problem.identity is not None:
            return BorderedDiagonal(problem.identity[0] + ridge, self.S, self.bias)
        return BorderedDense(problem.solver.inverse_of(ridge, self.S, self.bias), self.bias)
