r"""Reduction of a symmetric matrix to band form by blocked Householder reflections, and substitution with a band factor.

.. math:: Q^T A Q = B, \quad Q = Q_1 Q_2 \cdots, \quad Q_k = I - V_k T_k V_k^T,

with B of bandwidth b: the first half of what an eigendecomposition does. For b = 1 this is LAPACK's reduction to
tridiagonal form, half of it in products of the matrix with vectors; for wide bands almost all is in products of matrices
(Bischof, Lang & Sun, ACM Trans. Math. Softw. 26, 2000). Cost: 4/3 n³, as much as four Cholesky factorisations.
"""

from libc.string cimport memmove, memset

import numpy as np

from scipy.linalg.cython_blas cimport dgemm, dsymm, dsyr2k, dtrmm, dtrsm
from scipy.linalg.cython_lapack cimport dgeqrf, dlarft, dorgqr, dormqr, dsytrd


def reduce_to_band(double[::1, :] A, int b):
    """Overwrite the lower triangle of A, stored by columns, by its band form B, and below it by the reflections.

    Reflection j begins in row ``b + j`` of column j, with an entry of one that is not stored: LAPACK's storage of a QR
    factorisation of ``A[b:, :-b]``. Returns the factors of the reflections (n - b,).
    """
    cdef int n = A.shape[0], first, info = 0, room = 64 * n
    cdef double[::1] tau = np.zeros(n), work = np.empty(64 * n + b * b), diagonal, next_to_it
    cdef double[::1, :] V, T, Y
    if b == 1:
        diagonal, next_to_it = np.empty(n), np.empty(n)
        with nogil:
            dsytrd(b"L", &n, &A[0, 0], &n, &diagonal[0], &next_to_it[0], &tau[0], &work[0], &room, &info)
    else:
        V, T, Y = np.empty((n, b), order="F"), np.empty((b, b), order="F"), np.empty((n, b), order="F")
        with nogil:
            for first from b <= first < n - 1 by b:
                _reduce_panel(n, b, first, &A[0, 0], &V[0, 0], &T[0, 0], &Y[0, 0], &tau[first - b], &work[0], room)
    return np.asarray(tau)[: max(0, n - b)]


cdef void _reduce_panel(
    int n, int b, int first, double *A, double *V, double *T, double *Y, double *tau, double *work, int room
) noexcept nogil:
    """Annihilate the columns left of ``first`` below the band, and apply the reflections to what is right of them."""
    cdef int m = n - first, p = min(m, b), i, j, info = 0
    cdef double *panel = A + first + <Py_ssize_t> (first - b) * n
    cdef double *rest = A + first + <Py_ssize_t> first * n
    cdef double one = 1.0, minus = -1.0, zero = 0.0, half = -0.5
    dgeqrf(&m, &b, panel, &n, tau, work, &room, &info)
    for j in range(p):
        for i in range(m):
            V[i + <Py_ssize_t> j * m] = 0.0 if i < j else 1.0 if i == j else panel[i + <Py_ssize_t> j * n]
    dlarft(b"F", b"C", &m, &p, V, &m, tau, T, &p)
    dsymm(b"L", b"L", &m, &p, &one, rest, &n, V, &m, &zero, Y, &m)  # Y = A V T
    dtrmm(b"R", b"U", b"N", b"N", &m, &p, &one, T, &p, Y, &m)
    dgemm(b"T", b"N", &p, &p, &m, &one, V, &m, Y, &m, &zero, work, &p)  # T' V' Y
    dtrmm(b"L", b"U", b"T", b"N", &p, &p, &one, T, &p, work, &p)
    dgemm(b"N", b"N", &m, &p, &p, &half, V, &m, work, &p, &one, Y, &m)  # W = Y - V (T' V' Y) / 2
    dsyr2k(b"L", b"N", &m, &p, &minus, V, &m, Y, &m, &one, rest, &n)


def multiply_by_q(double[::1, :] A, double[::1] tau, double[::1, :] X, bint transposed):
    """Overwrite X (n, k) by ``Q X``, or ``Qᵀ X``, with Q as ``reduce_to_band`` left it in A. Cost: O(n²) a column."""
    cdef int n = A.shape[0], columns = X.shape[1], m = len(tau), b = n - m, info = 0, room = 64 * max(columns, n)
    cdef double[::1] work = np.empty(room + 4160)
    cdef char side = b"T" if transposed else b"N"
    room += 4160
    if m and columns:
        with nogil:
            dormqr(b"L", &side, &m, &columns, &m, &A[b, 0], &n, &tau[0], &X[b, 0], &n,
                   &work[0], &room, &info)


def form_q(double[::1, :] A, double[::1] tau):
    """Overwrite A, as ``reduce_to_band`` left it, by Q. Cost: 4/3 n³."""
    cdef int n = A.shape[0], m = len(tau), b = n - m, j, info = 0, room = 64 * n
    cdef double[::1] work = np.empty(room)
    with nogil:
        if m:
            dorgqr(&m, &m, &m, &A[b, 0], &n, &tau[0], &work[0], &room, &info)
            memmove(&A[0, b], &A[0, 0], <size_t> n * m * sizeof(double))
        for j in range(n):  # the first b rows and columns are those of the identity
            memset(&A[0, j], 0, (n if j < b else b) * sizeof(double))
            if j < b:
                A[j, j] = 1.0


def substitute(double[::1, :] factor, double[:, ::1] X):
    """Overwrite X (n, l) by ``L^{-1} X``, with L of bandwidth b in LAPACK's storage (b + 1, n). Cost: 2 n l b."""
    cdef int b = factor.shape[0] - 1, n = factor.shape[1], l = X.shape[1], k, p, i, j
    cdef double one = 1.0, minus = -1.0, next_to_it, inverse
    cdef double *x
    cdef double *before
    cdef double[::1] below = np.zeros(max(1, b * b))
    if not l:
        return
    with nogil:
        if b <= 1:
            for k in range(n):
                x, before = &X[k, 0], &X[max(k - 1, 0), 0]
                inverse = 1.0 / factor[0, k]
                next_to_it = factor[1, k - 1] if k and b else 0.0
                for j in range(l):
                    x[j] = (x[j] - next_to_it * before[j]) * inverse
        else:
            for k from 0 <= k < n by b:  # rows of X are LAPACK's columns: everything is transposed
                p = min(b, n - k)
                if k:
                    for j in range(b):
                        for i in range(min(j + 1, p)):
                            below[i + j * b] = factor[b + i - j, k - b + j]
                    dgemm(b"N", b"T", &l, &p, &b, &minus, &X[k - b, 0], &l, &below[0], &b, &one, &X[k, 0], &l)
                dtrsm(b"R", b"L", b"T", b"N", &l, &p, &one, &factor[0, k], &b, &X[k, 0], &l)
