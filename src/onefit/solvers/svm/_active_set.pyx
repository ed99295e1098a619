r"""Active-set methods for the dual of support vector machines.

.. math:: \min_\beta \tfrac12 \beta^T (K + D) \beta - t^T \beta + \epsilon |\beta|_1,
          \quad l \le \beta \le u, \quad \sum_i \beta_i = 0 \text{ with a bias}

*Free* coefficients lie inside a piece on which the objective is quadratic: (l, u), or (l, 0) and (0, u) if
epsilon > 0; the others rest at an end of their piece.

``active_set`` is the primal active-set method (Nocedal & Wright, Numerical Optimization, section 16.5) with a Cholesky
factor that is updated. A round takes the Newton step of the free coefficients, stops at each bound on the way, and then
frees those resting coefficients that would gain most. The objective never rises; from a good start a handful of rounds
reaches the solution to machine precision, however ill-conditioned K is.

``projected_newton_step`` changes many bounds at once for the price of a new factor (Bertsekas, SIAM J. Control Optim. 20,
1982; with a set identified by the gradient as in the primal-dual active-set method). It may raise the objective.

With a bias, ``K + c`` for a constant c has the same solution as K, because the coefficients sum to zero: it is
factorised instead, and stays definite where K is definite for such coefficients only.
"""

from libc.math cimport INFINITY, fabs, fmax, fmin, isfinite

from ._cholesky cimport append, remove, solve_transposed, solve_upper
from ._problem cimport (
    Problem, absolute_sum, gains, gradient_at, piece_end, side_of, slope_down, slope_up, sum_of
)

cdef double SNAP = 8 * 2.0**-52  # distance from a bound, relative to the sum of all coefficients, that is rounding
cdef double NEAR = 1e-11  # the same for sums of many coefficients, and for what decides whether the bias is determined
BATCH = 16  # how many coefficients a round may set free


cdef Py_ssize_t work_size(Py_ssize_t n) noexcept nogil:
    return (5 + BATCH) * n + 2 * BATCH


cdef void add_rows(
    const Problem *p, double *u, const double *change, const Py_ssize_t *rows, Py_ssize_t count
) noexcept nogil:
    """``u += K change`` for the coefficients that changed, ``change`` in their order; four rows of K at a time."""
    cdef Py_ssize_t a = 0, k, n = p.n
    cdef double w, x, y, z
    cdef const double *row_w
    cdef const double *row_x
    cdef const double *row_y
    cdef const double *row_z
    while a + 3 < count:
        w, x, y, z = change[a], change[a + 1], change[a + 2], change[a + 3]
        row_w, row_x = p.K + rows[a] * p.stride, p.K + rows[a + 1] * p.stride
        row_y, row_z = p.K + rows[a + 2] * p.stride, p.K + rows[a + 3] * p.stride
        for k in range(n):
            u[k] += w * row_w[k] + x * row_x[k] + y * row_y[k] + z * row_z[k]
        a += 4
    while a < count:
        w, row_w = change[a], p.K + rows[a] * p.stride
        for k in range(n):
            u[k] += w * row_w[k]
        a += 1


cdef double negligible(const Problem *p) noexcept nogil:
    """A coefficient so small that it is seen neither in ``(K + D) beta`` next to the targets nor next to the bounds."""
    cdef double bend = 0.0, size = 0.0, widest = 0.0
    cdef Py_ssize_t i
    for i in range(p.n):
        size = fmax(size, fabs(p.target[i]))
        if p.lower[i] < p.upper[i]:
            bend = fmax(bend, p.K[i * p.stride + i] + p.ridge[i])
            widest = fmax(widest, p.upper[i] - p.lower[i])
    return 1e-16 * fmin(size / bend, widest) if bend > 0 else 0.0


cdef Py_ssize_t active_set(const Problem *p, State *s, double tolerance, Py_ssize_t max_rounds) noexcept nogil:
    """Make rounds until no condition of optimality is violated by more than ``tolerance``; return how many.

    Minus that number, less one, if it ends before: after ``max_rounds``, or because the factor has no room for more.
    Another call goes on. Cost: O(n m) a round and O(m²) for each coefficient that becomes free or stops being so.
    """
    cdef Py_ssize_t made, found, a
    cdef double missing, worst
    cdef bint progress = True
    for made in range(max_rounds):
        if made > 0 or not s.settled:
            missing = _newton(p, s, &progress)
            if s.m == 0 and missing != 0:
                progress = _rebalance(p, s, missing)
        s.settled = False
        s.b = _common_bias(p, s) if p.bias else 0.0
        worst = 0.0
        for a in range(s.m):
            worst = fmax(worst, fabs(_free_slope(p, s, s.F[a]) + s.b))
        found = _violators(p, s, tolerance, progress, &worst)
        s.violation = worst
        if worst <= tolerance and (not p.bias or _balanced(p, s)):
            if p.bias:
                s.b = _middle(p, s)
            return made + 1
        if s.m + found > s.room:
            s.narrow = True
            return -made - 2
        _set_free(p, s, found)
    return -max_rounds - 1


cdef inline double _free_slope(const Problem *p, const State *s, Py_ssize_t i) noexcept nogil:
    """Gradient of the objective at a free coefficient, without the bias."""
    return gradient_at(p, s.beta, s.u, i) + s.side[i] * p.epsilon


cdef bint _balanced(const Problem *p, const State *s) noexcept nogil:
    """Whether the coefficients sum to zero but for rounding."""
    return fabs(sum_of(s.beta, p.n)) <= fmax(NEAR * absolute_sum(s.beta, p.n), s.floor)


cdef double newton_step(
    State *s, bint bias, double missing, double *gradient, double *ones, double *step
) noexcept nogil:
    """Write the step to the minimum over the free coefficients, with a bias one that sums to ``missing``.

    ``gradient`` and ``ones`` solve ``Uᵀ x = …`` for the gradient and for ones; with a bias, ``gradient`` loses its part
    along ``ones``, which no step sees. Returns the constant that goes with the rest.
    """
    cdef Py_ssize_t a, turn, m = s.m
    cdef double b = 0.0, below = 0.0, along
    if bias:
        for a in range(m):
            below += ones[a] * ones[a]
        for turn in range(2):  # once leaves rounding of targets that may be far larger than any step
            along = 0.0
            for a in range(m):
                along += gradient[a] * ones[a]
            along /= below
            for a in range(m):
                gradient[a] -= along * ones[a]
        b = -missing / below
    for a in range(m):
        step[a] = -(gradient[a] + b * ones[a])
    solve_upper(s.U, s.room, m, step)
    return b


cdef double _newton(const Problem *p, State *s, bint *progress) noexcept nogil:
    """Move the free coefficients to the minimum over them, resting each at the bound that it meets on the way.

    With a bias, a sum that is not zero becomes so. Along the step the gradient on the free set shrinks towards a common
    value in proportion, so it need not be computed until the end. Returns what the sum still lacks; ``progress`` says
    whether anything moved by more than rounding.
    """
    cdef Py_ssize_t n = p.n, a, i, met, touched = s.m
    cdef double *gradient = s.work
    cdef double *ones = s.work + n
    cdef double *step = s.work + 2 * n
    cdef double *change = s.work + 3 * n
    cdef double *carried = s.work + 4 * n
    cdef double rounding = fmax(SNAP * absolute_sum(s.beta, n), s.floor)
    cdef double missing = -sum_of(s.beta, n) if p.bias else 0.0
    cdef double b, length, room
    if fabs(missing) <= rounding:
        missing = 0.0
    progress[0] = False
    for a in range(s.m):
        i = s.F[a]
        s.touched[a], change[a] = i, -s.beta[i]
        gradient[a], ones[a] = _free_slope(p, s, i), 1.0
    solve_transposed(s.U, s.room, s.m, gradient)
    solve_transposed(s.U, s.room, s.m, ones)
    while s.m > 0:
        b = newton_step(s, p.bias, missing, gradient, ones, step)
        length, met = 1.0, -1
        for a in range(s.m):
            i = s.F[a]
            room = fabs(piece_end(p, s.side[i], i, step[a]) - s.beta[i])
            if room < length * fabs(step[a]):
                length, met = room / fabs(step[a]), a
        for a in range(s.m):
            s.beta[s.F[a]] += length * step[a]
            gradient[a] -= length * (gradient[a] + b * ones[a])
            if length * fabs(step[a]) > rounding:
                progress[0] = True
        missing *= 1.0 - length
        if met < 0:
            break
        i = s.F[met]
        s.beta[i] = piece_end(p, s.side[i], i, step[met])
        _rest(s, met, gradient, ones, carried)
    _rest_arrived(p, s, gradient, ones, carried)
    for a in range(touched):
        change[a] += s.beta[s.touched[a]]
    add_rows(p, s.u, change, s.touched, touched)
    return missing


cdef void _rest(State *s, Py_ssize_t place, double *gradient, double *ones, double *carried) noexcept nogil:
    """Take the free coefficient at a place of F out of it and of the factor."""
    cdef Py_ssize_t a
    s.free[s.F[place]] = False
    remove(s.U, s.room, s.m, place, gradient, ones, carried)
    for a in range(place, s.m - 1):
        s.F[a] = s.F[a + 1]
    s.m -= 1


cdef void _rest_arrived(const Problem *p, State *s, double *gradient, double *ones, double *carried) noexcept nogil:
    """Rest the free coefficients that are at an end of their piece but for rounding: they say nothing of the bias."""
    cdef double rounding = fmax(SNAP * absolute_sum(s.beta, p.n), s.floor), direction, end
    cdef Py_ssize_t a, i, turn
    for a in range(s.m - 1, -1, -1):
        i = s.F[a]
        for turn in range(2):
            direction = -1.0 if turn == 0 else 1.0
            end = piece_end(p, s.side[i], i, direction)
            if s.free[i] and 0 < fabs(end - s.beta[i]) <= rounding:
                s.beta[i] = end
                _rest(s, a, gradient, ones, carried)


cdef bint _rebalance(const Problem *p, State *s, double missing) noexcept nogil:
    """Add ``missing`` to the sum of the coefficients, each time moving the one that gains most as far as it can.

    Returns whether anything moved.
    """
    cdef Py_ssize_t n = p.n, i, chosen
    cdef double rounding = fmax(NEAR * absolute_sum(s.beta, n), s.floor), best, slope, end, room, amount
    cdef bint progress = False
    while fabs(missing) > rounding:
        best, chosen = INFINITY, -1
        for i in range(n):
            slope = gradient_at(p, s.beta, s.u, i)
            if missing > 0 and s.beta[i] < p.upper[i] and slope_up(slope, p.epsilon, s.beta[i]) < best:
                best, chosen = slope_up(slope, p.epsilon, s.beta[i]), i
            elif missing < 0 and s.beta[i] > p.lower[i] and -slope_down(slope, p.epsilon, s.beta[i]) < best:
                best, chosen = -slope_down(slope, p.epsilon, s.beta[i]), i
        if chosen < 0:
            break
        i, progress = chosen, True
        end = p.upper[i] if missing > 0 else p.lower[i]
        if p.epsilon > 0 and s.beta[i] * missing < 0:
            end = 0.0
        room = end - s.beta[i]
        amount = missing if fabs(missing) < fabs(room) - rounding else room
        s.beta[i] = s.beta[i] + amount if amount != room else end
        add_rows(p, s.u, &amount, &i, 1)
        missing -= amount
    return progress


cdef double _common_bias(const Problem *p, const State *s) noexcept nogil:
    """What makes the free coefficients' gradient zero on average, or the middle of its interval if there are none."""
    cdef double total = 0.0, high, low
    cdef Py_ssize_t a
    if s.m > 0:
        for a in range(s.m):
            total += _free_slope(p, s, s.F[a])
        return -total / s.m
    high, low = INFINITY, -INFINITY
    for a in range(p.n):
        total = gradient_at(p, s.beta, s.u, a)
        if s.beta[a] < p.upper[a]:
            high = fmin(high, slope_up(total, p.epsilon, s.beta[a]))
        if s.beta[a] > p.lower[a]:
            low = fmax(low, slope_down(total, p.epsilon, s.beta[a]))
    return _halfway(low, high, 0.0)


cdef double _halfway(double low, double high, double otherwise) noexcept nogil:
    """Minus the middle of an interval, or its finite end; ``otherwise`` if it has none."""
    if high == INFINITY:
        high = low
    if low == -INFINITY:
        low = high
    return -(high + low) / 2 if isfinite(high) else otherwise


cdef double _middle(const Problem *p, const State *s) noexcept nogil:
    """The middle of the interval of the bias, as in LIBSVM, if every coefficient is at an end of its piece.

    One that is so but for rounding counts as being there; if some are not, or there is no interval, the bias stays.
    """
    cdef double near = fmax(NEAR * absolute_sum(s.beta, p.n), s.floor), high = INFINITY, low = -INFINITY, slope, beta
    cdef bint at_lower, at_upper, at_zero
    cdef Py_ssize_t i
    for i in range(p.n):
        beta = s.beta[i]
        at_lower, at_upper = beta <= p.lower[i] + near, beta >= p.upper[i] - near
        at_zero = p.epsilon > 0 and fabs(beta) <= near
        if not (at_lower or at_upper or at_zero):
            return s.b
        slope = gradient_at(p, s.beta, s.u, i)
        if not at_upper:
            high = fmin(high, slope + (p.epsilon if at_zero or beta > 0 else -p.epsilon))
        if not at_lower:
            low = fmax(low, slope + (-p.epsilon if at_zero or beta < 0 else p.epsilon))
    return _halfway(low, high, s.b) if low <= high or not isfinite(low - high) else s.b


cdef Py_ssize_t _violators(
    const Problem *p, State *s, double tolerance, bint progress, double *worst
) noexcept nogil:
    """Write the resting coefficients with the steepest descent to ``touched``; many only while rounds make progress.

    If none is free, a sum of zero takes two to move, one that grows and one that falls: there are as many of each, even
    if all those of one direction are steeper, or as steep, as the others. ``worst`` becomes the steepest if that is more.
    """
    cdef Py_ssize_t growing, most
    if s.m > 0 or not p.bias:
        most = BATCH if progress else 1
        return _steepest(p, s, tolerance, True, True, 0, most, worst)
    most = BATCH // 2 if progress else 1
    growing = _steepest(p, s, tolerance, True, False, 0, most, worst)
    return growing + _steepest(p, s, tolerance, False, True, growing, most, worst)


cdef Py_ssize_t _steepest(
    const Problem *p, State *s, double tolerance, bint up, bint down, Py_ssize_t first, Py_ssize_t most, double *worst
) noexcept nogil:
    """At most ``most`` that gain by growing (``up``) or falling (``down``), none less steep than 0.3 of the best.

    Written to ``touched`` from place ``first`` on; returns how many.
    """
    cdef Py_ssize_t i, place, found = first
    cdef Py_ssize_t *chosen = s.touched
    cdef double *steepness = s.work
    cdef double gradient, gain, slope
    for i in range(p.n):
        if s.free[i] or not p.lower[i] < p.upper[i]:
            continue
        gradient = gradient_at(p, s.beta, s.u, i) + s.b
        gain = 0.0
        slope = slope_up(gradient, p.epsilon, s.beta[i])
        if up and s.beta[i] < p.upper[i] and slope < 0:
            gain = -slope
        elif down and s.beta[i] > p.lower[i]:
            gain = fmax(slope_down(gradient, p.epsilon, s.beta[i]), 0.0)
        worst[0] = fmax(worst[0], gain)
        if gain <= tolerance or (found == first + most and gain <= steepness[found - 1]):
            continue
        place = found if found < first + most else found - 1
        while place > first and steepness[place - 1] < gain:
            steepness[place], chosen[place] = steepness[place - 1], chosen[place - 1]
            place -= 1
        steepness[place], chosen[place] = gain, i
        if found < first + most:
            found += 1
    while found > first + 1 and steepness[found - 1] < 0.3 * steepness[first]:
        found -= 1
    return found - first


cdef void _set_free(const Problem *p, State *s, Py_ssize_t found) noexcept nogil:
    """Take the first ``found`` of ``touched`` into the free set and its factor."""
    cdef double *columns = s.work + 5 * p.n
    cdef double *diagonals = columns + BATCH * p.n
    cdef const double *row
    cdef Py_ssize_t a, c, i
    cdef double slope
    for c in range(found):
        i = s.touched[c]
        row = p.K + i * p.stride
        for a in range(s.m + c):
            columns[c * s.room + a] = row[s.F[a]] + s.constant
        diagonals[c] = row[i] + s.constant + p.ridge[i] + s.jitter
        s.F[s.m + c] = i
        s.free[i] = True
        slope = slope_up(gradient_at(p, s.beta, s.u, i), p.epsilon, s.beta[i]) + s.b
        s.side[i] = 1.0 if s.beta[i] > 0 or (s.beta[i] == 0 and s.beta[i] < p.upper[i] and slope < 0) else -1.0
    append(s.U, s.room, s.m, columns, diagonals, found, s.jitter / 2)
    s.m += found


cdef Py_ssize_t projected_newton_step(const Problem *p, State *s) noexcept nogil:
    """One Newton step of the free coefficients, then everything that it has pushed over a bound, or made gain, at once.

    ``F`` and ``side`` become those of the next step, whose factor is to be made; returns the number of changes.
    Cost: O(n m).
    """
    cdef Py_ssize_t n = p.n, m = s.m, a, i, kept = 0, changes = 0
    cdef double *gradient = s.work
    cdef double *ones = s.work + n
    cdef double *step = s.work + 2 * n
    cdef double *beyond = s.work + 3 * n
    cdef double *before = s.work + 4 * n
    cdef double direction, end, slope, total = 0.0
    for a in range(m):
        gradient[a], ones[a] = _free_slope(p, s, s.F[a]), 1.0
        s.touched[a], before[a] = s.F[a], s.beta[s.F[a]]
    solve_transposed(s.U, s.room, m, gradient)
    solve_transposed(s.U, s.room, m, ones)
    newton_step(s, p.bias, -sum_of(s.beta, n), gradient, ones, step)
    for a in range(n):
        beyond[a] = s.u[a]
    add_rows(p, beyond, step, s.touched, m)
    for a in range(m):
        s.beta[s.F[a]] += step[a]
    s.b = 0.0
    if p.bias:
        for a in range(m):
            i = s.F[a]
            total += gradient_at(p, s.beta, beyond, i) + s.side[i] * p.epsilon
        s.b = -total / m
    for a in range(m):
        i = s.F[a]
        direction = 1.0 if s.beta[i] > before[a] else -1.0
        end = piece_end(p, s.side[i], i, direction)
        if (s.beta[i] - end) * direction >= 0:
            s.beta[i] = end
        else:
            s.F[kept] = i
            kept += 1
        step[a] = s.beta[i] - before[a]
    changes = m - kept
    s.m = kept
    for i in range(n):  # ``free`` is still that of before the step
        if not s.free[i]:
            slope = gradient_at(p, s.beta, beyond, i) + s.b
            if gains(p, slope, s.beta[i], 0.0, i):
                s.side[i] = side_of(p, slope, s.beta[i], 0.0, i)
                s.F[s.m] = i
                s.m += 1
                changes += 1
    for a in range(m):
        s.free[s.touched[a]] = False
    for a in range(s.m):
        s.free[s.F[a]] = True
    # not from the product beyond the bounds, where a nearly singular K may have taken coefficients by far
    add_rows(p, s.u, step, s.touched, m)
    return changes
