"""Explicit features of a kernel as transformers: the first step of a model that an approximation delivers."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from .._public import set_module
from ..gram.feature_map import FourierMap, LandmarkMap
from ..kernels.parameters import variance_of


class _KernelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Transformers that come before the kernel, learned with it, and the feature map of new rows."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X, y=None, **params):
        """Learn the transformers from X, and make the features. ``params`` are metadata of the transformers."""
        self._fit(X, y, params)
        return self

    def fit_transform(self, X, y=None, **params):
        """Features of the rows that the transformers learn from, as a Pipeline shows them to its next step."""
        inputs = self._fit(X, y, params)
        return self._map(inputs)

    def transform(self, X):
        """Features (n_samples, n_features_out) of rows X."""
        check_is_fitted(self, "_map")
        if self.preprocessing is None:
            return self._map(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False))
        return self._map(_rows(self.preprocessing_.transform(X)))

    def _adopt(self, feature_map, preprocessing, example):
        """Take what a search has learned from all rows; ``example`` are some of them, for names of features."""
        if self.preprocessing is None:
            validate_data(self, example, accept_sparse="csr", dtype=np.float64)
        else:
            self.preprocessing_ = preprocessing
            self._take_names()
        self._map, self._n_features_out = feature_map, feature_map.width

    def _take_names(self):
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.preprocessing_, name):
                setattr(self, name, getattr(self.preprocessing_, name))

    def _fit(self, X, y, params):
        """Rows X after the transformers."""
        if self.preprocessing is None:
            inputs = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        else:
            self.preprocessing_ = clone(self.preprocessing)
            inputs = _rows(self.preprocessing_.fit_transform(X, y, **params))
            self._take_names()
        self._map = self._make_map(self.kernel.bound(inputs.shape[1], variance_of(inputs)), inputs.shape[1])
        self._n_features_out = self._map.width
        return inputs


@set_module("onefit")
class LandmarkFeatures(_KernelFeatures):
    r"""Features whose inner products are a kernel in the span of landmarks: :math:`z(x) = L^{-1} k_m(x)`.

    L is the Cholesky factor of the kernel of the landmarks. ``KernelSearchCV`` with ``approximation=Landmarks(...)``
    delivers it as the first step of ``best_estimator_``. The landmarks are a parameter: a clone that is trained on the
    folds has the features that were scored.

    Parameters
    ----------
    landmarks : array-like or sparse matrix of shape (n_landmarks, n_features)
        Rows as they come to ``fit``, before ``preprocessing``. Those whose distance from the span of the ones before
        them is rounding have no feature.
    kernel : Kernel
        One of ``onefit.kernels``.
    preprocessing : transformer or None, default=None
        Learned in ``fit``, and applied to rows and landmarks before the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import LandmarkFeatures
    >>> from onefit.kernels import Gaussian
    >>> X = np.arange(6.0)[:, None]
    >>> Z = LandmarkFeatures(X, Gaussian(gamma=0.5)).fit_transform(X)
    >>> bool(np.allclose(Z @ Z.T, Gaussian(gamma=0.5)(X)))
    True
    """

    def __init__(self, landmarks, kernel, preprocessing=None):
        self.landmarks = landmarks
        self.kernel = kernel
        self.preprocessing = preprocessing

    def _make_map(self, kernel, n_features):
        rows = self.landmarks if self.preprocessing is None else self.preprocessing_.transform(self.landmarks)
        return LandmarkMap.build(kernel, _rows(rows))


@set_module("onefit")
class RandomFourierFeatures(_KernelFeatures):
    """Orthogonal random Fourier features of a Gaussian kernel.

    ``KernelSearchCV`` with ``approximation=RandomFeatures(...)`` delivers it as the first step of ``best_estimator_``.

    Parameters
    ----------
    kernel : Gaussian
        Of ``onefit.kernels``.
    n_features : int, default=2000
        Sines and cosines: an even number.
    seed : int, default=0
        Decides the frequencies.
    preprocessing : transformer or None, default=None
        Learned in ``fit``, and applied to rows before the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import RandomFourierFeatures
    >>> from onefit.kernels import Gaussian
    >>> X = np.arange(6.0)[:, None]
    >>> Z = RandomFourierFeatures(Gaussian(gamma=0.5), n_features=2000).fit_transform(X)
    >>> bool(abs(Z @ Z.T - Gaussian(gamma=0.5)(X)).max() < 0.1)
    True
    """

    def __init__(self, kernel, n_features=2000, seed=0, preprocessing=None):
        self.kernel = kernel
        self.n_features = n_features
        self.seed = seed
        self.preprocessing = preprocessing

    def _make_map(self, kernel, n_features):
        return FourierMap.build(kernel, self.n_features, n_features, self.seed)


def _rows(X):
    return check_array(X, accept_sparse="csr", dtype=np.float64)
