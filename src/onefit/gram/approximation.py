"""Approximations of a Gram matrix that a search may be asked for: parameters, and nothing that is learned."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np

from .._checks import check_count
from .._public import set_module

METHODS = ("pivoted", "kmeans", "uniform")


@set_module("onefit")
@dataclass(frozen=True, eq=False)
class Landmarks:
    r"""Restrict a kernel machine to the span of m landmarks (the Nyström method with one set of landmarks).

    .. math:: f(x) = k_m(x)^T \beta \;(+\, b), \qquad \|f\|^2 = \beta^T K_{mm} \beta

    With it ``KernelSearchCV`` needs memory for m x m sums instead of n x n matrices, and one pass over the rows for
    each kernel. Landmarks are drawn once for all kernels and folds; scores equal those of training the restricted
    machine anew on every fold.

    Parameters
    ----------
    n_landmarks : int, default=1000
        How many; all rows where there are fewer. Not read if ``method`` holds rows.
    method : {"pivoted", "kmeans", "uniform"} or array of rows, default="pivoted"
        How they are chosen among the rows of X: "pivoted" by randomly pivoted Cholesky factorisation at a kernel from
        the middle of the grid, "kmeans" by the seeding of k-means++, "uniform" at random. All of these are nested: the
        first m' landmarks are a choice of m'. Rows such as those of X, before a Pipeline's transformers, are taken as
        they are, in their order.
    random_state : int, RandomState or None, default=None
        Decides which rows are drawn. An int makes searches repeatable, which resuming from a journal needs.
    refit_landmarks : int or None, default=None
        How many landmarks the delivered model has, at least ``n_landmarks``: they are drawn anew, by the same method at
        the chosen kernel, and the chosen machine is trained with them on all rows. That takes one pass (several of
        machines other than least squares) and memory for sums of so many features. Scores remain those of
        ``n_landmarks``; the delivered model is usually a little better. None delivers the model that was scored.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import KernelSearchCV, Landmarks
    >>> X, y = load_diabetes(return_X_y=True)
    >>> grid = {"gamma": [0.1, 1, 10], "alpha": [0.01, 0.1, 1.0]}
    >>> search = KernelSearchCV(
    ...     KernelRidge(kernel="rbf"), grid, cv=10, approximation=Landmarks(100, random_state=0)
    ... ).fit(X, y)
    >>> search.cv_results_["status"][0]
    'exact given 100 landmarks'
    >>> more = Landmarks(100, random_state=0, refit_landmarks=200)
    >>> len(search.set_params(approximation=more).fit(X, y).best_estimator_["features"].landmarks)
    200
    """

    n_landmarks: int = 1000
    method: Any = "pivoted"
    random_state: Any = None
    refit_landmarks: int | None = field(default=None, kw_only=True)

    @property
    def given(self) -> bool:
        """Whether the landmarks themselves are given."""
        return not isinstance(self.method, str)

    def check(self) -> None:
        """Refuse parameters that make no sense, by name."""
        if isinstance(self.method, str) and self.method not in METHODS:
            raise ValueError(f"method of Landmarks must be one of {METHODS} or an array of rows, got {self.method!r}.")
        if self.given and (getattr(self.method, "shape", None) is None or len(self.method.shape) != 2):
            raise ValueError("method of Landmarks must be a string or a two-dimensional array of rows.")
        check_count("n_landmarks of Landmarks", self.n_landmarks)
        _check_seed("Landmarks", self.random_state)
        if self.refit_landmarks is not None:
            check_count("refit_landmarks of Landmarks", self.refit_landmarks)
            if self.given:
                raise ValueError("refit_landmarks are drawn: give Landmarks no rows as method, or no refit_landmarks.")
            if self.refit_landmarks < self.n_landmarks:
                raise ValueError(
                    f"refit_landmarks of Landmarks must be at least n_landmarks={self.n_landmarks}, got "
                    f"{self.refit_landmarks}."
                )


@set_module("onefit")
@dataclass(frozen=True, eq=False)
class RandomFeatures:
    r"""Replace a Gaussian kernel by the inner product of random Fourier features, orthogonal in groups.

    .. math:: z(x) = D^{-1/2} (\cos w_1^T x, \sin w_1^T x, \ldots, \cos w_D^T x, \sin w_D^T x), \qquad
              w_j \sim N(0, 2\gamma)

    Frequencies are drawn once for all widths and folds. Landmarks, which see the data, usually need fewer features;
    random features need no kernel matrix at all.

    Parameters
    ----------
    n_features : int, default=2000
        Features, 2 D: an even number.
    random_state : int, RandomState or None, default=None
        Decides the frequencies.

    References
    ----------
    Rahimi & Recht, NIPS 2007; Yu et al., "Orthogonal random features", NIPS 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> from onefit import KernelSearchCV, RandomFeatures
    >>> X, y = load_diabetes(return_X_y=True)
    >>> grid = {"gamma": [0.1, 1, 10], "alpha": [0.01, 0.1, 1.0]}
    >>> search = KernelSearchCV(
    ...     KernelRidge(kernel="rbf"), grid, cv=10, approximation=RandomFeatures(200, random_state=0)
    ... ).fit(X, y)
    >>> search.cv_results_["status"][0]
    'exact given 200 random features'
    """

    n_features: int = 2000
    random_state: Any = None

    def check(self) -> None:
        """Refuse parameters that make no sense, by name."""
        check_count("n_features of RandomFeatures", self.n_features)
        if self.n_features % 2:
            raise ValueError(f"n_features of RandomFeatures must be even (sines and cosines), got {self.n_features}.")
        _check_seed("RandomFeatures", self.random_state)


def _check_seed(name: str, value: Any) -> None:
    known = value is None or isinstance(value, Integral | np.random.RandomState)
    if not known or isinstance(value, bool):
        raise ValueError(f"random_state of {name} must be None, an int or a RandomState, got {value!r}.")
