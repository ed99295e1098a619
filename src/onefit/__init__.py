"""Pick the kernel. Pay for one fit.

onefit chooses the kernel and the regularisation of kernel machines by exact cross-validation, from one
factorisation per kernel. ``KernelSearchCV`` is a drop-in ``GridSearchCV``.

Names are imported when they are first used, so that the command line answers ``--help`` without waiting for
scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import bounds, criteria, datasets, kernels, report
    from .estimators.calibration import CalibratedSearch, calibrated
    from .estimators.comparison import Comparison, compare
    from .estimators.date_encoder import DateEncoder
    from .estimators.decision import cross_val_decision
    from .estimators.default_grid import default_grid
    from .estimators.delivery import RefitWarning
    from .estimators.feature_delivery import LandmarksWarning
    from .estimators.kernel_learn import KernelLearnCV
    from .estimators.kernel_logistic import KernelLogisticRegression
    from .estimators.kernel_search import KernelSearchCV
    from .estimators.landmark_features import LandmarkFeatures, RandomFourierFeatures
    from .estimators.linear_machines import (
        LinearEpsilonSVR,
        LinearHingeSVC,
        LinearL2SVC,
        LinearLogisticRegression,
        LinearLSSVC,
    )
    from .estimators.ls_svm import LSSVC, LSSVR
    from .estimators.support_vector import L2SVC, EpsilonSVR, HingeSVC
    from .gram.approximation import Landmarks, RandomFeatures
    from .report.displays import (
        CriterionCurveDisplay,
        CriticalDifferenceDisplay,
        SpectrumDisplay,
        ValidationSurfaceDisplay,
    )
    from .report.learning_displays import LearnedKernelDisplay, LearningPathDisplay
    from .search.choice import GridEdgeWarning, one_standard_error
    from .search.deadline import TimeBudgetWarning
    from .search.journal import JournalError, JournalWarning
    from .search.retraining import RetrainingWarning

__version__ = "0.1.0"

_MODULES = ("bounds", "criteria", "datasets", "kernels", "report")
_HOMES = {
    "CalibratedSearch": "estimators.calibration",
    "Comparison": "estimators.comparison",
    "CriterionCurveDisplay": "report.displays",
    "CriticalDifferenceDisplay": "report.displays",
    "DateEncoder": "estimators.date_encoder",
    "EpsilonSVR": "estimators.support_vector",
    "GridEdgeWarning": "search.choice",
    "HingeSVC": "estimators.support_vector",
    "JournalError": "search.journal",
    "JournalWarning": "search.journal",
    "KernelLearnCV": "estimators.kernel_learn",
    "KernelLogisticRegression": "estimators.kernel_logistic",
    "KernelSearchCV": "estimators.kernel_search",
    "L2SVC": "estimators.support_vector",
    "LSSVC": "estimators.ls_svm",
    "LandmarkFeatures": "estimators.landmark_features",
    "Landmarks": "gram.approximation",
    "LandmarksWarning": "estimators.feature_delivery",
    "LinearEpsilonSVR": "estimators.linear_machines",
    "LinearHingeSVC": "estimators.linear_machines",
    "LinearL2SVC": "estimators.linear_machines",
    "LinearLSSVC": "estimators.linear_machines",
    "LinearLogisticRegression": "estimators.linear_machines",
    "RandomFeatures": "gram.approximation",
    "RandomFourierFeatures": "estimators.landmark_features",
    "LSSVR": "estimators.ls_svm",
    "LearnedKernelDisplay": "report.learning_displays",
    "LearningPathDisplay": "report.learning_displays",
    "RefitWarning": "estimators.delivery",
    "RetrainingWarning": "search.retraining",
    "SpectrumDisplay": "report.displays",
    "ValidationSurfaceDisplay": "report.displays",
    "TimeBudgetWarning": "search.deadline",
    "_DecisionValues": "estimators.calibration",
    "calibrated": "estimators.calibration",
    "compare": "estimators.comparison",
    "cross_val_decision": "estimators.decision",
    "default_grid": "estimators.default_grid",
    "one_standard_error": "search.choice",
}

__all__ = [
    "L2SVC",
    "LSSVC",
    "LSSVR",
    "CalibratedSearch",
    "Comparison",
    "CriterionCurveDisplay",
    "CriticalDifferenceDisplay",
    "DateEncoder",
    "EpsilonSVR",
    "GridEdgeWarning",
    "HingeSVC",
    "JournalError",
    "JournalWarning",
    "KernelLearnCV",
    "KernelLogisticRegression",
    "KernelSearchCV",
    "LandmarkFeatures",
    "Landmarks",
    "LandmarksWarning",
    "LearnedKernelDisplay",
    "LearningPathDisplay",
    "LinearEpsilonSVR",
    "LinearHingeSVC",
    "LinearL2SVC",
    "LinearLSSVC",
    "LinearLogisticRegression",
    "RandomFeatures",
    "RandomFourierFeatures",
    "RefitWarning",
    "RetrainingWarning",
    "SpectrumDisplay",
    "TimeBudgetWarning",
    "ValidationSurfaceDisplay",
    "bounds",
    "calibrated",
    "compare",
    "criteria",
    "cross_val_decision",
    "datasets",
    "default_grid",
    "kernels",
    "one_standard_error",
    "report",
]


def _register_known_estimators() -> None:
    """Register the readers of scikit-learn's and our own estimators, for a criterion that is called by itself.

    The package joins its layers here: ``machines`` holds the registry, and knows no estimator.
    """
    from .estimators import adapters, wrappers  # noqa: F401


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
