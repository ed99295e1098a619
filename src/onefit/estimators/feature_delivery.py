"""The model that a search with an approximation delivers: explicit features, then a linear machine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR

from ..data import Folds
from ..data.indexing import take_rows
from ..gram.feature_map import smallest_pivot
from ..resources import Ledger
from ..search.approximate import smallest_ridge, train_on_all_rows
from ..search.choice import Choice
from ..search.plan import plan
from ..search.routing import split_pipeline
from .epsilon_svm import EpsilonSVR
from .hinge_svm import HingeSVC
from .kernel_logistic import KernelLogisticRegression
from .l2_svm import L2SVC
from .landmark_features import LandmarkFeatures, RandomFourierFeatures
from .linear_ls_svm import LinearLSSVC
from .linear_machines import LinearEpsilonSVR, LinearHingeSVC, LinearL2SVC, LinearLogisticRegression


def deliver_on_features(choice: Choice) -> Pipeline:
    """The chosen candidate as an ordinary Pipeline, trained on all rows.

    Its steps have everything as parameters, landmarks included. The linear machine is trained from sums over blocks of
    rows: the features of all rows would not fit into memory.
    """
    request, model = choice.execution.request, choice.model()
    n = request.folds.n
    folds = Folds.from_splits([(np.arange(n), np.zeros(1, dtype=np.intp))], n)
    single = replace(request, folds=folds, scoring=None, columns=(), screen=None, deadline=None, refit=False)
    planned = plan(single, [choice.params])
    (task,), (path,) = planned.tasks, planned.paths
    assert planned.settings is not None
    solution, feature_map, fitted = train_on_all_rows(task, path, planned.settings, Ledger())
    transformers, final = split_pipeline(model)
    features = _features(request.basis, task.kernel, transformers, smallest_pivot(n, smallest_ridge(path)))
    features._adopt(feature_map, fitted, take_rows(request.X, np.arange(min(n, 2))))
    coef, intercept = path.of_candidates(solution.coef)[0], path.of_candidates(solution.intercept[:, None])[0, 0]
    if is_classifier(final):
        last = _linear_classifier(final, path.learner.bias)
        last.classes_ = np.asarray(path.coded.coding.classes)
        last.n_features_in_ = len(coef)
        return Pipeline([("features", features), ("machine", last._take(coef, intercept))])
    if isinstance(final, SVR | EpsilonSVR):
        last = LinearEpsilonSVR(final.C, final.epsilon, path.learner.bias)._take(coef[:, 0], intercept[0])
        last.n_features_in_ = len(coef)
        return Pipeline([("features", features), ("machine", last)])
    last = _trained_ridge(final.alpha, path.learner.bias, coef, intercept, flat=path.coded.coding.flat)
    return Pipeline([("features", features), ("machine", last)])


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


def _features(basis: Any, kernel: Any, transformers: Any, negligible: float) -> Any:
    if basis.landmarks is None:
        return RandomFourierFeatures(kernel, basis.count, basis.seed, transformers)
    return LandmarkFeatures(basis.landmarks, kernel, transformers, negligible)


def _trained_ridge(alpha: Any, bias: bool, coef: np.ndarray, intercept: np.ndarray, *, flat: bool) -> Ridge:
    """scikit-learn's Ridge with the coefficients (r, c) and constants (c,) of a solution."""
    ridge = Ridge(alpha=alpha, fit_intercept=bias)
    ridge.coef_ = coef[:, 0].copy() if flat else np.ascontiguousarray(coef.T)
    ridge.intercept_ = 0.0 if not bias else (float(intercept[0]) if flat else intercept.copy())
    ridge.n_features_in_, ridge.n_iter_, ridge.solver_ = len(coef), None, "cholesky"
    return ridge
