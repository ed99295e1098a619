"""The base of onefit's own support vector machines: parameters, training, and values of new rows."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data.coding import PairCoding, code_pairs, trained_weights
from ..data.ties import identical_rows, repeat_first
from ..data.weights import check_sample_weight, one_class_only
from ..solvers.svm.learner import SupportVectorLearner, require_compiled_loops
from .kernel_machine import KernelMachine, check_solver_params, kernel_of


class SupportVectorMachine(KernelMachine, ABC):
    """An estimator that is trained by the solver of the searches, one dual problem for each column of its targets.

    A column is a pair of classes, or a regression.
    """

    @abstractmethod
    def learner(self) -> SupportVectorLearner:
        """The loss, with its parameters and the bias, if there is one."""

    @abstractmethod
    def _code(self, y, sample_weight) -> tuple[Any, Any]:
        """(columns of targets (n, c), weights of the rows or None) of a checked target."""

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
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=is_regressor(self))
        Y, weights = self._code(y, check_sample_weight(sample_weight, len(y)))
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

    def _column_values(self, X):
        """``f(x) + b`` of every column, (n, c); identical rows have identical values."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        K = X[:, self.support_] if self._precomputed else self._kernel_between(X, self.support_vectors_)
        values = K @ self.dual_coef_.T + self.intercept_
        repeat_first(values, identical_rows(X))
        return values

    def _check_params(self):
        """The kernel; parameters that make no sense are errors that name them."""
        check_solver_params(self)
        return kernel_of(self)


class SupportVectorClassifier(ClassifierMixin, SupportVectorMachine):
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
        tags.classifier_tags.poor_score = not self.fit_intercept  # without a bias, far from all rows is zero
        return tags

    def decision_function(self, X):
        """Signed values (n,) for two classes; votes and confidence (n, n_classes) for more, as in ``SVC``."""
        return self._coding().decision(self._column_values(X))

    def predict(self, X):
        """Predict the class with the most votes."""
        return self._coding().predict(self._column_values(X))

    def _code(self, y, sample_weight):
        check_classification_targets(y)
        self.classes_ = np.unique(y if sample_weight is None else y[sample_weight > 0])
        if len(self.classes_) < 2:
            raise ValueError(one_class_only(self, sample_weight))
        weights = trained_weights(
            self.class_weight, self.classes_, y, sample_weight, balance_weighted=self.balance_weighted
        )
        return code_pairs(y, self.classes_), weights

    def _coding(self):
        check_is_fitted(self)
        return PairCoding(self.classes_, True)
