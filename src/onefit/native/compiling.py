"""How loops are compiled: kept on disk where a cache can be written, without the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

# Sums may be reordered, which lets them be vectorised; infinite bounds and NaN keep their meaning.
_ARITHMETIC = {"reassoc", "contract", "arcp", "nsz"}


def compiled(loop: Callable[..., Any]) -> Any:
    """Decorator of every loop in this package.

    The machine code is cached in ``NUMBA_CACHE_DIR``, next to the source, or in the user's cache directory: the first
    of these that can be written. Where none can, numba refuses to cache, and every process compiles for itself.
    """
    try:
        return numba.njit(nogil=True, cache=True, fastmath=_ARITHMETIC)(loop)
    except RuntimeError:  # "no locator available": there is no directory to write to
        return numba.njit(nogil=True, fastmath=_ARITHMETIC)(loop)
