r"""A primal active-set method for the dual of support vector machines.

.. math:: \min_\beta \tfrac12 \beta^T (K + D) \beta - t^T \beta + \epsilon |\beta|_1,
          \quad l \le \beta \le u, \quad \sum_i \beta_i = 0 \text{ with a bias}

*Free* coefficients lie inside a piece on which the objective is quadratic: (l, u), or (l, 0) and (0, u) if
epsilon > 0; the others rest at an end of their piece. A round takes the Newton step of the free ones, stops at each
bound on the way, and then frees those resting coefficients that would gain most. The objective never rises; from a
good start a handful of rounds reaches the solution to machine precision, however ill-conditioned K is.

With a bias, ``K + c`` for a constant c has the same solution as K, because the coefficients sum to zero: it is
factorised instead, and stays definite where K is definite for such coefficients only.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled
from .factor import append, remove, solve_transposed, solve_upper
from .smo import slopes

SNAP = 8 * 2.0**-52
"""Distance from a bound, relative to the sum of all coefficients, that is rounding."""

NEAR = 1e-11
"""The same for sums of many coefficients, and for what decides whether the bias is determined by one of them."""

BATCH = 16
"""How many coefficients a round may set free."""


@compiled
def active_set(
    K, ridge, target, epsilon, lower, upper, bias, constant, jitter, beta, u, F, m, side, U, settled, tol, max_rounds
):
    """Solve in place for ``beta`` (feasible at the start) and ``u = K beta``.

    ``F[:m]`` are the free indices, ``side`` says on which piece (-1 or +1) each is if there are two, and U is the
    factor of ``K[F, F] + constant + diag(ridge[F] + jitter)``; all of them change.
    ``settled`` says that the free coefficients are at the minimum over them already.
    Returns (bias, largest violation of the conditions of optimality, rounds, whether it is at most ``tol`` and the sum
    zero, number of free ones); where it has stopped, another call goes on.
    Cost: O(n m) a round and O(m²) for each coefficient that becomes free or stops being so.
    """
    n = len(target)
    free = np.zeros(n, dtype=np.bool_)
    for a in range(m):
        free[F[a]] = True
    before, touched = np.empty(n), np.empty(n, dtype=F.dtype)
    chosen, gains = np.empty(BATCH, dtype=F.dtype), np.empty(BATCH)
    columns, diagonals = np.empty((n, BATCH)), np.empty(BATCH)
    b, worst = 0.0, np.inf
    floor = _negligible(K, ridge, target, lower, upper)
    progress = True
    for round_number in range(max_rounds):
        if round_number > 0 or not settled:
            for a in range(m):
                touched[a] = F[a]
                before[F[a]] = beta[F[a]]
            n_touched = m
            m, missing, progress = _newton(
                ridge, target, epsilon, lower, upper, bias, beta, u, F, m, U, free, side, floor
            )
            update(K, u, beta, before, touched, n_touched)
            if m == 0 and missing != 0:
                progress = _rebalance(K, ridge, target, epsilon, lower, upper, beta, u, missing, floor)
        b = 0.0
        if bias:
            b = common_bias(ridge, target, epsilon, lower, upper, beta, u, side, F, m)
        worst = 0.0
        for a in range(m):
            i = F[a]
            worst = max(worst, abs(u[i] + ridge[i] * beta[i] - target[i] + side[i] * epsilon + b))
        found, violation = _violators(
            ridge, target, epsilon, lower, upper, bias, beta, u, b, free, m, tol, chosen, gains, progress
        )
        worst = max(worst, violation)
        if worst <= tol and (not bias or abs(beta.sum()) <= max(NEAR * np.abs(beta).sum(), floor)):
            if bias:
                b = _middle(ridge, target, epsilon, lower, upper, beta, u, b, floor)
            return b, worst, round_number + 1, True, m
        for c in range(found):
            i = chosen[c]
            row = K[i]
            for a in range(m + c):
                columns[a, c] = row[F[a]] + constant
            diagonals[c] = row[i] + constant + ridge[i] + jitter
            F[m + c] = i
            free[i] = True
            rising = slopes(u[i] + ridge[i] * beta[i] - target[i], epsilon, beta, i)[0]
            upwards = beta[i] < upper[i] and rising + b < 0
            side[i] = 1.0 if beta[i] > 0 or (beta[i] == 0 and upwards) else -1.0
        append(U, m, columns, diagonals, found, jitter / 2)
        m += found
    return b, worst, max_rounds, False, m


@compiled
def _negligible(K, ridge, target, lower, upper):
    """A coefficient so small that it is seen neither in ``(K + D) beta`` next to the targets nor next to the bounds."""
    bend, size, widest = 0.0, 0.0, 0.0
    for i in range(len(target)):
        size = max(size, abs(target[i]))
        if lower[i] < upper[i]:
            bend = max(bend, K[i, i] + ridge[i])
            widest = max(widest, upper[i] - lower[i])
    return 1e-16 * min(size / bend, widest) if bend > 0 else 0.0


@compiled
def newton_step(gradient, ones, bias, missing, U, m, step):
    """Write the step to the minimum over the free coefficients, with a bias one that sums to ``missing``.

    ``gradient`` and ``ones`` solve ``Uᵀ x = …`` for the gradient and for ones; with a bias, ``gradient`` loses its part
    along ``ones``, which no step sees. Returns the constant that goes with the rest.
    """
    b = 0.0
    if bias:
        below = 0.0
        for a in range(m):
            below += ones[a] * ones[a]
        for _ in range(2):  # once leaves rounding of targets that may be far larger than any step
            along = 0.0
            for a in range(m):
                along += gradient[a] * ones[a]
            for a in range(m):
                gradient[a] -= along / below * ones[a]
        b = -missing / below
    for a in range(m):
        step[a] = -(gradient[a] + b * ones[a])
    solve_upper(U, m, step)
    return b


@compiled
def _newton(ridge, target, epsilon, lower, upper, bias, beta, u, F, m, U, free, side, floor):
    """Move the free coefficients to the minimum over them, resting each at the bound that it meets on the way.

    With a bias, a sum that is not zero becomes so. Along the step the gradient on the free set shrinks towards a common
    value in proportion, so it need not be computed until the end. ``u`` is left as it was. Returns (number of free
    ones, what the sum still lacks, whether anything moved by more than rounding).
    """
    rounding = max(SNAP * np.abs(beta).sum(), floor)
    missing = -beta.sum() if bias else 0.0
    if abs(missing) <= rounding:
        missing = 0.0
    gradient, ones, step = np.empty(m), np.empty(m), np.empty(m)
    for a in range(m):
        i = F[a]
        gradient[a] = u[i] + ridge[i] * beta[i] - target[i] + side[i] * epsilon
        ones[a] = 1.0
    solve_transposed(U, m, gradient)
    solve_transposed(U, m, ones)
    progress = False
    while m > 0:
        b = newton_step(gradient, ones, bias, missing, U, m, step)
        length, met = 1.0, -1
        for a in range(m):
            i = F[a]
            room = _room(lower, upper, epsilon, beta, side, i, step[a])
            if room < length * abs(step[a]):
                length, met = room / abs(step[a]), a
        for a in range(m):
            beta[F[a]] += length * step[a]
            gradient[a] -= length * (gradient[a] + b * ones[a])
            progress |= length * abs(step[a]) > rounding
        missing *= 1.0 - length
        if met < 0:
            break
        i = F[met]
        beta[i] = piece_end(lower, upper, epsilon, side, i, step[met])
        free[i] = False
        remove(U, m, met, gradient, ones)
        for a in range(met, m - 1):
            F[a] = F[a + 1]
        m -= 1
    m = _rest_arrived(lower, upper, epsilon, beta, F, m, U, free, side, gradient, ones, floor)
    return m, missing, progress


@compiled
def _rebalance(K, ridge, target, epsilon, lower, upper, beta, u, missing, floor):
    """Add ``missing`` to the sum of the coefficients, each time moving the one that gains most as far as it can.

    Returns whether anything moved.
    """
    n = len(beta)
    rounding, progress = max(NEAR * np.abs(beta).sum(), floor), False
    while abs(missing) > rounding:
        best, chosen = np.inf, -1
        for i in range(n):
            rising, falling = slopes(u[i] + ridge[i] * beta[i] - target[i], epsilon, beta, i)
            if missing > 0 and beta[i] < upper[i] and rising < best:
                best, chosen = rising, i
            elif missing < 0 and beta[i] > lower[i] and -falling < best:
                best, chosen = -falling, i
        if chosen < 0:
            break
        i, progress = chosen, True
        end = upper[i] if missing > 0 else lower[i]
        if epsilon > 0 and beta[i] * missing < 0:
            end = 0.0
        room = end - beta[i]
        amount = missing if abs(missing) < abs(room) - rounding else room
        beta[i] = beta[i] + amount if amount != room else end
        row = K[i]
        for k in range(n):
            u[k] += amount * row[k]
        missing -= amount
    return progress


@compiled
def common_bias(ridge, target, epsilon, lower, upper, beta, u, side, F, m):
    """What makes the free coefficients' gradient zero on average, or the middle of its interval if there are none."""
    if m == 0:
        return _between(ridge, target, epsilon, lower, upper, beta, u)
    total = 0.0
    for a in range(m):
        i = F[a]
        total += u[i] + ridge[i] * beta[i] - target[i] + side[i] * epsilon
    return -total / m


@compiled
def _rest_arrived(lower, upper, epsilon, beta, F, m, U, free, side, gradient, ones, floor):
    """Rest the free coefficients that are at an end of their piece but for rounding: they say nothing of the bias."""
    rounding = max(SNAP * np.abs(beta).sum(), floor)
    for a in range(m - 1, -1, -1):
        i = F[a]
        for direction in (-1.0, 1.0):
            if free[i] and 0 < _room(lower, upper, epsilon, beta, side, i, direction) <= rounding:
                beta[i] = piece_end(lower, upper, epsilon, side, i, direction)
                free[i] = False
                remove(U, m, a, gradient, ones)
                for c in range(a, m - 1):
                    F[c] = F[c + 1]
                m -= 1
    return m


@compiled
def piece_end(lower, upper, epsilon, side, i, direction):
    """Where the piece of coefficient i ends in a direction."""
    if direction > 0:
        return 0.0 if epsilon > 0 and side[i] < 0 else upper[i]
    return 0.0 if epsilon > 0 and side[i] > 0 else lower[i]


@compiled
def _room(lower, upper, epsilon, beta, side, i, direction):
    return abs(piece_end(lower, upper, epsilon, side, i, direction) - beta[i])


@compiled
def update(K, u, beta, before, touched, n_touched):
    """``u += K (beta - before)``, four rows of K at a time."""
    n = len(u)
    a = 0
    while a + 3 < n_touched:
        i, j, k, h = touched[a], touched[a + 1], touched[a + 2], touched[a + 3]
        x, y, z, w = beta[i] - before[i], beta[j] - before[j], beta[k] - before[k], beta[h] - before[h]
        row_i, row_j, row_k, row_h = K[i], K[j], K[k], K[h]
        for r in range(n):
            u[r] += x * row_i[r] + y * row_j[r] + z * row_k[r] + w * row_h[r]
        a += 4
    while a < n_touched:
        i = touched[a]
        x, row_i = beta[i] - before[i], K[i]
        for r in range(n):
            u[r] += x * row_i[r]
        a += 1


@compiled
def _between(ridge, target, epsilon, lower, upper, beta, u):
    """Half way between what the coefficients that can rise and those that can fall ask for, if none is free."""
    high, low = np.inf, -np.inf
    for i in range(len(target)):
        rising, falling = slopes(u[i] + ridge[i] * beta[i] - target[i], epsilon, beta, i)
        if beta[i] < upper[i]:
            high = min(high, rising)
        if beta[i] > lower[i]:
            low = max(low, falling)
    if high == np.inf:
        high = low
    if low == -np.inf:
        low = high
    return -(high + low) / 2 if np.isfinite(high) else 0.0


@compiled
def _middle(ridge, target, epsilon, lower, upper, beta, u, otherwise, floor):
    """The middle of the interval of the bias, as in LIBSVM, if every coefficient is at an end of its piece.

    One that is so but for rounding counts as being there; if some are not, or there is no interval, the answer is
    ``otherwise``.
    """
    near = max(NEAR * np.abs(beta).sum(), floor)
    high, low = np.inf, -np.inf
    for i in range(len(target)):
        at_lower, at_upper = beta[i] <= lower[i] + near, beta[i] >= upper[i] - near
        at_zero = epsilon > 0 and abs(beta[i]) <= near
        if not (at_lower or at_upper or at_zero):
            return otherwise
        gradient = u[i] + ridge[i] * beta[i] - target[i]
        if not at_upper:
            high = min(high, gradient + (epsilon if at_zero or beta[i] > 0 else -epsilon))
        if not at_lower:
            low = max(low, gradient + (-epsilon if at_zero or beta[i] < 0 else epsilon))
    if high == np.inf:
        high = low
    if low == -np.inf:
        low = high
    return -(high + low) / 2 if np.isfinite(high) and low <= high else otherwise


@compiled
def _violators(ridge, target, epsilon, lower, upper, bias, beta, u, b, free, m, tol, chosen, gains, progress):
    """The resting coefficients with the steepest descent, many of them only while rounds make ``progress``.

    If none is free, a sum of zero takes two to move, one that grows and one that falls: there are as many of each, even
    if all those of one direction are steeper, or as steep, as the others.
    Written to ``chosen``; returns (how many, the steepest).
    """
    parts = (ridge, target, epsilon, lower, upper, beta, u, b, free, tol, chosen, gains)
    if m > 0 or not bias:
        most = BATCH if progress else 1
        return _steepest(*parts, True, True, 0, most)
    most = BATCH // 2 if progress else 1
    growing, steepest = _steepest(*parts, True, False, 0, most)
    falling, other = _steepest(*parts, False, True, growing, most)
    return growing + falling, max(steepest, other)


@compiled
def _steepest(ridge, target, epsilon, lower, upper, beta, u, b, free, tol, chosen, gains, up, down, first, most):
    """At most ``most`` that gain by growing (``up``) or falling (``down``), none less steep than 0.3 of the best.

    Written to ``chosen`` from place ``first`` on; returns (how many, the steepest).
    """
    found, worst = first, 0.0
    for i in range(len(target)):
        if free[i] or not lower[i] < upper[i]:
            continue
        gradient = u[i] + ridge[i] * beta[i] - target[i] + b
        rising, falling = slopes(gradient, epsilon, beta, i)
        gain = 0.0
        if up and beta[i] < upper[i] and rising < 0:
            gain = -rising
        elif down and beta[i] > lower[i] and falling > 0:
            gain = falling
        worst = max(worst, gain)
        if gain <= tol or (found == first + most and gain <= gains[found - 1]):
            continue
        place = found if found < first + most else found - 1
        while place > first and gains[place - 1] < gain:
            gains[place], chosen[place] = gains[place - 1], chosen[place - 1]
            place -= 1
        gains[place], chosen[place] = gain, i
        found = min(found + 1, first + most)
    while found > first + 1 and gains[found - 1] < 0.3 * gains[first]:
        found -= 1
    return found - first, worst
