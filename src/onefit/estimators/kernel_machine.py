"""The base of onefit's own estimators: the kernel, and values of new rows."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import kernels
from ..data.ties import identical_rows, repeat_first
from ..kernels.gamma import variance_of


class KernelMachine(BaseEstimator):
    """An estimator with a kernel of ours; ``kernel`` is one of its parameters."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    def _bind(self, kernel, X):
        """Keep the kernel with the parameters that it takes from training rows X, and return their Gram matrix."""
        self._kernel = kernel.bound(X.shape[1], variance_of(X))
        K = self._kernel_between(X, None)
        if K.shape[0] != K.shape[1]:
            raise ValueError(f"A precomputed kernel matrix must be square in fit, got shape {K.shape}.")
        if not np.isfinite(K).all():
            raise ValueError(f"{self._kernel} has values that are not finite on these data.")
        return K

    @property
    def _precomputed(self):
        return isinstance(self._kernel, kernels.Precomputed)

    def _kernel_between(self, X, Y):
        if self._precomputed:
            return np.array(X, dtype=np.float64)
        return self._kernel.evaluate(lambda base: base(X, Y))

    def _values(self, X):
        """``K(X, training rows) dual_coef_ + intercept_``; identical rows have identical values."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        values = self._kernel_between(X, self.X_fit_) @ self.dual_coef_ + self.intercept_
        repeat_first(values, identical_rows(X))
        return values


def kernel_of(estimator):
    """The kernel that the parameters of an estimator of ours mean."""
    gamma = estimator.gamma
    return kernels.from_params(
        estimator.kernel,
        gamma=None if isinstance(gamma, str) and gamma == "auto" else gamma,
        degree=estimator.degree,
        coef0=estimator.coef0,
        kernel_params=getattr(estimator, "kernel_params", None),
    )


def check_solver_params(estimator) -> None:
    """Refuse, by errors that name them, values of ``C``, ``tol`` and ``max_iter`` that make no sense."""
    if not isinstance(estimator.C, Real) or not np.isfinite(float(estimator.C)) or estimator.C <= 0:
        raise ValueError(f"C must be a finite positive number, got {estimator.C!r}.")
    if not isinstance(estimator.tol, Real) or not float(estimator.tol) > 0:
        raise ValueError(f"tol must be a positive number, got {estimator.tol!r}.")
    if not isinstance(estimator.max_iter, Integral) or (estimator.max_iter != -1 and estimator.max_iter < 1):
        raise ValueError(f"max_iter must be -1 or a positive whole number, got {estimator.max_iter!r}.")
