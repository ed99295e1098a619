"""Pick the kernel. Pay for one fit.

onefit chooses the kernel and the regularisation of kernel machines by exact cross-validation, from one
factorisation per kernel. ``KernelSearchCV`` is a drop-in ``GridSearchCV``.

Names are imported when they are first used, so that the command line answers ``--help`` without waiting for
scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # "as" says that they are exported
    from . import bounds as bounds
    from . import criteria as criteria
    from . import datasets as datasets
    from . import kernels as kernels
    from . import report as report
    from .estimators.calibration import CalibratedSearch as CalibratedSearch
    from .estimators.calibration import calibrated as calibrated
    from .estimators.comparison import Comparison as Comparison
    from .estimators.comparison import compare as compare
    from .estimators.date_encoder import DateEncoder as DateEncoder
    from .estimators.decision import cross_val_decision as cross_val_decision
    from .estimators.default_grid import default_grid as default_grid
    from .estimators.delivery import RefitWarning as RefitWarning
    from .estimators.feature_delivery import LandmarksWarning as LandmarksWarning
    from .estimators.kernel_learn import KernelLearnCV as KernelLearnCV
    from .estimators.kernel_logistic import KernelLogisticRegression as KernelLogisticRegression
    from .estimators.kernel_search import KernelSearchCV as KernelSearchCV
    from .estimators.landmark_features import LandmarkFeatures as LandmarkFeatures
    from .estimators.landmark_features import RandomFourierFeatures as RandomFourierFeatures
    from .estimators.linear_machines import LinearEpsilonSVR as LinearEpsilonSVR
    from .estimators.linear_machines import LinearHingeSVC as LinearHingeSVC
    from .estimators.linear_machines import LinearL2SVC as LinearL2SVC
    from .estimators.linear_machines import LinearLogisticRegression as LinearLogisticRegression
    from .estimators.linear_machines import LinearLSSVC as LinearLSSVC
    from .estimators.ls_svm import LSSVC as LSSVC
    from .estimators.ls_svm import LSSVR as LSSVR
    from .estimators.support_vector import L2SVC as L2SVC
    from .estimators.support_vector import EpsilonSVR as EpsilonSVR
    from .estimators.support_vector import HingeSVC as HingeSVC
    from .gram.approximation import Landmarks as Landmarks
    from .gram.approximation import RandomFeatures as RandomFeatures
    from .report.displays import CriterionCurveDisplay as CriterionCurveDisplay
    from .report.displays import CriticalDifferenceDisplay as CriticalDifferenceDisplay
    from .report.displays import SpectrumDisplay as SpectrumDisplay
    from .report.displays import ValidationSurfaceDisplay as ValidationSurfaceDisplay
    from .report.learning_displays import LearnedKernelDisplay as LearnedKernelDisplay
    from .report.learning_displays import LearningPathDisplay as LearningPathDisplay
    from .search.choice import GridEdgeWarning as GridEdgeWarning
    from .search.choice import one_standard_error as one_standard_error
    from .search.deadline import TimeBudgetWarning as TimeBudgetWarning
    from .search.execution import RetrainingWarning as RetrainingWarning
    from .search.journal import JournalError as JournalError
    from .search.journal import JournalWarning as JournalWarning

__version__ = "0.1.0"

_MODULES = ("bounds", "criteria", "datasets", "kernels", "report")
_HOMES = {
    "estimators.calibration": ("_DecisionValues", "calibrated", "CalibratedSearch"),
    "estimators.comparison": ("compare", "Comparison"),
    "estimators.date_encoder": ("DateEncoder",),
    "estimators.decision": ("cross_val_decision",),
    "estimators.default_grid": ("default_grid",),
    "estimators.delivery": ("RefitWarning",),
    "estimators.feature_delivery": ("LandmarksWarning",),
    "estimators.kernel_learn": ("KernelLearnCV",),
    "estimators.kernel_logistic": ("KernelLogisticRegression",),
    "estimators.kernel_search": ("KernelSearchCV",),
    "estimators.landmark_features": ("LandmarkFeatures", "RandomFourierFeatures"),
    "estimators.linear_machines": (
        "LinearEpsilonSVR",
        "LinearHingeSVC",
        "LinearL2SVC",
        "LinearLogisticRegression",
        "LinearLSSVC",
    ),
    "estimators.ls_svm": ("LSSVC", "LSSVR"),
    "estimators.support_vector": ("EpsilonSVR", "HingeSVC", "L2SVC"),
    "gram.approximation": ("Landmarks", "RandomFeatures"),
    "report.displays": (
        "CriterionCurveDisplay",
        "CriticalDifferenceDisplay",
        "SpectrumDisplay",
        "ValidationSurfaceDisplay",
    ),
    "report.learning_displays": ("LearnedKernelDisplay", "LearningPathDisplay"),
    "search.choice": ("GridEdgeWarning", "one_standard_error"),
    "search.deadline": ("TimeBudgetWarning",),
    "search.execution": ("RetrainingWarning",),
    "search.journal": ("JournalError", "JournalWarning"),
}
"""Names by the module that they are written in, which is imported when one of them is first used."""
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted([*_MODULES, *(name for name in _HOME_OF if not name.startswith("_"))])


def _register_known_estimators() -> None:
    """Register the readers of scikit-learn's and our own estimators, for a criterion that is called by itself.

    The package joins its layers here: ``machines`` holds the registry, and knows no estimator.
    """
    from .estimators import adapters  # noqa: F401


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _HOME_OF:
        value = getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
