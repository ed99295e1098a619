"""Decision values of every machine on its training rows, by other means than its own."""

import numpy as np
from sklearn.base import is_classifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC, SVR
from sklearn.utils.class_weight import compute_sample_weight

from onefit import L2SVC, LSSVC, EpsilonSVR, HingeSVC, KernelLogisticRegression

from .interior_point import InteriorPointSVC, InteriorPointSVR
from .least_squares import solve
from .logistic import minimiser
from .support_vector import squared_hinge_newton


def svm_oracle(machine):
    """An unfitted machine in double precision with the parameters of a support vector machine with a bias."""
    common = {name: getattr(machine, name) for name in ("C", "kernel", "gamma", "degree", "coef0")}
    if isinstance(machine, SVR | EpsilonSVR):
        return InteriorPointSVR(**common, epsilon=machine.epsilon)
    if isinstance(machine, L2SVC):
        return NewtonL2SVC(**common, class_weight=machine.class_weight, fit_intercept=machine.fit_intercept)
    shape = getattr(machine, "decision_function_shape", "ovr")
    return InteriorPointSVC(**common, class_weight=machine.class_weight, decision_function_shape=shape)


class NewtonL2SVC(InteriorPointSVC):
    """L2SVC by Newton's method in the primal."""

    def __init__(
        self, C=1.0, kernel="rbf", gamma="scale", degree=3, coef0=0.0, class_weight=None, fit_intercept=True,
        decision_function_shape="ovr",
    ):  # fmt: skip
        super().__init__(C, kernel, gamma, degree, coef0, class_weight, decision_function_shape)
        self.fit_intercept = fit_intercept

    def _solve_pair(self, K, sign, upper):
        beta, bias = squared_hinge_newton(K, sign, 1.0, upper, bias=self.fit_intercept)
        return beta, bias, 0.0


def least_squares_values(machine, X, y):
    """Values of KernelRidge, LSSVC or LSSVR on the rows it is trained on."""
    options = {} if machine.kernel == "linear" else {"gamma": machine.gamma}
    K = pairwise_kernels(X, metric=machine.kernel, **options)
    weights = compute_sample_weight(getattr(machine, "class_weight", None), y) if isinstance(machine, LSSVC) else None
    Y = np.asarray(y, dtype=float).reshape(len(y), -1) if not isinstance(machine, LSSVC) else _coded(y)
    bias = not isinstance(machine, KernelRidge)
    dual, intercept = solve(K, Y, machine.alpha, weights, bias)
    values = K @ dual + intercept
    return values[:, 0] if np.ndim(y) == 1 and values.shape[1] == 1 else values


def logistic_values(machine, X, y):
    """Values of a logistic regression with gamma a number, on the rows it is trained on, by a general optimiser."""
    K = pairwise_kernels(X, metric=machine.kernel, gamma=machine.gamma)
    u = machine.C * compute_sample_weight(machine.class_weight, y)
    values = np.column_stack([minimiser(K, column, u, machine.fit_intercept) for column in _coded(y).T])
    return values[:, 0] if values.shape[1] == 1 else values


def _coded(y):
    """-1 and +1: one column for two classes, one for each of several."""
    classes = np.unique(y)
    Y = np.where(y[:, None] == classes, 1.0, -1.0)
    return Y[:, 1:] if len(classes) == 2 else Y


def training_values(machine, X, y):
    """Values of a machine on the rows it is trained on: decision values, or predictions of a regression."""
    if isinstance(machine, SVC | SVR | HingeSVC | EpsilonSVR | L2SVC):
        oracle = svm_oracle(machine).fit(X, y)
        return oracle.decision_function(X) if is_classifier(machine) else oracle.predict(X)
    if isinstance(machine, KernelLogisticRegression):
        return logistic_values(machine, X, y)
    return least_squares_values(machine, X, y)
