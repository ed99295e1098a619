"""Least-squares support vector machines as scikit-learn estimators."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from .._checks import check_number
from .._public import set_module
from ..data.targets import check_sample_weight
from ..kernels.naming import kernel_of
from ..solvers.least_squares.training import fit_path
from .base import KernelMachine, OneVsRestMachine


class _LeastSquaresMachine(KernelMachine):
    """Parameters, kernel and fit, shared by the classifier and the regressor."""

    def __init__(self, alpha=1.0, kernel="rbf", gamma=None, degree=3, coef0=1, kernel_params=None, fit_intercept=True):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept

    def _check_params(self):
        check_number("alpha", self.alpha, "non-negative")
        return kernel_of(self, auto=False)

    def _fit_columns(self, X, Y, weights, kernel, *, flat):
        """Solve for columns Y (n, c) and keep what prediction needs."""
        K = self._bind(kernel, X)
        alpha = np.array([float(self.alpha)])
        options = {"weights": weights, "bias": self.fit_intercept, "positive": kernel.positive}
        path = fit_path(K, Y, alpha, minimum_norm=True, **options)
        if path.singular[0]:
            warnings.warn("The system is singular at this alpha: using its least-squares solution.", stacklevel=3)
        self._keep(X, path.dual[0], path.intercept[0], flat=flat)
        return self


@set_module("onefit")
class LSSVC(OneVsRestMachine, _LeastSquaresMachine):
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
        super().__init__(alpha, kernel, gamma, degree, coef0, kernel_params, fit_intercept)
        self.class_weight = class_weight

    def fit(self, X, y, sample_weight=None):
        """Train on X (n_samples, n_features) and labels y (n_samples,)."""
        kernel = self._check_params()
        X, Y, weights = self._read_columns(X, y, sample_weight)
        return self._fit_columns(X, Y, weights, kernel, flat=len(self.classes_) == 2)


@set_module("onefit")
class LSSVR(RegressorMixin, _LeastSquaresMachine):
    r"""Least-squares support vector regression: kernel ridge regression with an unpenalised bias.

    .. math:: \min_{f, b} \sum_i w_i (y_i - f(x_i) - b)^2 + \alpha \|f\|^2

    With ``fit_intercept=False`` it is ``KernelRidge``. Attributes are those of ``LSSVC`` without
    classes; y may have several columns.

    Parameters
    ----------
    alpha, kernel, gamma, degree, coef0, kernel_params, fit_intercept
        As in ``LSSVC``.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import LSSVR
    >>> X = np.linspace(0, 3, 30)[:, None]
    >>> model = LSSVR(alpha=1e-3, gamma=1.0).fit(X, np.sin(X[:, 0]) + 100)
    >>> round(float(model.predict([[1.5]])[0]), 2)
    101.0
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X, y, sample_weight=None):
        """Train on X (n_samples, n_features) and y (n_samples,) or (n_samples, n_targets)."""
        kernel = self._check_params()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, multi_output=True, y_numeric=True)
        Y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        return self._fit_columns(X, Y, check_sample_weight(sample_weight, len(Y)), kernel, flat=y.ndim == 1)

    def predict(self, X):
        """Predicted values, (n,) or (n, n_targets)."""
        return self._values(X)
