"""Small protocols and data, and a slow way to get every number of a cell: train each fold of each candidate."""

import hashlib
from dataclasses import replace

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import SVC, SVR

from onefit import L2SVC, LSSVC, cross_val_decision
from onefit.criteria import CV
from onefit.studies.part import Part
from onefit.studies.spec import Method, Protocol

GAUSSIAN = {"kernel": ["rbf"], "gamma": [2.0, 0.3, 0.05]}
POLYNOMIAL = {"kernel": ["poly"], "degree": [1, 2], "gamma": [1.0], "coef0": [1.0]}
PENALTIES = (0.3, 1.0, 4.0)
REGRESSORS = ("krr", "svr")
THREEFOLD = (Method("CV", CV(), 3),)


def protocol_of(machine="lssvm", methods=THREEFOLD, **changes):
    """Two classes or a regression, three kernels, three penalties."""
    metric = "mse" if machine in REGRESSORS else "error"
    made = Protocol("small", machine, ("made-up",), (GAUSSIAN,), PENALTIES, methods, 2, 0.7, metric)
    return replace(made, **changes)


def data_of(protocol, n=36, seed=0):
    """Inputs and a target that a kernel machine can learn in part."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    smooth = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 - 0.4 + 0.4 * rng.normal(size=n)
    return X, smooth if protocol.machine in REGRESSORS else np.where(smooth > 0, 1, -1)


def part_of(protocol, n=36, seed=0, name="made-up/0.7/0"):
    """Three quarters of the rows to train with, the others to test."""
    X, y = data_of(protocol, n, seed)
    train = 3 * n // 4
    return Part(protocol, name, X[:train], y[:train], X[train:], y[train:])


def candidates_by_hand(protocol):
    """(kernel's parameters, penalty) in the order of the tables: grid, penalty, kernel."""
    found = []
    for grid in protocol.grids:
        for penalty in protocol.penalties:
            if grid["kernel"] == ["rbf"]:
                kernels = [{"kernel": "rbf", "gamma": gamma} for gamma in grid["gamma"]]
            else:
                kernels = [{"kernel": "poly", "gamma": 1.0, "coef0": 1.0, "degree": d} for d in grid["degree"]]
            found += [(kernel, penalty) for kernel in kernels]
    return found


def machine_by_hand(protocol, machine, penalty, n_rows, y, share=1.0, **kernel):
    """The papers' machine, trained to a precision that does not show; ``share`` of the n rows are there to train."""
    ridge = penalty * float(n_rows) ** protocol.power_of_rows
    if protocol.loss == "mean":
        ridge *= share
    if machine == "svr":
        return SVR(C=0.5 / ridge, epsilon=np.std(y), tol=1e-10, **kernel)
    if machine == "svm":
        return SVC(C=0.5 / ridge, tol=1e-10, **kernel)
    if machine == "l2svm":
        return L2SVC(C=0.5 / ridge, fit_intercept=False, **kernel)
    if machine == "krr":
        return KernelRidge(alpha=ridge, **kernel)
    return LSSVC(alpha=ridge, fit_intercept=machine == "lssvm-bias", **kernel)


def fold_loss(protocol, machine, labels_or_values, decision, y):
    """What a fold says of a candidate, smaller is better: minus the accuracy, squared errors, or the machine's loss."""
    if machine in REGRESSORS:
        return np.mean((labels_or_values - y) ** 2)
    if protocol.validation == "error":
        return -np.mean(labels_or_values == y)
    margin = y * decision
    return {
        "lssvm": np.mean((1 - margin) ** 2),
        "svm": np.mean(np.maximum(0, 1 - margin)),
        "l2svm": np.mean(np.maximum(0, 1 - margin) ** 2),
    }[machine]


def cross_validation_by_hand(protocol, X, y, folds):
    """The mean over the folds for every candidate, each trained anew on every fold."""
    values = []
    for kernel, penalty in candidates_by_hand(protocol):
        losses = []
        for train, test in folds:
            share = len(train) / len(y)
            model = machine_by_hand(protocol, protocol.machine, penalty, len(y), y, share, **kernel)
            model.fit(X[train], y[train])
            decision = None if protocol.machine in REGRESSORS else model.decision_function(X[test])
            losses.append(fold_loss(protocol, protocol.machine, model.predict(X[test]), decision, y[test]))
        values.append(np.mean(losses))
    return np.array(values)


def series_by_hand(protocol, criterion, X, y, folds):
    """The mean over the folds for every candidate, of held-out values by the series."""
    values = []
    for kernel, penalty in candidates_by_hand(protocol):
        model = machine_by_hand(protocol, protocol.machine, penalty, len(y), y, **kernel)
        held = cross_val_decision(
            model, X, y, cv=folds, method="bif", order=criterion.order, scale_penalty=protocol.loss == "mean"
        )
        losses = [
            fold_loss(protocol, protocol.machine, _labels(protocol, held[test]), held[test], y[test])
            for _, test in folds
        ]
        values.append(np.mean(losses))
    return np.array(values)


def _labels(protocol, decision):
    return decision if protocol.machine in REGRESSORS else np.where(decision > 0, 1, -1)


def criterion_by_hand(protocol, machine, criterion, X, y, folds):
    """The criterion called on every candidate's Gram matrix; smaller is better."""
    if hasattr(criterion, "scale_penalty"):
        criterion = replace(criterion, scale_penalty=protocol.loss == "mean")
    values = []
    for kernel, penalty in candidates_by_hand(protocol):
        rest = dict(kernel)
        K = pairwise_kernels(X, metric=rest.pop("kernel"), **rest)
        model = machine_by_hand(protocol, machine, penalty, len(y), y, kernel="precomputed")
        value = criterion(K, y, model, cv=folds)
        values.append(-value if criterion.greater_is_better else value)
    return np.array(values)


def seed_by_hand(text):
    """The first four bytes of the SHA-256 of a text, as a number."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)


def folds_by_hand(protocol, name, t, X, y):
    """Random folds by a named seed."""
    kind = KFold if protocol.machine in REGRESSORS else StratifiedKFold
    return list(kind(t, shuffle=True, random_state=seed_by_hand(f"folds/{name}/{t}")).split(X, y))
