"""Machines, their common grids, and the methods that choose from these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR

from ... import L2SVC, LSSVC, criteria

MACHINES: dict[str, Any] = {
    "LSSVC": LSSVC(),
    "SVC": SVC(),
    "L2SVC": L2SVC(),
    "KernelRidge": KernelRidge(kernel="rbf"),
    "SVR": SVR(),
}
CLASSIFIERS = ("LSSVC", "SVC", "L2SVC")
LEAST_SQUARES = ("LSSVC", "KernelRidge")
MARGIN_LOSS = {"LSSVC": "squared", "SVC": "hinge", "L2SVC": "hinge"}
"""The loss that a classifier minimises, in place of the share of wrong labels."""

WIDTHS = 3.0 ** np.arange(-7, 6)
"""Multiples of scikit-learn's gamma="scale"."""
RIDGES = 10.0 ** np.arange(3, -6, -1)
BOXES = 10.0 ** np.arange(-2, 4.1, 0.75)


def penalties(machine: str) -> dict[str, list[float]]:
    """Values of the penalty of a machine, the strongest one first."""
    return {"alpha": RIDGES.tolist()} if machine in LEAST_SQUARES else {"C": BOXES.tolist()}


def scale_of(X: NDArray[np.float64]) -> float:
    """scikit-learn's gamma="scale"."""
    return float(1.0 / (X.shape[1] * X.var()))


def grid_of(machine: str, X: NDArray[np.float64]) -> dict[str, list[float]]:
    """13 widths and 9 penalties, from smooth to rough, so that ties go to the smoother candidate."""
    return {"gamma": (WIDTHS * scale_of(X)).tolist(), **penalties(machine)}


@dataclass(frozen=True)
class Method:
    """How a candidate is chosen.

    ``criterion`` is a name, or a function of the loss that a machine minimises; with ``keep`` it only chooses so
    many widths, and cross-validation among these. ``folds`` are those of the criterion, or of the cross-validation.
    ``step`` takes every second value of the grid; ``grid`` is another one, by its name (see ``Trial``).
    ``one_standard_error`` is the rule that reads the table. ``machines`` are those that it is defined for, ``classes``
    the largest number of classes.
    """

    criterion: str | Callable[[str], Any] = "cv"
    machines: tuple[str, ...] = tuple(MACHINES)
    classes: int = 100
    folds: int = 10
    keep: int | None = None
    step: int = 1
    grid: str = "common"
    one_standard_error: bool = False

    def criterion_for(self, machine: str) -> Any:
        """The criterion, with the loss of the machine if it takes one."""
        return self.criterion if isinstance(self.criterion, str) else self.criterion(MARGIN_LOSS[machine])

    def defined(self, machine: str, n_classes: int) -> bool:
        """Whether a machine for so many classes (0: regression) can be chosen by it."""
        return machine in self.machines and n_classes <= self.classes


def _kernel_only(criterion: str, keep: int = 1, machines: tuple[str, ...] = tuple(MACHINES)) -> Method:
    return Method(criterion, machines, keep=keep)


METHODS: dict[str, Method] = {
    "cv10": Method(),
    "cv5": Method(folds=5),
    "cv3": Method(folds=3),
    "cv10-1se": Method(one_standard_error=True),
    "cv10-margin": Method(lambda loss: criteria.CV(loss=loss), CLASSIFIERS),
    "cv10-coarse": Method(step=2),
    "cv10-default-grid": Method(grid="default"),
    "cv10-auto": Method(grid="auto"),
    "cv_variance": Method("cv_variance"),
    "cvks": Method("cvks"),
    "bif": Method("bif"),
    "bif-margin": Method(lambda loss: criteria.BIF(loss=loss), CLASSIFIERS),
    "loo": Method("loo", LEAST_SQUARES),
    "loo-squared": Method(lambda loss: criteria.LOO(loss=loss), ("LSSVC",)),
    "alo": Method("alo", ("SVC", "L2SVC", "SVR")),
    "gcv": Method("gcv", LEAST_SQUARES),
    "lml": Method("lml", ("KernelRidge",)),
    "br": Method("br", LEAST_SQUARES),
    "er": Method("er", LEAST_SQUARES),
    "span": Method("span", ("SVC", "L2SVC"), classes=2),
    "radius_margin": Method("radius_margin", ("L2SVC",), classes=2),
    "xi_alpha": Method("xi_alpha", ("SVC",), classes=2),
    "gacv": Method("gacv", ("SVC",), classes=2),
    "rks": Method("rks"),
    "sps": Method("sps"),
    "ckta+cv10": _kernel_only("ckta"),
    "ckta5+cv10": _kernel_only("ckta", keep=5),
    "kta+cv10": _kernel_only("kta"),
    "sm+cv10": _kernel_only("sm", machines=CLASSIFIERS),
    "fsm+cv10": _kernel_only("fsm", machines=CLASSIFIERS),
    "pep+cv10": _kernel_only("pep"),
    "scale+cv10": Method(grid="scale"),
    "defaults": Method(grid="defaults"),
}
"""Names end in what chooses the penalty where a criterion of kernels cannot. ALO of least squares is LOO."""

BEST = "best"
"""The candidate of the common grid with the smallest error on the test rows, which nobody can choose."""


def methods_for(machine: str, n_classes: int) -> list[str]:
    """The methods that are defined for a machine and so many classes (0: regression), and the best candidate."""
    return [BEST, *(name for name, method in METHODS.items() if method.defined(machine, n_classes))]
