"""Held-out values that are computed only as well as a judge asks for.

Every split starts from the full-data solution with its rows left out. What that proves (``certificate.py``), and
then what every further step proves, is shown to the judge; a split is solved to the end only if the judge is never
satisfied.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ..._arrays import Array, Indices, Mask
from ...machines.contract import Judge
from .certificate import GapBall, feasible
from .dual import Dual, Solution
from .held_out import Run
from .solver import SLICE
from .subproblem import Subproblem


@dataclass
class CertifiedRun(Run):
    """One pass over the penalties, split by split as far as the judge wants to go."""

    judge: Judge

    def _column(self, problem: Subproblem, column: int) -> None:
        proves = problem.identity is None and problem.solver.noise == 0
        watch = _Watch(self, problem, column) if proves else None
        for k, C in enumerate(self.penalties):
            if watch is not None:
                watch.begin(k)
            felt = False
            for number, solution, dual in problem.solve(float(C), watch):
                felt |= dual.bounded(solution.beta)
                self._keep(k, column, number, solution, dual, problem)
                round_ = None if watch is None else watch.rounds_of(dual, solution)
                self._settle(k, column, number, round_)
            if not self.failed[k]:
                self.judge.finish(k, column)
            if not felt and (watch is None or not watch.closed):
                self._repeat(k, column)
                self._settle_rest(k, column, problem)
                return

    def _settle(self, k: int, column: int, number: int, round_: int | None = None) -> None:
        """Tell the judge the values of a split, unless they are rounded: such values prove nothing."""
        if not self.rounded[k]:
            self.judge.settle(k, column, number, self.values[number][k, :, column], round_)

    def _settle_rest(self, k: int, column: int, problem: Subproblem) -> None:
        """The larger penalties have the values of the k-th."""
        for later in range(k + 1, len(self.penalties)):
            for number in problem.trainable:
                self._settle(later, column, number)
            if not self.failed[later]:
                self.judge.finish(later, column)


class _Watch:
    """Turns coefficients into intervals for the judge, and keeps the values in their middle."""

    def __init__(self, run: CertifiedRun, problem: Subproblem, column: int) -> None:
        self.run, self.problem, self.column, self.K = run, problem, column, problem.solver.K
        self.splits: dict[int, int] = {}  # by problem, as the next three
        self.starts: dict[int, Array] = {}  # that were not looked at yet
        self.open: dict[int, bool] = {}
        self.rounds: dict[int, int] = {}
        self.starts_prove = True
        self.all_rows = run.gram.dense()
        self.diagonal = np.diagonal(self.all_rows)
        self.roots = np.sqrt(np.diagonal(self.K))
        self.reach = float(np.sqrt(2 * (self.diagonal.max() - self.all_rows.min())))  # no two rows are farther apart

    def begin(self, k: int) -> None:
        """Turn to another penalty."""
        self.k, self.closed = k, 0
        self.rounds = {}

    def rounds_of(self, dual: Dual, solution: Solution) -> int | None:
        """After how many rounds a problem was solved, also if nobody looked; None if they were not counted."""
        unseen = -(-solution.rounds // SLICE) if solution.rounds else None
        return self.rounds.get(id(dual), unseen)

    def expect(self, splits: list[int], duals: list[Dual], starts: Array) -> None:
        self.splits = {id(dual): split for split, dual in zip(splits, duals)}
        self.starts = dict(zip(self.splits, starts))
        self.open = dict.fromkeys(self.splits, True)
        self.rounds = dict.fromkeys(self.splits, 0)

    def wants(self, dual: Dual) -> bool:
        if self.open[id(dual)]:
            (still,) = self.run.judge.still_open(self.k, self.column, [self.splits[id(dual)]], [None], 0)
            if not still and id(dual) in self.starts:  # closed without a look: it needs some values all the same
                self._look_from([dual], self.starts[id(dual)][None])
            elif not still:
                self.open[id(dual)], self.closed = False, self.closed + 1
        return self.open[id(dual)]

    def __call__(self, duals: list[Dual], betas: Array) -> Mask:
        """A look costs as much as part of a step: where the first one proves little, the others will not either, and
        where starts prove little, those of larger penalties will not either.
        """
        answer, starting = np.ones(len(duals), dtype=bool), self.rounds[id(duals[0])] == 0
        if self.starts_prove or not starting:
            answer[:1] = self._look_from(duals[:1], betas[:1])
            if self.run.judge.promising(self.k, self.splits[id(duals[0])]):
                answer[1:] = self._look_from(duals[1:], betas[1:])
            elif starting:
                self.starts_prove = False
        for dual in duals:
            self.rounds[id(dual)] += 1
        return answer

    def enough(self, dual: Dual, beta: Array) -> bool:
        still = self._look_from([dual], beta[None])[0]
        self.rounds[id(dual)] += 1
        return not still

    def _look_from(self, duals: list[Dual], betas: Array) -> Mask:
        if not duals:
            return np.empty(0, dtype=bool)
        points = np.array([feasible(dual, beta) for dual, beta in zip(duals, betas)])
        return self._look(duals, points, points @ self.K)

    def _look(self, duals: list[Dual], points: Array, images: Array) -> Mask:
        intervals, splits = [], [self.splits[id(dual)] for dual in duals]
        for dual, split, beta, u in zip(duals, splits, points, images):
            tested = self.run.gram.problem.folds.folds[split].test
            ball = GapBall.around(dual, beta, u, self.roots)
            values = self._values(beta, u, tested)
            proof = ball.intervals(values, self.diagonal[tested], self.reach, partial(self._distances, tested))
            intervals.append((proof.lower, proof.upper))
            self.starts.pop(id(dual), None)
            self.run.values[split][self.k, :, self.column] = np.clip(values + ball.b, proof.lower, proof.upper)
        open_ = self.run.judge.still_open(self.k, self.column, splits, intervals, self.rounds[id(duals[0])])
        self.open.update(zip(map(id, duals), open_))
        self.closed += len(open_) - sum(open_)
        return np.array(open_, dtype=bool)

    def _values(self, beta: Array, u: Array, rows: Indices) -> Array:
        if len(self.problem.members) == self.run.gram.n:
            return u[rows]
        return self.problem.combination(beta, 0.0, rows)

    def _distances(self, tested: Indices, chosen: Indices) -> Array:
        """Of some of the tested rows to those of the problem."""
        rows, members = tested[chosen], self.problem.members
        squared = self.diagonal[rows, None] + self.diagonal[members] - 2 * self.all_rows[np.ix_(rows, members)]
        return np.asarray(np.sqrt(np.maximum(squared, 0.0)))
