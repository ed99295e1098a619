"""Pick the kernel. Pay for one fit.

onefit chooses the kernel and the regularisation of kernel machines by exact cross-validation, from one
factorisation per kernel. ``KernelSearchCV`` is a drop-in ``GridSearchCV``.
"""

from . import bounds, criteria, kernels
from .estimators.calibration import calibrated
from .estimators.comparison import Comparison, compare
from .estimators.decision import cross_val_decision
from .estimators.kernel_search import KernelSearchCV
from .estimators.l2_svm import L2SVC
from .estimators.ls_svm import LSSVC, LSSVR
from .estimators.preparation import RetrainingWarning
from .estimators.selection import GridEdgeWarning, one_standard_error

__version__ = "0.1.0"

__all__ = [
    "L2SVC",
    "LSSVC",
    "LSSVR",
    "Comparison",
    "GridEdgeWarning",
    "KernelSearchCV",
    "RetrainingWarning",
    "bounds",
    "calibrated",
    "compare",
    "criteria",
    "cross_val_decision",
    "kernels",
    "one_standard_error",
]
