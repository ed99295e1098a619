"""The papers' machines as estimators, and the papers' penalties as their parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR

from .. import L2SVC, LSSVC

CLASSIFIERS = ("lssvm", "lssvm-bias", "svm", "l2svm")

TUBES = {f"svr-2^{i}": 2.0**i for i in range(-4, 5) if i != 0}
"""SVR with tubes of other widths, in standard deviations of the target."""

REVISIONS = dict.fromkeys(("lssvm", "lssvm-bias", "krr", "svm", "l2svm", "svr", *TUBES), 1)
"""Raised by hand when a machine, or its exact cross-validation, gives other numbers than before."""


def _svr(width: float) -> Callable[[Any], Any]:
    """SVR with a tube of so many standard deviations of the target on both sides."""
    return lambda y: SVR(epsilon=width * float(np.std(y)))


# The formulas of the papers have no bias; LIBSVM, with which they trained their SVM and SVR, always has one.
_ESTIMATORS: dict[str, Callable[[Any], Any]] = {
    "lssvm": lambda y: LSSVC(fit_intercept=False),
    "lssvm-bias": lambda y: LSSVC(fit_intercept=True),
    "krr": lambda y: KernelRidge(),
    "svm": lambda y: SVC(),
    "l2svm": lambda y: L2SVC(fit_intercept=False),
    "svr": _svr(1.0),
    **{name: _svr(width) for name, width in TUBES.items()},
}


def estimator_of(machine: str, y: Any) -> Any:
    """An estimator for the training target ``y``: SVR's epsilon is its standard deviation, or a multiple of it."""
    return _ESTIMATORS[machine](y)


def scorer_of(machine: str, validation: str) -> Any:
    """Scorer that cross-validation averages: the error that tables report, or the loss that the machine minimises.

    Squared errors for both in regression.
    """
    if machine not in CLASSIFIERS:
        return "neg_mean_squared_error"
    return "accuracy" if validation == "error" else _NEGATIVE_LOSSES[machine]


def _margins(model: Any, X: Any, y: Any) -> Any:
    return model.decision_function(X) * np.where(y == model.classes_[1], 1.0, -1.0)


def _negative_square(model: Any, X: Any, y: Any) -> float:
    return -float(np.mean((1 - _margins(model, X, y)) ** 2))


def _negative_hinge(model: Any, X: Any, y: Any) -> float:
    return -float(np.mean(np.maximum(0, 1 - _margins(model, X, y))))


def _negative_squared_hinge(model: Any, X: Any, y: Any) -> float:
    return -float(np.mean(np.maximum(0, 1 - _margins(model, X, y)) ** 2))


_NEGATIVE_LOSSES = {"lssvm": _negative_square, "svm": _negative_hinge, "l2svm": _negative_squared_hinge}


def with_share(penalty: dict[str, float], share: float) -> dict[str, float]:
    """A penalty on the mean loss for a share of the rows: the ridge times it, or C divided by it.

    >>> with_share({"C": 1.0}, 0.5)
    {'C': 2.0}
    """
    return {name: value / share if name == "C" else value * share for name, value in penalty.items()}


def penalty_grid(machine: str, ridges: list[float]) -> dict[str, list[float]]:
    """The grid of a machine's own parameter for ridges nλ: alpha = nλ, or C = 1 / (2 nλ)."""
    if machine in ("lssvm", "lssvm-bias", "krr"):
        return {"alpha": list(ridges)}
    return {"C": [0.5 / ridge for ridge in ridges]}
