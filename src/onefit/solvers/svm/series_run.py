"""Out-of-fold values by the series of ``series.py``, column by column along the path of penalties."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..._arrays import Array, Indices
from ...machines.contract import Series
from .held_out import Run
from .left_out import can_leave_out, left_out_values
from .series import Changes, Start, Terms
from .subproblem import Subproblem

CHUNK = 64
"""Splits that are treated side by side."""


@dataclass
class SeriesRun(Run):
    """One pass over the penalties, with the series in place of retraining."""

    series: Series

    def _column(self, problem: Subproblem, column: int) -> None:
        self.exact, self.error[:] = False, np.nan  # nothing is known of the error
        single = _SingleRows.of(problem) if self._leaves_one_out else None
        numbers = problem.trainable if single is None else single.inside.tolist()
        changes = cache(lambda: [Changes(problem, numbers[i : i + CHUNK]) for i in range(0, len(numbers), CHUNK)])
        for k, C in enumerate(self.penalties):
            start = self._start(problem, float(C))
            if start is None:
                self.failed[k] = True
                continue
            terms = Terms(problem, start, float(C), self.series.order)
            if single is not None:
                self._fill_outside(k, column, terms, single)
                if can_leave_out(terms):
                    self._write(k, column, single.inside, left_out_values(terms, single.places))
                    continue
            for part in changes():
                self._fill(k, column, part, terms)

    @property
    def _leaves_one_out(self) -> bool:
        """Whether splits leave out one row each, and all else as it is, and the whole series is asked for."""
        alike = self.targets.shared and not self.scale_penalty
        return self.series.order == np.inf and alike and self.train is None and self.gram.problem.folds.leave_one_out

    def _fill_outside(self, k: int, column: int, terms: Terms, single: _SingleRows) -> None:
        """Rows that take no part in the problem: leaving one out changes nothing, so that one split tells all."""
        if len(single.outside):
            problem, start = terms.problem, terms.start
            a, biases = terms.total(Changes(problem, [int(single.outside[0])]))
            values = problem.combination(start.beta + a[:, 0], start.b + biases[0], single.rows_outside)
            self._write(k, column, single.outside, values)

    def _write(self, k: int, column: int, numbers: Indices, values: Array) -> None:
        for number, value in zip(numbers.tolist(), values):
            self.values[number][k, 0, column] = value

    def _fill(self, k: int, column: int, changes: Changes, terms: Terms) -> None:
        folds = self.gram.problem.folds.folds
        tested = [folds[number].test for number in changes.numbers]
        for number, values in zip(changes.numbers, terms.heldout(changes, tested)):
            self.values[number][k, :, column] = values
        if self.train is not None:
            trained = [folds[number].train for number in changes.numbers]
            for number, values in zip(changes.numbers, terms.values(*terms.total(changes), trained)):
                self.train[number][k, :, column] = values

    def _start(self, problem: Subproblem, C: float) -> Start | None:
        """The minimiser on all rows, of the smoothed loss or of the loss itself; None if it was not found."""
        weights, learner, y = problem.full_weights, self.learner, problem.y
        h = learner.half_width(self.series.h, lambda: _residual_scale(problem, C))
        if self.series.start == "smoothed":
            dual = learner.smoothed(y, C, weights, h)
            solution = problem.solve_full(dual, C)
            curved = dual.free(solution.beta)
            start = Start(solution.beta, curved, dual.ridge, solution.u, solution.b, dual)
            return start if solution.converged else None
        solution = problem.solve_full(learner.dual(y, C, weights), C)
        if not solution.converged:
            return None
        loss, f = learner.smoothed_loss(h), solution.u + solution.b
        first, second = loss.slope(y, f), loss.curvature(y, f)
        curved = (second > 0) & (weights > 0)
        slopes = -C * weights * first
        ridge = 1.0 / np.where(curved, C * weights * second, 1.0)
        return Start(slopes, curved, ridge, solution.u, solution.b, lacking=solution.beta - slopes)


@dataclass(frozen=True)
class _SingleRows:
    """Leave-one-out splits that can be trained on, by their numbers: of rows that take part in a problem, with their
    ``places`` in it, and of others, with their rows of the data.
    """

    inside: Indices
    places: Indices
    outside: Indices
    rows_outside: Indices

    @classmethod
    def of(cls, problem: Subproblem) -> _SingleRows:
        learner, gram = problem.run.learner, problem.run.gram
        rows = np.array([fold.test[0] for fold in gram.problem.folds], dtype=np.intp)
        place = np.full(gram.n, -1)
        place[problem.members] = np.arange(len(problem.members))
        inside, outside = np.flatnonzero(place[rows] >= 0), np.flatnonzero(place[rows] < 0)
        inside = inside[[learner.trainable(problem.y, problem.weights(int(number))) for number in inside]]
        if not learner.trainable(problem.y, problem.full_weights):
            outside = outside[:0]
        return cls(inside, place[rows[inside]], outside, rows[outside])


def _residual_scale(problem: Subproblem, C: float) -> float:
    """Mean size of the residuals of the machine itself; a millionth of the targets' spread at least."""
    y = problem.y
    solution = problem.solve_full(problem.run.learner.dual(y, C, problem.full_weights), C)
    spread = max(float(np.ptp(y)), np.finfo(np.float64).eps * float(np.abs(y).max()), np.finfo(np.float64).tiny)
    return max(float(np.abs(y - solution.u - solution.b).mean()), 1e-6 * spread)
