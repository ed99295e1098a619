"""Random least-squares searches from well-conditioned to hopeless, and their held-out values in fixed point."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit

from onefit import LSSVC, LSSVR

from . import fixed_point

VECTOR_KERNELS = {
    "linear": {},
    "rbf": {"gamma": (1e-3, 10.0)},
    "laplacian": {"gamma": (1e-3, 10.0)},
    "poly": {"gamma": (0.1, 2.0), "degree": 2, "coef0": 1.0},
}


@dataclass
class Case:
    """One candidate: an estimator, its data, weights and splits; ``K`` is the Gram matrix in fixed point."""

    estimator: Any
    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None
    splits: list
    K: np.ndarray
    ordinary: bool

    def truth(self):
        """Held-out values of every split, trained on the given doubles in fixed point: a list of (rows, c)."""
        bias = getattr(self.estimator, "fit_intercept", False)
        Y = np.asarray(self.y, dtype=float).reshape(len(self.y), -1)
        alpha = self.estimator.alpha
        return [fixed_point.predict(self.K, Y, train, test, alpha, self.weights, bias) for train, test in self.splits]


def random_case(seed, ordinary=False):
    """A case that depends on the seed only; an ``ordinary`` one has scaled features, moderate weights and ridges."""
    rng = np.random.default_rng([seed, int(ordinary)])
    n = int(rng.integers(8, 31))
    X = _rows(rng, n, ordinary)
    machine = rng.choice(["KernelRidge", "LSSVC", "LSSVR"])
    alpha = float(10 ** (rng.uniform(-4, 2) if ordinary else rng.uniform(-9, 4)))
    name = str(rng.choice(["precomputed", *VECTOR_KERNELS]))
    if name == "precomputed":
        params = {"kernel": name}
        X = _gram(rng, X, ordinary)
        K = fixed_point.fixed(X)
    else:
        params = {"kernel": name, **{k: _draw(rng, v) for k, v in VECTOR_KERNELS[name].items()}}
        K = _fixed_kernel(X, params)
    y = _targets(rng, n, machine)
    if machine == "KernelRidge":
        estimator = KernelRidge(alpha=alpha, **params)
    else:
        estimator = (LSSVC if machine == "LSSVC" else LSSVR)(alpha=alpha, fit_intercept=rng.random() < 0.7, **params)
    return Case(estimator, X, y, _weights(rng, n, ordinary), _splits(rng, n, y, machine), K, ordinary)


def _draw(rng, value):
    return float(np.exp(rng.uniform(*np.log(value)))) if isinstance(value, tuple) else value


def _rows(rng, n, ordinary):
    X = rng.standard_normal((n, int(rng.integers(1, 6))))
    if rng.random() < 0.3:
        X[n // 2 :] = X[: n - n // 2]  # duplicates
    if ordinary:
        return X
    kind = rng.choice(["plain", "scaled", "offset", "whole"])
    if kind == "scaled":
        X *= 10 ** rng.uniform(-2, 3, X.shape[1])
    elif kind == "offset":
        X += 10 ** rng.uniform(0, 4)
    elif kind == "whole":
        X = np.round(X * 10 ** rng.uniform(0, 4))
    return X


def _gram(rng, X, ordinary):
    """A precomputed Gram matrix: of the rows, or with a spectrum over many decades, or indefinite."""
    n = len(X)
    kind = rng.choice(["linear", "rbf"] if ordinary else ["linear", "rbf", "decades", "nearly singular", "indefinite"])
    if kind == "rbf":
        return np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    if kind == "linear":
        K = X @ X.T
        return (K + K.T) / 2
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = 10 ** rng.uniform(-12, 4, n)
    if kind == "nearly singular":
        values = np.where(np.arange(n) < n // 2, 1.0, 10 ** rng.uniform(-16, -6))
    elif kind == "indefinite":
        values = rng.standard_normal(n)
    K = (Q * values) @ Q.T
    return (K + K.T) / 2


def _fixed_kernel(X, params):
    """The kernel of the given doubles: without rounding where it is rational, else in long double."""
    P = fixed_point.PLACES
    if params["kernel"] in ("linear", "poly"):
        rows = fixed_point.fixed(X)
        K = rows @ rows.T >> P
        if params["kernel"] == "linear":
            return K
        inner = (K * int(fixed_point.fixed(params["gamma"])[()]) >> P) + int(fixed_point.fixed(params["coef0"])[()])
        return inner * inner >> P
    rows = X.astype(np.longdouble)
    difference = rows[:, None] - rows[None]
    distance = (difference**2 if params["kernel"] == "rbf" else np.abs(difference)).sum(axis=2)
    return fixed_point.fixed(np.exp(-np.longdouble(params["gamma"]) * distance))


def _targets(rng, n, machine):
    if machine == "LSSVC":
        y = np.where(rng.random(n) < 0.5, -1, 1)
        y[:4] = [-1, 1, -1, 1]
        y[-4:] = [-1, 1, -1, 1]
        return y
    y = rng.standard_normal((n, int(rng.integers(1, 4)))) * 10 ** rng.uniform(-2, 2)
    return y[:, 0] if y.shape[1] == 1 else y


def _weights(rng, n, ordinary):
    kind = rng.choice(["none", "moderate", "decades", "zeros"], p=[0.4, 0.2, 0.3, 0.1])
    if kind == "none":
        return None
    decades = 1.0 if ordinary or kind != "decades" else rng.uniform(2, 12)
    weights = 10 ** rng.uniform(-decades / 2, decades / 2, n)
    if kind == "zeros" and not ordinary:
        weights[n // 3 : n // 3 + 2] = 0.0
    return weights


def _splits(rng, n, y, machine):
    state = int(rng.integers(1000))
    kind = rng.choice(["folds", "two folds", "shuffle", "repeated", "one by one", "unequal", "overlapping"])
    rows = np.arange(n)
    if kind == "one by one" and n <= 14:
        return list(LeaveOneOut().split(rows))
    if kind == "two folds":
        splits = KFold(2, shuffle=True, random_state=state).split(rows)
    elif kind == "shuffle":
        splits = ShuffleSplit(3, test_size=0.3, random_state=state).split(rows)
    elif kind == "repeated":
        splits = RepeatedKFold(n_splits=3, n_repeats=2, random_state=state).split(rows)
    elif kind == "unequal":
        mixed = rng.permutation(n)
        parts = [mixed[:1], mixed[1:4], mixed[4:]] if n < 12 else [mixed[:1], mixed[1:4], mixed[4 : n // 2 + 3]]
        splits = [(np.setdiff1d(rows, part), np.sort(part)) for part in parts]
    elif kind == "overlapping":
        drawn = [rng.permutation(n) for _ in range(3)]
        splits = [(np.sort(order[: n - 3]), np.sort(order[n - 6 :])) for order in drawn]  # tests rows it trains on
    else:
        splits = KFold(4, shuffle=True, random_state=state).split(rows)
    kept = [(train, test) for train, test in splits if machine != "LSSVC" or len(np.unique(y[train])) == 2]
    return kept or [(rows, rows)]
