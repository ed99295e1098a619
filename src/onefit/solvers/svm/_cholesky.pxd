cdef bint factorise(double *U, Py_ssize_t room, Py_ssize_t m) noexcept nogil
cdef void solve_transposed(const double *U, Py_ssize_t room, Py_ssize_t m, double *x) noexcept nogil
cdef void solve_upper(const double *U, Py_ssize_t room, Py_ssize_t m, double *x) noexcept nogil
cdef void append(double *U, Py_ssize_t room, Py_ssize_t m, double *columns, const double *diagonals, Py_ssize_t count, double smallest) noexcept nogil
cdef void remove(double *U, Py_ssize_t room, Py_ssize_t m, Py_ssize_t p, double *x, double *y, double *carried) noexcept nogil
