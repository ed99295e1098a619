"""Support vector regression as a scikit-learn estimator."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.base import RegressorMixin

from .._public import set_module
from ..solvers.svm.epsilon_insensitive import EpsilonInsensitive
from .support_vector import SupportVectorMachine


@set_module("onefit")
class EpsilonSVR(RegressorMixin, SupportVectorMachine):
    r"""Support vector regression with the epsilon-insensitive loss, with or without a bias.

    .. math:: \min_{f, b} \tfrac12 \|f\|^2 + C \sum_i w_i \max(0, |y_i - f(x_i) - b| - \epsilon)

    With a bias it is scikit-learn's ``SVR``, solved in double precision. Without one (``fit_intercept=False``) it is
    the machine of papers whose formulas have none.

    Parameters
    ----------
    C : float, default=1.0
        The penalty; positive. Smaller is smoother.
    epsilon : float, default=0.1
        Half the width of the tube within which errors cost nothing; not negative.
    kernel : str, Kernel or callable, default="rbf"
        A name that ``KernelRidge`` accepts, "precomputed", an ``onefit.kernels`` object, or a callable that takes two
        rows and returns a number.
    gamma : {"scale", "auto"} or float, default="scale"
        As in ``SVR``: "scale" is ``1 / (n_features * X.var())``, "auto" is ``1 / n_features``.
    degree, coef0
        Kernel parameters, as in ``SVR``.
    fit_intercept : bool, default=True
        Whether to have an unpenalised bias b. Where the data leave it open, it is the middle of its interval.
    tol : float, default=1e-10
        Violation of the conditions of optimality, relative to the spread of y, at which training stops.
    max_iter : int, default=-1
        Largest number of rounds of the solver; -1 for no limit of its own. Searches do not honour ``tol``: they solve
        exactly. A machine with a limit is retrained.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Rows with a coefficient that is not zero.
    support_vectors_ : array of shape (n_SV, n_features)
        These rows; empty for a precomputed kernel.
    dual_coef_ : ndarray of shape (1, n_SV)
        Coefficients, positive for rows above the tube.
    intercept_ : ndarray of shape (1,)
    dual_gap_ : ndarray of shape (1,)
        How far the objective is from its minimum, at most.
    n_iter_ : ndarray of shape (1,)
        Rounds of the solver.

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
        self.C = C
        self.epsilon = epsilon
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = not self.fit_intercept  # without a bias, far from all rows is zero
        return tags

    def learner(self):
        """The epsilon-insensitive loss."""
        return EpsilonInsensitive(bool(self.fit_intercept), float(self.epsilon))

    def predict(self, X):
        """Predict numbers (n,)."""
        return self._column_values(X)[:, 0]

    def _code(self, y, sample_weight):
        return y.astype(np.float64)[:, None], sample_weight  # whole numbers, or single precision

    def _check_params(self):
        if not isinstance(self.epsilon, Real) or not np.isfinite(self.epsilon) or self.epsilon < 0:
            raise ValueError(f"epsilon must be a finite non-negative number, got {self.epsilon!r}.")
        return super()._check_params()
