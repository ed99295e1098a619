"""Linear classifiers that stand behind explicit features: trained by Newton's method on their coefficients."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._public import set_module
from ..data.coding import Coding, PairCoding, class_probabilities, class_weights, code_classes, code_pairs
from ..data.weights import check_sample_weight, one_class_only
from ..gram.cells import Cells
from ..gram.feature_map import IdentityMap
from ..solvers.logistic.newton import probability
from ..solvers.primal.margin_losses import LogisticLoss, SquaredHingeLoss
from ..solvers.primal.newton import columns_by_newton


class _LinearClassifier(ClassifierMixin, BaseEstimator):
    """Coefficients and constants of one column for each pair of classes, or each class against the rest."""

    def __init__(self, C=1.0, fit_intercept=True, class_weight=None):
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = not self.fit_intercept
        return tags

    def fit(self, X, y, sample_weight=None):
        """Train on X (n_samples, n_features) and labels y (n_samples,). Cost: a few times O(n_samples n_features²)."""
        if not np.isscalar(self.C) or isinstance(self.C, str) or not np.isfinite(self.C) or self.C <= 0:
            raise ValueError(f"C must be a finite positive number, got {self.C!r}.")
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        weights = check_sample_weight(sample_weight, len(y))
        self.classes_ = np.unique(y if weights is None else y[weights > 0])
        if len(self.classes_) < 2:
            raise ValueError(one_class_only(self, weights))
        weights = class_weights(self.class_weight, self.classes_, y, weights)
        Y, bias = self._code(y, self.classes_), bool(self.fit_intercept)
        cells = Cells([0], np.zeros(len(y), dtype=np.intp), np.ones((1, 1)), weights, np.array([-1]))
        found, *_ = columns_by_newton(
            IdentityMap(X.shape[1]), X, Y, [cells], np.array([float(self.C)]), self._loss, bias=bias, ratios=np.ones(1)
        )
        parameters = found[0, 0]  # (q, c)
        constants = parameters[-1] if bias else np.zeros(Y.shape[1])
        return self._take(parameters[:-1] if bias else parameters, constants)

    def _take(self, coef, intercept):
        """Keep a solution: coefficients (n_features, c) and constants (c,)."""
        self.coef_, self.intercept_ = np.ascontiguousarray(coef.T), np.array(intercept)
        return self

    def decision_function(self, X):
        """Signed values (n,) for two classes, (n, n_classes) for more."""
        return self._coding().decision(self._values(X))

    def predict(self, X):
        """Predict labels."""
        return self._coding().predict(self._values(X))

    def _values(self, X):
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False) @ self.coef_.T + self.intercept_


@set_module("onefit")
class LinearL2SVC(_LinearClassifier):
    r"""Linear support vector classifier with the squared hinge loss and an unpenalised constant, one-vs-one.

    .. math:: \min_{\beta, b} \tfrac12 \|\beta\|^2 + C \sum_i w_i \max(0, 1 - y_i (\beta^T x_i + b))^2

    ``L2SVC`` with a linear kernel, by its coefficients: for many rows and few features. ``KernelSearchCV`` with an
    approximation delivers it behind ``LandmarkFeatures``.

    Parameters
    ----------
    C : float, default=1.0
        The penalty; positive. Smaller is smoother.
    fit_intercept : bool, default=True
        Whether to have an unpenalised constant b.
    class_weight : dict or "balanced", default=None
        Multiplies C for the rows of each class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_pairs, n_features)
    intercept_ : ndarray of shape (n_pairs,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from onefit import LinearL2SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> round(LinearL2SVC(C=1.0).fit(X, y).score(X, y), 2)
    0.99
    """

    _loss = SquaredHingeLoss()

    def _code(self, y, classes):
        return code_pairs(y, classes)

    def _coding(self):
        check_is_fitted(self)
        return PairCoding(self.classes_, True)


@set_module("onefit")
class LinearLogisticRegression(_LinearClassifier):
    r"""Logistic regression with an unpenalised constant, one-vs-rest: ``KernelLogisticRegression`` by its coefficients.

    .. math:: \min_{\beta, b} \tfrac12 \|\beta\|^2 + C \sum_i w_i \log(1 + \exp(-y_i (\beta^T x_i + b)))

    ``KernelSearchCV`` with an approximation delivers it behind ``LandmarkFeatures``. Parameters and attributes are
    those of ``LinearL2SVC``, with a column for each class if there are more than two.

    Parameters
    ----------
    C : float, default=1.0
        The penalty; positive. Smaller is smoother.
    fit_intercept : bool, default=True
        Whether to have an unpenalised constant b.
    class_weight : dict or "balanced", default=None
        Multiplies C for the rows of each class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from onefit import LinearLogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> round(LinearLogisticRegression(C=1.0).fit(X, y).score(X, y), 2)
    0.95
    """

    _loss = LogisticLoss()

    def _code(self, y, classes):
        return code_classes(y, classes)

    def _coding(self):
        check_is_fitted(self)
        return Coding(self.classes_, flat=True)

    def predict_proba(self, X):
        """Probabilities of the classes (n, n_classes), in the order of ``classes_``."""
        return class_probabilities(self.decision_function(X), probability)
