"""Support vector machines trained on all rows, as criteria read them; and the smallest ball around the rows."""

from __future__ import annotations

import time

import numpy as np

from ..._arrays import Array
from ...data import Targets
from ...gram import Gram
from ...machines.capabilities import Ball, Margin
from .diagonal import diagonal_solution
from .dual import Dual, Solution
from .learner import SupportVectorLearner
from .solver import solver_on
from .subproblem import solve_along_path


def margin_path(learner: SupportVectorLearner, gram: Gram, targets: Targets, penalties: Array) -> list[list[Margin]]:
    """For every C, from small to large, a list of the machines of each column of the targets.

    Cost: as ``Solver.path``.
    """
    weights = targets.whole_weights
    weights = np.ones(gram.n) if weights is None else weights
    columns = [_Column(learner, gram, y, weights) for y in targets.Y.T]
    return [list(row) for row in zip(*(column.margins(penalties) for column in columns))]


class _Column:
    """One pair of classes, or a regression: its rows and weights."""

    def __init__(self, learner: SupportVectorLearner, gram: Gram, y: Array, weights: Array) -> None:
        self.learner, self.gram, self.y = learner, gram, y
        self.members = learner.rows(y)
        self.weights = weights[self.members]
        self.targets = np.ascontiguousarray(y[self.members])
        self.identity = gram.identity()

    def margins(self, penalties: Array) -> list[Margin]:
        """The machine for every C."""
        duals = [self.learner.dual(self.targets, float(C), self.weights) for C in penalties]
        if self.identity is None:
            solutions = self._solutions(penalties)
        else:
            solutions = [diagonal_solution(dual, self.identity[0]) for dual in duals]
        return [self._margin(dual, solution) for dual, solution in zip(duals, solutions)]

    def _solutions(self, penalties: Array) -> list[Solution]:
        """Solutions along the path of penalties."""
        begin = time.perf_counter()
        unit = self.learner.dual(self.targets, 1.0, self.weights)
        path = solve_along_path(solver_on(self.gram, self.members), unit, penalties)
        self.gram.problem.ledger.add("full solution", path.solved, time.perf_counter() - begin)
        return [path.at(k) for k in range(len(penalties))]

    def _margin(self, dual: Dual, solution: Solution) -> Margin:
        def spread(part: Array) -> Array:
            whole = np.zeros(self.gram.n)
            whole[self.members] = part
            return whole

        values = spread(solution.u)
        others = np.flatnonzero(self.y == 0)
        if len(others) and self.identity is None:
            support = np.flatnonzero(solution.beta)
            values[others] = self.gram.dense()[np.ix_(others, self.members[support])] @ solution.beta[support]
        return Margin(
            labels=np.where(self.y == 0, 0.0, np.sign(self.y)),
            beta=spread(solution.beta),
            intercept=solution.b,
            values=values + solution.b,
            upper=spread(np.maximum(dual.upper, -dual.lower)),
            ridge=spread(dual.ridge),
            bias=dual.bias,
            converged=solution.converged,
        )


def smallest_balls(learner: SupportVectorLearner, gram: Gram, targets: Targets, penalties: Array) -> list[Ball]:
    r"""The smallest balls around all rows in the feature space of ``A = K + D``, for every C.

    .. math:: R^2 = \max_b \sum_i b_i A_{ii} - b^T A b, \quad b \ge 0, \; \sum_i b_i = 1

    With ``b = beta + c``, c the same for all m rows, ``1 / m``, that is the dual problem of a machine with bias:
    ``sum beta = 0`` and ``beta >= -c``. Rows of weight zero are not there.
    """
    n, balls = gram.n, []
    weights = targets.whole_weights
    weights = np.ones(n) if weights is None else weights
    solver, used = solver_on(gram, np.arange(n)), weights > 0
    c = used / used.sum()
    diagonal, means = gram.diagonal, gram.dense() @ c
    start = np.zeros(n)
    for C in penalties:
        ridge = learner.dual(targets.Y[:, 0], float(C), weights).ridge
        target = (diagonal + ridge) / 2 - means - ridge * c
        dual = Dual(target, -c, used - c, ridge, 0.0, True, moving=False)
        solution = solver.solve(dual, start, warm=bool(start.any()))
        start = solution.beta
        b = start + c
        squared = float(b @ (diagonal + ridge) - b @ (solution.u + means) - ridge @ b**2)
        balls.append(Ball(squared, b, ridge))
    return balls
