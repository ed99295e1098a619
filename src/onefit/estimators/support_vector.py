"""Support vector machines as scikit-learn estimators, trained by the solver of the searches."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from .._checks import check_number
from .._public import set_module
from ..data.coding import PairCoding, code_pairs, trained_weights
from ..data.targets import check_sample_weight
from ..kernels.naming import kernel_of
from ..solvers.svm.learner import EpsilonInsensitive, Hinge, SquaredHinge, SupportVectorLearner, require_compiled_loops
from .base import KernelMachine, WeightedClassifier, check_solver_params


class SupportVectorMachine(KernelMachine, ABC):
    """An estimator that is trained by the solver of the searches, one dual problem for each column of its targets.

    A column is a pair of classes, or a regression.
    """

    def __init__(self, C, kernel, gamma, degree, coef0, fit_intercept, tol, max_iter):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    @abstractmethod
    def learner(self) -> SupportVectorLearner:
        """The loss, with its parameters and the bias, if there is one."""

    @abstractmethod
    def _read_columns(self, X, y, sample_weight) -> tuple[Any, Any, Any]:
        """(checked rows, columns of targets (n, c), weights of the rows or None)."""

    def fit(self, X, y, sample_weight=None):
        """Train the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows, or their kernel matrix (n_samples, n_samples) if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Labels, or numbers in regression.
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies C for each row; rows of weight zero are left out.

        Returns
        -------
        self
        """
        require_compiled_loops()
        from ..solvers.svm.training import fit_columns

        kernel = self._check_params()
        X, Y, weights = self._read_columns(X, y, sample_weight)
        K = self._bind(kernel, X)
        fit = fit_columns(
            self.learner(), K, Y, float(self.C), weights,
            positive=kernel.positive, tolerance=self.tol, max_rounds=None if self.max_iter == -1 else self.max_iter,
        )  # fmt: skip
        if not fit.converged:
            warnings.warn("The solver did not converge: raise max_iter or tol.", ConvergenceWarning, stacklevel=2)
        self.support_ = np.flatnonzero(fit.dual.any(axis=1))
        self.support_vectors_ = np.empty((0, 0)) if self._precomputed else X[self.support_]
        self.dual_coef_ = np.ascontiguousarray(fit.dual[self.support_].T)
        self.intercept_, self.dual_gap_, self.n_iter_ = fit.intercept, fit.gap, fit.rounds
        return self

    def _products(self, X):
        K = X[:, self.support_] if self._precomputed else self._kernel_between(X, self.support_vectors_)
        return K @ self.dual_coef_.T

    def _check_params(self):
        """The kernel; parameters that make no sense are errors that name them."""
        check_solver_params(self)
        return kernel_of(self)


class SupportVectorClassifier(WeightedClassifier, SupportVectorMachine):
    """A machine for two classes, or for each pair of several: one-vs-one, as in ``SVC``.

    ``balance_weighted`` says whether balanced class weights balance sample weights, or numbers of rows.
    """

    balance_weighted = True

    def __init__(
        self,
        C=1.0,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=0.0,
        fit_intercept=True,
        class_weight=None,
        tol=1e-10,
        max_iter=-1,
    ):
        super().__init__(C, kernel, gamma, degree, coef0, fit_intercept, tol, max_iter)
        self.class_weight = class_weight

    def decision_function(self, X):
        """Signed values (n,) for two classes; votes and confidence (n, n_classes) for more, as in ``SVC``."""
        return self._coding().decision(self._values(X))

    def pair_values(self, X):
        """Signed values (n, n_pairs) of the machines of all pairs of classes, positive for the second of a pair."""
        return self._values(X)

    def predict(self, X):
        """Predict the class with the most votes."""
        return self._coding().predict(self._values(X))

    def _read_columns(self, X, y, sample_weight):
        X, y, weights = self._read_classes(X, y, sample_weight, accept_sparse="csr")
        balanced = {"balance_weighted": self.balance_weighted}
        weights = trained_weights(self.class_weight, self.classes_, y, weights, **balanced)
        return X, code_pairs(y, self.classes_), weights

    def _coding(self):
        check_is_fitted(self)
        return PairCoding(self.classes_, True)


@set_module("onefit")
class HingeSVC(SupportVectorClassifier):
    r"""Support vector classifier with the hinge loss, with or without a bias.

    .. math:: \min_{f, b} \tfrac12 \|f\|^2 + C \sum_i w_i \max(0, 1 - y_i (f(x_i) + b))

    With a bias it is scikit-learn's ``SVC``, solved in double precision. Without one (``fit_intercept=False``) it is
    the machine of papers whose formulas have none. More than two classes are handled one-vs-one, as in ``SVC``.

    Parameters
    ----------
    C : float, default=1.0
        The penalty; positive. Smaller is smoother.
    kernel : str, Kernel or callable, default="rbf"
        A name that ``KernelRidge`` accepts, "precomputed", an ``onefit.kernels`` object, or a callable that takes two
        rows and returns a number.
    gamma : {"scale", "auto"} or float, default="scale"
        As in ``SVC``: "scale" is ``1 / (n_features * X.var())``, "auto" is ``1 / n_features``.
    degree, coef0
        Kernel parameters, as in ``SVC``.
    fit_intercept : bool, default=True
        Whether to have an unpenalised bias b. Where the data leave it open, it is the middle of its interval.
    class_weight : dict or "balanced", default=None
        Multiplies C for the rows of each class. "balanced" counts rows, whatever they weigh, as in ``SVC``.
    tol : float, default=1e-10
        Violation of the conditions of optimality at which training stops.
    max_iter : int, default=-1
        Largest number of rounds of the solver; -1 for no limit of its own. Searches do not honour ``tol``: they solve
        exactly. A machine with a limit is retrained.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    support_ : ndarray of shape (n_SV,)
        Rows with a coefficient that is not zero.
    support_vectors_ : array of shape (n_SV, n_features)
        These rows; empty for a precomputed kernel.
    dual_coef_ : ndarray of shape (n_pairs, n_SV)
        Coefficients, positive for the second class of a pair.
    intercept_ : ndarray of shape (n_pairs,)
    dual_gap_ : ndarray of shape (n_pairs,)
        How far the objective is from its minimum, at most.
    n_iter_ : ndarray of shape (n_pairs,)
        Rounds of the solver.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from onefit import HingeSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> round(HingeSVC(C=1).fit(X, y).score(X, y), 2)
    0.97
    """

    balance_weighted = False

    def learner(self):
        """The hinge loss."""
        return Hinge(bool(self.fit_intercept))


@set_module("onefit")
class L2SVC(SupportVectorClassifier):
    r"""Support vector classifier with the squared hinge loss.

    .. math:: \min_{f, b} \tfrac12 \|f\|^2 + C \sum_i w_i \max(0, 1 - y_i (f(x_i) + b))^2

    More than two classes are handled one-vs-one, as in ``SVC``.

    Parameters
    ----------
    C, kernel, gamma, degree, coef0, fit_intercept, tol, max_iter
        As in ``HingeSVC``.
    class_weight : dict or "balanced", default=None
        Multiplies C for the rows of each class. "balanced" counts rows by their weights.

    Attributes
    ----------
    classes_, support_, support_vectors_, dual_coef_, intercept_, dual_gap_, n_iter_
        As in ``HingeSVC``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from onefit import L2SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> round(L2SVC(C=1).fit(X, y).score(X, y), 2)
    0.98
    """

    def learner(self):
        """The squared hinge loss."""
        return SquaredHinge(bool(self.fit_intercept))


@set_module("onefit")
class EpsilonSVR(RegressorMixin, SupportVectorMachine):
    r"""Support vector regression with the epsilon-insensitive loss, with or without a bias.

    .. math:: \min_{f, b} \tfrac12 \|f\|^2 + C \sum_i w_i \max(0, |y_i - f(x_i) - b| - \epsilon)

    With a bias it is scikit-learn's ``SVR``, solved in double precision. Without one (``fit_intercept=False``) it is
    the machine of papers whose formulas have none.

    Parameters
    ----------
    C, kernel, gamma, degree, coef0, fit_intercept, max_iter
        As in ``HingeSVC``.
    epsilon : float, default=0.1
        Half the width of the tube within which errors cost nothing; not negative.
    tol : float, default=1e-10
        Violation of the conditions of optimality, relative to the spread of y, at which training stops.

    Attributes
    ----------
    support_, support_vectors_, intercept_, dual_gap_, n_iter_
        As in ``HingeSVC``, for a single column.
    dual_coef_ : ndarray of shape (1, n_SV)
        Coefficients, positive for rows above the tube.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from onefit import EpsilonSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> round(EpsilonSVR(C=100).fit(X, y).score(X, y), 2)
    0.67
    """

    def __init__(
        self,
        C=1.0,
        epsilon=0.1,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=0.0,
        fit_intercept=True,
        tol=1e-10,
        max_iter=-1,
    ):
        super().__init__(C, kernel, gamma, degree, coef0, fit_intercept, tol, max_iter)
        self.epsilon = epsilon

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = not self.fit_intercept  # without a bias, far from all rows is zero
        return tags

    def learner(self):
        """The epsilon-insensitive loss."""
        return EpsilonInsensitive(bool(self.fit_intercept), float(self.epsilon))

    def predict(self, X):
        """Predict numbers (n,)."""
        return self._values(X)[:, 0]

    def _read_columns(self, X, y, sample_weight):
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True)
        Y = y.astype(np.float64)[:, None]  # whole numbers, or single precision
        return X, Y, check_sample_weight(sample_weight, len(y))

    def _check_params(self):
        check_number("epsilon", self.epsilon, "non-negative")
        return super()._check_params()
