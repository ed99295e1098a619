"""Machines inside of wrappers: data, grids, and comparisons with GridSearchCV."""

import warnings

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC, SVR

from onefit import (
    L2SVC,
    LSSVC,
    LSSVR,
    EpsilonSVR,
    HingeSVC,
    KernelLogisticRegression,
    KernelSearchCV,
    RetrainingWarning,
)

PENALTY = {"C": [0.3, 3.0], "alpha": [0.1, 1.0]}
CLASSIFIERS = [SVC(tol=1e-8), HingeSVC(), L2SVC(), KernelLogisticRegression(), LSSVC()]
REGRESSORS = [SVR(tol=1e-8), EpsilonSVR(), KernelRidge(kernel="rbf"), LSSVR()]
TOLERANCE = 1e-6
LIBSVM = 1e-5
"""Of SVR, whose kernel LIBSVM keeps in single precision: values of 100 are known to 1e-4. EpsilonSVR, the machine with
the same loss, is held to the tolerance above."""


def problem(machine, outputs=1):
    """60 rows; three classes of unequal sizes, or targets between 20 and 130."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 4)) * [1, 2, 3, 1] + 1
    smooth = np.column_stack([np.sin(X[:, 0]) + X[:, 1] / 3, np.cos(X[:, 2]) - X[:, 0]])
    noisy = smooth + 0.3 * rng.normal(size=smooth.shape)
    if is_classifier(machine):
        return X, np.array(["ant", "bee", "cat"])[np.searchsorted([-0.2, 1.0], noisy[:, 0])]
    Y = 20 * noisy + 70
    return X, Y[:, 0] if outputs == 1 else Y


def grid_of(machine, prefix):
    """Widths and penalties of a machine that stands at a prefix."""
    penalty = "C" if hasattr(machine, "C") else "alpha"
    return {f"{prefix}{penalty}": PENALTY[penalty], f"{prefix}gamma": [0.02, 0.2]}


def both(estimator, grid, X, y, *, fit_params=None, **options):
    """The two searches, fitted; the fast one without a word of retraining."""
    slow = GridSearchCV(estimator, grid, **options).fit(X, y, **(fit_params or {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RetrainingWarning)
        fast = KernelSearchCV(estimator, grid, **options).fit(X, y, **(fit_params or {}))
    return slow, fast


def tolerance_of(machine):
    """How far scores may differ from those that scikit-learn computes with this machine."""
    return LIBSVM if isinstance(machine, SVR) else TOLERANCE


def assert_same(slow, fast, exactly=False, tolerance=TOLERANCE):
    """Scores split by split, the choice, and labels that say exact."""
    assert set(fast.cv_results_["exactness"]) == {"exact"}
    for key, scores in slow.cv_results_.items():
        if key.startswith("split"):
            bound = 1e-12 if exactly else tolerance
            np.testing.assert_allclose(fast.cv_results_[key], scores, rtol=bound, atol=bound)
    assert fast.best_params_ == slow.best_params_
    assert type(fast.best_estimator_) is type(slow.best_estimator_)


def assert_delivered(search, X, y, cv, scoring, tolerance=TOLERANCE, **fit_params):
    """The delivered model's clone, trained on the folds, has the scores of the chosen row."""
    scores = cross_val_score(clone(search.best_estimator_), X, y, cv=cv, scoring=scoring, params=fit_params)
    own = [search.cv_results_[f"split{i}_test_score"][search.best_index_] for i in range(len(scores))]
    np.testing.assert_allclose(own, scores, rtol=tolerance, atol=tolerance)


def name_of(value):
    return type(value).__name__ if hasattr(value, "fit") else None


def quiet(call, *args, **options):
    """The outcome of a call without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args, **options)
