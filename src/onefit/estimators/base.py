"""The bases of onefit's own estimators: the kernel, classes and their weights, values of new rows."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import kernels
from .._checks import check_number
from ..data.coding import Coding, class_weights, code_classes
from ..data.targets import check_sample_weight
from ..data.ties import identical_rows, repeat_first
from ..kernels.parameters import variance_of


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

    def _keep(self, X, dual, intercept, *, flat):
        """Keep what prediction needs: dual coefficients (n, c) and constants (c,), of the only column if ``flat``."""
        self.X_fit_ = X
        self.dual_coef_ = dual[:, 0] if flat else dual
        self.intercept_ = float(intercept[0]) if flat else intercept

    def _values(self, X):
        """``K(X, training rows) dual_coef_ + intercept_``; identical rows have identical values."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        values = self._products(X) + self.intercept_
        repeat_first(values, identical_rows(X))
        return values

    def _products(self, X):
        """``K(X, training rows) dual_coef_``, for the training rows that ``dual_coef_`` is about."""
        return self._kernel_between(X, self.X_fit_) @ self.dual_coef_


class WeightedClassifier(ClassifierMixin):
    """A classifier whose rows may be weighted; ``fit_intercept`` is one of its parameters."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # Without a bias, values far from all training rows are near zero, whatever the class weights.
        tags.classifier_tags.poor_score = not self.fit_intercept
        return tags

    def _read_classes(self, X, y, sample_weight, **validation):
        """Checked rows, labels, and weights or None; ``classes_`` are those of rows with a positive weight."""
        X, y = validate_data(self, X, y, dtype=np.float64, **validation)
        check_classification_targets(y)
        weights = check_sample_weight(sample_weight, len(y))
        self.classes_ = np.unique(y if weights is None else y[weights > 0])
        if len(self.classes_) < 2:
            name, where = type(self).__name__, "" if weights is None else " among the rows of positive sample_weight"
            raise ValueError(f"{name} needs at least two classes, got one class only{where}: {self.classes_.tolist()}.")
        return X, y, weights


class OneVsRestMachine(WeightedClassifier, KernelMachine):
    """A kernel machine with one column of coefficients for two classes, or one for each of several against the rest."""

    def _read_columns(self, X, y, sample_weight):
        """Checked rows, a column of -1 and +1 for each machine (n, c), and weights with those of the classes."""
        X, y, weights = self._read_classes(X, y, sample_weight, accept_sparse="csr")
        weights = class_weights(self.class_weight, self.classes_, y, weights)
        return X, code_classes(y, self.classes_), weights

    def decision_function(self, X):
        """Signed values, (n,) for two classes and (n, n_classes) for more."""
        return self._values(X)

    def predict(self, X):
        """The class with the largest value."""
        values = self.decision_function(X)
        return Coding(self.classes_, flat=True).predict(values[:, None] if values.ndim == 1 else values)


def check_solver_params(estimator) -> None:
    """Refuse, by errors that name them, values of ``C``, ``tol`` and ``max_iter`` that make no sense."""
    check_number("C", estimator.C)
    check_number("tol", estimator.tol, finite=False)
    if not isinstance(estimator.max_iter, Integral) or (estimator.max_iter != -1 and estimator.max_iter < 1):
        raise ValueError(f"max_iter must be -1 or a positive whole number, got {estimator.max_iter!r}.")
