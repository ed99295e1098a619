"""Compiling all loops at once, before the first of them is needed."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any

import numpy as np

from .active_set import active_set
from .factor import gather
from .leap import leap
from .smo import smo

_LOCK = threading.Lock()
_READY: set[str] = set()


def make_ready(K: Any) -> None:
    """Compile every loop for matrices like K, or load it from the cache on disk; the first time says so.

    The cache is kept by numba next to this file, or where its settings say.
    """
    kind = f"{K.dtype}{K.flags.c_contiguous}"
    with _LOCK:
        if kind in _READY:
            return
        _announce()
        _run_all(np.eye(2, dtype=K.dtype) if K.flags.c_contiguous else np.asfortranarray(np.eye(2, dtype=K.dtype)))
        _READY.add(kind)


def _announce() -> None:
    if not hasattr(active_set, "stats"):  # numba is told not to compile
        return
    if not any(Path(active_set.stats.cache_path).glob("active_set.active_set-*.nbc")):
        logging.getLogger("onefit").warning(
            "compiling the support vector solver: this takes about half a minute, once per installation"
        )


def _run_all(K: Any) -> None:
    """A problem with two rows through every loop."""
    zero, ends = np.zeros(2), np.array([1.0, -1.0])
    parts = (K, zero, ends, 0.0, np.minimum(ends, 0.0), np.maximum(ends, 0.0), True)
    F, U, side = np.arange(2), np.eye(2), np.ones(2)
    smo(*parts, zero.copy(), zero.copy(), 1e-3, 1)
    gather(K, F, 2, 1.0, zero, U)
    leap(*parts, zero.copy(), zero.copy(), F.copy(), 2, np.eye(2), side)
    active_set(*parts, 1.0, 1e-9, zero.copy(), zero.copy(), F, 0, side, U, False, 1e-9, 5)
