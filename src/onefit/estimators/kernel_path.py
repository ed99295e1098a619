"""The steps of a gradient search over the parameters of a kernel: where it starts, and how it goes on."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import optimize
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from ..criteria import CV, Criterion
from ..criteria.base import needs_no_machine
from ..data import Folds
from ..data.views import SupervisedError, checked_rows
from ..kernels import ARD, Kernel, Metric, NotDifferentiableError, WeightedSum
from ..kernels.parameters import variance_of
from ..kernels.row_pairs import RowPairs
from ..search.deadline import Deadline
from ..search.gradient import (
    GradientProblem,
    Objective,
    Point,
    descend,
    gradient_outer_product,
    problem_of,
    squared_input_gradients,
)
from ..search.routing import Routing, split_pipeline
from .default_grid import kernel_grid
from .kernel_search import KernelSearchCV

AGOP_STEPS = 5
"""Iterations of the average gradient outer product."""

AGOP_WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Factors of the width that are tried after each of them."""


AGOP_FLOOR = 1e-6
"""Squared scales, or eigenvalues of a metric, relative to the largest one, below which nothing goes."""


class NoStartError(ValueError):
    """The criterion has no value at any cell of the grid from which a path could start."""


@dataclass(frozen=True)
class PathTask:
    """A gradient search on some rows: a value that can be sent to another process, and a pure function of it.

    ``criterion`` is the one that is minimised, ``loss`` that of held-out values by which the start is chosen where the
    criterion does not depend on the penalty.
    """

    estimator: Any
    kernel: Kernel
    X: Any
    y: Any
    folds: Folds
    routed: Routing
    criterion: Criterion
    loss: Any
    max_iter: int
    start: str = "grid"
    method: str | None = None
    regularised: bool = False
    seconds: float | None = None
    on_step: Callable[[dict[str, Any]], None] | None = field(default=None, compare=False)

    def run(self) -> tuple[list[dict[str, Any]], list[float]]:
        """(parameters of the estimator at every step, values of the criterion there: NaN where they are not known)."""
        return KernelPath(self).run()


class KernelPath:
    """One run of a task: its rows after the transformers, and points as parameters of its estimator."""

    def __init__(self, task: PathTask) -> None:
        self.task = task
        self.deadline = Deadline(task.seconds)
        model = split_pipeline(task.estimator, task.routed.estimator)
        self.machine, self.prefix, weights = model.final, model.prefix, model.sample_weight
        self.X = checked_rows(model.transformed(task.X, task.y))
        self.kernel = task.kernel.bound(self.X.shape[1], variance_of(self.X))
        self.sample_weight = None if weights is None else np.asarray(weights, dtype=np.float64)
        self.penalty_name = "alpha" if "alpha" in self.machine.get_params() else "C"
        self.steps: list[dict[str, Any]] = []
        self.values: list[float] = []

    def run(self) -> tuple[list[dict[str, Any]], list[float]]:
        """Choose a start on a grid, go on by AGOP or other weights if asked to, and then descend."""
        task = self.task
        point = self._best_of_grid(kernel_grid(self.machine, self.kernel, self.X, task.y))
        self._keep(point)
        if task.start == "agop":
            point = self._agop(point)
        if task.method in ("align", "alignf"):
            assert isinstance(point.kernel, WeightedSum)
            problem = self.problem(point)
            kernel = point.kernel.with_weights(alignment_weights(task.method, point.kernel, problem))
            grid = kernel_grid(self.machine, kernel, self.X, task.y)
            self._keep(self._best_of_grid({**grid, "kernel": [kernel]}))
        elif task.method != "uniform" and task.max_iter > 0:
            objective = Objective(self.problem(point), point, regularised=task.regularised)
            descend(objective, task.max_iter, deadline=self.deadline, on_step=self._keep)
        return self.steps, self.values

    def _keep(self, point: Point) -> None:
        self.steps.append(self.params(point))
        self.values.append(point.value)
        if self.task.on_step is not None:
            self.task.on_step(self.steps[-1])

    def params(self, point: Point) -> dict[str, Any]:
        """A point as parameters of the estimator."""
        found: dict[str, Any] = {"kernel": point.kernel, self.penalty_name: point.penalty}
        if point.epsilon is not None:
            found["epsilon"] = point.epsilon
        return {f"{self.prefix}{name}": value for name, value in found.items()}

    def problem(self, point: Point) -> GradientProblem:
        """Data and machine, with the kernel of a point."""
        task = self.task
        machine = clone(self.machine).set_params(kernel=point.kernel)
        return problem_of(machine, self.X, task.y, self.sample_weight, task.folds, task.criterion)[0]

    def importances(self, params: dict[str, Any]) -> np.ndarray | None:
        """``mean (∂f/∂x_j)² var(x_j)`` with sum one; None for kernels without derivatives in x."""
        point, X = self.point(params), self.X
        try:
            squared = squared_input_gradients(self.problem(point), point)
        except NotDifferentiableError:
            return None
        changes = squared * StandardScaler(with_mean=False).fit(X).var_
        total = changes.sum()
        return np.asarray(changes / total if total > 0 else np.full(len(changes), 1.0 / len(changes)))

    def _best_of_grid(self, grid: dict[str, list]) -> Point:
        """The best cell of a grid, by the criterion, or by held-out losses if that does not see the penalty."""
        task = self.task
        criterion = CV(loss=task.loss) if needs_no_machine(task.criterion) else task.criterion
        found = evaluate_candidates(
            task, [{f"{self.prefix}{name}": values for name, values in grid.items()}], criterion
        )
        scores = np.asarray(found.cv_results_["mean_test_score"])
        if np.isnan(scores).all():
            raise NoStartError(f"No cell of the grid could be evaluated: {found.cv_results_['status'][0]}.")
        best = int(np.nanargmax(scores))
        value = float(natural_values(found, criterion)[best]) if criterion is task.criterion else np.nan
        return replace(self.point(found.cv_results_["params"][best]), value=value)

    def point(self, params: dict[str, Any]) -> Point:
        """A point from parameters of the estimator."""
        params = {name.removeprefix(self.prefix): value for name, value in params.items()}
        epsilon = params.get("epsilon", getattr(self.machine, "epsilon", None))
        return Point(params["kernel"], float(params[self.penalty_name]), epsilon if epsilon else None)

    def _agop(self, point: Point) -> Point:
        """Scales, or a metric, from the average gradient outer product of the predictor, a few times.

        Width and penalty are chosen anew each time (Radhakrishnan et al., 2024). The descent may go on from the last
        point; outer folds tell how many are kept.
        """
        for _ in range(AGOP_STEPS):
            learned = follow_gradients(self.problem(point), point)
            grid = kernel_grid(self.machine, learned, self.X, self.task.y)
            point = self._best_of_grid({**grid, "kernel": [learned.rescaled(width) for width in AGOP_WIDTHS]})
            self._keep(point)
            if self.deadline.passed(scored=True):
                break
        return point


def follow_gradients(problem: GradientProblem, point: Point) -> ARD | Metric:
    r"""The kernel of a point with what its predictor's gradients say.

    Squared scales are proportional to the mean of :math:`(\partial f / \partial x_j)^2`, a metric to that of
    :math:`\nabla f \nabla f^T`. Norms stay what they were; a constant predictor says nothing.
    """
    kernel = point.kernel
    if isinstance(kernel, Metric):
        product = gradient_outer_product(problem, point)
        if not product.any():
            return kernel
        values, vectors = np.linalg.eigh(product)
        roots = np.sqrt(np.maximum(values / values[-1], AGOP_FLOOR))
        before = np.eye(len(roots)) if kernel.matrix is None else np.array(kernel.matrix)
        matrix = (vectors * (roots * np.linalg.norm(before) / np.linalg.norm(roots))) @ vectors.T
        return replace(kernel, matrix=tuple(map(tuple, matrix.tolist())))
    assert isinstance(kernel, ARD)
    assert kernel.scales is not None
    squared = squared_input_gradients(problem, point)
    if not squared.any():
        return kernel
    if kernel.groups is not None:
        squared = np.array([squared[list(group)].mean() for group in kernel.groups])
    scales = np.sqrt(np.maximum(squared / squared.max(), AGOP_FLOOR))
    scales *= np.linalg.norm(kernel.scales) / np.linalg.norm(scales)
    return replace(kernel, scales=tuple(scales.tolist()))


def evaluate_candidates(task: PathTask, grid: Any, criterion: Criterion) -> KernelSearchCV:
    """Candidates by a criterion on the folds of a task; what learns from rows learns once from all of them."""
    search = RoutedSearch(
        task.estimator, grid, criterion=criterion, preprocessing="shared", cv=splits_of(task.folds), refit=False
    )
    return search.fit_quietly(task)


class RoutedSearch(KernelSearchCV):
    """A search on the rows of a task, whose metadata have been distributed already."""

    def fit_quietly(self, task: PathTask) -> RoutedSearch:
        """Fit without warnings (grids at their edge, ties, retraining): what matters is said of the path."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return self.fit(task.X, task.y, routed=task.routed)
            except SupervisedError as error:
                transformers = split_pipeline(task.estimator).transformers
                raise SupervisedError(
                    f"{transformers} cannot be fitted without y. Transformers are fitted on all rows of a path, and "
                    "would learn from the targets of rows that its folds test: leave out those that need y."
                ) from error

    def _route(self, scoring: Any, params: dict[str, Any]) -> Routing:
        return replace(params["routed"], splitter={})  # splits are given


def splits_of(folds: Folds) -> list[tuple[np.ndarray, np.ndarray]]:
    """The splits as scikit-learn has them."""
    return [(fold.train, fold.test) for fold in folds]


def natural_values(search: KernelSearchCV, criterion: Criterion) -> np.ndarray:
    """The values of a criterion that an evaluation found, in its own sign."""
    results = search.cv_results_
    if criterion.scores:
        return -np.asarray(results["mean_test_score"])
    return np.asarray(results[f"criterion_{criterion.name}"])


def alignment_weights(method: str, kernel: WeightedSum, problem: GradientProblem) -> np.ndarray:
    r"""Weights, with sum one, of kernels that are centred and compared with the target.

    "align" takes the alignment of each kernel by itself, ``a_k / |K_k|``; "alignf" the weights that maximise the
    alignment of the sum: :math:`\min_{v \ge 0} v^T M v - 2 v^T a` with :math:`M_{kl} = \langle K_k, K_l \rangle` and
    :math:`a_k = y^T K_k y` of centred matrices (Cortes, Mohri & Rostamizadeh, 2012).

    Cost: O(m² n²) for m kernels, whose matrices are there at once.
    """
    rows, Y = RowPairs(problem.X), problem.coded.Y
    centred = Y - Y.mean(axis=0)
    grams = [_centred(one.evaluate(rows.fresh)) for one in kernel.kernels]
    a = np.array([float(np.vdot(centred, K @ centred)) for K in grams])
    M = np.array([[float(np.vdot(K, L)) for L in grams] for K in grams])
    norms = np.sqrt(np.maximum(M.diagonal(), np.finfo(np.float64).tiny))
    if method == "align":
        weights = np.maximum(a, 0.0) / norms
    else:
        # min |R v - R^{-T} a|² with RᵀR = M is the same problem; columns are scaled to unit norm first
        unit = M / np.outer(norms, norms)
        values, vectors = np.linalg.eigh(unit)
        kept = values > 1e-12 * values[-1]
        root = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
        right = (vectors[:, kept].T @ (a / norms)) / np.sqrt(values[kept])
        weights = optimize.nnls(root, right)[0] / norms
    if not weights.any():  # no kernel is aligned with the target
        return np.full(len(grams), 1.0 / len(grams))
    return np.asarray(weights / weights.sum())


def _centred(K: np.ndarray) -> np.ndarray:
    means = K.mean(axis=0)
    K -= means
    K -= (means - means.mean())[:, None]
    return K
