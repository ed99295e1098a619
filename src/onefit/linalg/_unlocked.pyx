"""Calls of BLAS and LAPACK during which other threads run: SciPy's own wrappers hold the interpreter's lock."""

from scipy.linalg.cython_blas cimport dsyrk, dtrsm
from scipy.linalg.cython_lapack cimport dpotrf, dpotrs


def add_squares(double[:, ::1] G, const double[:, ::1] Z):
    """Add ``Zᵀ Z`` to the upper triangle of G (r, r), for rows Z (l, r)."""
    cdef int r = Z.shape[1], l = Z.shape[0]
    cdef double one = 1.0
    if r == 0 or l == 0:
        return
    with nogil:  # a matrix stored by rows is its transpose stored by columns, and so is a triangle
        dsyrk(b"L", b"N", &r, &l, &one, <double *> &Z[0, 0], &r, &one, &G[0, 0], &r)


def divide_rows(const double[::1, :] lower, double[:, ::1] K):
    """Overwrite every row k of K (l, r) by ``L⁻¹ k``, for a lower triangular L (r, r)."""
    cdef int r = K.shape[1], l = K.shape[0]
    cdef double one = 1.0
    if r == 0 or l == 0:
        return
    with nogil:
        dtrsm(b"L", b"L", b"N", b"N", &r, &l, &one, <double *> &lower[0, 0], &r, &K[0, 0], &r)


def solve_positive(double[::1, :] A, double[::1, :] B):
    """Overwrite B by ``A⁻¹ B`` and A by its Cholesky factor; False, with B as it was, if A is not positive definite."""
    cdef int r = A.shape[0], c = B.shape[1], info = 0
    if r == 0 or c == 0:
        return True
    with nogil:
        dpotrf(b"L", &r, &A[0, 0], &r, &info)
        if info == 0:
            dpotrs(b"L", &r, &c, &A[0, 0], &r, &B[0, 0], &r, &info)
    return info == 0
