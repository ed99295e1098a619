"""Conjugate gradients for the free coefficients of several dual problems on one matrix."""

from __future__ import annotations

import numpy as np

from .compiling import compiled
from .narrow import narrow_product


@compiled
def projected_gradients(K, ridge, right, free, missing, bias, goal, rough, limit, look, x):
    """Write into x (t, n) the solutions of ``(K + D) x = right`` on each problem's free rows.

    With a bias up to a constant, and with the sums ``missing``. A problem is solved when the root mean square of its
    residual is at most ``goal``, or ``rough`` times the first. False as soon as after ``look`` steps one seems to
    need more than ``limit`` of them for ``goal``, or if one does.
    Cost: O(n²) a step for each problem that is not solved yet.
    """
    t, n = right.shape
    count, size, aim, first = np.zeros(t), np.empty(t), np.empty(t), np.empty(t)
    r, p, shown, image = np.empty((t, n)), np.empty((t, n)), np.empty((t, n)), np.empty((t, n))
    for k in range(t):
        count[k] = free[k].sum()
        for i in range(n):
            x[k, i] = missing[k] / count[k] if bias and free[k, i] else 0.0
    narrow_product(K, x, image)
    for k in range(t):
        for i in range(n):
            r[k, i] = right[k, i] - image[k, i] - ridge[k, i] * x[k, i]
        _project(r[k], free[k], count[k], bias)
        p[k] = r[k]
        size[k] = (r[k] * r[k]).sum()
        aim[k] = count[k] * goal * goal
        first[k] = max(size[k], aim[k])
    active = np.empty(t, dtype=np.int64)
    for step in range(limit + 1):
        n_active = 0
        for k in range(t):
            if size[k] > max(aim[k], rough * rough * first[k]):
                active[n_active] = k
                shown[n_active] = p[k]
                n_active += 1
        if n_active == 0:
            return True
        if step == limit:
            return False
        narrow_product(K, shown[:n_active], image[:n_active])
        for a in range(n_active):
            k = active[a]
            size[k] = _advance(ridge[k], free[k], count[k], bias, x[k], r[k], p[k], image[a], size[k])
            if step + 1 == look:
                shrunk = np.log(max(size[k], aim[k]) / first[k]) / look
                if np.log(aim[k] / first[k]) < shrunk * limit:
                    return False
    return False


@compiled
def _project(values, free, count, bias):
    """Keep the free rows, with a bias less their mean."""
    total = 0.0
    for i in range(len(values)):
        if free[i]:
            total += values[i]
        else:
            values[i] = 0.0
    if bias:
        mean = total / count
        for i in range(len(values)):
            if free[i]:
                values[i] -= mean


@compiled
def _advance(ridge, free, count, bias, x, r, p, q, size):
    """One step along p, of which ``q`` is the product with K; returns the new square of the residual."""
    n = len(p)
    for i in range(n):
        q[i] += ridge[i] * p[i]
    _project(q, free, count, bias)
    curvature, new = 0.0, 0.0
    for i in range(n):
        curvature += p[i] * q[i]
    length = size / curvature if curvature > 0 else 0.0
    for i in range(n):
        x[i] += length * p[i]
        r[i] -= length * q[i]
        new += r[i] * r[i]
    share = new / size if size > 0 else 0.0
    for i in range(n):
        p[i] = r[i] + share * p[i]
    return new
