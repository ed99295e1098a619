"""The L2 support vector machine as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import kernels
from ..core.coding import PairCoding, class_weights, code_pairs
from ..core.ties import identical_rows, repeat_first
from ..core.weights import check_sample_weight, one_class_only
from ..kernels.gamma import variance_of
from ..learners.squared_hinge import SquaredHinge


class L2SVC(ClassifierMixin, BaseEstimator):
    r"""Support vector classifier with the squared hinge loss.

    .. math:: \min_{f, b} \tfrac12 \|f\|^2 + C \sum_i w_i \max(0, 1 - y_i (f(x_i) + b))^2

    More than two classes are handled one-vs-one, as in ``SVC``.

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
        Whether to have an unpenalised bias b.
    class_weight : dict or "balanced", default=None
        Multiplies C for the rows of each class.
    tol : float, default=1e-10
        Violation of the conditions of optimality at which training stops.
    max_iter : int, default=-1
        Largest number of rounds of the solver; -1 for no limit of its own. Searches do not honour it, nor ``tol``:
        they solve exactly.

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
    >>> from onefit import L2SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> round(L2SVC(C=1).fit(X, y).score(X, y), 2)
    0.98
    """

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
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.classifier_tags.poor_score = not self.fit_intercept  # without a bias, far from all rows is zero
        return tags

    def fit(self, X, y, sample_weight=None):
        """Train on X (n_samples, n_features) and labels y (n_samples,)."""
        from ..learners.support_vector_fit import fit_columns  # numba is imported by who needs it

        kernel = self._check_params()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        weights = check_sample_weight(sample_weight, len(y))
        self.classes_ = np.unique(y if weights is None else y[weights > 0])
        if len(self.classes_) < 2:
            raise ValueError(one_class_only(self, weights))
        weights = class_weights(self.class_weight, self.classes_, y, weights)
        self._kernel = kernel.bound(X.shape[1], variance_of(X))
        K = self._kernel_between(X, None)
        if K.shape[0] != K.shape[1]:
            raise ValueError(f"A precomputed kernel matrix must be square in fit, got shape {K.shape}.")
        fit = fit_columns(
            SquaredHinge(bool(self.fit_intercept)), K, code_pairs(y, self.classes_), float(self.C), weights,
            positive=kernel.positive, tolerance=self.tol, max_rounds=None if self.max_iter == -1 else self.max_iter,
        )  # fmt: skip
        if not fit.converged:
            warnings.warn("The solver did not converge: raise max_iter or tol.", ConvergenceWarning, stacklevel=2)
        self.support_ = np.flatnonzero(fit.dual.any(axis=1))
        self.support_vectors_ = np.empty((0, 0)) if self._precomputed else X[self.support_]
        self.dual_coef_ = np.ascontiguousarray(fit.dual[self.support_].T)
        self.intercept_, self.dual_gap_, self.n_iter_ = fit.intercept, fit.gap, fit.rounds
        return self

    def decision_function(self, X):
        """Signed values (n,) for two classes; votes and confidence (n, n_classes) for more, as in ``SVC``."""
        return self._coding().decision(self._pair_values(X))

    def predict(self, X):
        """The class with the most votes."""
        return self._coding().predict(self._pair_values(X))

    @property
    def _precomputed(self):
        return isinstance(self._kernel, kernels.Precomputed)

    def _coding(self):
        check_is_fitted(self)
        return PairCoding(self.classes_, True)

    def _pair_values(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        K = X[:, self.support_] if self._precomputed else self._kernel_between(X, self.support_vectors_)
        values = K @ self.dual_coef_.T + self.intercept_
        repeat_first(values, identical_rows(X))
        return values

    def _kernel_between(self, X, Y):
        if self._precomputed:
            return np.array(X, dtype=np.float64)
        return self._kernel.evaluate(lambda base: base(X, Y))

    def _check_params(self):
        if not isinstance(self.C, Real) or not np.isfinite(self.C) or self.C <= 0:
            raise ValueError(f"C must be a finite positive number, got {self.C!r}.")
        if not isinstance(self.tol, Real) or not self.tol > 0:
            raise ValueError(f"tol must be a positive number, got {self.tol!r}.")
        if not isinstance(self.max_iter, Integral) or (self.max_iter != -1 and self.max_iter < 1):
            raise ValueError(f"max_iter must be -1 or a positive whole number, got {self.max_iter!r}.")
        return kernels.from_params(
            self.kernel,
            gamma=None if isinstance(self.gamma, str) and self.gamma == "auto" else self.gamma,
            degree=self.degree,
            coef0=self.coef0,
        )
