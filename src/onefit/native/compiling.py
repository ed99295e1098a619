"""How loops are compiled: once per installation, kept on disk, without the interpreter's lock."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numba

# Sums may be reordered, which lets them be vectorised; infinite bounds and NaN keep their meaning.
_ARITHMETIC = {"reassoc", "contract", "arcp", "nsz"}

compiled: Any = numba.njit(nogil=True, cache=True, fastmath=_ARITHMETIC)
"""The decorator of every loop in this package."""


def announce(loop: Any) -> None:
    """Say that ``loop`` is about to be compiled, if neither this process nor the cache on disk has it."""
    if not hasattr(loop, "stats"):  # NUMBA_DISABLE_JIT
        return
    folder = Path(loop.stats.cache_path)
    if not loop.signatures and not any(folder.glob(f"*.{loop.py_func.__name__}-*.nbc")):
        logging.getLogger("onefit").warning(
            "compiling the support vector solver: this takes some seconds, once per installation"
        )
