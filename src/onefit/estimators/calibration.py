"""Probabilities from out-of-fold decision values."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._public import set_module
from ..data.coding import PairCoding


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
        model = self.search_.best_estimator_
        final = model.steps[-1][1] if isinstance(model, Pipeline) else model
        if getattr(final, "decision_function_shape", "ovr") == "ovo":
            return PairCoding(self.classes_, True).decision(-decision)
        return decision


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
