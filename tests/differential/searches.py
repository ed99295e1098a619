"""Random searches that GridSearchCV and KernelSearchCV are both asked to run.

``draw(seed)`` is a pure function of its seed: data, target, machine, Pipeline, weights, splitter, scoring and grid.
Sizes are drawn relative to those of the data, as a user would choose them, and over several decades, so that corners
(all coefficients at their bounds, interpolation) are among them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from onefit import L2SVC, LSSVC, LSSVR, EpsilonSVR, HingeSVC, KernelLogisticRegression

from . import pipelines, scorers, splitters

LIBSVM_TOL = 1e-8
"""What LIBSVM is asked for, relative to the targets if they are large, so that its own tolerance is not what is
compared (its default is 1e-3)."""


@dataclass
class Search:
    """The arguments of one search; ``options`` go to the constructor, ``fit_params`` to ``fit``.

    ``place`` is the parameter of the estimator that is the machine; empty if it is the machine itself.
    """

    seed: int
    estimator: Any
    grid: Any
    X: Any
    y: Any
    fit_params: dict = field(default_factory=dict)
    options: dict = field(default_factory=dict)
    place: str = ""

    @property
    def machine(self):
        """The machine that the estimator is, or that it contains."""
        return self.estimator.get_params()[self.place] if self.place else self.estimator

    def __str__(self):
        shape = f"X {type(self.X).__name__}{self.X.shape}, y {np.unique(self.y).tolist()[:5]}"
        return f"seed {self.seed}: {self.estimator} {self.grid} {shape} {self.options} {list(self.fit_params)}"


def draw(seed: int) -> Search:
    """The search of this number."""
    rng = np.random.default_rng([22, seed])
    kind = rng.choice([SVC, SVR, L2SVC, KernelRidge, LSSVC, LSSVR], p=[0.25, 0.15, 0.15, 0.15, 0.15, 0.15])
    if np.random.default_rng([27, seed]).random() < 0.25:
        kind = {SVC: HingeSVC, SVR: EpsilonSVR}.get(kind, kind)
    if np.random.default_rng([23, seed]).random() < 0.4:
        kind = {L2SVC: KernelLogisticRegression}.get(kind, kind)
    n, d = int(rng.integers(20, 121)), int(rng.integers(1, 9))
    X = draw_inputs(rng, n, d)
    steps = pipelines.draw_steps(rng, d, is_classifier(kind())) if rng.random() < 0.4 else []
    y = draw_labels(rng, X) if is_classifier(kind()) else draw_targets(rng, X, several=kind not in (SVR, EpsilonSVR))
    kernel = draw_kernel(rng, kind, alone=not steps)
    size = 1.0 if steps else float((X**2).sum(axis=1).mean()) or 1.0
    machine = kind(kernel=kernel, **draw_machine_params(rng, kind, kernel, y, size))
    grid = draw_grid(rng, machine, size)
    data, estimator = X, machine
    if steps:
        estimator = Pipeline([*steps, ("machine", machine)])
        grid = {f"machine__{name}": values for name, values in grid.items()} | pipelines.draw_grid(rng, steps, grid)
        data = pipelines.draw_container(rng, X, steps)
    elif kernel == "rbf" and rng.random() < 0.2:
        grid = [grid, {"kernel": ["linear"], **draw_penalties(rng, machine, 1.0 / size, 2)}]
    elif kernel == "precomputed":
        data = X @ X.T if rng.random() < 0.5 else np.exp(-np.abs(X[:, None] - X[None]).sum(axis=2) / np.sqrt(size))
    elif rng.random() < 0.15:
        data = sparse.csr_matrix(np.where(np.abs(X) < np.median(np.abs(X)), 0.0, X))
    cv, groups = splitters.draw(rng, n, is_classifier(machine))
    scoring = scorers.draw(rng, y, is_classifier(machine), single_rows=splitters.tests_single_rows(cv))
    options = {"cv": cv, **scoring, **draw_options(rng)}
    fit_params = {} if groups is None else {"groups": groups}
    weights = draw_weights(rng, n, positive=kernel == "precomputed")
    if weights is not None:
        fit_params["machine__sample_weight" if steps else "sample_weight"] = weights
    return Search(seed, estimator, grid, data, y, fit_params, options, "machine" if steps else "")


def draw_on_features(seed: int) -> Search:
    """The search of this number over explicit features of a kernel and a linear machine behind them."""
    rng = np.random.default_rng([31, seed])
    n, d = int(rng.integers(20, 121)), int(rng.integers(1, 9))
    X, classifier = draw_inputs(rng, n, d), bool(rng.random() < 0.5)
    y = draw_labels(rng, X) if classifier else draw_targets(rng, X, several=True)
    y = np.squeeze(y)  # Ridge predicts a single column as a vector
    size = float((X**2).sum(axis=1).mean()) or 1.0
    steps = [("scale", StandardScaler())] if rng.random() < 0.5 else []
    width, count = 10.0 ** rng.uniform(-2, 1, 2) / (d if steps else size), int(rng.integers(2, n))
    if rng.random() < 0.5:
        features = RBFSampler(n_components=count, random_state=seed)
    else:
        kernel = str(rng.choice(["rbf", "laplacian", "poly"]))
        features = Nystroem(
            kernel=kernel, n_components=count, random_state=seed, **{"degree": 2} if kernel == "poly" else {}
        )
    intercept = bool(rng.random() < 0.8)
    machine = Ridge(fit_intercept=intercept)
    if classifier:
        machine = RidgeClassifier(fit_intercept=intercept, class_weight=draw_class_weight(rng, y))
    grid = {"features__gamma": width.tolist(), "machine__alpha": (10.0 ** rng.uniform(-4, 2, 3)).tolist()}
    cv, groups = splitters.draw(rng, n, classifier)
    scoring = scorers.draw(rng, y, classifier, single_rows=splitters.tests_single_rows(cv))
    fit_params = {} if groups is None else {"groups": groups}
    weights = draw_weights(rng, n, positive=classifier)
    if weights is not None:
        fit_params["machine__sample_weight"] = weights
    options = {"cv": cv, **scoring, **draw_options(rng)}
    return Search(
        seed, Pipeline([*steps, ("features", features), ("machine", machine)]), grid, X, y, fit_params, options
    )


def draw_inputs(rng, n, d):
    """Rows as they occur: clouds, coarse grids with many equal rows, columns of different units, constant columns."""
    kind = rng.choice(["cloud", "grid", "units", "constant", "offset"], p=[0.4, 0.2, 0.2, 0.1, 0.1])
    X = rng.normal(size=(n, d))
    if kind == "grid":
        return rng.integers(0, 4, size=(n, d)).astype(float)
    if kind == "units":
        return X * 10.0 ** rng.integers(-3, 4, size=d)
    if kind == "constant":
        X[:, rng.integers(d)] = rng.choice([0.0, 3.0])
    if kind == "offset":
        X += 10.0
    return X


def draw_labels(rng, X):
    """Two to five classes of one type (int, str or bool) that depend on the rows, often of unequal sizes."""
    n = len(X)
    classes = int(rng.choice([2, 3, 4, 5], p=[0.55, 0.25, 0.1, 0.1]))
    scale = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    score = ((X - X.mean(axis=0)) / scale) @ rng.normal(size=X.shape[1]) + rng.normal(size=n)
    shares = rng.dirichlet(np.full(classes, rng.choice([2.0, 20.0])))
    codes = np.searchsorted(np.quantile(score, np.cumsum(shares)[:-1]), score)
    for k in range(classes):  # no class is missing from the data: four rows at least
        codes[rng.choice(n, 4, replace=False)] = k
    names = rng.choice(["int", "str", "bool", "signed"])
    if names == "bool" and classes == 2:
        return codes == 1
    if names == "str":
        return np.array(["ant", "bee", "cat", "dog", "eel"])[codes]
    return 2 * codes - 1 if names == "signed" else codes


def draw_targets(rng, X, several):
    """One to three real targets, of different sizes."""
    columns = int(rng.choice([1, 2, 3], p=[0.7, 0.15, 0.15])) if several else 1
    scale = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    Z = (X - X.mean(axis=0)) / scale
    Y = np.sin(Z @ rng.normal(size=(X.shape[1], columns))) + 0.2 * rng.normal(size=(len(X), columns))
    Y = Y * rng.choice([1.0, 100.0]) + rng.choice([0.0, 10.0])
    flat = columns == 1 and (rng.random() < 0.8 or not several)
    return Y[:, 0] if flat else Y


def draw_kernel(rng, kind, alone):
    """A kernel's name; a precomputed one does not stand behind transformers."""
    names = ["rbf", "linear", "poly"] + ["sigmoid"] * (rng.random() < 0.3)
    if kind not in (SVC, SVR):
        names.append("laplacian")
    if alone:
        names.append("precomputed")
    return str(rng.choice(["rbf", str(rng.choice(names))]))


def draw_machine_params(rng, kind, kernel, y, size):
    """What the grid does not vary."""
    params: dict[str, Any] = {}
    if kind in (SVC, SVR):
        params["tol"] = LIBSVM_TOL * (max(1.0, float(np.std(y))) if kind is SVR else 1.0)
    if kernel in ("poly", "sigmoid"):
        params |= {"gamma": float(rng.choice([0.1, 1.0])) / size, "degree": int(rng.integers(2, 4)), "coef0": 1.0}
    if kind in (SVR, EpsilonSVR):
        params["epsilon"] = float(rng.choice([0.0, 0.01, 0.1, 1.0])) * float(np.std(y) or 1.0)
    if kind in (SVC, HingeSVC, L2SVC, KernelLogisticRegression, LSSVC):
        params["class_weight"] = draw_class_weight(rng, y)
    if kind in (HingeSVC, EpsilonSVR, L2SVC, KernelLogisticRegression, LSSVC, LSSVR):
        params["fit_intercept"] = bool(rng.random() < (0.5 if kind in (HingeSVC, EpsilonSVR) else 0.8))
    if kind is SVC and rng.random() < 0.2:
        params["decision_function_shape"] = "ovo"
    return params


def draw_class_weight(rng, y):
    """None, "balanced" or a dict."""
    kind = rng.choice(["none", "balanced", "dict"], p=[0.5, 0.3, 0.2])
    if kind == "dict":
        return {label: float(rng.choice([0.5, 1.0, 3.0, 10.0])) for label in np.unique(y).tolist()}
    return None if kind == "none" else "balanced"


def draw_grid(rng, machine, size):
    """Two to six candidates: penalties over decades, and widths where the kernel has one."""
    unit = 1.0 / size if machine.kernel in ("linear", "precomputed") else 1.0
    grid = draw_penalties(rng, machine, unit, int(rng.integers(2, 4)))
    if machine.kernel in ("rbf", "laplacian"):
        root = size if machine.kernel == "rbf" else np.sqrt(size)
        widths: list[Any] = [float(f"{value:.3g}") for value in 10.0 ** rng.uniform(-3, 1.5, size=2) / root]
        if not isinstance(machine, KernelRidge | LSSVC | LSSVR) and rng.random() < 0.5:
            widths[0] = str(rng.choice(["scale", "auto"]))
        grid["gamma"] = widths[: rng.integers(1, 3)]
    return grid


def draw_penalties(rng, machine, unit, count):
    """Penalties of a kernel whose values are about 1 / unit. Now and then one that no machine takes."""
    if hasattr(machine, "C"):
        largest = 2.5 if machine.kernel in ("rbf", "laplacian") and unit == 1.0 else 1.0  # else LIBSVM takes minutes
        name, values = "C", unit * 10.0 ** rng.uniform(-3, largest, size=count)
    else:
        name, values = "alpha", 10.0 ** rng.uniform(-5, 2, size=count) / unit
    penalties = [float(f"{value:.3g}") for value in values]
    if rng.random() < 0.03:
        penalties[-1] = -1.0
    return {name: penalties}


def draw_weights(rng, n, positive):
    """None mostly; equal, whole, zero here and there, or spread over three decades.

    ``positive`` leaves zeros out: with a precomputed kernel, scikit-learn's SVC mixes up the other rows.
    """
    kind = rng.choice(["none", "ones", "whole", "zeros", "spread"], p=[0.65, 0.05, 0.1, 0.1, 0.1])
    if kind == "none":
        return None
    if kind == "ones":
        return np.ones(n)
    if kind == "whole":
        return rng.integers(1, 4, size=n).astype(float)
    if kind == "spread":
        return 10.0 ** rng.uniform(-1.5, 1.5, size=n)
    weights = rng.uniform(0.2, 2.0, size=n)
    if not positive:
        weights[rng.choice(n, n // 8, replace=False)] = 0.0
    return weights


def draw_options(rng):
    """What else a search takes."""
    error_score = [np.nan, 0.0, "raise"][rng.choice(3, p=[0.7, 0.15, 0.15])]
    return {"return_train_score": bool(rng.random() < 0.3), "error_score": error_score}
