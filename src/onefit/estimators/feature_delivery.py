"""Models that a search with an approximation delivers: explicit features, a linear machine; scores by landmarks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR

from .._exceptions import warn_caller
from .._public import set_module
from ..data import Folds
from ..data.folds import take_rows
from ..data.views import checked_rows
from ..gram.approximation import Landmarks
from ..gram.basis import Basis
from ..resources import Ledger
from ..search.basis_choice import choose_basis
from ..search.choice import Choice
from ..search.deadline import Deadline
from ..search.feature_solver import train_on_all_rows
from ..search.plan import plan
from ..search.request import Request
from ..search.routing import split_pipeline
from ..search.table import standard_error
from ..search.tasks import KernelTask
from .kernel_logistic import KernelLogisticRegression
from .landmark_features import LandmarkFeatures, RandomFourierFeatures
from .linear_machines import LinearEpsilonSVR, LinearHingeSVC, LinearL2SVC, LinearLogisticRegression, LinearLSSVC
from .support_vector import L2SVC, EpsilonSVR, HingeSVC


def deliver_on_features(choice: Choice) -> Pipeline:
    """The chosen candidate as an ordinary Pipeline, trained on all rows.

    Its steps have everything as parameters, landmarks included. The linear machine is that of the row, if the sums over
    the folds gave it, or is trained from sums over blocks of rows: the features of all would not fit into memory.
    """
    request, model = choice.execution.request, choice.model()
    n = request.folds.n
    folds = Folds.from_splits([(np.arange(n), np.zeros(1, dtype=np.intp))], n)
    single = replace(request, folds=folds, scoring=None, columns=(), screen=None, deadline=Deadline(), refit=False)
    planned = plan(single, [choice.params])
    (task,), (path,) = planned.tasks, planned.paths
    task = replace(task, basis=_basis_of_refit(request, task))
    assert planned.settings is not None
    machine, fitted = choice.row.machine, None
    if machine is None or task.basis is not request.basis:
        solution, feature_map, fitted = train_on_all_rows(task, path, planned.settings, Ledger())
        coef, intercept = path.of_candidates(solution.coef)[0], path.of_candidates(solution.intercept[:, None])[0, 0]
    else:
        coef, intercept = machine.coef, machine.intercept
        basis, d = task.basis, np.shape(request.X)[1]
        assert basis is not None
        landmarks = None if basis.landmarks is None else checked_rows(basis.landmarks)
        feature_map = basis.feature_map(task.kernel.bound(d), landmarks, d)
    parts = split_pipeline(model)
    transformers, final = parts.transformers, parts.final
    features = _features(task.basis, task.kernel, transformers)
    features._adopt(feature_map, fitted, take_rows(request.X, np.arange(min(n, 2))))
    if is_classifier(final):
        last = _linear_classifier(final, path.learner.bias)._take(coef, intercept)
        last.classes_ = np.asarray(path.coded.coding.classes)
    elif isinstance(final, SVR | EpsilonSVR):
        last = LinearEpsilonSVR(final.C, final.epsilon, path.learner.bias)._take(coef[:, 0], intercept[0])
    else:
        last = _trained_ridge(final.alpha, path.learner.bias, coef, intercept, flat=path.coded.coding.flat)
    last.n_features_in_ = len(coef)
    return Pipeline([("features", features), ("machine", last)])


def _basis_of_refit(request: Request, task: KernelTask) -> Basis | None:
    """The landmarks of the search, or more of them, drawn at the chosen kernel, where ``refit_landmarks`` asks so."""
    asked = request.approximation
    if not isinstance(asked, Landmarks) or asked.refit_landmarks is None:
        return request.basis
    more = replace(asked, n_landmarks=asked.refit_landmarks, refit_landmarks=None)
    return choose_basis(more, [task], request.X)


def _linear_classifier(final: Any, bias: bool) -> Any:
    """The linear machine with the loss of a kernel machine."""
    if isinstance(final, L2SVC):
        return LinearL2SVC(final.C, bias, final.class_weight)
    if isinstance(final, SVC):
        shape = {"decision_function_shape": final.decision_function_shape, "break_ties": final.break_ties}
        return LinearHingeSVC(final.C, bias, final.class_weight, **shape)
    if isinstance(final, HingeSVC):
        return LinearHingeSVC(final.C, bias, final.class_weight)
    if isinstance(final, KernelLogisticRegression):
        return LinearLogisticRegression(final.C, bias, final.class_weight)
    return LinearLSSVC(final.alpha, bias, final.class_weight)


def _features(basis: Any, kernel: Any, transformers: Any) -> Any:
    if basis.landmarks is None:
        return RandomFourierFeatures(kernel, basis.count, basis.seed, transformers)
    return LandmarkFeatures(basis.landmarks, kernel, transformers)


def _trained_ridge(alpha: Any, bias: bool, coef: np.ndarray, intercept: np.ndarray, *, flat: bool) -> Ridge:
    """scikit-learn's Ridge with the coefficients (r, c) and constants (c,) of a solution."""
    ridge = Ridge(alpha=alpha, fit_intercept=bias)
    ridge.coef_ = coef[:, 0].copy() if flat else np.ascontiguousarray(coef.T)
    ridge.intercept_ = 0.0 if not bias else (float(intercept[0]) if flat else intercept.copy())
    ridge.n_iter_, ridge.solver_ = None, "cholesky"
    return ridge


@set_module("onefit")
class LandmarksWarning(UserWarning):
    """More landmarks would probably help."""


def landmarks_curve(choice: Choice) -> dict[str, Any]:
    """``landmarks_curve_`` of a search with landmarks: scores of the best candidate with the first of them only.

    The landmarks are nested, so that these scores come from leading blocks of the same sums. A warning says that the
    second half of the landmarks raised the score by more than one standard error over the splits: then more of them may
    raise it further.
    """
    basis, row = choice.execution.request.basis, choice.row
    assert basis is not None
    if choice.metric not in row.curve:
        return {}
    scores = row.curve[choice.metric]  # (sizes, splits)
    if len(scores) == 1:  # too few landmarks, or random features, or an iterative solution
        return {}
    curve = {
        "n_landmarks": np.array(basis.sizes),
        "mean_test_score": scores.mean(axis=1),
        "std_test_score": scores.std(axis=1),
    }
    gain = curve["mean_test_score"][-1] - curve["mean_test_score"][-2]
    if gain > standard_error(scores[-1]):
        warn_caller(
            f"{basis.count} landmarks score {gain:.3g} better than half as many, more than a standard error: more of "
            "them would probably help (see landmarks_curve_).",
            LandmarksWarning,
        )
    return {"landmarks_curve_": curve}
