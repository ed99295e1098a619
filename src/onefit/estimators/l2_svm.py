"""The L2 support vector machine as a scikit-learn estimator."""

from __future__ import annotations

from .._public import set_module
from ..solvers.svm.squared_hinge import SquaredHinge
from .support_vector import SupportVectorClassifier


@set_module("onefit")
class L2SVC(SupportVectorClassifier):
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
    >>> from onefit import L2SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> round(L2SVC(C=1).fit(X, y).score(X, y), 2)
    0.98
    """

    def learner(self):
        """The squared hinge loss."""
        return SquaredHinge(bool(self.fit_intercept))
