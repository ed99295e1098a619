"""Support vector machines by other means: LIBSVM, and Newton's method in the primal."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

from .problems import points


def single_precision(K):
    """The symmetric matrix nearest to K whose entries LIBSVM, which caches single precision, can represent."""
    K = ((K + K.T) / 2).astype(np.float32).astype(np.float64)
    return np.triu(K) + np.triu(K, 1).T


def gaussian(X, gamma):
    """``exp(-gamma |x - x'|²)``."""
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


def _on_grid(X, steps):
    """Two features on a grid so coarse that dot products are exact in single precision: singular, not indefinite."""
    return np.round(X[:, :2] * steps) / steps


GRAMS = {
    "wide": lambda X: gaussian(X, 0.05),
    "medium": lambda X: gaussian(X, 1.0),
    "narrow": lambda X: gaussian(X, 20.0),
    "polynomial": lambda X: (_on_grid(X, 2) @ _on_grid(X, 2).T / 2 + 1) ** 3,
    "linear": lambda X: _on_grid(X, 16) @ _on_grid(X, 16).T,
    "duplicated": lambda X: gaussian(X[np.arange(len(X)) // 2], 0.5),
    "identity": lambda X: np.eye(len(X)),
    "ones": lambda X: np.ones((len(X), len(X))),
    "zero": lambda X: np.zeros((len(X), len(X))),
}
"""Gram matrices by name, as functions of the rows: well and badly conditioned, singular, and without content."""

ORDINARY = tuple(name for name in GRAMS if name != "zero")


def gram(name, seed, n, d=3):
    """A Gram matrix of ``GRAMS`` on n random rows, in single precision, and those rows."""
    X = points(seed, n, d)
    return single_precision(GRAMS[name](X)), X


def labels(seed, X, share=0.5):
    """Noisy -1 and +1, of which about ``share`` are +1; both occur."""
    rng = np.random.default_rng(seed + 3000)
    scores = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, -1] + 0.5 * rng.normal(size=len(X))
    y = np.where(scores > np.quantile(scores, 1 - share), 1.0, -1.0)
    y[0], y[-1] = 1.0, -1.0
    return y


def curve(seed, X):
    """Noisy values of a smooth function."""
    rng = np.random.default_rng(seed + 4000)
    return np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=len(X))


def libsvm(machine, K, y, train=None, weights=None):
    """Decision values of all rows by a scikit-learn machine trained on some of them, None if it did not converge.

    Rows of weight zero are left out beforehand: with a precomputed kernel scikit-learn mixes up the others otherwise.
    """
    train = np.arange(len(K)) if train is None else train
    train = train if weights is None else train[weights[train] > 0]
    machine.set_params(kernel="precomputed", tol=1e-10, max_iter=1_000_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(K[np.ix_(train, train)], y[train], None if weights is None else weights[train])
    if machine.fit_status_ != 0:
        return None
    columns = np.ascontiguousarray(K[:, train])
    return machine.decision_function(columns) if isinstance(machine, SVC) else machine.predict(columns)


def classified(K, y, C, **options):
    """Values of SVC, positive for the larger label."""
    return libsvm(SVC(C=C), K, y, **options)


def regressed(K, y, C, epsilon, **options):
    """Values of SVR."""
    return libsvm(SVR(C=C, epsilon=epsilon), K, y, **options)


def without_bias(oracle, K, y, C, *options):
    """Values of a machine without bias, by one with: every row has a mirror image of the opposite target.

    Turning the sign of the bias changes nothing then, so a bias of zero is best; the penalty is shared by the two.
    """
    n = len(K)
    both = oracle(np.block([[K, -K], [-K, K]]), np.concatenate([y, -y]), C / 2, *options)
    return None if both is None else (both[:n] - both[n:]) / 2


def coordinate_descent(K, y, cost, epsilon=None, rounds=20_000):
    """Coefficients of a machine without bias: the dual, minimised exactly in one coefficient after the other.

    Hinge loss (``epsilon=None``, ``0 <= y beta <= cost``), or epsilon-insensitive (``|beta| <= cost``).
    """
    beta, u, diagonal = np.zeros(len(K)), np.zeros(len(K)), np.diagonal(K)
    lower = np.minimum(cost * y, 0.0) if epsilon is None else -cost
    upper = np.maximum(cost * y, 0.0) if epsilon is None else cost
    for _ in range(rounds):
        moved = 0.0
        for i in range(len(K)):
            lacking = y[i] - u[i] + diagonal[i] * beta[i]
            goal = np.sign(lacking) * max(abs(lacking) - (epsilon or 0.0), 0.0) / diagonal[i]
            step = min(max(goal, lower[i]), upper[i]) - beta[i]
            beta[i] += step
            u += step * K[i]
            moved = max(moved, abs(step))
        if moved <= 1e-14 * max(1.0, np.abs(beta).max()):
            return beta
    raise ArithmeticError("coordinate descent did not converge")


def squared_hinge_newton(K, y, C, weights=None, bias=True, rounds=200):
    """(coefficients, bias) that minimise ``½ βᵀKβ + C Σ w max(0, 1 - y f)²``, f = Kβ + b, by Newton's method.

    Rows within the margin are least-squares equations; every step is damped until the objective falls.
    """
    n = len(K)
    weights = np.ones(n) if weights is None else weights

    def objective(beta, b):
        u = K @ beta
        return beta @ u / 2 + C * weights @ np.maximum(0.0, 1 - y * (u + b)) ** 2

    beta, b = np.zeros(n), 0.0
    for _ in range(rounds):
        inside = np.flatnonzero((y * (K @ beta + b) < 1) & (weights > 0))
        m = len(inside)
        system = np.zeros((m + bias, m + bias))
        system[:m, :m] = K[np.ix_(inside, inside)] + np.diag(1 / (2 * C * weights[inside]))
        system[m:, :m] = system[:m, m:] = 1.0
        solved = np.linalg.solve(system, np.concatenate([y[inside], np.zeros(int(bias))]))
        goal, goal_b = np.zeros(n), solved[m] if bias else 0.0
        goal[inside] = solved[:m]
        if (((y * (K @ goal + goal_b) < 1) & (weights > 0)) == np.isin(np.arange(n), inside)).all():
            return goal, goal_b
        share, now = 1.0, objective(beta, b)
        while objective(beta + share * (goal - beta), b + share * (goal_b - b)) > now and share > 1e-9:
            share /= 2
        beta, b = beta + share * (goal - beta), b + share * (goal_b - b)
    raise ArithmeticError("Newton's method did not converge")


def primal_value(K, beta, b, loss):
    """``½ βᵀKβ + Σ loss_i(f_i)`` at f = Kβ + b."""
    u = K @ beta
    return beta @ u / 2 + loss(u + b).sum()


def dual_value(K, ridge, target, epsilon, beta):
    """What the dual maximises: less than every primal value if beta is feasible."""
    return target @ beta - beta @ (K @ beta) / 2 - ridge @ beta**2 / 2 - epsilon * np.abs(beta).sum()


def smoothed_sets(y, f, h):
    """(curved, straight) rows of the hinge loss smoothed over h."""
    return np.abs(1 - y * f) <= h, y * f < 1 - h


def smoothed_hinge_step(K, y, C, h, curved, straight):
    """(coefficients, bias) that solve the conditions of optimality of the smoothed hinge loss on given sets of rows."""
    n = len(K)
    A = np.flatnonzero(curved)
    beta = np.where(straight, C * y, 0.0)
    m = len(A)
    system = np.zeros((m + 1, m + 1))
    system[:m, :m] = K[np.ix_(A, A)] + 2 * h / C * np.eye(m)
    system[m, :m] = system[:m, m] = 1.0
    right = np.append((1 + h) * y[A] - K[A] @ beta, -beta.sum())
    solved = np.linalg.solve(system, right)
    beta[A] = solved[:m]
    assert beta.shape == (n,)
    return beta, solved[m]


def smoothed_hinge_newton(K, y, C, h, rounds=500):
    """(coefficients, bias) of the machine with the hinge loss smoothed over h, by damped Newton steps from LIBSVM's."""

    def objective(beta, b):
        u = K @ beta
        gap = 1 - y * (u + b)
        loss = np.where(gap > h, gap, np.where(gap < -h, 0.0, (gap + h) ** 2 / (4 * h)))
        return beta @ u / 2 + C * loss.sum()

    start = SVC(C=C, kernel="precomputed").fit(K, y)
    beta, b = np.zeros(len(K)), start.intercept_[0]
    beta[start.support_] = start.dual_coef_[0]
    for _ in range(rounds):
        sets = smoothed_sets(y, K @ beta + b, h)
        goal, goal_b = smoothed_hinge_step(K, y, C, h, *sets)
        if all(np.array_equal(one, two) for one, two in zip(sets, smoothed_sets(y, K @ goal + goal_b, h))):
            return goal, goal_b
        share, now = 1.0, objective(beta, b)
        while objective(beta + share * (goal - beta), b + share * (goal_b - b)) > now and share > 1e-9:
            share /= 2
        beta, b = beta + share * (goal - beta), b + share * (goal_b - b)
    raise ArithmeticError("Newton's method did not converge")
