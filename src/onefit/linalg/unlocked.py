"""Products and solutions for threads that work side by side, on sums over blocks of rows.

SciPy's wrappers of BLAS and LAPACK hold the interpreter's lock while they compute, so that two threads take as long as
one. The compiled functions release it; where no compiler was at hand, SciPy's do the same work.
"""

from __future__ import annotations

from scipy.linalg import blas, lapack

from .._arrays import Array

__all__ = ["add_squares", "divide_rows", "solve_positive"]


def _add_squares(G: Array, Z: Array) -> None:
    """Add ``Zᵀ Z`` to the upper triangle of G (r, r), for rows Z (l, r), both in C order."""
    blas.dsyrk(1.0, Z.T, beta=1.0, c=G.T, trans=0, lower=1, overwrite_c=1)


def _divide_rows(lower: Array, K: Array) -> None:
    """Overwrite every row k of K (l, r), in C order, by ``L⁻¹ k``, for a lower triangular L in Fortran order."""
    blas.dtrsm(1.0, lower, K.T, side=0, lower=1, overwrite_b=1)


def _solve_positive(A: Array, B: Array) -> bool:
    """Overwrite B by ``A⁻¹ B`` and A by its Cholesky factor, both in Fortran order; False if A is not positive."""
    factor, failed = lapack.dpotrf(A, lower=1, overwrite_a=1, clean=0)
    if not failed:
        lapack.dpotrs(factor, B, lower=1, overwrite_b=1)
    return not failed


try:
    from ._unlocked import add_squares, divide_rows, solve_positive
except ImportError:  # no compiler
    add_squares, divide_rows, solve_positive = _add_squares, _divide_rows, _solve_positive
