"""Probabilities from out-of-fold decision values."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from .._public import set_module
from ..data.coding import PairCoding
from .decision import decides_pairs


@set_module("onefit")
def calibrated(search, method="sigmoid"):
    """A classifier with ``predict_proba``, calibrated from a search's out-of-fold decision values.

    No training is needed (of a retrained candidate one for each fold): ``oof_decision_`` holds values that no model has
    seen the labels of. Each class gets a curve from decision value to probability; several are normalised to one.

    Parameters
    ----------
    search : KernelSearchCV
        Fitted, with ``refit``, on a classifier.
    method : {"sigmoid", "isotonic"}, default="sigmoid"
        Platt's logistic curve, or a monotone step function, which needs more rows.

    Returns
    -------
    CalibratedSearch

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from onefit import KernelSearchCV, calibrated
    >>> X, y = load_iris(return_X_y=True)
    >>> search = KernelSearchCV(SVC(), {"gamma": [0.01, 0.1, 1], "C": [0.1, 1, 10]}, cv=5).fit(X, y)
    >>> calibrated(search).predict_proba(X[:2]).shape
    (2, 3)
    """
    if method not in ("sigmoid", "isotonic"):
        raise ValueError(f'method must be "sigmoid" or "isotonic", got {method!r}.')
    check_is_fitted(search)
    if not is_classifier(search):
        raise ValueError("Only classifiers have probabilities: the search is over a regressor.")
    if not hasattr(search, "best_estimator_") or not hasattr(search, "oof_decision_"):
        raise ValueError("The search must have been fitted with refit, and have out-of-fold decision values.")
    return CalibratedSearch(search, method)._calibrate(search)


@set_module("onefit")
class CalibratedSearch(ClassifierMixin, BaseEstimator):
    """The best estimator of a search with probabilities, as ``calibrated`` returns it.

    ``predict`` is that of the best estimator; the largest probability may, rarely, belong to another class.

    Parameters
    ----------
    search : KernelSearchCV
        The search; ``fit`` runs a copy of it.
    method : {"sigmoid", "isotonic"}, default="sigmoid"
        As in ``calibrated``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from onefit import CalibratedSearch, KernelSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = KernelSearchCV(SVC(), {"gamma": [0.01, 0.1, 1], "C": [0.1, 1, 10]}, cv=5)
    >>> CalibratedSearch(search).fit(X, y).predict_proba(X[:2]).argmax(axis=1).tolist()
    [0, 0]
    """

    def __init__(self, search, method="sigmoid"):
        self.search = search
        self.method = method

    def fit(self, X, y, **params):
        """Run a copy of the search on X and y, and calibrate it."""
        return self._calibrate(clone(self.search).fit(X, y, **params))

    def _calibrate(self, search):
        self.search_ = search
        self.classes_ = self.search_.classes_
        values = self._columns(self.search_.oof_decision_)
        labels, weights = self.search_._oof_labels, self.search_._oof_weights
        used = np.isfinite(values).all(axis=1) & (values > np.finfo(np.float64).min).all(axis=1)
        weights = None if weights is None else np.broadcast_to(weights, len(labels))[used]
        values, labels = values[used], labels[used]
        rows = np.arange(len(values))
        self.calibrator_ = CalibratedClassifierCV(
            FrozenEstimator(_DecisionValues(self.classes_)), method=self.method, cv=[(rows, rows)], ensemble=False
        )
        self.calibrator_.fit(values, labels, sample_weight=weights)
        return self

    def predict_proba(self, X):
        """Probabilities (n_samples, n_classes)."""
        check_is_fitted(self)
        return self.calibrator_.predict_proba(self._columns(self.search_.decision_function(X)))

    def decision_function(self, X):
        """The best estimator's decision values."""
        check_is_fitted(self)
        return self.search_.decision_function(X)

    def predict(self, X):
        """The best estimator's labels."""
        check_is_fitted(self)
        return self.search_.predict(X)

    def _columns(self, decision):
        """(n, 1) for two classes and (n, n_classes) for more, also where decisions are those of pairs."""
        if decision.ndim == 1:
            return decision[:, None]
        pairs = decides_pairs(self.search_.best_estimator_)
        return PairCoding(self.classes_, True).decision(-decision) if pairs else decision


@set_module("onefit")
class _DecisionValues(ClassifierMixin, BaseEstimator):
    """A classifier whose inputs are decision values already; saved models name it."""

    def __init__(self, classes):
        self.classes = classes

    def __sklearn_is_fitted__(self):
        return True

    @property
    def classes_(self):
        return self.classes

    def fit(self, X, y):
        """There is nothing to learn."""
        return self

    def decision_function(self, X):
        """The rows themselves."""
        return X[:, 0] if X.shape[1] == 1 else X

    def predict(self, X):
        """The class with the largest value."""
        chosen = (X[:, 0] > 0).astype(np.intp) if X.shape[1] == 1 else X.argmax(axis=1)
        return self.classes[chosen]


def logistic_curves(decision: Any, y: Any, classes: list) -> list[list[float]] | None:
    """Slope and offset of each class's curve from out-of-fold decision values; of two classes that of the second.

    The probability of a class is ``1 / (1 + exp(-(slope * value + offset)))``, of several classes divided by their sum.
    Targets are Platt's: (n + 1) / (n + 2) for the n rows of the class and 1 / (m + 2) for the m others, which keeps
    slopes finite where values tell the classes apart. None where no curve can be drawn.
    """
    values = np.asarray(decision, dtype=float).reshape(len(y), -1)
    known = np.isfinite(values).all(axis=1)
    values, labels = values[known], np.asarray(y)[known]
    if values.shape[1] not in (1, len(classes)) or set(np.unique(labels).tolist()) != set(classes):
        return None
    wanted = [classes[1]] if values.shape[1] == 1 else classes
    return [_curve(values[:, k], labels == label) for k, label in enumerate(wanted)]


def _curve(values: np.ndarray, positive: np.ndarray) -> list[float]:
    """Slope and offset of the logistic regression of a class: every row counts as both, with Platt's targets."""
    from sklearn.linear_model import LogisticRegression

    n, m = int(positive.sum()), int((~positive).sum())
    targets = np.where(positive, (n + 1) / (n + 2), 1 / (m + 2))
    unit = float(np.abs(values).max()) or 1.0
    X = np.concatenate([values, values])[:, None] / unit
    y = np.repeat([1, 0], len(values))
    model = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000)
    model.fit(X, y, sample_weight=np.concatenate([targets, 1 - targets]))
    return [float(model.coef_[0, 0]) / unit, float(model.intercept_[0])]


def probabilities(decision: Any, curves: list[list[float]]) -> np.ndarray:
    """Probabilities (n, classes) from decision values and the curves of ``logistic_curves``."""
    from scipy.special import expit

    values = np.asarray(decision, dtype=float).reshape(len(decision), -1)
    if values.shape[1] != len(curves):
        raise ValueError(f"the model has {values.shape[1]} decision values, and {len(curves)} curves of probabilities")
    slopes, offsets = np.transpose(np.asarray(curves, dtype=float))
    found = expit(values * slopes + offsets)
    if len(curves) == 1:
        return np.column_stack([1 - found[:, 0], found[:, 0]])
    sums = found.sum(axis=1, keepdims=True)
    return np.where(sums > 0, found / np.where(sums > 0, sums, 1.0), 1 / found.shape[1])
