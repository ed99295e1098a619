"""What goes into conjugate gradients and comes out of them, on some rows of several dual problems."""

from __future__ import annotations

import numpy as np

from .active_set import update
from .compiling import compiled


@compiled
def take_systems(
    rows, unit, target, epsilon, u, beta, side, missing, all_ridges, all_free, all_scales, ridge, free, scale, right
):
    """Write ridges, free sets, scales and right sides of problems (t, n) on some rows into arrays (t, m).

    Ridges and right sides, ``-(u + D beta - target + side epsilon)`` where free, are divided by ``unit``, a power of
    two, the latter also by what is returned for each problem: the largest of them, or what is ``missing`` if more.
    """
    t, m = right.shape
    size, share = np.empty(t), 1.0 / unit
    for k in range(t):
        largest = abs(missing[k])
        for a in range(m):
            i = rows[a]
            ridge[k, a], scale[k, a], free[k, a] = all_ridges[k, i] * share, all_scales[k, i], all_free[k, i]
            value = (target[i] - u[k, i] - all_ridges[k, i] * beta[k, i] - side[k, i] * epsilon) * share
            right[k, a] = value if free[k, a] else 0.0
        for a in range(m):
            largest = max(largest, abs(right[k, a]))
        size[k] = largest if largest > 0 else 1.0
        right[k] /= size[k]
    return size


@compiled
def put_steps(rows, x, size, beta):
    """Add ``size`` times steps x (t, m) on some rows to beta (t, n); returns the lengths of x and their sums."""
    t, m = x.shape
    length, total = np.empty(t), np.empty(t)
    for k in range(t):
        length[k], total[k] = np.sqrt((x[k] * x[k]).sum()), x[k].sum()
        for a in range(m):
            beta[k, rows[a]] += size[k] * x[k, a]
    return length, total


@compiled
def add_images(which, rows, image, factor, constant, u):
    """Add ``factor`` times ``image`` (t, m), and a ``constant``, to some rows of ``u`` for ``which`` problems."""
    for k in range(len(which)):
        line = u[which[k]]
        for a in range(len(rows)):
            line[rows[a]] += factor[k] * image[k, a] + constant[k]


@compiled
def update_each(K, u, beta, before, which):
    """``u += K (beta - before)`` for some of several problems (t, n). Cost: O(n) for each coefficient that differs."""
    touched = np.empty(len(K), dtype=np.int64)
    for k in range(len(u)):
        if which[k]:
            count = 0
            for i in range(len(K)):
                if beta[k, i] != before[k, i]:
                    touched[count] = i
                    count += 1
            update(K, u[k], beta[k], before[k], touched, count)
