"""The cells of the study: a machine on one split, chosen by every method and judged on the test rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from threadpoolctl import threadpool_limits

from ... import KernelSearchCV, datasets, default_grid, one_standard_error
from .. import result_lines
from ..part import first_smallest
from ..sampling import seed_of
from .data_sets import CLASSIFICATION, SETS, Split, split_of, training_rows
from .methods import BEST, CLASSIFIERS, MACHINES, METHODS, Method, grid_of, methods_for, penalties, scale_of

FIELDS = ("set", "machine", "rows", "split", "method", "train", "error", "seconds", "gamma", "penalty", "failure")
"""Columns of the file of results: training rows as asked for and as they are, the error in percent, CPU seconds of the
search alone, the chosen parameters, and why a method chose nothing."""


class Trial:
    """A machine on a split; test errors of all candidates are computed once."""

    def __init__(self, split: Split, machine: str, seed: int) -> None:
        self.split, self.machine, self.seed = split, machine, seed
        self.grid = grid_of(machine, split.X)
        self.scoring = None if split.classifies else "neg_mean_squared_error"

    def folds(self, t: int) -> list[Any]:
        """t random folds of the training rows, as many at most as there are rows in the largest class."""
        splitter = StratifiedKFold if self.split.classifies else KFold
        drawn = splitter(t, shuffle=True, random_state=self.seed)
        return list(drawn.split(self.split.X, self.split.y))

    def errors_of(self, grid: Any) -> tuple[NDArray[np.float64], list[dict[str, Any]]]:
        """(test errors in percent, parameters) of the candidates of a grid.

        The test rows are one fold of a search over training and test rows, which trains on the other rows exactly.
        """
        X = np.vstack([self.split.X, self.split.X_test])
        y = np.concatenate([self.split.y, self.split.y_test])
        n = len(self.split.y)
        cv = [(np.arange(n), np.arange(n, len(y)))]
        search = KernelSearchCV(clone(MACHINES[self.machine]), grid, cv=cv, scoring=self.scoring, refit=False).fit(X, y)
        scores = search.cv_results_["mean_test_score"]
        return 100.0 * (1.0 - scores if self.split.classifies else -scores), search.cv_results_["params"]

    @cached_property
    def common(self) -> dict[tuple[float, float], float]:
        """Test errors of the common grid by (gamma, penalty)."""
        errors, params = self.errors_of(self.grid)
        return {_point(one): float(error) for error, one in zip(errors, params)}

    def search(self, method: Method) -> tuple[dict[str, Any], float]:
        """(the chosen parameters, CPU seconds)."""
        estimator, began = clone(MACHINES[self.machine]), time.process_time()
        criterion = method.criterion_for(self.machine)
        search = KernelSearchCV(
            estimator,
            self._grid(method, estimator),
            criterion="cv" if method.keep else criterion,
            screen=(criterion, method.keep) if method.keep else None,
            cv=self.folds(method.folds),
            scoring=self.scoring,
            refit=False,
        ).fit(self.split.X, self.split.y)
        results = search.cv_results_
        values = -np.asarray(results["mean_test_score"], dtype=float)
        index = one_standard_error(results) if method.one_standard_error else first_smallest(values)
        return results["params"][index], time.process_time() - began

    def _grid(self, method: Method, estimator: Any) -> Any:
        if method.grid == "auto":
            return "auto"
        if method.grid == "default":
            return default_grid(estimator, self.split.X, self.split.y)
        if method.grid == "scale":
            return {**penalties(self.machine), "gamma": [scale_of(self.split.X)]}
        return {name: values[:: method.step] for name, values in self.grid.items()}

    def line(self, name: str) -> dict[str, Any]:
        """Error, seconds and parameters of a method."""
        if name == BEST:
            (gamma, penalty), error = min(self.common.items(), key=lambda item: item[1])
            return {"error": error, "seconds": 0.0, "gamma": gamma, "penalty": penalty}
        if METHODS[name].grid == "defaults":
            params, seconds = _defaults(self.machine), 0.0
        else:
            params, seconds = self.search(METHODS[name])
        point = _point(params)
        error = self.common[point] if point in self.common else float(self.errors_of(_single(params))[0][0])
        return {"error": error, "seconds": seconds, "gamma": point[0], "penalty": point[1]}


def measure(cell: tuple[Any, ...], methods: list[str]) -> list[dict[str, Any]]:
    """Lines of the file of results for a (data set, machine, rows, split), on one thread."""
    name, machine, rows, number = cell
    lines = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        split = split_of(name, rows, number)
        trial = Trial(split, machine, seed_of("regret-folds", name, rows, number))
        for method in methods:
            try:
                found = trial.line(method)
            except Exception as error:  # one criterion without a value is no reason to lose the others
                found = {"failure": f"{type(error).__name__}: {error}"}
            begun = {"set": name, "machine": machine, "rows": rows, "split": number, "method": method}
            lines.append({**begun, "train": len(split.y), **{key: _text(value) for key, value in found.items()}})
    return lines


def _point(params: dict[str, Any]) -> tuple[float, float]:
    return params.get("gamma", np.nan), params["alpha"] if "alpha" in params else params["C"]


def _single(params: dict[str, Any]) -> dict[str, list[Any]]:
    return {name: [value] for name, value in params.items()}


def _defaults(machine: str) -> dict[str, Any]:
    """Parameters of the estimator as it is made, in which gamma is that of the inputs."""
    (penalty,) = penalties(machine)
    return {penalty: MACHINES[machine].get_params()[penalty]}


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


SIZES = (300, 100)
"""Training rows, at most: what a few CPU hours allow for ten splits, and fewer, to see what they change."""


def cells(
    names: Sequence[str], machines: Sequence[str], sizes: Sequence[int], splits: Sequence[int]
) -> Iterator[tuple[str, str, int, int]]:
    """(set, machine, rows, split), split by split, so that every prefix of a run is a sample of all sets.

    A size that a set has too few rows for is left out if a larger one gives the same number of rows.
    """
    for number in splits:
        for rows in sizes:
            for name in names:
                larger = [training_rows(name, other) for other in sizes if other > rows]
                if training_rows(name, rows) in larger:
                    continue
                for machine in machines:
                    if (name in CLASSIFICATION) == (machine in CLASSIFIERS):
                        yield name, machine, rows, number


def run(
    path: Path,
    names: Sequence[str] = SETS,
    machines: Sequence[str] = tuple(MACHINES),
    methods: Sequence[str] = (BEST, *METHODS),
    sizes: Sequence[int] = SIZES,
    splits: Sequence[int] = range(10),
) -> None:
    """Compute the lines that the file lacks."""

    def wanted(name: str, machine: str) -> list[str]:
        return [method for method in methods_for(machine, len(datasets.info(name).classes)) if method in methods]

    tasks = ((cell, wanted(*cell[:2])) for cell in cells(names, machines, sizes, splits))
    result_lines.run(path, FIELDS, tasks, measure)
