"""Least squares by solving the linear system of the training rows, and cross-validation by doing so again and again."""

import numpy as np

EPS = np.finfo(np.float64).eps


def solve(K, Y, ridge, weights=None, bias=False):
    """Dual coefficients (n, c) and intercepts (c,) from one dense system; rows of weight zero are left out."""
    n = len(K)
    weights = np.ones(n) if weights is None else weights
    used = np.flatnonzero(weights > 0)
    m = len(used)
    system = np.zeros((m + bias, m + bias))
    system[:m, :m] = K[np.ix_(used, used)] + np.diag(ridge / weights[used])
    right = np.zeros((m + bias, Y.shape[1]))
    right[:m] = Y[used]
    if bias:
        system[m, :m] = system[:m, m] = 1.0
    solution = np.linalg.solve(system, right)
    dual = np.zeros(Y.shape)
    dual[used] = solution[:m]
    return dual, solution[m] if bias else np.zeros(Y.shape[1])


def predict(K, Y, train, rows, ridge, weights=None, bias=False):
    """Values (rows, c) of the machine that was trained on the rows ``train``."""
    kept = None if weights is None else weights[train]
    dual, intercept = solve(K[np.ix_(train, train)], Y[train], ridge, kept, bias)
    return K[np.ix_(rows, train)] @ dual + intercept


def retrain(K, Y, splits, ridges, *, weights=None, bias=False, scale_penalty=False):
    """(values of the tested rows, values of the training rows) of each split, arrays of shape (L, rows, c).

    ``weights`` is an array, or a list with one array per split.
    """
    tested, trained = [], []
    for number, (train, test) in enumerate(splits):
        share = len(train) / len(K) if scale_penalty else 1.0
        w = weights[number] if isinstance(weights, list) else weights
        both = np.concatenate([test, train])
        values = np.array([predict(K, Y, train, both, ridge * share, w, bias) for ridge in ridges])
        tested.append(values[:, : len(test)])
        trained.append(values[:, len(test) :])
    return tested, trained


def pool_leave_one_out(splits, parts):
    """Leave-one-out values of single rows in the order of the rows, shape (L, n, c)."""
    order = np.argsort([test[0] for _, test in splits])
    return np.concatenate([parts[i] for i in order], axis=1)


def tolerances(K, Y, ridges):
    """What rounding allows an out-of-fold value, absolute, for each ridge."""
    return (1e-8 + 10 * EPS * np.linalg.norm(K, 2) / np.asarray(ridges)) * np.abs(Y).max()


def assert_path_close(actual, expected, tolerance):
    """Values (L, rows, c) agree to the tolerance (L,) of their ridge."""
    assert actual.shape == expected.shape
    worst = np.abs(actual - expected).max(axis=(1, 2), initial=0.0)
    assert (worst <= tolerance).all(), f"errors {worst} exceed {tolerance}"
