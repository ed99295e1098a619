"""Learned kernels beside an isotropic grid and other libraries, on real data sets.

Every line of the file of results is one method on one split of one data set. A run goes on where another one stopped:
lines that are there are not computed again. Errors are root mean squares of regressions and shares of wrong labels; in
the summary they are relative to the isotropic grid on the same split. Half an error is added to numbers of wrong
labels, since ratios of zeros have no mean. Times are processor seconds.
"""

from __future__ import annotations

import csv
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.stats import wilcoxon
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .. import LSSVC, LSSVR, KernelLearnCV, KernelSearchCV, criteria, datasets, default_grid
from ..kernels import ARD, Gaussian, Laplacian, Linear, Matern, WeightedSum

SETS = (
    "bodyfat", "housing", "mpg", "pyrim", "triazines", "eunite2001", "diabetes-progression", "abalone", "mg",
    "space_ga", "cpusmall", "cadata", "heart", "sonar", "ionosphere", "australian", "german.numer", "pima",
    "breast-w683", "bupa", "colic", "hepatitis", "segment_12", "glass_12", "svmguide3", "splice",
)  # fmt: skip
"""Real sets with a few features to many; names of onefit.datasets."""

FIELDS = ("set", "split", "method", "rows", "features", "error", "estimate", "seconds", "step", "steps")
MOST_TESTED = 1000
"""Rows, at most, that errors are taken over."""


def machine(task: str):
    """The machine that all kernels are compared with, behind a scaler."""
    return make_pipeline(StandardScaler(), LSSVC() if task == "classification" else LSSVR())


SQUARED = criteria.CV(loss="squared")


def grid(X, y, task):
    """The isotropic Gaussian kernel: the default grid."""
    model = machine(task)
    return KernelSearchCV(model, default_grid(model, X, y), criterion=SQUARED, preprocessing="shared").fit(X, y)


def learned(kernel, **options):
    """A search for the parameters of a kernel."""

    def fit(X, y, task):
        return KernelLearnCV(machine(task), kernel, criterion=SQUARED, random_state=0, **options).fit(X, y)

    return fit


def by_likelihood(X, y, task):
    """One scale per feature by the marginal likelihood, without a brake."""
    last = LSSVC(fit_intercept=False) if task == "classification" else LSSVR(fit_intercept=False)
    shift = 0.0 if task == "classification" else float(np.mean(y))
    model = KernelLearnCV(make_pipeline(StandardScaler(), last), ARD(Gaussian()), criterion="lml", stop=None)
    model.fit(X, y if task == "classification" else y - shift)
    return model if task == "classification" else Shifted(model, shift)


class Shifted:
    """A regression of a centred target."""

    def __init__(self, model, shift):
        self.model, self.shift = model, shift

    def predict(self, X):
        """Values in the unit and place of the target."""
        return self.model.predict(X) + self.shift


def boosting(X, y, task):
    """Trees, for comparison."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingClassifier if task == "classification" else HistGradientBoostingRegressor
    return kind(random_state=0).fit(X, y)


def gaussian_process(X, y, task):
    """scikit-learn's Gaussian process with one length per feature."""
    from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = ConstantKernel() * RBF(np.sqrt(X.shape[1]) * np.ones(X.shape[1]))
    if task == "classification":
        return make_pipeline(StandardScaler(), GaussianProcessClassifier(kernel)).fit(X, y)
    model = GaussianProcessRegressor(kernel + WhiteKernel(), normalize_y=True)
    return make_pipeline(StandardScaler(), model).fit(X, y)


def recursive_feature_machine(X, y, task):
    """The recursive feature machines of the package xrfm, which needs a validation set."""
    from xrfm import xRFM  # type: ignore[import-not-found]  # pip install xrfm

    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    held = order[: len(y) // 5]
    rest = order[len(y) // 5 :]
    scaler = StandardScaler().fit(X)
    model = xRFM()
    model.fit(scaler.transform(X[rest]), y[rest], scaler.transform(X[held]), y[held])
    return make_pipeline(scaler, model)


SEVERAL = WeightedSum((Gaussian(0.01), Gaussian(0.1), Laplacian(0.05), Matern(3.0, 2.5), Linear()))

METHODS: dict[str, Callable] = {
    "grid": grid,
    "ard": learned(ARD(Gaussian())),
    "ard-margin": learned(ARD(Gaussian()), margin=1.0),
    "ard-unguarded": learned(ARD(Gaussian()), stop=None),
    "ard-penalty": learned(ARD(Gaussian()), stop="penalty"),
    "agop": learned(ARD(Gaussian()), start="agop", max_iter=0),
    "agop-margin": learned(ARD(Gaussian()), start="agop", max_iter=0, margin=1.0),
    "agop-ard": learned(ARD(Gaussian()), start="agop"),
    "ard-matern": learned(ARD(Matern(nu=2.5))),
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


def measure(name: str, number: int, method: str, rows: int) -> dict:
    """One line of the file."""
    task, X, y, Xt, yt = split_rows(name, number, rows)
    began = time.process_time()
    model = METHODS[method](X, y, task)
    seconds = time.process_time() - began
    predicted = model.predict(Xt)
    if task == "classification":
        error = (float((predicted != yt).sum()) + 0.5) / (len(yt) + 1)
    else:
        error = float(np.sqrt(np.mean((np.ravel(predicted) - yt) ** 2)))
    known = hasattr(model, "outer_score_")
    return {
        "set": name, "split": number, "method": method, "rows": len(y), "features": X.shape[1], "error": error,
        "estimate": model.cv_results_["outer_loss"][model.best_index_] if known else "",
        "seconds": round(seconds, 3),
        "step": model.best_index_ if known else "", "steps": len(model.cv_results_["params"]) if known else "",
    }  # fmt: skip


def run(path: Path, names, methods, splits: int, rows: int) -> None:
    """Compute the lines that are missing, split by split, so that every prefix of a run is a comparison."""
    known = {(line["set"], int(line["split"]), line["method"]) for line in read(path)}
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        if file.tell() == 0:
            writer.writeheader()
        for number in range(splits):
            for name in names:
                for method in methods:
                    if (name, number, method) not in known:
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore")
                            writer.writerow(measure(name, number, method, rows))
                        file.flush()


def read(path: Path) -> list[dict]:
    """The lines of a file of results, none if it is not there."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def summary(path: Path) -> str:
    """Errors relative to the grid: geometric mean, worst set, cells won, tied and lost, and a test over sets."""
    lines = read(path)
    errors = {(line["set"], line["split"], line["method"]): float(line["error"]) for line in lines}
    text = [f"{'method':15} {'sets':>4} {'mean':>6} {'worst':>6} {'won/tied/lost':>14} {'p':>7} {'seconds':>8}"]
    for method in dict.fromkeys(line["method"] for line in lines):
        ratios: dict[str, list[float]] = {}
        for (name, split, which), error in errors.items():
            if which == method and (name, split, "grid") in errors:
                ratios.setdefault(name, []).append(np.log(error / errors[name, split, "grid"]))
        means = np.array([np.mean(values) for values in ratios.values()])
        cells = np.concatenate(list(ratios.values()))
        won, lost = int((cells < -0.01).sum()), int((cells > 0.01).sum())
        p = wilcoxon(means).pvalue if np.any(means) and len(means) > 5 else np.nan
        seconds = np.mean([float(line["seconds"]) for line in lines if line["method"] == method])
        text.append(
            f"{method:15} {len(means):4} {np.exp(means.mean()):6.3f} {np.exp(means.max()):6.3f} "
            f"{won:5}/{len(cells) - won - lost}/{lost:<5} {p:7.3f} {seconds:8.2f}"
        )
    return "\n".join(text)
