r"""A Cholesky factor that follows a set of indices: ``UᵀU = M[F, F]``, U upper triangular.

U is stored by rows, ``room`` numbers from one row to the next, and may be larger than m, the number of indices: only its
leading block is read. LAPACK and BLAS, which expect columns, see the lower triangular factor ``L = Uᵀ``. Every change of
the set costs O(m²) (Golub & Van Loan, Matrix Computations, section 6.5.4).
"""

from libc.math cimport fmax, hypot, sqrt
from scipy.linalg.cython_blas cimport drot, dtrsm, dtrsv
from scipy.linalg.cython_lapack cimport dpotrf


cdef bint factorise(double *U, Py_ssize_t room, Py_ssize_t m) noexcept nogil:
    """Overwrite the upper triangle of a matrix by its factor; False if it is not positive definite. Cost: O(m³)."""
    cdef int size = m, leading = room, info = 0
    if m > 0:
        dpotrf(b"L", &size, U, &leading, &info)
    return info == 0


cdef void solve_transposed(const double *U, Py_ssize_t room, Py_ssize_t m, double *x) noexcept nogil:
    """Overwrite x by the solution of ``Uᵀ z = x``."""
    cdef int size = m, leading = room, one = 1
    if m > 0:
        dtrsv(b"L", b"N", b"N", &size, <double *> U, &leading, x, &one)


cdef void solve_upper(const double *U, Py_ssize_t room, Py_ssize_t m, double *x) noexcept nogil:
    """Overwrite x by the solution of ``U z = x``."""
    cdef int size = m, leading = room, one = 1
    if m > 0:
        dtrsv(b"L", b"T", b"N", &size, <double *> U, &leading, x, &one)


cdef void append(
    double *U, Py_ssize_t room, Py_ssize_t m, double *columns, const double *diagonals, Py_ssize_t count, double smallest
) noexcept nogil:
    """Take in ``count`` more indices.

    ``columns[k * room : k * room + m + k]`` is column k of M above its diagonal entry ``diagonals[k]``; it is
    overwritten. M contains a jitter, so that no pivot is smaller than that but for rounding: ``smallest`` is where pivots
    end.
    """
    cdef int size = m, leading = room, several = count
    cdef double one = 1.0, value, pivot
    cdef double *column
    cdef double *other
    cdef Py_ssize_t k, h, a
    if m > 0:
        dtrsm(b"L", b"L", b"N", b"N", &size, &several, &one, U, &leading, columns, &leading)
    for k in range(count):
        column = columns + k * room
        for h in range(k):
            other = columns + h * room
            value = column[m + h]
            for a in range(m + h):
                value -= other[a] * column[a]
            column[m + h] = value / U[(m + h) * room + m + h]
        pivot = diagonals[k]
        for a in range(m + k):
            pivot -= column[a] * column[a]
            U[a * room + m + k] = column[a]
        U[(m + k) * room + m + k] = sqrt(fmax(pivot, smallest))


cdef void remove(
    double *U, Py_ssize_t room, Py_ssize_t m, Py_ssize_t p, double *x, double *y, double *carried
) noexcept nogil:
    """Leave out the p-th of m indices; x and y, which solve ``Uᵀ x = …``, follow by the same rotations.

    Without column p, the rows from p on have one entry below each diagonal entry; rotations of neighbouring rows, one
    of them ``carried`` along (work space of m numbers), remove these.
    """
    cdef Py_ssize_t i, j
    cdef double length, c, s, first
    cdef double *row
    cdef double *below
    cdef int size, one = 1
    for i in range(p):
        row = U + i * room
        for j in range(p, m - 1):
            row[j] = row[j + 1]
    for j in range(p, m - 1):  # column j of the result is column j + 1 of U from p on
        carried[j] = U[p * room + j + 1]
    for i in range(p, m - 1):
        row, below = U + i * room, U + (i + 1) * room
        length = hypot(carried[i], below[i + 1])
        c, s = carried[i] / length, below[i + 1] / length
        for j in range(i, m - 1):
            row[j] = below[j + 1]
        size = m - 1 - i
        drot(&size, carried + i, &one, row + i, &one, &c, &s)  # the sum is wanted in U, the rest is carried on
        for j in range(i, m - 1):
            first = carried[j]
            carried[j] = row[j]
            row[j] = first
        first = x[i]
        x[i], x[i + 1] = c * first + s * x[i + 1], c * x[i + 1] - s * first
        first = y[i]
        y[i], y[i + 1] = c * first + s * y[i + 1], c * y[i + 1] - s * first
