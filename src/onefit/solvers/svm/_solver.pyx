"""One dual problem, or a path of them along growing penalties, solved to one tolerance: which algorithm runs when.

See README.md in this folder for the decision table.
"""

import numpy as np

from libc.math cimport fabs, fmax, isfinite, sqrt

from ._active_set cimport State, active_set, add_rows, negligible, projected_newton_step, work_size
from ._cholesky cimport factorise
from ._duality cimport gap_of
from ._problem cimport Problem, is_free
from ._smo cimport smo

cdef double EPS = 2.0**-52
cdef double ROUNDING = 16 * EPS  # of K beta, relative to the coefficients times the norms of the rows
cdef Py_ssize_t ATTEMPTS = 4  # each safer than the one before
cdef Py_ssize_t NEWTON_STEPS = 6  # projected Newton steps before the active-set method takes over
cdef Py_ssize_t NEWTON_FROM = 24  # free coefficients from which on a new factor may be cheaper than many updates
cdef double FEW_CHANGES = 1.0 / 70  # share of the free coefficients below which updates are cheaper than a new factor
cdef double MANY_CHANGES = 0.6  # changes, as a share of the last step's, from which on such steps lead nowhere
cdef double COARSE = 100.0  # rounding, in tolerances, from which on solutions that meet it are polished
cdef double FINER = 64.0  # how far below the bound of rounding polishing tries to get: rounding seldom adds up
cdef Py_ssize_t POLISHING = 12  # rounds for it
cdef double COARSELY = 1e-2  # violation, relative to the targets, at which SMO hands over to Newton's method
ROUGH = COARSELY

cdef Py_ssize_t LIMIT = 400  # rounds before the next attempt
ROUNDS = LIMIT


def gather(const double[:, ::1] K, const Py_ssize_t[::1] rows, const Py_ssize_t[::1] columns):
    """``K[rows, columns]`` as a new array; takes a third of the time of NumPy's indexing."""
    cdef Py_ssize_t a, b
    cdef double[:, ::1] out = np.empty((len(rows), len(columns)))
    cdef const double *source
    cdef double *target
    with nogil:
        for a in range(rows.shape[0]):
            source, target = &K[rows[a], 0], &out[a, 0]
            for b in range(columns.shape[0]):
                target[b] = source[columns[b]]
    return np.asarray(out)


cdef class DualSolver:
    """Solves dual problems on one matrix K.

    K (n, n) is read only and may be the leading block of a larger matrix. ``noise`` is how far K may be from positive
    semi-definite, if more than by rounding. The work space, another n x n doubles, is touched as far as factors need it.
    """

    cdef readonly object K
    cdef readonly Py_ssize_t n
    cdef readonly double magnitude, noise
    cdef double _spread  # of the targets
    cdef double _inherited  # rounding of the product that a start brings with it, beyond that of its coefficients
    cdef const double[:, :] _K
    cdef double[::1] _roots, _U, _work, _side
    cdef Py_ssize_t[::1] _F, _touched
    cdef char[::1] _free
    cdef Problem _problem
    cdef State _state
    cdef object _arrays  # of the problem at hand: what the pointers point to

    def __init__(self, K, double noise=0.0):
        if K.strides[1] != K.itemsize or K.strides[0] < K.shape[1] * K.itemsize:  # rows are read along memory
            K = np.ascontiguousarray(K)
        n = len(K)
        self.K, self.n, self.noise = K, n, noise
        self._K = K
        diagonal = np.abs(np.diagonal(K))
        self.magnitude = float(diagonal.max(initial=0.0))
        self._roots = np.sqrt(diagonal)
        self._U = np.empty(n * n)
        self._work, self._side = np.empty(work_size(n) + 2 * n), np.empty(n)
        self._F, self._touched = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
        self._free = np.zeros(n, dtype=np.int8)

    def jitter(self, bint bias):
        """What is added to the diagonal of factors, so that rounding leaves them definite."""
        return _jitter(self, bias)

    def solve(
        self, dual, double[::1] beta, double[::1] u, double tolerance, *, bint warm=False, bint newton=True, max_rounds=None
    ):
        """Solve in place for ``beta``, which starts within the bounds, and ``u = K beta``.

        A ``warm`` start goes to Newton's method at once, a cold one makes SMO steps first, and so does one that fails.
        Without ``newton`` no projected Newton steps are made, so that coefficients improve in small steps.
        Returns (bias, violation, rounds, whether it is at most ``tolerance`` or what rounding leaves).
        Cost: O(m³) for m free coefficients, then see ``_active_set``.
        """
        cdef double[::1] lower = dual.lower, upper = dual.upper, ridge = dual.ridge
        cdef Py_ssize_t rounds = ROUNDS if max_rounds is None else max_rounds
        cdef Py_ssize_t attempts = ATTEMPTS if max_rounds is None else 1, made = 0
        cdef bint done
        _point(self, dual, &ridge[0], &lower[0], &upper[0], &beta[0], &u[0])
        with nogil:
            done = _solve(self, tolerance, warm, newton, rounds, attempts, &made)
        return self._state.b, self._state.violation, made, done

    def go_on(self, dual, double[::1] beta, double[::1] u, double tolerance, Py_ssize_t max_rounds):
        """Go on with the problem of the last ``solve`` for some more rounds; the same is returned."""
        cdef double[::1] lower = dual.lower, upper = dual.upper, ridge = dual.ridge
        cdef Py_ssize_t made = 0
        cdef bint done
        _point(self, dual, &ridge[0], &lower[0], &upper[0], &beta[0], &u[0])
        with nogil:
            done = _rounds(self, tolerance, max_rounds, &made)
        return self._state.b, self._state.violation, made, done

    @property
    def order(self):
        """The free coefficients of the last solution, in the order of its factor."""
        return np.asarray(self._F)[: self._state.m].copy()

    @property
    def last_jitter(self):
        """The jitter of the last factor."""
        return self._state.jitter

    def last_factor(self):
        """A copy of the last factor, (m, m); its lower triangle is arbitrary."""
        m, room = self._state.m, self._state.room
        return np.asarray(self._U)[: m * room].reshape(m, room)[:, :m].copy()

    def solve_path(
        self, unit, const double[::1] penalties, double tolerance, double[:, ::1] betas, double[:, ::1] images,
        double[::1] biases, double[::1] violations, double[::1] gaps, char[::1] converged, char[::1] determined,
        double near,
    ):
        """Solve ``unit.at(C)`` for ascending penalties C, each from the last one's solution.

        Coefficients that rested at a bound that follows C start there again. Writes coefficients and their products with
        K (L, n), biases, violations, duality gaps, whether each converged, and whether a coefficient is away from the
        ends of its piece by more than ``near``, a share of the box, so that it determines the bias. Returns how many
        were solved: once no coefficient is at a bound that follows C, larger penalties have the same solution.
        """
        cdef double[::1] lower1 = unit.lower, upper1 = unit.upper, ridge1 = unit.ridge
        cdef double[::1] lower = np.empty(self.n), upper = np.empty(self.n), ridge = np.empty(self.n)
        cdef bint moving = unit.moving
        cdef Py_ssize_t k, made, solved = len(penalties)
        cdef double last = 0.0, growth
        _point(self, unit, &ridge[0], &lower[0], &upper[0], &betas[0, 0], &images[0, 0])
        with nogil:
            for k in range(len(penalties)):
                _scale(self.n, penalties[k], &lower1[0], &upper1[0], &ridge1[0], &lower[0], &upper[0], &ridge[0])
                self._state.beta, self._state.u = &betas[k, 0], &images[k, 0]
                if k == 0:
                    _start_from_nothing(self)
                else:
                    growth = penalties[k] / last if moving else 1.0
                    _start_from_last(self, &betas[k - 1, 0], &images[k - 1, 0], growth)
                    self._inherited = growth * self._state.rounding
                made = 0
                converged[k] = _solve(self, tolerance, False, True, LIMIT, ATTEMPTS, &made)
                biases[k], violations[k] = self._state.b, self._state.violation
                gaps[k] = gap_of(&self._problem, &betas[k, 0], &images[k, 0], biases[k])
                determined[k] = _determined(&self._problem, &betas[k, 0], near)
                last = penalties[k]
                if moving and converged[k] and not _bounded(&self._problem, &betas[k, 0]):
                    solved = k + 1
                    break
        return solved


cdef void _scale(
    Py_ssize_t n, double C, const double *lower1, const double *upper1, const double *ridge1,
    double *lower, double *upper, double *ridge,
) noexcept nogil:
    """Bounds and ridges for a penalty C, from those for one."""
    cdef Py_ssize_t i
    for i in range(n):
        lower[i], upper[i], ridge[i] = C * lower1[i], C * upper1[i], ridge1[i] / C


cdef bint _bounded(const Problem *p, const double *beta) noexcept nogil:
    """Whether some coefficient rests at a bound other than zero."""
    cdef Py_ssize_t i
    for i in range(p.n):
        if beta[i] != 0 and (beta[i] == p.lower[i] or beta[i] == p.upper[i]):
            return True
    return False


cdef bint _determined(const Problem *p, const double *beta, double near) noexcept nogil:
    """Whether some coefficient is clearly inside its piece."""
    cdef Py_ssize_t i
    cdef double away
    for i in range(p.n):
        away = near * (p.upper[i] - p.lower[i])
        if p.lower[i] + away < beta[i] < p.upper[i] - away and (p.epsilon == 0 or fabs(beta[i]) > away):
            return True
    return False


cdef int _point(
    DualSolver self, dual, double *ridge, double *lower, double *upper, double *beta, double *u
) except -1:
    """Let the problem and the state point to arrays, which the caller keeps alive."""
    cdef double[::1] target = dual.target
    self._arrays = dual.target
    cdef Problem *p = &self._problem
    p.n, p.stride, p.K = self.n, self._K.strides[0] // sizeof(double), &self._K[0, 0]
    p.ridge, p.target, p.lower, p.upper = ridge, &target[0], lower, upper
    p.epsilon, p.bias = dual.epsilon, dual.bias
    cdef State *s = &self._state
    s.beta, s.u = beta, u
    s.F, s.side, s.free = &self._F[0], &self._side[0], &self._free[0]
    s.U, s.work, s.touched = &self._U[0], &self._work[0], &self._touched[0]
    s.constant = self.magnitude if dual.bias else 0.0
    self._spread, self._inherited = dual.relative_tolerance(1.0), 0.0
    return 0


cdef double _jitter(DualSolver self, bint bias) noexcept nogil:
    cdef double rounding = self.n * EPS * self.magnitude * (2 if bias else 1)
    return fmax(fmax(self.noise, rounding), 1e-150)  # of a zero matrix: its inverse can still be squared


cdef double _rounding(DualSolver self, const double *beta) noexcept nogil:
    """How much of ``K beta`` may be rounding."""
    cdef double total = 0.0
    cdef Py_ssize_t i
    for i in range(self.n):
        total += fabs(beta[i]) * self._roots[i]
    return ROUNDING * sqrt(self.magnitude) * total


cdef void _multiply(const Problem *p, State *s) noexcept nogil:
    """``u = K beta``. Cost: O(n) for each coefficient that is not zero."""
    cdef Py_ssize_t i, count = 0
    cdef double *change = s.work
    for i in range(p.n):
        s.u[i] = 0.0
        if s.beta[i] != 0:
            s.touched[count], change[count] = i, s.beta[i]
            count += 1
    add_rows(p, s.u, change, s.touched, count)


cdef void _start_from_nothing(DualSolver self) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(self.n):
        self._state.beta[i] = 0.0
        self._state.u[i] = 0.0


cdef void _start_from_last(DualSolver self, const double *beta, const double *u, double growth) noexcept nogil:
    """The last solution in proportion to the penalty: what rested at a bound rests there again."""
    cdef Py_ssize_t i
    cdef const Problem *p = &self._problem
    cdef State *s = &self._state
    cdef double near
    for i in range(self.n):
        s.beta[i], s.u[i] = min(max(growth * beta[i], p.lower[i]), p.upper[i]), growth * u[i]
        near = 16 * EPS * fabs(s.beta[i])
        if s.beta[i] > p.upper[i] - near:
            s.beta[i] = p.upper[i]
        elif s.beta[i] < p.lower[i] + near:
            s.beta[i] = p.lower[i]


cdef void _factorise(DualSolver self) noexcept nogil:
    """Factorise the matrix of the free coefficients, with as much jitter as that takes and room for some more."""
    cdef const Problem *p = &self._problem
    cdef State *s = &self._state
    cdef Py_ssize_t a, b
    cdef const double *row
    cdef double *out
    s.room = min(self.n, s.m + max(48, s.m // 4))
    s.narrow = False
    while True:
        for a in range(s.m):
            row, out = p.K + s.F[a] * p.stride, s.U + a * s.room
            for b in range(a, s.m):
                out[b] = row[s.F[b]] + s.constant
            out[a] += p.ridge[s.F[a]] + s.jitter
        if factorise(s.U, s.room, s.m):
            return
        s.jitter *= 100


cdef void _find_free(DualSolver self) noexcept nogil:
    cdef State *s = &self._state
    cdef Py_ssize_t i
    s.m = 0
    for i in range(self.n):
        s.free[i] = is_free(&self._problem, s.beta, i)
        s.side[i] = 1.0 if s.beta[i] > 0 else -1.0
        if s.free[i]:
            s.F[s.m] = i
            s.m += 1


cdef Py_ssize_t _newton_steps(DualSolver self, Py_ssize_t most) noexcept nogil:
    """Change many bounds at once while that saves more than a new factor costs; returns how many steps were kept."""
    cdef const Problem *p = &self._problem
    cdef State *s = &self._state
    cdef Py_ssize_t n = self.n, i, changes, m, last = s.m, step
    cdef double *beta = s.work + 5 * n  # where the active-set method will have its columns
    cdef double *u = s.work + 6 * n
    for step in range(most):
        if s.m < NEWTON_FROM:
            return step
        m = s.m
        for i in range(n):
            beta[i], u[i] = s.beta[i], s.u[i]
        changes = projected_newton_step(p, s)
        if changes == 0:
            s.settled = True
            return step + 1
        if not FEW_CHANGES * m < changes < MANY_CHANGES * last or s.m == 0:
            for i in range(n):
                s.beta[i], s.u[i] = beta[i], u[i]
            _find_free(self)
            _factorise(self)
            return step
        last = changes
        s.rounding = fmax(s.rounding, _rounding(self, s.beta))
        _factorise(self)
    return most


cdef bint _all_finite(const double *x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if not isfinite(x[i]):
            return False
    return True


cdef bint _solve(
    DualSolver self, double tolerance, bint warm, bint newton, Py_ssize_t rounds, Py_ssize_t attempts, Py_ssize_t *made
) noexcept nogil:
    """Newton's method and the active-set method from the start at hand, after SMO steps if it is cold or fails.

    Projected Newton steps count as rounds.
    """
    cdef const Problem *p = &self._problem
    cdef State *s = &self._state
    cdef Py_ssize_t attempt, n = self.n, i, steps
    cdef double before
    s.jitter, s.floor = _jitter(self, p.bias), negligible(p)
    for attempt in range(attempts):
        # of coefficients that may become smaller: their rounding stays in u
        before = fmax(_rounding(self, s.beta), self._inherited)
        if attempt > 0 or not warm:
            smo(p, s.beta, s.u, COARSELY * self._spread, max(n // 2, 1) * (1 + 20 * attempt), s.work)
        _find_free(self)
        s.rounding, s.settled = fmax(before, _rounding(self, s.beta)), False
        _factorise(self)
        steps = _newton_steps(self, min(NEWTON_STEPS, rounds)) if newton else 0
        made[0] += steps
        if _rounds(self, tolerance, rounds - steps, made) and _all_finite(s.beta, n):
            return True
        if not _all_finite(s.beta, n):
            for i in range(n):
                s.beta[i] = 0.0
        _multiply(p, s)
        self._inherited = 0.0
        s.jitter *= 1000  # K is less definite than it seemed: safer steps
    return False


cdef bint _rounds(DualSolver self, double tolerance, Py_ssize_t most, Py_ssize_t *made) noexcept nogil:
    """Rounds of the active-set method until the problem is solved; False if that takes more than ``most``."""
    cdef State *s = &self._state
    cdef Py_ssize_t outcome, used = 0
    cdef double now
    while used < most:
        outcome = active_set(&self._problem, s, fmax(tolerance, s.rounding), most - used)
        used += outcome if outcome > 0 else -outcome - 1
        made[0] += outcome if outcome > 0 else -outcome - 1
        if outcome < 0:
            if not s.narrow:
                return False
            _factorise(self)
            continue
        now = _rounding(self, s.beta)
        if tolerance < s.rounding and now < s.rounding / 2:
            s.rounding = now
            _multiply(&self._problem, s)
            continue
        if s.rounding > COARSE * tolerance:
            _polish(self, tolerance)
        return True
    return False


cdef void _polish(DualSolver self, double tolerance) noexcept nogil:
    """Win back digits that rounding has cost on the way, by Newton steps from a new product with K.

    A violation that may be rounding can still be larger than the rounding that is left in the end.
    """
    cdef State *s = &self._state
    cdef Py_ssize_t n = self.n, i
    cdef double *beta = &self._work[0] + work_size(n)  # behind what the active-set method uses
    cdef double b = s.b, violation = s.violation
    for i in range(n):
        beta[i], beta[n + i] = s.beta[i], s.u[i]
    _multiply(&self._problem, s)
    active_set(&self._problem, s, fmax(tolerance, s.rounding / FINER), POLISHING)
    if s.violation <= s.rounding and _all_finite(s.beta, n):
        return
    for i in range(n):
        s.beta[i], s.u[i] = beta[i], beta[n + i]
    s.b, s.violation = b, violation
