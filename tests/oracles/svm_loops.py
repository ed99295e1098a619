"""NumPy references of the compiled loops of the support vector solver: vector operations and dense solves.

They are the specification that the loops are compared with, and what to read first. The reference of the active-set
method solves a dense system where the loop updates a factor, and frees one coefficient a round where the loop frees
many: rounds differ, solutions do not.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

ROUNDING = 8 * 2.0**-52
"""Distance from an end of a piece, relative to the sum of all coefficients, that is rounding."""


def duality_gap(ridge, target, epsilon, lower, upper, beta, u, b):
    """The sum over rows of the most that another answer v would gain: ends of pieces, or the minimum itself."""
    r = u + b - target
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.where(ridge > 0, np.sign(-r) * np.maximum(np.abs(r) - epsilon, 0.0) / ridge, 0.0)
    total = np.zeros(len(beta))
    for v in (np.clip(best, lower, upper), lower, upper, np.clip(0.0, lower, upper)):
        v = np.where(np.isfinite(v), v, beta)
        value = (beta - v) * (r + ridge / 2 * (beta + v)) + epsilon * (np.abs(beta) - np.abs(v))
        total = np.maximum(total, value)
    return total.sum()


def slopes(gradient, epsilon, beta):
    """Derivatives of the objective when each coefficient grows and when it falls, the latter with its sign turned."""
    return gradient + np.where(beta >= 0, epsilon, -epsilon), gradient + np.where(beta > 0, epsilon, -epsilon)


def smo(K, ridge, target, epsilon, lower, upper, bias, beta, u, tol, max_steps):
    """Improve ``beta`` and ``u = K beta`` in place by at most ``max_steps`` steps; return how many were made.

    With a bias, the coefficient that descends steepest takes from the one with which it gains most, by second order;
    without, the coefficient that gains most by itself moves.
    """
    for step in range(max_steps):
        rising, falling = slopes(u + ridge * beta - target, epsilon, beta)
        rising = np.where(beta < upper, rising, np.inf)
        falling = np.where(beta > lower, falling, -np.inf)
        choose = _pair if bias else _single
        change = choose(K, ridge, epsilon, lower, upper, beta, rising, falling, tol)
        if change is None:
            return step
        for i, value, amount in change:
            beta[i] = value
            u += amount * K[i]
    return max_steps


def _pair(K, ridge, epsilon, lower, upper, beta, rising, falling, tol):
    """[(index, new coefficient, its change)] of the pair to move, or None if no violation exceeds ``tol``."""
    i = int(np.argmin(rising))
    if not falling.max() - rising[i] > tol:
        return None
    drop = falling - rising[i]
    own = K[i, i] + ridge[i]
    bend = np.maximum(own + np.diagonal(K) + ridge - 2 * K[i], max(1e-12 * own, 1e-300))
    with np.errstate(over="ignore"):
        gain = np.square(np.maximum(drop, 0.0)) / bend
    j = int(np.argmax(gain))
    if not gain[j] > 0:
        return None
    end_i = 0.0 if epsilon > 0 and beta[i] < 0 else upper[i]
    end_j = 0.0 if epsilon > 0 and beta[j] > 0 else lower[j]
    amount = min(drop[j] / bend[j], end_i - beta[i], beta[j] - end_j)
    new_i = end_i if amount == end_i - beta[i] else beta[i] + amount
    new_j = end_j if amount == beta[j] - end_j else beta[j] - amount
    return [(i, new_i, amount), (j, new_j, -amount)]


def _single(K, ridge, epsilon, lower, upper, beta, rising, falling, tol):
    """As ``_pair``, for one coefficient."""
    slope = np.where(rising < 0, rising, np.where(falling > 0, falling, 0.0))
    bend = np.maximum(np.diagonal(K) + ridge, 1e-300)
    with np.errstate(over="ignore"):
        gain = np.square(slope) / bend
    i = int(np.argmax(gain))
    if not gain[i] > 0 or not np.abs(slope).max() > tol:
        return None
    wish = -slope[i] / bend[i]
    end = upper[i] if wish > 0 else lower[i]
    if epsilon > 0 and wish * beta[i] < 0:
        end = 0.0
    if abs(wish) < abs(end - beta[i]):
        return [(i, beta[i] + wish, wish)]
    return [(i, end, end - beta[i])]


def active_set(K, ridge, target, epsilon, lower, upper, bias, beta, tol=1e-10, jitter=1e-13, max_rounds=2000):
    """Solve in place for ``beta``, which starts within its bounds.

    Returns (``u = K beta``, bias, largest violation of optimality, whether it is at most ``tol`` and the sum zero).
    """
    problem = _Dual(K, ridge, target, epsilon, lower, upper, bias)
    side, constant = np.where(beta > 0, 1.0, -1.0), float(np.abs(K).max()) if bias else 0.0
    free = [int(i) for i in np.flatnonzero(problem.inside(beta))]
    b, worst = 0.0, np.inf
    for _ in range(max_rounds):
        problem.descend(beta, free, side, constant, jitter)
        if not free:
            problem.rebalance(beta)
        u = K @ beta
        slope = problem.gradient(beta, u) + side * epsilon
        if bias:
            b = -slope[free].mean() if free else problem.middle(beta, u)
        gain, upwards = problem.gains(beta, u, b)
        gain[free] = 0.0
        worst = max(np.abs(slope[free] + b).max(initial=0.0), gain.max(initial=0.0))
        if worst <= tol and not problem.lack(beta):
            if bias and not problem.inside(beta)[free].any():
                b = problem.middle(beta, u)
            return u, b, worst, True
        directions = [upwards, ~upwards] if bias and not free else [np.ones_like(upwards)]  # a sum of zero takes two
        for i in [int(np.argmax(np.where(direction, gain, 0.0))) for direction in directions]:
            if gain[i] > tol:
                free.append(i)
                side[i] = np.sign(beta[i]) or (1.0 if upwards[i] else -1.0)
    return u, b, worst, False


class _Dual:
    """The problem of an ``active_set`` call, and the steps that the method is made of."""

    def __init__(self, K, ridge, target, epsilon, lower, upper, bias):
        self.K, self.ridge, self.target, self.epsilon = K, ridge, target, epsilon
        self.lower, self.upper, self.bias = lower, upper, bias

    def gradient(self, beta, u):
        """Derivative of the quadratic part."""
        return u + self.ridge * beta - self.target

    def inside(self, beta):
        """Which coefficients are at no end of their piece."""
        return (self.lower < beta) & (beta < self.upper) & ((self.epsilon == 0) | (beta != 0))

    def piece(self, side):
        """(lower end, upper end) of the pieces on the given sides."""
        if self.epsilon == 0:
            return self.lower, self.upper
        return np.where(side > 0, 0.0, self.lower), np.where(side < 0, 0.0, self.upper)

    def gains(self, beta, u, b):
        """Steepness of the descent that each coefficient has, and whether it is upwards."""
        rising, falling = slopes(self.gradient(beta, u) + b, self.epsilon, beta)
        up = np.where(beta < self.upper, np.maximum(-rising, 0.0), 0.0)
        down = np.where(beta > self.lower, np.maximum(falling, 0.0), 0.0)
        return np.where(self.lower < self.upper, np.maximum(up, down), 0.0), up > down

    def middle(self, beta, u):
        """The middle of the biases that violate least."""
        rising, falling = slopes(self.gradient(beta, u), self.epsilon, beta)
        ends = [rising[beta < self.upper].min(initial=np.inf), falling[beta > self.lower].max(initial=-np.inf)]
        ends = [end for end in ends if np.isfinite(end)]
        return -sum(ends) / len(ends) if ends else 0.0

    def lack(self, beta):
        """What the sum of the coefficients lacks to be zero, if it has to be."""
        return -beta.sum() if self.bias and abs(beta.sum()) > ROUNDING * np.abs(beta).sum() else 0.0

    def descend(self, beta, free, side, constant, jitter):
        """Newton steps of the free coefficients, each as far as the first end met, which rests there."""
        while free:
            low, high = (end[free] for end in self.piece(side))
            M = self.K[np.ix_(free, free)] + constant + np.diag(self.ridge[free] + jitter)
            slope = self.gradient(beta, self.K @ beta)[free] + side[free] * self.epsilon
            along, across = cho_solve(cho_factor(M), np.column_stack([slope, np.ones(len(free))])).T
            b = -(along.sum() + self.lack(beta)) / across.sum() if self.bias else 0.0
            step = -(along + b * across)
            room = np.where(step > 0, high - beta[free], beta[free] - low)
            reach = np.where(room < np.abs(step), room / np.where(step == 0, 1.0, np.abs(step)), 1.0)
            first = int(np.argmin(reach))
            beta[free] += reach[first] * step
            if reach[first] == 1.0:
                break
            beta[free[first]] = high[first] if step[first] > 0 else low[first]
            del free[first]
        self._rest_arrived(beta, free, side)

    def rebalance(self, beta):
        """Bring the sum to zero, each time moving the coefficient that gains most as far as its piece goes."""
        while self.lack(beta):
            missing = self.lack(beta)
            rising, falling = slopes(self.gradient(beta, self.K @ beta), self.epsilon, beta)
            if missing > 0:
                i = int(np.argmin(np.where(beta < self.upper, rising, np.inf)))
                end = 0.0 if self.epsilon > 0 and beta[i] < 0 else self.upper[i]
                beta[i] = min(beta[i] + missing, end)
            else:
                i = int(np.argmax(np.where(beta > self.lower, falling, -np.inf)))
                end = 0.0 if self.epsilon > 0 and beta[i] > 0 else self.lower[i]
                beta[i] = max(beta[i] + missing, end)

    def _rest_arrived(self, beta, free, side):
        """Rest the free coefficients that are at an end of their piece but for rounding."""
        rounding = ROUNDING * np.abs(beta).sum()
        low, high = self.piece(side)
        for i in list(free):
            for end in (low[i], high[i]):
                if i in free and 0 < abs(end - beta[i]) <= rounding:
                    beta[i] = end
                    free.remove(i)
