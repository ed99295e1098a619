"""Training a support vector machine on all rows, for the estimators."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._arrays import Array, Indices
from .bias import undetermined_bias
from .dual import TOLERANCE
from .learner import SupportVectorLearner
from .solver import Solver, indefiniteness


@dataclass(frozen=True)
class SupportVectorFit:
    """Coefficients (n, c) and biases (c,) of every column of the targets, and what the solver says of them."""

    dual: Array
    intercept: Array
    gap: Array
    rounds: Indices
    converged: bool


def fit_columns(
    learner: SupportVectorLearner,
    K: Array,
    Y: Array,
    C: float,
    weights: Array | None,
    *,
    positive: bool,
    tolerance: float = TOLERANCE,
    max_rounds: int | None = None,
) -> SupportVectorFit:
    """Solve each column of Y (n, c) on its rows of the Gram matrix. Cost: see ``Solver.solve``.

    ``positive`` says that K is known to be positive semi-definite; otherwise that is checked, and an error if not so.
    """
    noise = 0.0 if positive else indefiniteness(K)
    if noise == np.inf:
        raise ValueError("The kernel matrix is not positive semi-definite: a support vector machine needs that.")
    n, c = Y.shape
    weights = np.ones(n) if weights is None else weights
    coefficients, intercept, gap = np.zeros((n, c)), np.zeros(c), np.zeros(c)
    rounds, converged = np.zeros(c, dtype=np.intp), True
    for column in range(c):
        rows = learner.rows(Y[:, column])
        part = K if len(rows) == n else K[np.ix_(rows, rows)]
        dual = learner.dual(np.ascontiguousarray(Y[rows, column]), C, weights[rows])
        start = np.zeros(len(rows))
        solution = Solver(part, noise).solve(dual, start, start, warm=False, tolerance=tolerance, max_rounds=max_rounds)
        interval = undetermined_bias(dual, solution)
        b = solution.b if interval is None else sum(interval) / 2  # the one that searches score
        coefficients[rows, column], intercept[column] = solution.beta, b
        gap[column], rounds[column] = dual.gap(solution.beta, solution.u, b), solution.rounds
        converged &= solution.converged
    return SupportVectorFit(coefficients, intercept, gap, rounds, converged)
