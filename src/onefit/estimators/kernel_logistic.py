"""Kernel logistic regression as a scikit-learn estimator."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._public import set_module
from ..data.coding import class_probabilities
from ..kernels.naming import kernel_of
from ..solvers.logistic.newton import ROUNDS, probability, solve
from .base import OneVsRestMachine, check_solver_params


@set_module("onefit")
class KernelLogisticRegression(OneVsRestMachine):
    r"""Logistic regression in the feature space of a kernel.

    .. math:: \min_{f, b} \tfrac12 \|f\|^2 + C \sum_i w_i \log(1 + e^{-y_i (f(x_i) + b)}), \quad y_i = \pm 1

    With ``kernel="linear"`` it is scikit-learn's ``LogisticRegression`` of two classes. More than two are handled
    one-vs-rest: a machine for each class against the others, whose probabilities are divided by their sum.

    Parameters
    ----------
    C : float, default=1.0
        The penalty; positive. Smaller is smoother.
    kernel : str, Kernel or callable, default="rbf"
        A name that ``KernelRidge`` accepts, "precomputed", an ``onefit.kernels`` object, or a callable that takes two
        rows and returns a number. It must be positive semi-definite.
    gamma : {"scale", "auto"} or float, default="scale"
        As in ``SVC``: "scale" is ``1 / (n_features * X.var())``, "auto" is ``1 / n_features``.
    degree, coef0, kernel_params
        Kernel parameters, as in ``KernelRidge``.
    fit_intercept : bool, default=True
        Whether to have an unpenalised bias b.
    class_weight : dict or "balanced", default=None
        Multiplies C for the rows of each class.
    tol : float, default=1e-10
        Newton step, relative to the largest decision value, at which training stops. The step is taken, so that the
        gradient is far smaller.
    max_iter : int, default=-1
        Largest number of Newton steps; -1 for no limit of its own. Searches do not honour ``tol``: they solve exactly.
        A machine with a limit is retrained.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Coefficients of the training rows, positive for rows of the second class, or of the class of the column.
    intercept_ : float or ndarray of shape (n_classes,)
    n_iter_ : ndarray of shape (1,) or (n_classes,)
        Newton steps.
    X_fit_ : training data, needed to predict

    Notes
    -----
    One-vs-rest rather than multinomial: every column is a problem of n unknowns with the same Gram matrix, for which
    cross-validation follows from the solution on all rows; a multinomial one has n unknowns for each class, coupled.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from onefit import KernelLogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelLogisticRegression(C=10).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.97
    >>> model.predict_proba(X[:1]).round(2).tolist()
    [[0.98, 0.02, 0.0]]
    """

    def __init__(
        self,
        C=1.0,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=0.0,
        kernel_params=None,
        fit_intercept=True,
        class_weight=None,
        tol=1e-10,
        max_iter=-1,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X, y, sample_weight=None):
        """Train the machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows, or their kernel matrix (n_samples, n_samples) if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies C for each row; rows of weight zero are left out.

        Returns
        -------
        self
        """
        check_solver_params(self)
        kernel = kernel_of(self)
        X, Y, weights = self._read_columns(X, y, sample_weight)
        K = self._bind(kernel, X)
        u = self.C * (np.ones(len(Y)) if weights is None else weights)
        limit = ROUNDS if self.max_iter == -1 else self.max_iter
        found = [
            solve(K, column, u, bool(self.fit_intercept), tolerance=self.tol, max_rounds=limit)
            for column in np.ascontiguousarray(Y.T)
        ]
        if not all(solution.converged for solution in found):
            warnings.warn("The solver did not converge: raise max_iter or tol.", ConvergenceWarning, stacklevel=2)
        dual = np.column_stack([solution.a for solution in found])
        self._keep(X, dual, np.array([solution.b for solution in found]), flat=len(found) == 1)
        self.n_iter_ = np.array([solution.rounds for solution in found])
        return self

    def predict_proba(self, X):
        """Probabilities of the classes (n, n_classes), in the order of ``classes_``."""
        return class_probabilities(self.decision_function(X), probability)

    def predict_log_proba(self, X):
        """Logarithms of the probabilities (n, n_classes)."""
        return np.log(self.predict_proba(X))
