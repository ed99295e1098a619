r"""Gradient search: a criterion as a function of the logarithms of all parameters, and a descent on it.

The criterion gives ``dL/dK`` and ``dL/dlog penalty``, the kernel pulls the former back to its parameters: value and all
derivatives cost a few factorisations, whatever the number of parameters. Values are minimised, or maximised, by their
logarithm, so that steps do not depend on the unit of the target or on the size of an alignment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special
from sklearn.base import is_classifier

from ..criteria import Criterion
from ..criteria.base import needs_no_machine
from ..data import Fold, Folds, Targets
from ..data.coding import CodedTargets, code_targets, row_weights
from ..data.targets import Labels, read_labels
from ..gram import DenseGram
from ..kernels import Kernel, NotDifferentiableError, WeightedSum
from ..kernels.row_pairs import RowPairs
from ..machines.contract import Learner, Machine, MachinePath
from ..machines.evidence import Evidence
from ..machines.registry import read_machine
from .deadline import Deadline

Array = NDArray[np.float64]

KERNEL_REACH = np.log(1e3)
"""How far the logarithm of a kernel's parameter may go from where it starts: a scale of a thousandth is none."""

PENALTY_REACH = np.log(1e5)
"""How far the logarithm of a penalty may go from where it starts."""

FAILED = 1e3
"""Added to the value at the start where the criterion cannot be computed: the line search turns back."""


@dataclass(frozen=True)
class Point:
    """Parameters of one step: a kernel, the penalty, and the tube of support vector regression."""

    kernel: Kernel
    penalty: float
    epsilon: float | None = None
    value: float = field(default=np.nan, compare=False)  # of the criterion, where it is known


@dataclass(frozen=True)
class GradientProblem:
    """Data and machine of a gradient search: all that stays the same from step to step."""

    X: Any  # checked rows, after the transformers
    coded: CodedTargets
    labels: Labels | None
    learner: Learner
    weights: Array | None
    folds: Folds
    criterion: Criterion
    loss_weights: Array | None = None

    def learner_at(self, point: Point) -> Learner:
        """The learner with the tube of a point."""
        if point.epsilon is None:
            return self.learner
        return cast(Learner, replace(cast(Any, self.learner), epsilon=point.epsilon))


def problem_of(
    estimator: Any, X: Any, y: Any, sample_weight: Any, folds: Folds, criterion: Criterion
) -> tuple[GradientProblem, Machine]:
    """The problem of a final estimator on checked rows, and the machine that it is.

    Class weights are those of all rows, as everything else that learns from rows.
    """
    machine, classifier = read_machine(estimator), bool(is_classifier(estimator))
    coded = code_targets(y, classifier, machine.pairs, machine.link)
    given = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    weights = row_weights(
        machine.class_weight, coded, folds, given, shared=True, balance_weighted=machine.balance_weighted
    )
    assert not isinstance(weights, tuple)
    labels = read_labels(y, classifier) if "labels" in criterion.reads else None
    return GradientProblem(X, coded, labels, machine.learner, weights, folds, criterion, given), machine


class Objective:
    """The criterion, to be minimised, and its derivatives in the logarithms of all parameters.

    With ``regularised`` the Bayesian regulariser of Cawley & Talbot (2007) is added to the logarithm of a loss:
    ``(d/n) log(1 + |θ - mean θ|² / 2)`` of the d logarithms θ of the kernel's parameters. ``learned`` says which of the
    parameters may change: all if it is None. A parameter of zero, which has no logarithm, stays zero.
    """

    def __init__(
        self,
        problem: GradientProblem,
        start: Point,
        *,
        regularised: bool = False,
        learned: NDArray[np.bool_] | None = None,
    ) -> None:
        self.problem, self.start, self.regularised = problem, start, regularised
        self.rows = RowPairs(problem.X)
        self._all = self.coordinates(start)
        self.learned = np.isfinite(self._all) & (True if learned is None else learned)
        # the criterion would send the kernel and its penalty to zero, or does not see the penalty
        self.keeps_scale = problem.criterion.holds_penalty or needs_no_machine(problem.criterion)
        if self.keeps_scale:
            self.learned[self.n_kernel :] = False
        self.theta = self._all[self.learned]
        self.values: dict[bytes, float] = {}  # of the criterion itself, by the parameters that it was computed at
        self.evaluations = 0

    def coordinates(self, point: Point) -> Array:
        """The logarithms of kernel parameters, penalty and tube."""
        others = [point.penalty] if point.epsilon is None else [point.penalty, point.epsilon]
        return np.concatenate([point.kernel.log_parameters, np.log(others)])

    @property
    def _weights(self) -> slice | None:
        """The logarithms of learned weights whose sum stays: their scale belongs to the penalty, which stays."""
        kernel = self.start.kernel
        if not self.keeps_scale or not isinstance(kernel, WeightedSum):
            return None
        return slice(int(self.learned[: len(kernel.kernels)].sum()))

    @property
    def n_kernel(self) -> int:
        """Number of the kernel's parameters."""
        return len(self.start.kernel.parameter_names)

    @property
    def n_learned(self) -> int:
        """Number of the kernel's parameters that may change."""
        return int(self.learned[: self.n_kernel].sum())

    def point(self, theta: Array) -> Point:
        """Parameters from the logarithms of those that are learned."""
        full, p, value = self._all.copy(), self.n_kernel, self.values.get(theta.tobytes(), np.nan)
        if self._weights is not None:
            theta = theta.copy()
            theta[self._weights] -= special.logsumexp(theta[self._weights])
        full[self.learned] = theta
        others = np.exp(full[p:])
        epsilon = None if self.start.epsilon is None else float(others[1])
        return Point(self.start.kernel.with_log_parameters(full[:p]), float(others[0]), epsilon, value)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Where the logarithms may go."""
        reach = np.where(np.arange(len(self._all)) < self.n_kernel, KERNEL_REACH, PENALTY_REACH)[self.learned]
        return [(value - far, value + far) for value, far in zip(self.theta, reach)]

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """(value, derivatives)."""
        self.evaluations += 1
        problem, point = self.problem, self.point(theta)
        self.rows.forget_scaled()
        gradient = problem.criterion.tangent(evidence_at(problem, point, self.rows))
        slopes = [*point.kernel.pullback(self.rows, gradient.gram), gradient.log_penalty, gradient.log_epsilon]
        by_log = np.array(slopes[: len(self._all)])[self.learned]
        if self._weights is not None:  # their sum is one
            by_log[self._weights] -= np.exp(theta[self._weights] - special.logsumexp(theta[self._weights])) * (
                by_log[self._weights].sum()
            )
        value, criterion = gradient.value, problem.criterion
        self.values[theta.tobytes()] = value
        if value > 0 and not criterion.logarithmic:
            value, by_log = float(np.log(value)), by_log / value
        elif criterion.greater_is_better and not criterion.logarithmic:
            value = np.nan  # of an indefinite matrix: as bad as can be
        if criterion.greater_is_better:
            value, by_log = -value, -by_log
        if self.regularised and self.n_learned:
            p, n = self.n_learned, problem.folds.n
            away = theta[:p] - theta[:p].mean()
            size = 1.0 + 0.5 * float(away @ away)
            value += p / n * np.log(size)
            by_log[:p] += p / n * away / size
        return value, by_log


def evidence_at(problem: GradientProblem, point: Point, rows: RowPairs, folds: Folds | None = None) -> Evidence:
    """Evidence for a criterion at one point, on a fresh Gram matrix."""
    K = point.kernel.fresh_gram(rows)
    folds = problem.folds if folds is None else folds
    gram = DenseGram.of_matrix(K, point.kernel.positive).with_folds(folds)
    machine = MachinePath(
        problem.learner_at(point), Targets(problem.coded.Y, problem.weights), problem.coded, ((point.penalty,),)
    )
    present = problem.coded.present_classes(folds, problem.weights)
    return Evidence(gram, problem.labels, machine, None, present, loss_weights=problem.loss_weights)


def descend(
    objective: Objective,
    max_iter: int,
    *,
    max_evaluations: int | None = None,
    deadline: Deadline | None = None,
    on_step: Callable[[Point], None] | None = None,
) -> list[Point]:
    """The points of an L-BFGS descent, the start first; it ends after ``max_iter`` steps, at a minimum, or in time."""
    points, first, most = [objective.start], None, max_evaluations or 2 * max_iter + 20

    def value(theta: Array) -> tuple[float, Array]:
        nonlocal first
        if objective.evaluations >= most:
            raise _OutOfEvaluationsError
        try:
            found, slopes = objective(theta)
        except np.linalg.LinAlgError:
            found, slopes = np.nan, np.zeros(len(theta))
        if first is None:
            first = found
        if not (np.isfinite(found) and np.isfinite(slopes).all()):
            if first is None or not np.isfinite(first):
                raise NotDifferentiableError("The criterion has no value at the start of the descent.")
            return first + FAILED, np.zeros(len(theta))
        return found, slopes

    def step(intermediate_result: optimize.OptimizeResult) -> None:
        points.append(objective.point(intermediate_result.x))
        if on_step is not None:
            on_step(points[-1])
        if deadline is not None and deadline.passed(scored=True):
            raise StopIteration

    if max_iter > 0 and len(objective.theta):
        with suppress(_OutOfEvaluationsError):  # maxfun itself is looked at between steps only
            optimize.minimize(
                value, objective.theta, jac=True, method="L-BFGS-B", bounds=objective.bounds, callback=step,
                options={"maxiter": max_iter, "maxfun": most, "ftol": 1e-8, "gtol": 1e-6},
            )  # fmt: skip
    return points


class _OutOfEvaluationsError(Exception):
    """A descent has used the evaluations that it was given."""


def input_gradients(problem: GradientProblem, point: Point) -> Iterator[Array]:
    r"""The derivatives (n, d) of f at every row, one array for each column of f, the machine trained on all rows.

    Cost: one training, and two products with an n x n matrix for each column.
    """
    n, rows = problem.folds.n, RowPairs(problem.X)
    everything = np.arange(n)
    whole = Folds(n, (Fold(n, everything, np.empty(0, dtype=np.intp), everything),))
    evidence = evidence_at(problem, point, rows, whole)
    (machines,) = cast(Any, evidence.tangent(False)).machines
    for machine in machines:
        if machine is not None:
            dual = np.zeros(n)
            dual[machine.rows] = machine.beta
            yield point.kernel.input_gradient(rows, np.tile(dual, (n, 1)))


def squared_input_gradients(problem: GradientProblem, point: Point) -> Array:
    r"""The mean over rows of :math:`(\partial f / \partial x_j)^2`, summed over the columns of f."""
    found = np.zeros(problem.X.shape[1])
    for slopes in input_gradients(problem, point):
        found += (slopes**2).mean(axis=0)
    return found


def gradient_outer_product(problem: GradientProblem, point: Point) -> Array:
    r"""AGOP: the mean over rows of :math:`\nabla f \nabla f^T` (d, d), summed over the columns of f."""
    d = problem.X.shape[1]
    found = np.zeros((d, d))
    for slopes in input_gradients(problem, point):
        found += slopes.T @ slopes / len(slopes)
    return found
