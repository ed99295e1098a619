"""How loops are compiled: once per installation, kept on disk, without the interpreter's lock."""

from __future__ import annotations

from typing import Any

import numba

# Sums may be reordered, which lets them be vectorised; infinite bounds and NaN keep their meaning.
_ARITHMETIC = {"reassoc", "contract", "arcp", "nsz"}

compiled: Any = numba.njit(nogil=True, cache=True, fastmath=_ARITHMETIC)
"""The decorator of every loop in this package."""
