"""Support vector machines by a primal-dual interior-point method in double precision.

LIBSVM keeps kernel values in single precision, so that no tolerance makes its values better than some 1e-7 times the
condition of the problem. Mehrotra's predictor-corrector method (Nocedal & Wright, Numerical Optimization, 2nd edition,
section 16.6) shares nothing with LIBSVM nor with onefit's solvers.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.class_weight import compute_class_weight

ROUNDS = 100
STALLED = 5
"""Rounds without a smaller gap after which rounding is all that is left."""
GAP = 1e-14
"""Complementarity per variable, relative to the objective's size, at which rounding is all that is left."""


def solve_box_qp(Q, c, a, u):
    """Minimise ``½ xᵀQx + cᵀx`` with ``aᵀx = 0`` and ``0 <= x <= u``: (x, multiplier b of aᵀx, width of b's interval).

    The interior point only says which variables rest at their bounds; the others solve a linear system then. Where
    none is left, b is the middle of its interval.
    """
    x, s, z, w, b = _interior_point(Q, c, a, u)
    width = 0.0
    at = np.where(x < z, 0.0, np.where(s < w, u, x))  # strict complementarity: of two factors one is large
    free = np.flatnonzero((x >= z) & (s >= w))
    if len(free):
        m = len(free)
        system = np.zeros((m + 1, m + 1))
        system[:m, :m], system[:m, m], system[m, :m] = Q[np.ix_(free, free)], -a[free], a[free]
        missed = np.append((Q @ at + c - a * b)[free], a @ at)
        step = np.linalg.lstsq(system, -missed, rcond=1e-14)[0]  # the shortest: equal rows stay within their bounds
        at[free], settled = at[free] + step[:m], b + step[m]
    else:
        least, largest = multipliers(Q @ at + c, a, at, u)
        settled, width = (least + largest) / 2, largest - least
    better = abs(a @ at) <= 1e-9 * u.max() and violation(Q, c, a, u, at, settled) <= violation(Q, c, a, u, x, b)
    return (at, settled, width) if better else (x, b, 0.0)


def multipliers(gradient, a, x, u):
    """The interval of multipliers b with which the point x, all at bounds, is optimal."""
    ratio = gradient / a
    up = ((a > 0) & (x < u)) | ((a < 0) & (x > 0))  # a x may grow: the gradient along it must not be negative
    down = ((a > 0) & (x > 0)) | ((a < 0) & (x < u))
    return ratio[down].max(), ratio[up].min()


def violation(Q, c, a, u, x, b):
    """By how much the conditions of optimality are violated: gradients, and variables out of their bounds."""
    gradient = Q @ x + c - a * b
    grows, falls = np.where(x < u * (1 - 1e-12), -gradient, 0.0), np.where(x > 1e-12 * u, gradient, 0.0)
    return max(grows.max(), falls.max(), 0.0, (-x).max(), (x - u).max())


def _interior_point(Q, c, a, u):
    n = len(c)
    x, z, w, b = u / 2, np.full(n, np.abs(c).max()), np.full(n, np.abs(c).max()), 0.0
    s, best, since = u - x, None, 0
    for _ in range(ROUNDS):
        dual, primal = Q @ x + c - a * b - z + w, a @ x
        gap = (x @ z + s @ w) / (2 * n)
        since += 1
        if best is None or gap < best[0]:
            best, since = (gap, x, s, z, w, b), 0
        if gap <= GAP * np.abs(c).max() * u.max() or since == STALLED:
            break
        try:
            factor = cho_factor(Q + np.diag(z / x + w / s))
        except np.linalg.LinAlgError:  # rounding is all that is left
            break
        direct = cho_solve(factor, a)

        def step(rx, rs, factor=factor, direct=direct, dual=dual, primal=primal, x=x, s=s, z=z, w=w):
            inner = cho_solve(factor, -dual + rx / x - rs / s)
            db = -(primal + a @ inner) / (a @ direct)
            dx = inner + direct * db
            return dx, (rx - z * dx) / x, (rs + w * dx) / s, db

        dx, dz, dw, db = step(-x * z, -s * w)
        length = _length(x, s, z, w, dx, dz, dw)
        ahead = ((x + length * dx) @ (z + length * dz) + (s - length * dx) @ (w + length * dw)) / (2 * n)
        centre = gap * (ahead / gap) ** 3
        dx, dz, dw, db = step(centre - x * z - dx * dz, centre - s * w + dx * dw)
        length = 0.9995 * _length(x, s, z, w, dx, dz, dw)
        x, s, z, w, b = x + length * dx, s - length * dx, z + length * dz, w + length * dw, b + length * db
    return best[1:]


def _length(x, s, z, w, dx, dz, dw):
    """The longest step, at most one, that keeps everything positive."""
    at, by = np.concatenate([x, s, z, w]), np.concatenate([dx, -dx, dz, dw])
    return min(1.0, (at[by < 0] / -by[by < 0]).min(initial=1.0))


class _Machine(BaseEstimator):
    """Parameters of SVC and SVR that matter, and their kernel."""

    def _gram(self, X, Y):
        if self.kernel == "precomputed":
            return np.asarray(X)[:, self.kept_] if Y is self.X_ else np.asarray(X)
        options = {} if self.kernel == "linear" else {"gamma": self.gamma_}
        if self.kernel == "poly":
            options["degree"] = self.degree
        if self.kernel in ("poly", "sigmoid"):
            options["coef0"] = self.coef0
        return pairwise_kernels(X, Y, metric=self.kernel, **options)

    def _start(self, X, sample_weight):
        self.gamma_ = self.gamma
        dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        if self.gamma == "scale":
            self.gamma_ = 1.0 / (dense.shape[1] * dense.var()) if dense.var() > 0 else 1.0
        elif self.gamma == "auto":
            self.gamma_ = 1.0 / dense.shape[1]
        weights = np.ones(len(dense)) if sample_weight is None else np.asarray(sample_weight)
        self.kept_ = np.flatnonzero(weights > 0)
        self.X_ = dense[self.kept_]
        return weights[self.kept_]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


class InteriorPointSVC(ClassifierMixin, _Machine):
    """SVC: one-vs-one, LIBSVM's votes, decision values of shape "ovr" or "ovo"."""

    def __init__(
        self, C=1.0, kernel="rbf", gamma="scale", degree=3, coef0=0.0, class_weight=None, decision_function_shape="ovr"
    ):
        self.C, self.kernel, self.gamma, self.degree, self.coef0 = C, kernel, gamma, degree, coef0
        self.class_weight, self.decision_function_shape = class_weight, decision_function_shape

    def fit(self, X, y, sample_weight=None):
        """Train one machine for each pair of classes."""
        weights = self._start(X, sample_weight)
        balance = compute_class_weight(self.class_weight, classes=np.unique(y), y=y)
        balance = dict(zip(np.unique(y), balance))
        y = np.asarray(y)[self.kept_]
        self.classes_ = np.unique(y)
        upper = self.C * weights * np.array([balance[label] for label in y])
        K = self._gram(self.X_[:, self.kept_] if self.kernel == "precomputed" else self.X_, None)
        self.pairs_, self.problems_, self.solutions_ = [], [], []
        self.bias_interval_ = self.violation_ = 0.0
        for i, first in enumerate(self.classes_):
            for j in range(i + 1, len(self.classes_)):
                rows = np.flatnonzero((y == first) | (y == self.classes_[j]))
                sign = np.where(y[rows] == first, 1.0, -1.0)
                beta, bias, width = self._solve_pair(K[np.ix_(rows, rows)], sign, upper[rows])
                self.pairs_.append((i, j, rows, sign))
                self.solutions_.append((beta, bias))
                self.bias_interval_ = max(self.bias_interval_, width)
        return self

    def _solve_pair(self, K, sign, upper):
        """(coefficients, bias, width of the interval of optimal biases) of two classes."""
        problem = sign[:, None] * K * sign, -np.ones(len(sign)), sign, upper
        x, b, width = solve_box_qp(*problem)
        self.problems_.append(problem)
        self.violation_ = max(self.violation_, violation(*problem, x, b))
        return sign * x, -b, width

    def _values(self, X):
        K = self._gram(X, self.X_)
        solved = zip(self.pairs_, self.solutions_)
        return np.column_stack([K[:, rows] @ beta + bias for (_, _, rows, _), (beta, bias) in solved])

    def decision_function(self, X):
        """Values of pairs, or votes with confidence, as scikit-learn makes them."""
        values = self._values(X)
        if len(self.classes_) == 2:
            return -values[:, 0]
        if self.decision_function_shape == "ovo":
            return values
        votes, sums = self._votes(values)
        return votes + sums / (3 * (np.abs(sums) + 1))

    def _votes(self, values):
        votes, sums = np.zeros((2, len(values), len(self.classes_)))
        for (i, j, _, _), value in zip(self.pairs_, values.T):
            sums[:, i] += value
            sums[:, j] -= value
            votes[:, i] += value > 0
            votes[:, j] += value <= 0
        return votes, sums

    def predict(self, X):
        """The class with the most votes, the first of several."""
        return self.classes_[self._votes(self._values(X))[0].argmax(axis=1)]


class InteriorPointSVR(RegressorMixin, _Machine):
    """SVR."""

    def __init__(self, C=1.0, kernel="rbf", gamma="scale", degree=3, coef0=0.0, epsilon=0.1):
        self.C, self.kernel, self.gamma, self.degree, self.coef0, self.epsilon = (
            C,
            kernel,
            gamma,
            degree,
            coef0,
            epsilon,
        )

    def fit(self, X, y, sample_weight=None):
        """Train."""
        weights = self._start(X, sample_weight)
        y = np.asarray(y)[self.kept_]
        K = self._gram(self.X_[:, self.kept_] if self.kernel == "precomputed" else self.X_, None)
        n, sign = len(y), np.repeat([1.0, -1.0], len(y))
        Q = np.block([[K, -K], [-K, K]])
        problem = Q, self.epsilon - sign * np.tile(y, 2), sign, np.tile(self.C * weights, 2)
        x, b, self.bias_interval_ = solve_box_qp(*problem)
        self.violation_ = violation(*problem, x, b)
        self.problems_ = [problem]
        self.beta_, self.intercept_ = x[:n] - x[n:], -b
        return self

    def predict(self, X):
        """Values."""
        return self._gram(X, self.X_) @ self.beta_ + self.intercept_
