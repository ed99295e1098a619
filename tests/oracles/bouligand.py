"""The influence-function series of support vector machines from dense matrices, and what it starts from.

All objectives are ``penalty |f|² + Σ_i now_i loss(y_i, f_i + b)`` with ``f = K β``: means of n losses have
``now = weights / n`` and ``C = 1 / (2 n penalty)``, sums of them ``now = weights`` and ``C = 1 / (2 penalty)``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .extended import extended_solve


def precise_solve(A, b):
    """``A^{-1} b`` by solving in double and correcting what is left in long double, or by elimination in that."""
    x, A = np.zeros_like(b, dtype=np.longdouble), A.astype(np.longdouble)
    for _ in range(12):
        x = x + np.linalg.solve(A.astype(np.float64), (b - A @ x).astype(np.float64))
        if (np.abs(b - A @ x) <= 1e-18 * (np.abs(A) @ np.abs(x))).all():
            return x
    return extended_solve(A, b.reshape(len(b), -1)).reshape(b.shape)


@dataclass(frozen=True)
class Loss:
    """A loss of (target, value), and its first and second derivative in the value."""

    value: Callable
    first: Callable
    second: Callable


def smoothed_hinge(h):
    """The hinge, a parabola for |1 - y f| <= h."""

    def value(y, f):
        z = y * f
        return np.where(z > 1 + h, 0, np.where(z < 1 - h, 1 - z, (1 + h - z) ** 2 / (4 * h)))

    def first(y, f):
        z = y * f
        return np.where(z > 1 + h, 0, np.where(z < 1 - h, -y, -y * (1 + h - z) / (2 * h)))

    def second(y, f):
        return np.where(np.abs(1 - y * f) <= h, 1 / (2 * h), 0)

    return Loss(value, first, second)


def squared_hinge():
    """``max(0, 1 - y f)²``."""
    return Loss(
        lambda y, f: np.maximum(0, 1 - y * f) ** 2,
        lambda y, f: np.where(y * f < 1, 2 * (f - y), 0),
        lambda y, f: np.where(y * f < 1, 2, 0),
    )


def smoothed_tube(epsilon, h):
    """``max(0, |y - f| - epsilon)``, a parabola where the two are within h of each other."""

    def value(y, f):
        d = np.abs(y - f)
        return np.where(d < epsilon - h, 0, np.where(d > epsilon + h, d - epsilon, (h + d - epsilon) ** 2 / (4 * h)))

    def first(y, f):
        d = np.abs(y - f)
        size = np.where(d < epsilon - h, 0, np.where(d > epsilon + h, 1, (h + d - epsilon) / (2 * h)))
        return -np.sign(y - f) * size

    def second(y, f):
        return np.where(np.abs(np.abs(y - f) - epsilon) <= h, 1 / (2 * h), 0)

    return Loss(value, first, second)


def huber(h):
    """The absolute error, a parabola for |y - f| <= 2 h; less h beyond."""
    return smoothed_tube(h, h)


def objective(K, y, loss, cost, beta, b):
    """``½ βᵀKβ + Σ cost_i loss(y_i, f_i)`` at ``f = K β + b``."""
    u = K @ beta
    return beta @ u / 2 + cost @ loss.value(y, u + b)


def minimise(K, y, loss, cost, bias, start=None, rounds=300):
    """(β, b), long doubles, that minimise ``objective``: Newton's method, each step as long as the objective falls.

    Stationary points have ``β + cost loss' = 0`` and, with a bias, ``Σ β = 0``. The last steps are full ones in
    extended precision. Where no loss is curved all are treated as if they were, so that there is a step.
    """
    n = len(K)

    def violated(beta, b):
        return beta + cost * loss.first(y, K @ beta + b)

    def newton(beta, b, solve):
        curvature = cost * loss.second(y, K @ beta + b)
        if bias and not curvature.any():
            curvature = cost
        right = -np.append(violated(beta, b), [beta.sum()] * bias)
        step = solve(bordered(K, curvature, 1.0, bias), right)
        return step[:n], step[n] if bias else 0.0

    def length(beta, b, step, step_b):
        f, change = K @ beta + b, K @ step + step_b

        def slope(share):
            push = cost * loss.first(y, f + share * change)
            return (change - step_b) @ (beta + share * step + push) + step_b * push.sum()

        low, high = 0.0, 1.0
        while slope(high) < 0 and high < 1e6:
            low, high = high, 2 * high
        if low == 0.0 and slope(1.0) <= 1e-12 * abs(slope(0.0)):
            return 1.0
        while high - low > max(1e-3 * high, 1e-9):
            middle = (low + high) / 2
            low, high = (middle, high) if slope(middle) < 0 else (low, middle)
        return high

    beta, b = (np.zeros(n), 0.0) if start is None else start
    steepest = max(1.0, float((cost * loss.second(1.0, np.linspace(-9, 9, 9001)).max()).max()))
    for _ in range(rounds):
        step, step_b = newton(beta, b, np.linalg.solve)
        share = length(beta, b, step, step_b)
        beta, b = beta + share * step, b + share * step_b
        if np.abs(violated(beta, b)).max() <= 1e-10 * steepest:
            break
    K, cost, beta = K.astype(np.longdouble), cost.astype(np.longdouble), beta.astype(np.longdouble)
    for _ in range(3):
        step, step_b = newton(beta, b, precise_solve)
        beta, b = beta + step, b + step_b
    in_values = max(np.abs(violated(beta, b)).max(), abs(beta.sum()) * bias) / steepest
    if not in_values <= 1e-13:
        raise ArithmeticError(f"Newton's method stopped at a violation of {in_values}")
    return beta, b


def sharp_machine(K, y, cost, bias, epsilon=None):
    """(β, b) of the support vector machine itself: hinge loss (``epsilon=None``), or epsilon-insensitive.

    Smoothing over less and less finds the rows at a kink; their equations are then solved, and the conditions of
    optimality checked.
    """
    start = None
    for h in (1e-1, 1e-3, 1e-5, 1e-7):
        loss = smoothed_hinge(h) if epsilon is None else smoothed_tube(epsilon, h)
        beta, b = minimise(K, y, loss, cost, bias, start)
        start = beta.astype(float), float(b)
    f = K @ beta + b
    free, m = np.flatnonzero(loss.second(y, f)), np.count_nonzero(loss.second(y, f))
    target = y if epsilon is None else y - epsilon * np.sign(y - f)
    beta = -cost * np.round(loss.first(y, f)).astype(np.longdouble)
    beta[free] = 0
    system = np.zeros((m + bias, m + bias), dtype=np.longdouble)
    system[:m, :m] = K[np.ix_(free, free)]
    system[m:, :m] = system[:m, m:] = 1
    right = np.append((target - K @ beta)[free], [-beta.sum()] * bias)
    solved = precise_solve(system, right)
    beta[free], b = solved[:m], solved[m] if bias else 0.0
    f = K @ beta + b
    beyond = 1 - y * f if epsilon is None else np.abs(y - f) - epsilon
    sign = y if epsilon is None else np.sign(y - f)
    at_kink = np.isin(np.arange(len(y)), free)
    assert (np.abs(beyond[at_kink]) < 1e-13).all()
    assert ((beta * sign)[at_kink] > 0).all()
    assert (np.abs(beta)[at_kink] < cost[at_kink]).all()
    np.testing.assert_array_equal((beta * sign)[~at_kink], np.where(beyond > 0, cost, 0)[~at_kink])
    return beta, b


def bordered(K, curvature, ridge, bias):
    """``[[ridge I + W K, w], [1ᵀ, 0]]`` with w the curvatures; without a bias its first block."""
    n = len(K)
    system = np.zeros((n + bias, n + bias), dtype=K.dtype)
    system[:n, :n] = curvature[:, None] * K + ridge * np.eye(n)
    if bias:
        system[:n, n], system[n, :n] = curvature, 1
    return system


@dataclass(frozen=True)
class Convention:
    """What the losses of the rows are multiplied with, on all rows (``now``) and in a split (``then``)."""

    penalty: float
    now: np.ndarray
    then: np.ndarray

    @classmethod
    def of(cls, C, weights, split_weights, rows, mean_loss):
        """``weights`` of the rows, and in the split, which has so many training ``rows``."""
        n = len(weights)
        if mean_loss:
            return cls(1 / (2 * n * np.longdouble(C)), weights / np.longdouble(n), split_weights / np.longdouble(rows))
        return cls(1 / (2 * np.longdouble(C)), weights.astype(np.longdouble), split_weights.astype(np.longdouble))


def response(K, curvature, penalty, bias):
    """The matrix R that a term of the series is ``T = R v`` with.

    ``R = (2 penalty I + K W)^{-1} K``; with a bias ``T = K a + b 1``, where a and b solve the bordered system.
    """
    n = len(K)
    if not bias:
        return precise_solve(2 * penalty * np.eye(n) + K * curvature, K)
    solved = precise_solve(bordered(K, curvature, 2 * penalty, True), np.eye(n + 1)[:, :n])
    return K @ solved[:n] + solved[n]


def series(K, y, loss, start, conventions, orders, bias, epsilon=None):
    """Values of all rows, (orders, splits, n): ``f + T_1 + … + T_r``, all of it if r is infinite.

    ``T_1 = R (Δ g)``, ``T_{s+1} = R (Δ w T_s)`` with Δ = now - then, g and w the derivatives of the losses at f. With a
    bias there is no R if no loss is curved, and no sum if the split keeps none that is: see ``resting``.
    """
    K, (beta, b) = K.astype(np.longdouble), start
    f = K @ beta + b
    g, w = loss.first(y, f), loss.second(y, f)
    values = np.empty((len(orders), len(conventions), len(K)))
    now, penalty = conventions[0].now, conventions[0].penalty  # those of all rows: the same for every split
    R = response(K, now * w, penalty, bias) if (now * w).any() or not bias else None
    for number, convention in enumerate(conventions):
        change, kept = now - convention.then, (convention.then * w).any()
        for k, order in enumerate(orders):
            if R is None or (bias and order == np.inf and not kept):
                values[k, number] = resting(K, y, g, convention, epsilon)
            else:
                values[k, number] = added(f, R @ (change * g), R * (change * w), order)
    return values


def resting(K, y, g, convention, epsilon):
    """Values where no coefficient is free to move: each is at its bound in the split, the bias in the middle of the
    best ones for the loss itself (the hinge, or ``epsilon``-insensitive), found by trying all kinks.
    """
    u, used = K @ (-convention.then * g / (2 * convention.penalty)), convention.then > 0
    kinks = (y - u)[used] if epsilon is None else np.concatenate([y - u - epsilon, y - u + epsilon])[np.tile(used, 2)]

    def total(b):
        beyond = 1 - y * (u + b) if epsilon is None else np.abs(y - u - b) - epsilon
        return convention.then @ np.maximum(0, beyond)

    totals = np.array([total(b) for b in kinks])
    best = kinks[totals <= totals.min() + 1e-15 * convention.then.sum()]
    return (u + (best.min() + best.max()) / 2).astype(np.float64)


def added(f, first, operator, order):
    """``f + Σ_{s<order} operator^s first``."""
    if order == np.inf:
        return (f + precise_solve(np.eye(len(f)) - operator, first)).astype(np.float64)
    term = whole = first
    for _ in range(order - 1):
        term = operator @ term
        whole = whole + term
    return (f + whole).astype(np.float64)


def series_as_printed(K, y, loss, beta, lam, test, t, order):
    """The paper's formulae for t folds of one size without a bias; they name ``2 lam f`` instead of relying on β.

    ``B_1 = L^{-1} (-(K ∘ S) g / l - 2 lam f)``, ``B_{k+1} = (k + 1) G (B_k ∘ Q) (1 - t)``,
    ``f + Σ_s B_s / ((1 - t)^s s!)``.
    """
    K, n = K.astype(np.longdouble), len(K)
    assert n == len(test) * t
    f, inside = K @ beta, np.isin(np.arange(n), test)
    g, w = loss.first(y, f), loss.second(y, f)
    L = 2 * lam * np.eye(n) + K * w / n
    G = precise_solve(L, K * w / n)
    B = precise_solve(L, -(K * inside) @ g / len(test) - 2 * lam * f)
    Q = np.where(inside, 1, 1 / np.longdouble(1 - t))
    total, factorial = f, 1
    for s in range(1, order + 1):
        factorial *= s
        total = total + B / (np.longdouble(1 - t) ** s * factorial)
        B = (s + 1) * G @ (B * Q) * (1 - t)
    return total.astype(np.float64)


def newton_step(K, y, loss, cost, start, bias):
    """Values of all rows after one undamped Newton step of the problem with the given costs, from ``start``.

    The gradient and the Hessian in (β, b) are formed, and the step is the shortest that solves their equation: where
    it is not unique, values of rows are.
    """
    n, (beta, b) = len(K), (start[0].astype(np.float64), float(start[1]))
    J = np.column_stack([K, np.ones(n)]) if bias else K
    f = K @ beta + b
    gradient = J.T @ (cost * loss.first(y, f))
    hessian = J.T @ ((cost * loss.second(y, f))[:, None] * J)
    gradient[:n] += K @ beta
    hessian[:n, :n] += K
    return f + J @ np.linalg.lstsq(hessian, -gradient, rcond=1e-15)[0]
