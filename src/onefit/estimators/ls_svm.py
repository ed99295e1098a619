"""Least-squares support vector machines as scikit-learn estimators."""

from __future__ import annotations

import warnings
from numbers import Real

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from .. import kernels
from .._public import set_module
from ..data.coding import class_weights, code_classes
from ..data.weights import check_sample_weight, one_class_only
from ..solvers.least_squares.training import fit_path
from .kernel_machine import KernelMachine


class _LeastSquaresMachine(KernelMachine):
    """Kernel and fit, shared by the classifier and the regressor."""

    def _check_params(self):
        if not isinstance(self.alpha, Real) or not np.isfinite(self.alpha) or self.alpha < 0:
            raise ValueError(f"alpha must be a finite number >= 0, got {self.alpha!r}.")
        return kernels.from_params(
            self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=self.kernel_params,
        )

    def _fit_coded(self, X, Y, weights, kernel):
        """Solve for coded targets Y (n, c) and keep what prediction needs."""
        K = self._bind(kernel, X)
        alpha = np.array([float(self.alpha)])
        options = {"weights": weights, "bias": self.fit_intercept, "positive": kernel.positive}
        path = fit_path(K, Y, alpha, minimum_norm=True, **options)
        if path.singular[0]:
            warnings.warn("The system is singular at this alpha: using its least-squares solution.", stacklevel=3)
        self.X_fit_ = X
        return path.dual[0], path.intercept[0]


@set_module("onefit")
class LSSVC(ClassifierMixin, _LeastSquaresMachine):
    r"""Least-squares support vector classifier.

    .. math:: \min_{f, b} \sum_i w_i (y_i - f(x_i) - b)^2 + \alpha \|f\|^2, \quad y_i = \pm 1

    More than two classes are handled one-vs-rest, all from one factorisation.

    Parameters
    ----------
    alpha : float, default=1.0
        The ridge, as in ``KernelRidge``; non-negative. Larger is smoother.
    kernel : str, Kernel or callable, default="rbf"
        A name that ``KernelRidge`` accepts, "precomputed", an ``onefit.kernels`` object, or a callable that
        takes two rows and returns a number.
    gamma, degree, coef0, kernel_params
        Kernel parameters, as in ``KernelRidge``.
    fit_intercept : bool, default=True
        Whether to have an unpenalised bias b.
    class_weight : dict or "balanced", default=None
        Multiplies the weights of the rows of each class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
    intercept_ : float or ndarray of shape (n_classes,)
    X_fit_ : training data, needed to predict

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from onefit import LSSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> round(LSSVC(gamma=0.5, alpha=0.1).fit(X, y).score(X, y), 2)
    0.99
    """

    def __init__(
        self,
        alpha=1.0,
        kernel="rbf",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        fit_intercept=True,
        class_weight=None,
    ):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # Without a bias, values far from all training rows are near zero, whatever the class weights.
        tags.classifier_tags.poor_score = not self.fit_intercept
        return tags

    def fit(self, X, y, sample_weight=None):
        """Train on X (n_samples, n_features) and labels y (n_samples,)."""
        kernel = self._check_params()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        weights = check_sample_weight(sample_weight, len(y))
        seen = y if weights is None else y[weights > 0]
        self.classes_ = np.unique(seen)
        if len(self.classes_) < 2:
            raise ValueError(one_class_only(self, weights))
        weights = class_weights(self.class_weight, self.classes_, y, weights)
        dual, intercept = self._fit_coded(X, code_classes(y, self.classes_), weights, kernel)
        binary = len(self.classes_) == 2
        self.dual_coef_ = dual[:, 0] if binary else dual
        self.intercept_ = float(intercept[0]) if binary else intercept
        return self

    def decision_function(self, X):
        """Signed values, (n,) for two classes and (n, n_classes) for more."""
        return self._values(X)

    def predict(self, X):
        """The class with the largest value."""
        values = self.decision_function(X)
        if values.ndim == 1:
            return self.classes_[(values > 0).astype(np.intp)]
        return self.classes_[values.argmax(axis=1)]


@set_module("onefit")
class LSSVR(RegressorMixin, _LeastSquaresMachine):
    r"""Least-squares support vector regression: kernel ridge regression with an unpenalised bias.

    .. math:: \min_{f, b} \sum_i w_i (y_i - f(x_i) - b)^2 + \alpha \|f\|^2

    With ``fit_intercept=False`` it is ``KernelRidge``. Parameters and attributes are those of ``LSSVC``
    without classes; y may have several columns.

    Parameters
    ----------
    alpha : float, default=1.0
        Ridge, as in ``KernelRidge``: positive, or zero.
    kernel : str, callable or Kernel, default="rbf"
        As in ``LSSVC``.
    gamma : float, default=None
        None is ``1 / n_features``, as in ``KernelRidge``.
    degree : float, default=3
        Degree of polynomial kernels.
    coef0 : float, default=1
        Constant of polynomial and sigmoid kernels.
    kernel_params : dict, default=None
        Keyword parameters of a callable kernel.
    fit_intercept : bool, default=True
        Whether there is an unpenalised bias.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import LSSVR
    >>> X = np.linspace(0, 3, 30)[:, None]
    >>> model = LSSVR(alpha=1e-3, gamma=1.0).fit(X, np.sin(X[:, 0]) + 100)
    >>> round(float(model.predict([[1.5]])[0]), 2)
    101.0
    """

    def __init__(self, alpha=1.0, kernel="rbf", gamma=None, degree=3, coef0=1, kernel_params=None, fit_intercept=True):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X, y, sample_weight=None):
        """Train on X (n_samples, n_features) and y (n_samples,) or (n_samples, n_targets)."""
        kernel = self._check_params()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, multi_output=True, y_numeric=True)
        Y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        dual, intercept = self._fit_coded(X, Y, check_sample_weight(sample_weight, len(Y)), kernel)
        self.dual_coef_ = dual[:, 0] if y.ndim == 1 else dual
        self.intercept_ = float(intercept[0]) if y.ndim == 1 else intercept
        return self

    def predict(self, X):
        """Predicted values, (n,) or (n, n_targets)."""
        return self._values(X)
