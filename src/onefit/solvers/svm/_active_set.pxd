from ._problem cimport Problem

cdef struct State:
    # Where a solve stands: coefficients, their products with K, the free ones and the factor of their matrix.
    double *beta
    double *u  # K beta
    Py_ssize_t *F  # the first m are the free indices, in the order of the factor
    Py_ssize_t m
    double *side  # on which piece (-1 or +1) a free coefficient is, if there are two
    char *free
    double *U  # factor of K[F, F] + constant + diag(ridge[F] + jitter), by rows
    Py_ssize_t room  # from one row of U to the next, and the most indices it may have
    double constant
    double jitter
    double rounding  # how much of u may be rounding, that of larger coefficients on the way included
    double floor  # a coefficient that is seen nowhere
    bint settled  # the free coefficients are at the minimum over them
    bint narrow  # room has run out: factorise anew
    double b
    double violation
    double *work  # 5 n numbers, then n for each of BATCH columns
    Py_ssize_t *touched  # n indices

cdef Py_ssize_t BATCH
cdef Py_ssize_t work_size(Py_ssize_t n) noexcept nogil
cdef void add_rows(const Problem *p, double *u, const double *change, const Py_ssize_t *rows, Py_ssize_t count) noexcept nogil
cdef Py_ssize_t active_set(const Problem *p, State *s, double tolerance, Py_ssize_t max_rounds) noexcept nogil
cdef Py_ssize_t projected_newton_step(const Problem *p, State *s) noexcept nogil
cdef double negligible(const Problem *p) noexcept nogil
