"""Linear machines that stand behind explicit features, trained on their coefficients."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._checks import check_number
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
from ..data.targets import check_sample_weight
from ..gram.cells import Cells
from ..gram.feature_map import IdentityMap
from ..gram.streamed import Sums
from ..losses.margin import LogisticLoss, SquaredHingeLoss
from ..solvers.logistic.newton import probability
from ..solvers.primal.newton import columns_by_newton
from ..solvers.primal.ridge_path import ridge_path
from ..solvers.primal.smoothed import columns_smoothed, hinge_stages, tube_stages
from .base import WeightedClassifier


def _trained(solver, machine, X, Y, weights, loss, **options):
    """Coefficients (r, c) and constants (c,) of a machine on all rows, by a solver of splits: they are the only one."""
    bias, everything = bool(machine.fit_intercept), np.zeros(len(Y), dtype=np.intp)
    cells = [Cells([0], everything, np.ones((1, 1)), weights, np.array([-1]))]
    found, *_ = solver(
        IdentityMap(X.shape[1]), X, Y, cells, np.array([float(machine.C)]), loss,
        bias=bias, ratios=np.ones(1), **options,
    )  # fmt: skip
    parameters = found[0, 0]
    return (parameters[:-1], parameters[-1]) if bias else (parameters, np.zeros(parameters.shape[1]))


class _LinearClassifier(WeightedClassifier, BaseEstimator):
    """Coefficients and constants of one column for two classes, or one for each of several against the rest."""

    def fit(self, X, y, sample_weight=None):
        """Train on X (n_samples, n_features) and labels y (n_samples,). Cost: a few times O(n_samples n_features²)."""
        self._check_params()
        X, y, weights = self._read_classes(X, y, sample_weight, order="C")
        return self._take(*self._solve(X, self._code(y), self._weights(y, weights)))

    def _code(self, y):
        """A column of -1 and +1 for each machine (n, c)."""
        return code_classes(y, self.classes_)

    def _coding(self):
        """How values (n, c) relate to classes."""
        return Coding(self.classes_, flat=True)

    def _weights(self, y, weights):
        return class_weights(self.class_weight, self.classes_, y, weights)

    def _take(self, coef, intercept):
        """Keep a solution: coefficients (n_features, c) and constants (c,)."""
        self.coef_, self.intercept_ = np.ascontiguousarray(coef.T), np.array(intercept)
        return self

    def decision_function(self, X):
        """Signed values (n,) for two classes, (n, n_classes) for more."""
        values = self._values(X)
        return self._coding().decision(values)

    def predict(self, X):
        """Predict labels."""
        values = self._values(X)
        return self._coding().predict(values)

    def _values(self, X):
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False) @ self.coef_.T + self.intercept_


@set_module("onefit")
class LinearLSSVC(_LinearClassifier):
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

    def _check_params(self):
        check_number("alpha", self.alpha)

    def _solve(self, X, Y, weights):
        root = np.ones((len(Y), 1)) if weights is None else np.sqrt(weights)[:, None]
        E = np.column_stack([np.ones(len(Y)), Y])
        sums = Sums.zeros(1, X.shape[1], E.shape[1])
        sums.add_rows(0, np.ascontiguousarray(X * root), E * root)
        path = ridge_path(sums, np.array([float(self.alpha)]), bias=bool(self.fit_intercept))
        return path.coef[0], path.intercept[0]


class _ByNewton(_LinearClassifier):
    """Minimises its ``_loss``, a sum over rows, by Newton's method."""

    def __init__(self, C=1.0, fit_intercept=True, class_weight=None):
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight

    def _check_params(self):
        check_number("C", self.C)

    def _solve(self, X, Y, weights):
        return _trained(columns_by_newton, self, X, Y, weights, self._loss)


@set_module("onefit")
class LinearL2SVC(_ByNewton):
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

    def _code(self, y):
        return code_pairs(y, self.classes_)

    def _coding(self):
        return PairCoding(self.classes_, True)


@set_module("onefit")
class LinearLogisticRegression(_ByNewton):
    r"""Logistic regression with an unpenalised constant, one-vs-rest: ``KernelLogisticRegression`` by its coefficients.

    .. math:: \min_{\beta, b} \tfrac12 \|\beta\|^2 + C \sum_i w_i \log(1 + \exp(-y_i (\beta^T x_i + b)))

    ``KernelSearchCV`` with an approximation delivers it behind ``LandmarkFeatures``. Attributes are those of
    ``LinearL2SVC``, with a column for each class if there are more than two.

    Parameters
    ----------
    C, fit_intercept, class_weight
        As in ``LinearL2SVC``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from onefit import LinearLogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> round(LinearLogisticRegression(C=1.0).fit(X, y).score(X, y), 2)
    0.95
    """

    _loss = LogisticLoss()

    def predict_proba(self, X):
        """Probabilities of the classes (n, n_classes), in the order of ``classes_``."""
        return class_probabilities(self.decision_function(X), probability)


@set_module("onefit")
class LinearHingeSVC(_ByNewton):
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

    def _solve(self, X, Y, weights):
        return _trained(columns_smoothed, self, X, Y, weights, hinge_stages(float(self.smoothing)), pairs=True)

    def _code(self, y):
        return code_pairs(y, self.classes_)

    def _coding(self):
        return PairCoding(self.classes_, True, self.decision_function_shape, self.break_ties)


@set_module("onefit")
class LinearEpsilonSVR(RegressorMixin, BaseEstimator):
    r"""Linear support vector regression with an unpenalised constant; its loss is smoothed over epsilon / 100.

    .. math:: \min_{\beta, b} \tfrac12 \|\beta\|^2 + C \sum_i w_i\, l_h(|y_i - \beta^T x_i - b| - \epsilon)

    ``KernelSearchCV`` with an approximation delivers it behind ``LandmarkFeatures`` for ``SVR`` and ``EpsilonSVR``.

    Parameters
    ----------
    C, fit_intercept
        As in ``LinearL2SVC``.
    epsilon : float, default=0.1
        Half the width of the tube without loss; positive.

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
        check_number("C", self.C)
        check_number("epsilon", self.epsilon)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True)
        weights, y = check_sample_weight(sample_weight, len(y)), np.asarray(y, dtype=np.float64)
        stages = tube_stages(float(self.epsilon), float(y.std()))
        coef, intercept = _trained(columns_smoothed, self, X, y[:, None], weights, stages, pairs=False)
        return self._take(coef[:, 0], intercept[0])

    def _take(self, coef, intercept):
        """Keep a solution: coefficients (n_features,) and the constant."""
        self.coef_, self.intercept_ = np.array(coef), float(intercept)
        return self

    def predict(self, X):
        """Predicted values (n,)."""
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False) @ self.coef_ + self.intercept_
