"""Support vector machines trained on all rows, as criteria read them; and the smallest ball around the rows."""

from __future__ import annotations

import numpy as np

from ..._arrays import Array
from ...data import Targets
from ...gram import Gram
from ...machines.capabilities import Ball, Margin
from .diagonal import solve_diagonal
from .dual import Dual, Solution
from .learner import SupportVectorLearner
from .solver import solver_on


def margin_path(learner: SupportVectorLearner, gram: Gram, targets: Targets, penalties: Array) -> list[list[Margin]]:
    """For every C a list of the machines of each column of the targets.

    Solutions that out-of-fold values left in the workspace are where a problem starts from. Cost: see ``Solver``.
    """
    weights = targets.whole_weights
    weights = np.ones(gram.n) if weights is None else weights
    columns = [_Column(learner, gram, targets.Y[:, k], k, weights) for k in range(targets.Y.shape[1])]
    return [[column.solve(float(C)) for column in columns] for C in penalties]


class _Column:
    """One pair of classes: its rows, its part of K, and the last solution of the path."""

    def __init__(self, learner: SupportVectorLearner, gram: Gram, y: Array, number: int, weights: Array) -> None:
        self.learner, self.gram, self.y, self.number, self.weights = learner, gram, y, number, weights
        self.members = learner.rows(y)
        self.last: Array | None = None
        self.identity = gram.identity()
        self.solver = None if self.identity is not None else solver_on(gram, self.members)

    def solve(self, C: float) -> Margin:
        """The machine for one C."""
        y, members = np.ascontiguousarray(self.y[self.members]), self.members
        dual = self.learner.dual(y, C, self.weights[members])
        if self.identity is not None:
            beta, b = solve_diagonal(dual, self.identity[0])
            solution = Solution(beta, self.identity[0] * beta, b, 0.0, True)
        else:
            assert self.solver is not None
            start = self.gram.starts.get((type(self.learner), self.number, C), self.last)
            cold = start is None
            begin = np.zeros(len(y)) if start is None else dual.within(start)
            with self.gram.problem.ledger.record("full solution"):
                solution = self.solver.solve(dual, begin, warm=not cold)
        self.last = solution.beta
        return self._margin(dual, solution)

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
