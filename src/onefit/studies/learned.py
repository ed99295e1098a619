"""Learned kernels beside an isotropic grid and other libraries, on real data sets.

Every line of the file of results is one method on one split of one data set. A run goes on where another one stopped:
lines that are there are not computed again. Errors are root mean squares of regressions and shares of wrong labels; in
the summary they are relative to the isotropic grid on the same split. Half an error is added to numbers of wrong
labels, since ratios of zeros have no mean. Times are processor seconds; a method that differs from one before it on the
same split only in the choice of a step reads its paths, so that its own time is short.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.stats import wilcoxon
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .. import LSSVC, LSSVR, KernelLearnCV, KernelSearchCV, criteria, datasets, default_grid
from ..kernels import ARD, Gaussian, Laplacian, Linear, Matern, Metric, WeightedSum
from . import result_lines

SETS = (
    "bodyfat", "housing", "mpg", "pyrim", "triazines", "eunite2001", "diabetes-progression", "abalone", "mg",
    "space_ga", "cpusmall", "cadata", "heart", "sonar", "ionosphere", "australian", "german.numer", "pima",
    "breast-w683", "bupa", "colic", "hepatitis", "segment_12", "glass_12", "svmguide3", "splice",
)  # fmt: skip
"""Real sets with a few features to many; names of onefit.datasets."""

FIELDS = ("set", "split", "method", "rows", "features", "error", "loss", "estimate", "seconds", "step", "steps")
SAME = 0.01
"""Errors whose logarithms differ by no more count as equal."""

MOST_TESTED = 1000
"""Rows, at most, that errors are taken over."""


def machine(task: str):
    """The machine that all kernels are compared with, behind a scaler."""
    return make_pipeline(StandardScaler(), LSSVC() if task == "classification" else LSSVR())


SQUARED = criteria.CV(loss="squared")


def grid(X, y, task, _journal):
    """The isotropic Gaussian kernel: the default grid."""
    model = machine(task)
    return KernelSearchCV(model, default_grid(model, X, y), criterion=SQUARED, preprocessing="shared").fit(X, y)


def learned(kernel, **options):
    """A search for the parameters of a kernel; methods that differ in the choice of a step share paths in a journal."""

    def fit(X, y, task, journal):
        search = KernelLearnCV(machine(task), kernel, criterion=SQUARED, random_state=0, journal=journal, **options)
        return search.fit(X, y)

    return fit


def by_likelihood(X, y, task, _journal):
    """One scale per feature and a variance by the marginal likelihood, without a brake; targets have unit variance."""
    last = LSSVC(fit_intercept=False) if task == "classification" else LSSVR(fit_intercept=False)
    model = KernelLearnCV(
        make_pipeline(StandardScaler(), last), 1.0 * ARD(Gaussian()), criterion="lml", stop=None, random_state=0
    )
    if task == "regression":
        model = TransformedTargetRegressor(model, transformer=StandardScaler())
    return model.fit(X, y)


def boosting(X, y, task, _journal):
    """Trees, for comparison."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingClassifier if task == "classification" else HistGradientBoostingRegressor
    return kind(random_state=0).fit(X, y)


def gaussian_process(X, y, task, _journal):
    """scikit-learn's Gaussian process with one length per feature."""
    from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = ConstantKernel() * RBF(np.sqrt(X.shape[1]) * np.ones(X.shape[1]))
    if task == "classification":
        return make_pipeline(StandardScaler(), GaussianProcessClassifier(kernel)).fit(X, y)
    model = GaussianProcessRegressor(kernel + WhiteKernel(), normalize_y=True)
    return make_pipeline(StandardScaler(), model).fit(X, y)


def recursive_feature_machine(X, y, task, _journal):
    """The recursive feature machines of the package xrfm, with a fifth of the rows as the validation set it needs.

    Bandwidth and ridge are those of a small grid around its defaults, by that set; targets of regressions are scaled.
    """
    from xrfm import xRFM  # type: ignore[import-not-found]  # pip install xrfm

    order = np.random.default_rng(0).permutation(len(y))
    held, rest = order[: len(y) // 5], order[len(y) // 5 :]
    scaler = StandardScaler().fit(X)
    shift, unit = (0.0, 1.0) if task == "classification" else (float(np.mean(y)), float(np.std(y)))
    values = y if task == "classification" else (y - shift) / unit
    best, smallest = None, np.inf
    for bandwidth, ridge in product((3.0, 10.0, 30.0), (1e-3, 1e-1)):
        chosen = {
            "model": {"kernel": "l2_high_dim", "exponent": 1.0, "bandwidth": bandwidth, "diag": False},
            "fit": {"reg": ridge, "iters": 5, "return_best_params": True, "get_agop_best_model": True},
        }
        model = xRFM(rfm_params=chosen, verbose=False, random_state=0)
        model.fit(scaler.transform(X[rest]), values[rest], scaler.transform(X[held]), values[held])
        found = Scaled(scaler, model, shift, unit)
        loss = np.mean((found.predict(X[held]) - y[held]) ** 2)
        if best is None or loss < smallest:
            best, smallest = found, loss
    return best


@dataclass(frozen=True)
class Scaled:
    """A model of scaled rows that is no estimator of scikit-learn."""

    scaler: StandardScaler
    model: Any
    shift: float
    unit: float

    def predict(self, X):
        """Labels, or values."""
        return self.shift + self.unit * np.ravel(self.model.predict(self.scaler.transform(X)))


SEVERAL = WeightedSum((Gaussian(0.01), Gaussian(0.1), Laplacian(0.05), Matern(3.0, 2.5), Linear()))

METHODS: dict[str, Callable] = {
    "grid": grid,
    "ard": learned(ARD(Gaussian()), margin=0.0),
    "ard-margin": learned(ARD(Gaussian()), margin=1.0),
    "ard-margin-2": learned(ARD(Gaussian()), margin=2.0),
    "ard-unguarded": learned(ARD(Gaussian()), stop=None),
    "ard-penalty": learned(ARD(Gaussian()), stop="penalty"),
    "agop": learned(ARD(Gaussian()), start="agop", max_iter=0, margin=0.0),
    "agop-margin": learned(ARD(Gaussian()), start="agop", max_iter=0, margin=1.0),
    "agop-margin-2": learned(ARD(Gaussian()), start="agop", max_iter=0, margin=2.0),
    "agop-full": learned(Metric(Gaussian()), start="agop", max_iter=0, margin=0.0),
    "agop-ard": learned(ARD(Gaussian()), start="agop", margin=0.0),
    "ard-matern": learned(ARD(Matern(nu=2.5)), margin=0.0),
    "lml-ard": by_likelihood,
    "mkl-uniform": learned(SEVERAL, method="uniform"),
    "mkl-align": learned(SEVERAL, method="align"),
    "mkl-alignf": learned(SEVERAL, method="alignf"),
    "mkl-gradient": learned(SEVERAL, method="gradient"),
    "gpr-ard": gaussian_process,
    "boosting": boosting,
    "xrfm": recursive_feature_machine,
}


def split_rows(name: str, number: int, rows: int):
    """(task, training and test rows of one split): as many as asked for, at most two thirds of the set."""
    X, y = datasets.load(name)
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    order = np.random.default_rng([number, sum(map(ord, name))]).permutation(len(y))
    size = min(rows, 2 * len(y) // 3)
    task = "classification" if len(np.unique(y)) == 2 else "regression"
    y = (np.asarray(y) == np.max(y)).astype(int) if task == "classification" else np.asarray(y, dtype=np.float64)
    train, test = order[:size], order[size : size + MOST_TESTED]
    return task, X[train], y[train], X[test], y[test]


def measure(name: str, number: int, method: str, rows: int, journal: Path | None = None) -> dict:
    """One line of the file."""
    task, X, y, Xt, yt = split_rows(name, number, rows)
    began = time.process_time()
    model = METHODS[method](X, y, task, journal)
    seconds = time.process_time() - began
    predicted = model.predict(Xt)
    if task == "classification":
        error = (float((predicted != yt).sum()) + 0.5) / (len(yt) + 1)
    else:
        error = float(np.sqrt(np.mean((np.ravel(predicted) - yt) ** 2)))
    known = hasattr(model, "outer_score_")
    return {
        "set": name, "split": number, "method": method, "rows": len(y), "features": X.shape[1], "error": error,
        "loss": squared_loss(model, task, Xt, yt) if known else "",
        "estimate": model.cv_results_["outer_loss"][model.best_index_] if known else "",
        "seconds": round(seconds, 3),
        "step": model.best_index_ if known else "", "steps": len(model.cv_results_["params"]) if known else "",
    }  # fmt: skip


def squared_loss(model, task: str, X, y) -> float:
    """The mean squared loss of the values of a machine, the one that outer folds estimate."""
    if task == "classification":
        return float(np.mean((2 * y - 1 - model.decision_function(X)) ** 2))
    return float(np.mean((model.predict(X) - y) ** 2))


def run(path: Path, names, methods, splits: int, rows: int) -> None:
    """Compute the lines that are missing, split by split, so that every prefix of a run is a comparison."""

    def lines(cell, missing):
        with TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [measure(*cell, method, rows, Path(folder) / "paths.sqlite") for method in missing]

    cells = (((name, number), tuple(methods)) for number in range(splits) for name in names)
    result_lines.run(path, FIELDS, cells, lines)


read = result_lines.read


def summary(path: Path) -> str:
    """A Markdown table of errors relative to the grid on the same split, one line for each method.

    Geometric mean over sets, worst set, shares of cells won and lost by more than a percent, Wilcoxon's test over sets,
    the root of the test loss over the outer folds' estimate of it (above one: optimistic), and CPU seconds.
    """
    lines = read(path)
    errors = {(line["set"], line["split"], line["method"]): float(line["error"]) for line in lines}
    columns = ("method", "sets", "cells", "mean", "worst", "won", "lost", "p", "test / estimate", "seconds")
    text = [f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns)]
    for method in dict.fromkeys(line["method"] for line in lines):
        own = [line for line in lines if line["method"] == method]
        ratios: dict[str, list[float]] = {}
        for line in own:
            cell = (line["set"], line["split"])
            if (*cell, "grid") in errors:
                ratios.setdefault(line["set"], []).append(np.log(float(line["error"]) / errors[(*cell, "grid")]))
        if ratios:
            text.append(f"| {' | '.join([method, *_relative(ratios), *_absolute(own)])} |")
    return "\n".join(text)


def _relative(ratios: dict[str, list[float]]) -> list[str]:
    """Columns of a method from the logarithms of its errors over the grid's, by data set."""
    means, cells = np.array([np.mean(values) for values in ratios.values()]), np.concatenate(list(ratios.values()))
    p = f"{wilcoxon(means).pvalue:.3f}" if np.any(means) and len(means) > 5 else "-"
    won, lost = (cells < -SAME).mean(), (cells > SAME).mean()
    mean, worst = np.exp(means.mean()), np.exp(means.max())
    return [str(len(means)), str(len(cells)), f"{mean:.3f}", f"{worst:.3f}", f"{won:.0%}", f"{lost:.0%}", p]


def _absolute(lines: list[dict]) -> list[str]:
    """Columns of a method that have nothing to do with the grid."""
    pairs = [(float(line["loss"]), float(line["estimate"])) for line in lines if line.get("estimate")]
    known = np.array([0.5 * np.log(loss / estimate) for loss, estimate in pairs if np.isfinite(estimate)])
    seconds = np.mean([float(line["seconds"]) for line in lines])
    return [f"{np.exp(known.mean()):.3f}" if len(known) else "-", f"{seconds:.2f}"]
