"""Linear classifiers that stand behind explicit features: trained by Newton's method on their coefficients."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._public import set_module
from ..data.coding import (
    Coding,
    PairCoding,
    class_probabilities,
    class_weights,
    code_classes,
    code_pairs,
    trained_weights,
)
from ..data.weights import check_sample_weight, one_class_only
from ..gram.cells import Cells
from ..gram.feature_map import IdentityMap
from ..solvers.logistic.newton import probability
from ..solvers.primal.margin_losses import LogisticLoss, SquaredHingeLoss
from ..solvers.primal.newton import columns_by_newton
from ..solvers.primal.smoothed import columns_smoothed, hinge_stages, tube_stages


def _one_cell(weights, n):
    """All rows in one cell, trained on by one split."""
    return Cells([0], np.zeros(n, dtype=np.intp), np.ones((1, 1)), weights, np.array([-1]))


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
        weights = self._weights(y, weights)
        Y, bias = self._code(y, self.classes_), bool(self.fit_intercept)
        parameters = self._solve(X, Y, _one_cell(weights, len(y)), bias)  # (q, c)
        constants = parameters[-1] if bias else np.zeros(Y.shape[1])
        return self._take(parameters[:-1] if bias else parameters, constants)

    def _weights(self, y, weights):
        return class_weights(self.class_weight, self.classes_, y, weights)

    def _solve(self, X, Y, cells, bias):
        """Coefficients, and the constant behind them if there is one, of each column (q, c)."""
        found, *_ = columns_by_newton(
            IdentityMap(X.shape[1]), X, Y, [cells], np.array([float(self.C)]), self._loss, bias=bias, ratios=np.ones(1)
        )
        return found[0, 0]

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


@set_module("onefit")
class LinearHingeSVC(_LinearClassifier):
    r"""Linear support vector classifier with an unpenalised constant, one-vs-one, whose hinge loss is smoothed.

    .. math:: \min_{\beta, b} \tfrac12 \|\beta\|^2 + C \sum_i w_i\, l_h(1 - y_i (\beta^T x_i + b)), \quad
        l_h(m) = \max(0, m) \text{ but } (m + h)^2 / 4h \text{ for } |m| \le h

    ``KernelSearchCV`` with an approximation delivers it behind ``LandmarkFeatures`` for ``SVC`` and ``HingeSVC``.
    Attributes are those of ``LinearL2SVC``.

    Parameters
    ----------
    C, fit_intercept, class_weight
        As in ``LinearL2SVC``.
    smoothing : float, default=0.01
        h: over how much on both sides of its kink the loss is quadratic.
    decision_function_shape, break_ties
        As in ``SVC``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from onefit import LinearHingeSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> round(LinearHingeSVC(C=1.0).fit(X, y).score(X, y), 2)
    0.99
    """

    def __init__(
        self,
        C=1.0,
        fit_intercept=True,
        class_weight=None,
        smoothing=0.01,
        decision_function_shape="ovr",
        break_ties=False,
    ):
        super().__init__(C, fit_intercept, class_weight)
        self.smoothing = smoothing
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties

    def _weights(self, y, weights):
        return trained_weights(self.class_weight, self.classes_, y, weights, balance_weighted=False)

    def _solve(self, X, Y, cells, bias):
        found, *_ = columns_smoothed(
            IdentityMap(X.shape[1]), X, Y, [cells], np.array([float(self.C)]), hinge_stages(float(self.smoothing)),
            bias=bias, ratios=np.ones(1), pairs=True,
        )  # fmt: skip
        return found[0, 0]

    def _code(self, y, classes):
        return code_pairs(y, classes)

    def _coding(self):
        check_is_fitted(self)
        return PairCoding(self.classes_, True, self.decision_function_shape, self.break_ties)


@set_module("onefit")
class LinearEpsilonSVR(RegressorMixin, BaseEstimator):
    r"""Linear support vector regression with an unpenalised constant; its loss is smoothed over epsilon / 100.

    .. math:: \min_{\beta, b} \tfrac12 \|\beta\|^2 + C \sum_i w_i\, l_h(|y_i - \beta^T x_i - b| - \epsilon)

    ``KernelSearchCV`` with an approximation delivers it behind ``LandmarkFeatures`` for ``SVR`` and ``EpsilonSVR``.

    Parameters
    ----------
    C : float, default=1.0
        The penalty; positive. Smaller is smoother.
    epsilon : float, default=0.1
        Half the width of the tube without loss; positive.
    fit_intercept : bool, default=True
        Whether to have an unpenalised constant b.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from onefit import LinearEpsilonSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> round(LinearEpsilonSVR(C=100.0).fit(X, y).score(X, y), 2)
    0.48
    """

    def __init__(self, C=1.0, epsilon=0.1, fit_intercept=True):
        self.C = C
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept

    def fit(self, X, y, sample_weight=None):
        """Train on X (n_samples, n_features) and y (n_samples,). Cost: some ten times O(n_samples n_features)."""
        for name in ("C", "epsilon"):
            value = getattr(self, name)
            if not np.isscalar(value) or isinstance(value, str) or not np.isfinite(value) or value <= 0:
                raise ValueError(f"{name} must be a finite positive number, got {value!r}.")
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True)
        weights, bias = check_sample_weight(sample_weight, len(y)), bool(self.fit_intercept)
        y = np.asarray(y, dtype=np.float64)
        found, *_ = columns_smoothed(
            IdentityMap(X.shape[1]), X, y[:, None], [_one_cell(weights, len(y))], np.array([float(self.C)]),
            tube_stages(float(self.epsilon), float(y.std())), bias=bias, ratios=np.ones(1), pairs=False,
        )  # fmt: skip
        parameters = found[0, 0, :, 0]
        return self._take(parameters[:-1] if bias else parameters, parameters[-1] if bias else 0.0)

    def _take(self, coef, intercept):
        """Keep a solution: coefficients (n_features,) and the constant."""
        self.coef_, self.intercept_ = np.array(coef), float(intercept)
        return self

    def predict(self, X):
        """Predicted values (n,)."""
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False) @ self.coef_ + self.intercept_
