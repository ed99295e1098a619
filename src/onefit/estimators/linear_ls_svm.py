"""The linear least-squares classifier that stands behind explicit features."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._public import set_module
from ..data.coding import class_weights, code_classes
from ..data.weights import check_sample_weight, one_class_only
from ..gram.streamed import Sums
from ..solvers.primal.ridge_path import ridge_path


@set_module("onefit")
class LinearLSSVC(ClassifierMixin, BaseEstimator):
    r"""Linear least-squares classifier with an unpenalised constant: LSSVC with a linear kernel, by its coefficients.

    .. math:: \min_{\beta, b} \sum_i w_i (y_i - \beta^T x_i - b)^2 + \alpha \|\beta\|^2, \quad y_i = \pm 1

    More than two classes are handled one-vs-rest. ``KernelSearchCV`` with an approximation delivers it behind
    ``LandmarkFeatures``.

    Parameters
    ----------
    alpha : float, default=1.0
        The ridge; positive.
    fit_intercept : bool, default=True
        Whether to have an unpenalised constant b.
    class_weight : dict or "balanced", default=None
        Multiplies the weights of the rows of each class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from onefit import LinearLSSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> round(LinearLSSVC(alpha=0.1).fit(X, y).score(X, y), 2)
    0.85
    """

    def __init__(self, alpha=1.0, fit_intercept=True, class_weight=None):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = not self.fit_intercept
        return tags

    def fit(self, X, y, sample_weight=None):
        """Train on X (n_samples, n_features) and labels y (n_samples,). Cost: O(n_samples n_features²)."""
        if not isinstance(self.alpha, Real) or not np.isfinite(self.alpha) or self.alpha <= 0:
            raise ValueError(f"alpha must be a finite positive number, got {self.alpha!r}.")
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        weights = check_sample_weight(sample_weight, len(y))
        self.classes_ = np.unique(y if weights is None else y[weights > 0])
        if len(self.classes_) < 2:
            raise ValueError(one_class_only(self, weights))
        weights = class_weights(self.class_weight, self.classes_, y, weights)
        root = np.ones((len(y), 1)) if weights is None else np.sqrt(weights)[:, None]
        E = np.column_stack([np.ones(len(y)), code_classes(y, self.classes_)])
        sums = Sums.zeros(1, X.shape[1], E.shape[1])
        sums.add_rows(0, np.ascontiguousarray(X * root), E * root)
        path = ridge_path(sums, np.array([float(self.alpha)]), bias=bool(self.fit_intercept))
        return self._take(path.coef[0], path.intercept[0])

    def _take(self, coef, intercept):
        """Keep a solution: coefficients (n_features, c) and constants (c,)."""
        self.coef_, self.intercept_ = np.ascontiguousarray(coef.T), intercept.copy()
        return self

    def decision_function(self, X):
        """Signed values, (n,) for two classes and (n, n_classes) for more."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        values = X @ self.coef_.T + self.intercept_
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X):
        """The class with the largest value."""
        values = self.decision_function(X)
        if values.ndim == 1:
            return self.classes_[(values > 0).astype(np.intp)]
        return self.classes_[values.argmax(axis=1)]
