r"""Dual problems of several splits by conjugate gradients on their free coefficients, all problems at once.

Where a kernel couples rows weakly (narrow kernels, large ridges), ``M = K + D`` is well conditioned and many
coefficients are free: a few products with K cost less than a factor or an inverse, which are cubic. A round solves the
problem on the free coefficients by projected conjugate gradients (Gould, Hribar & Nocedal, SIAM J. Sci. Comput. 23,
2001: with a bias the steps sum to zero), then rests what has passed an end of its piece and frees what would gain
(Moré & Toraldo, SIAM J. Optim. 1, 1991). Cost: O(n² t) for an iteration of t problems, which share a product with K.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._arrays import Array, Indices, Mask
from ._fold_removal import change_sets
from .diagonal import solve_diagonal
from .dual import ROUNDING, Dual, Solution
from .solver import PathSolution, Solver

ROUNDS = 12
"""Changes of the free sets after which a problem is given up."""
ITERATIONS = 60
"""Conjugate gradient iterations of a round, after which it ends as it is."""
FORCING = 0.01
"""Share of the largest residual that a round leaves while free sets still change."""
SAMPLE = 32
"""Rows of K of which the coupling is estimated."""
COUPLED = 3500.0
"""Rows at which conjugate gradients pay up to a coupling of one (see ``coupling``), which may grow with the square of
their number: iterations grow slowly (35 at 0.03, 110 at 1.3) and are quadratic, where factors are cubic."""
FREE_SHARE = 0.2
"""Share of the rows that is free from which on factors cost more than conjugate gradients."""
FEW_PRODUCTS = 3
"""Vectors up to which one product of K after the other is faster than one of all (2,000 rows: 1.5 against 2.9 ms)."""


def coupling(K: Array, ridge: Array, bias: bool) -> float:
    """How far ``M = K + D`` is from a diagonal matrix: the sum of the squares of a row's other entries over that of its
    diagonal entry, a mean over some rows.

    With a bias the mean of the other entries is subtracted from all: steps that sum to zero do not see it.
    """
    rows = np.arange(0, len(K), max(1, len(K) // SAMPLE))
    part, own = K[rows], K[rows, rows]
    if bias:
        others = (part.sum(axis=1) - own) / max(1, len(K) - 1)
        part, own = part - others[:, None], own - others
    squares = np.einsum("ij,ij->i", part, part) - own**2
    return float((squares / np.maximum((own + ridge[rows]) ** 2, 1e-300)).mean())


def narrow_path(solver: Solver, unit: Dual, penalties: Array) -> PathSolution | None:
    """The path of a split, ``unit`` for a penalty of one, all penalties at once.

    Starts are the solutions for a diagonal K, after some SMO steps: bounds of a size of one leave none of them free.
    None where rows are coupled, few coefficients are free, or free sets do not settle.
    """
    K, n = solver.K, len(unit.target)
    if coupling(K, unit.at(float(penalties[-1])).ridge, unit.bias) > (n / COUPLED) ** 2:
        return None
    duals = [unit.at(float(C)) for C in penalties]
    starts = np.array([solve_diagonal(dual, solver.magnitude)[0] for dual in duals])
    images = starts @ K
    for dual, start, image in zip(duals, starts, images):
        solver.take_smo_steps(dual, start, image)
    if min(int(dual.free(start).sum()) for dual, start in zip(duals, starts)) < FREE_SHARE * n:
        return None
    found = [solution for solution in solve_by_conjugate_gradients(K, duals, starts, images) if solution is not None]
    if len(found) < len(duals):
        return None
    gaps = [dual.gap(solution.beta, solution.u, solution.b) for dual, solution in zip(duals, found)]
    biases, violations = np.array([(solution.b, solution.violation) for solution in found]).T
    betas, images = np.array([(solution.beta, solution.u) for solution in found]).transpose(1, 0, 2)
    yes = np.ones(len(found), dtype=bool)
    return PathSolution(betas, images, biases, violations, np.array(gaps), yes, yes, len(found))


def solve_by_conjugate_gradients(K: Array, duals: list[Dual], starts: Array, images: Array) -> list[Solution | None]:
    """Solutions of problems that have ridges, tube and bias in common, from starts (t, n) and ``images = starts K``.

    None where no coefficient is free, or free sets do not settle.
    """
    found: list[Solution | None] = [None] * len(duals)
    batch = _Batch(K, duals, starts.copy(), images.copy())
    left = np.flatnonzero(batch.free.any(axis=1))
    for _ in range(ROUNDS):
        if not len(left):
            break
        settled = batch.advance(left)
        done = left[settled]
        if len(done):
            batch.u[done] = batch.beta[done] @ K  # without the rounding of many updates
        for k in done:
            b, residual, changes, tells = batch.change_sets(k, batch.beta[k])
            if changes == 0 and tells and residual <= batch.limit(k):
                found[k] = Solution(batch.beta[k], batch.u[k], b, residual, converged=True)
        left = np.array([k for k in left if found[k] is None and batch.free[k].any()], dtype=np.intp)
    return found


@dataclass
class _Batch:
    """Problems, their coefficients, free sets and the side of zero on which each coefficient is or is to go."""

    K: Array
    duals: list[Dual]
    beta: Array  # (t, n)
    u: Array  # (t, n): K beta

    def __post_init__(self) -> None:
        self.free: Mask = np.array([dual.free(row) for dual, row in zip(self.duals, self.beta)])
        self.side = np.where(self.beta > 0, 1.0, -1.0)
        self.roots = np.sqrt(np.abs(np.diagonal(self.K)))
        self.precise = np.zeros(len(self.duals), dtype=bool)  # free sets did not change in the last round

    def limit(self, k: int) -> float:
        """The residual at which a problem counts as solved: its tolerance, or what rounding leaves."""
        rounding = ROUNDING * self.roots.max() * float(np.abs(self.beta[k]) @ self.roots)
        return float(max(self.duals[k].tolerance, rounding))

    def change_sets(self, k: int, before: Array) -> tuple[float, float, int, bool]:
        """(bias, largest residual of free rows, changes of the free set, whether a coefficient tells the bias)."""
        dual = self.duals[k]
        outcome: tuple[float, float, int, bool] = change_sets(
            self.K, dual.ridge, dual.target, dual.epsilon, dual.lower, dual.upper, dual.bias, dual.tolerance,
            before, self.beta[k], self.u[k], self.free[k].view(np.int8), self.side[k],
        )  # fmt: skip
        return outcome

    def advance(self, left: Indices) -> Mask:
        """One round of some problems; which of them seem solved?"""
        first = self.duals[left[0]]
        ridges = np.array([self.duals[k].ridge for k in left])
        targets = np.array([self.duals[k].target for k in left])
        slopes = self.u[left] + ridges * self.beta[left] - targets + first.epsilon * self.side[left]
        missing = -self.beta[left].sum(axis=1) if first.bias else np.zeros(len(left))
        goals = np.array([0.5 * self.limit(k) for k in left])
        shares = np.where(self.precise[left], 0.0, FORCING)
        before = self.beta[left]
        step, image = _minimise(self.K, ridges, -slopes, self.free[left], missing, first.bias, goals, shares)
        self.beta[left] += step
        self.u[left] += image
        settled = np.zeros(len(left), dtype=bool)
        for place, k in enumerate(left):
            _, residual, changes, tells = self.change_sets(k, before[place])
            self.precise[k] = changes == 0
            settled[place] = changes == 0 and tells and residual <= self.limit(k)
        return settled


def _product(x: Array, K: Array) -> Array:
    """``x K`` for a few rows x and a symmetric K, in half of the time of ``x @ K``, for which BLAS copies K."""
    return np.array([K @ row for row in x]) if len(x) <= FEW_PRODUCTS else np.ascontiguousarray((K @ x.T).T)


def _minimise(
    K: Array, ridges: Array, right: Array, free: Mask, missing: Array, bias: bool, goals: Array, shares: Array
) -> tuple[Array, Array]:
    """(x, x K) with ``M x = right`` on free rows; with a bias up to a constant, and x sums to ``missing``.

    Problem k ends when no residual is above ``goals[k]`` or ``shares[k]`` of the largest one at the start.
    """
    counts = free.sum(axis=1, keepdims=True)
    x = free * (missing[:, None] / counts)
    image = _product(x, K) if x.any() else np.zeros_like(x)

    def on_free(values: Array, rows: Mask, number: Array) -> Array:
        values = values * rows
        if bias:
            values -= rows * (values.sum(axis=1, keepdims=True) / number)
        return values

    residual = on_free(right - image - ridges * x, free, counts)
    goals = np.maximum(goals, shares * np.abs(residual).max(axis=1))
    left, direction, old = np.arange(len(x)), residual, np.einsum("ij,ij->i", residual, residual)
    for _ in range(ITERATIONS):
        open_ = np.abs(residual).max(axis=1) > goals[left]
        if not open_.all():
            left, residual, direction, old = left[open_], residual[open_], direction[open_], old[open_]
        if not len(left):
            break
        rows, number = free[left], counts[left]
        product = _product(direction, K)
        length = old / np.einsum("ij,ij->i", direction, product + ridges[left] * direction)
        x[left] += length[:, None] * direction
        image[left] += length[:, None] * product
        residual = residual - length[:, None] * on_free(product + ridges[left] * direction, rows, number)
        new = np.einsum("ij,ij->i", residual, residual)
        direction, old = residual + (new / old)[:, None] * direction, new
    return x, image
