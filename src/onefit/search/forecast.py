"""How long passes over many rows will take, and how much memory: said before the first of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..gram.feature_map import LandmarkMap
from ..gram.streamed import BLOCK, LANES, Sums
from ..kernels import Gaussian
from ..resources.memory import human
from ..solvers.primal.ridge_path import ridge_path
from .feature_solver import usual_passes
from .tasks import KernelTask, Path, Settings

MEASURED_ROWS = 1024
"""Rows whose features and products are timed."""

WORTH_SAYING = 1e9
"""Rows times squared features from which on a forecast is made: it takes as long as a thousand rows."""


@dataclass(frozen=True)
class Forecast:
    """Passes over the rows that a search takes, their seconds, and bytes besides the data.

    ``shared`` is the number of passes where all folds see the rows through the same transformers, if they do not.
    """

    kernels: int
    passes: int
    rows: int
    seconds: float
    size: float
    shared: int | None = None

    def __str__(self) -> str:
        said = (
            f"{self.kernels} kernels, {self.passes} passes over {self.rows:,} rows: about {_duration(self.seconds)}, "
            f"{human(self.size)} besides the data"
        )
        return said if self.shared is None else f'{said}; preprocessing="shared" needs {self.shared} of them'


@dataclass
class Pace:
    """How fast passes over many rows are, told after each kernel."""

    expected: Forecast
    workers: int
    kernels: int = 0
    seconds: float = 0.0

    def after(self, kernel: str, seconds: float) -> str:
        """A sentence after a kernel that took so many seconds: how long the search will go on."""
        self.kernels, self.seconds = self.kernels + 1, self.seconds + seconds
        left = self.expected.kernels - self.kernels
        rest = f"; about {_duration(left * self.seconds / self.kernels / self.workers)} left" if left else ""
        return f"{kernel}: {self.expected.rows / max(seconds, 1e-9):,.0f} rows a second{rest}"


def forecast(tasks: Sequence[KernelTask], settings: Settings, workers: int) -> Forecast | None:
    """The forecast for tasks on explicit features, from the time of a thousand made-up rows; None for small ones."""
    basis, n = tasks[0].basis, settings.folds.n
    assert basis is not None
    if n * float(basis.count) ** 2 * len(tasks) < WORTH_SAYING:
        return None
    t, cores = len(settings.folds), settings.streaming.threads * workers
    passes, shared, solves = 0.0, 0.0, 0.0
    for task in tasks:
        views = t if task.inputs.per_fold(task.kernel) else 1
        for path in task.paths:
            own = usual_passes(path) + (not _from_squares(path, settings))
            passes, shared = passes + views * own, shared + (1 if task.inputs.transformers is not None else views) * own
            solves += t * max(own, len(path.penalties))
    of_rows, of_solve = _measure(basis.count, min(64, _columns(tasks[0])), tasks[0].paths[0].targets.Y.shape[1])
    seconds = (passes * n * of_rows + solves * of_solve) / cores
    cells = min(t + 1, int(settings.streaming.budget / (16.0 * basis.count**2)))
    size = 8.0 * (cells * basis.count**2 * (LANES + 1) + 3 * LANES * BLOCK) * workers
    return Forecast(len(tasks), round(passes), n, seconds, size, round(shared) if shared < passes else None)


def _columns(task: KernelTask) -> int:
    return int(task.inputs.X.shape[1])


def _from_squares(path: Path, settings: Settings) -> bool:
    """Whether scores follow from sums, without another pass."""
    if settings.scoring is None or path.learner.primal is None or not path.learner.primal.from_sums:
        return False
    classes = path.coded.coding.classes is not None
    return all(metric.of_squares(classes) is not None for metric in settings.scoring.metrics.values())


def _measure(m: int, d: int, c: int) -> tuple[float, float]:
    """(seconds for the features and products of a row, seconds of a solution for one ridge)."""
    rng = np.random.default_rng(0)
    X, E = rng.standard_normal((MEASURED_ROWS, d)), np.ones((MEASURED_ROWS, 1 + c))
    feature_map = LandmarkMap.build(Gaussian(1.0 / d), rng.standard_normal((m, d)))
    sums = Sums.zeros(1, feature_map.width, 1 + c)
    start = time.perf_counter()
    sums.add_rows(0, feature_map(X), E)
    middle = time.perf_counter()
    ridge_path(sums, np.array([1.0]), bias=False)
    scale = (m / feature_map.width) ** 2
    return scale * (middle - start) / MEASURED_ROWS, scale * (time.perf_counter() - middle)


def _duration(seconds: float) -> str:
    """A rough duration.

    >>> _duration(364.0)
    '6 minutes'
    """
    for unit, size in (("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(1, round(seconds))} seconds"
