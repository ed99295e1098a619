"""LAPACK routines, in place and without the interpreter's lock, so that threads can work side by side.

scipy.linalg's own functions keep the lock while they compute. SciPy publishes the routines for compiled code in
``scipy.linalg.cython_lapack``; ctypes releases the lock around a call to them.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cython_lapack

from .._arrays import Array

MOST_ROWS = 32_766
"""Rows n of a matrix up to which LAPACK counts its work space, 2 n² + 6 n + 1, by a whole number of 32 bits."""


def _routine(name: str, n_arguments: int) -> Any:
    """The routine ``name``, which like all of LAPACK takes pointers only."""
    published: Any = cython_lapack.__pyx_capi__
    capsule = published[name]
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_arguments)(address)


_DSYEVD = _routine("dsyevd", 11)
_DPOTRF = _routine("dpotrf", 5)
_DPOTRI = _routine("dpotri", 5)


def _number(value: int) -> Any:
    return ctypes.byref(ctypes.c_int(value))


def _pointer(array: NDArray[Any]) -> int:
    return array.ctypes.data


def eigh_in_place(K: Array) -> tuple[Array, Array]:
    """Eigenvalues, ascending, and eigenvectors (columns) of a symmetric K, which they overwrite.

    Cost: O(n³), with 2 n² doubles of work space.
    """
    _check(K)
    n = len(K)
    values = np.empty(n)
    if n == 0:
        return values, K
    work, whole = np.empty(1 + 6 * n + 2 * n * n), np.empty(3 + 5 * n, dtype=np.intc)
    info = ctypes.c_int(0)
    _DSYEVD(
        b"V", b"L", _number(n), _pointer(K), _number(n), _pointer(values),
        _pointer(work), _number(len(work)), _pointer(whole), _number(len(whole)), ctypes.byref(info),
    )  # fmt: skip
    if info.value:
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return values, K.T


def invert_in_place(A: Array, factorised: bool = False) -> bool:
    """Overwrite the upper triangle of a positive definite A by that of its inverse; False if A is not.

    ``factorised`` says that the upper triangle is U with ``UᵀU`` equal to the matrix to be inverted.
    (LAPACK is told to use the lower triangle, and reads the rows of A as columns.) Cost: O(n³).
    """
    _check(A)
    n, info = len(A), ctypes.c_int(0)
    for routine in (_DPOTRI,) if factorised else (_DPOTRF, _DPOTRI):
        if n and not info.value:
            routine(b"L", _number(n), _pointer(A), _number(n), ctypes.byref(info))
    return info.value == 0


def cholesky_in_place(A: Array, m: int) -> bool:
    """Overwrite the upper triangle of A's leading m x m block by U with ``UᵀU`` equal to it; False if not definite.

    The rest of A, and the block's lower triangle, are left alone. Cost: O(m³).
    """
    _check(A)
    info = ctypes.c_int(0)
    if m:
        _DPOTRF(b"L", _number(m), _pointer(A), _number(len(A)), ctypes.byref(info))
    return info.value == 0


def _check(A: Array) -> None:
    """Pointers are handed to compiled code: be sure of what they point to."""
    if A.dtype != np.float64 or A.ndim != 2 or A.shape[0] != A.shape[1] or not A.flags.c_contiguous:
        raise ValueError("a square C-contiguous matrix of doubles is needed")
    if not A.flags.writeable:
        raise ValueError("the matrix is overwritten: it must be writeable")
    if len(A) > MOST_ROWS:
        raise ValueError(f"{len(A):,} rows are more than LAPACK's work space can count")
