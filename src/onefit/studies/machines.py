"""The papers' machines as estimators, and the papers' penalties as their parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR

from ..estimators.l2_svm import L2SVC
from ..estimators.ls_svm import LSSVC

CLASSIFIERS = ("lssvm", "svm", "l2svm")

# The formulas of the papers have no bias; LIBSVM, with which they trained their SVM and SVR, always has one.
_ESTIMATORS: dict[str, Callable[[Any], Any]] = {
    "lssvm": lambda y: LSSVC(fit_intercept=False),
    "krr": lambda y: KernelRidge(),
    "svm": lambda y: SVC(),
    "l2svm": lambda y: L2SVC(fit_intercept=False),
    "svr": lambda y: SVR(epsilon=float(np.std(y))),
}


def estimator_of(machine: str, y: Any) -> Any:
    """An estimator for the training target ``y``: SVR's epsilon is its standard deviation."""
    return _ESTIMATORS[machine](y)


def penalty_grid(machine: str, ridges: list[float]) -> dict[str, list[float]]:
    """The grid of a machine's own parameter for ridges nλ: alpha = nλ, or C = 1 / (2 nλ)."""
    if machine in ("lssvm", "krr"):
        return {"alpha": list(ridges)}
    return {"C": [0.5 / ridge for ridge in ridges]}
