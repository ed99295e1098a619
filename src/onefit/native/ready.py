"""Compiling all loops at once, before the first of them is needed."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any

import numpy as np

from .active_set import active_set
from .duality import duality_gap
from .factor import gather
from .gradients import follow_scales, invert_each, projected_gradients
from .leap import leap
from .narrow import narrow_product, row_products
from .panels import empty_panels, fill_panels, product, take_panels
from .schur import schur_leaps
from .sets import change_sets, tell_bias
from .smo import smo
from .systems import add_images, put_steps, take_systems, update_each

_LOCK = threading.Lock()
_READY: set[tuple[str, bool]] = set()


def make_ready(K: Any) -> None:
    """Compile every loop for matrices like K, or load it from the cache on disk; the first time says so.

    Where the cache is: see ``compiling.compiled``.
    """
    kind = K.dtype.char, K.flags.c_contiguous
    with _LOCK:
        if kind in _READY:
            return
        _announce()
        _run_all(np.eye(2, dtype=K.dtype) if K.flags.c_contiguous else np.asfortranarray(np.eye(2, dtype=K.dtype)))
        _READY.add(kind)


def _announce() -> None:
    if not hasattr(active_set, "stats"):  # numba is told not to compile
        return
    cache = active_set.stats.cache_path
    if cache is not None and any(Path(cache).glob("active_set.active_set-*.nbc")):
        return
    often = "once per installation"
    if cache is None:
        often = "in every process, since no cache can be written: set NUMBA_CACHE_DIR to a directory that can"
    logging.getLogger("onefit").warning(f"compiling the support vector solver: this takes about a minute, {often}")


def _run_all(K: Any) -> None:
    """A problem with two rows through every loop."""
    zero, ends = np.zeros(2), np.array([1.0, -1.0])
    parts = (K, zero, ends, 0.0, np.minimum(ends, 0.0), np.maximum(ends, 0.0), True)
    F, U, side = np.arange(2), np.eye(2), np.ones(2)
    duality_gap(*parts[1:6], zero, zero, 0.0)
    smo(*parts, zero.copy(), zero.copy(), 1e-3, 1)
    gather(K, F, 2, 1.0, zero, U)
    leap(*parts, zero.copy(), zero.copy(), F.copy(), 2, np.eye(2), side)
    active_set(*parts, 1.0, 1e-9, zero.copy(), zero.copy(), F, 0, side, U, False, 1e-9, 5)
    _run_side_by_side(K)


def _run_side_by_side(K: Any) -> None:
    """The same for the loops that take several problems."""
    zero, ends = np.zeros((1, 2)), np.array([[1.0, -1.0]])
    lower, upper, free, side = (
        np.minimum(ends, 0.0),
        np.maximum(ends, 0.0),
        np.ones((1, 2), dtype=bool),
        np.ones((1, 2)),
    )
    one, none = np.eye(1), np.zeros(1)
    narrow_product(K, zero, zero.copy())
    row_products(K, np.arange(2), zero[0], zero[0].copy())
    follow_scales(np.zeros((2, 1)), zero, zero, 0.0, np.zeros((1, 1, 1)))
    invert_each(np.ones((1, 1, 1)))
    single = empty_panels((2, 2), np.float32)
    fill_panels(K, 0.0, 1.0, single)
    take_panels(single, np.arange(2), np.arange(2), single.copy())
    for matrix, kind in ((single, np.float32), (K, np.float64)):
        low = empty_panels((0, 2), kind), empty_panels((2, 0), kind)
        fill_panels(np.zeros((0, 2)), 0.0, 1.0, low[0])
        product(matrix, zero.astype(kind), zero.astype(kind))
        projected_gradients(
            matrix, *low, zero, np.zeros((1, 0, 0)), zero, ends, free, none, True, none, none, 3, 2,
            free[:, 0], zero.copy(), zero.copy(),
        )  # fmt: skip
    rows = np.arange(2)
    parts = zero, zero, side, none, zero, free, zero, zero.copy(), free.copy(), zero.copy(), zero.copy()
    take_systems(rows, 1.0, ends[0], 0.0, *parts)
    put_steps(rows, zero, none, zero.copy())
    update_each(K, zero.copy(), zero, zero, free[:, 0])
    for kind in (np.float32, np.float64):
        add_images(np.arange(1), rows, zero.astype(kind), none, none, zero.copy())
    tell_bias(0.0, lower, upper, zero, free)
    change_sets(
        K, zero, ends[0], 0.0, lower, upper, True, 1e-9, zero, zero.copy(), zero.copy(), free.copy(), side.copy(),
        np.zeros(1), np.zeros(1), np.zeros(1, dtype=np.intp),
    )  # fmt: skip
    schur_leaps(
        one, none, one, none, one, none, none, none, -ends[0], 0.0, lower[0], upper[0], True, 0.0, 1e-9,
        zero[0], free[0], side[0], np.zeros(1, dtype=np.intp), 0, one, 2,
    )  # fmt: skip
