"""Preconditioned conjugate gradients for the free coefficients of several dual problems on one matrix."""

from __future__ import annotations

import numpy as np

from .compiling import compiled
from .factor import solve_transposed, solve_upper
from .narrow import narrow_product

SPREAD = 16
"""Rows that a sum is spread over at first, of which no product with all of K has to know."""


@compiled
def projected_gradients(
    K, G, H, scale, factors, ridge, right, free, missing, bias, goal, rough, limit, look, patient, x
):
    """Write into x (t, n) the solutions of ``(K + D) x = right`` on each problem's free rows.

    With a bias up to a constant, and with the sums ``missing``. A problem is solved when the root mean square of its
    residual is at most its ``goal``, or its ``rough`` times the first. Products have the precision of G: single
    precision leaves some 1e-6 of a residual.
    Returns (whether all are solved within ``limit`` steps, how many one seemed to need for its goal after ``look``
    steps, 0 if there were not as many). If it is not ``patient``, more than the limit are not tried.

    Preconditioned by the inverse of ``1 / scale + GᵀG`` on the free rows, for ``scale`` (t, n), zero elsewhere, and G
    (r, n) with its transpose H; ``factors`` (t, r, r) are the upper ones of ``I + G scale Gᵀ``.
    Cost: O(n² + n r) a step for each problem that is not solved yet.
    """
    t, n = right.shape
    size, aim, first, slope, count = np.empty(t), np.empty(t), np.empty(t), np.zeros(t), np.empty(t)
    r, p, z = np.empty((t, n)), np.zeros((t, n)), np.empty((t, n))
    shown, product, low = np.empty((t, n), G.dtype), np.empty((t, n), G.dtype), np.empty((t, len(G)), G.dtype)
    _begin(K, ridge, right, free, missing, bias, x, r, count)
    for k in range(t):
        size[k] = (r[k] * r[k]).sum()
        aim[k] = count[k] * goal[k] * goal[k]
        first[k] = max(size[k], aim[k])
    active, needed = np.empty(t, dtype=np.int64), 0.0
    for step in range(limit + 1):
        n_active = 0
        for k in range(t):
            if not size[k] <= max(aim[k], rough[k] * rough[k] * first[k]):  # nor is NaN
                active[n_active] = k
                n_active += 1
                if step == look:
                    shrunk = np.log(max(size[k], aim[k]) / first[k]) / look
                    needed = max(needed, np.log(aim[k] / first[k]) / shrunk if shrunk < 0 else np.inf)
        if n_active == 0:
            return True, needed
        if step == limit or (needed > limit and not patient):
            return False, needed
        _precondition(G, H, scale, factors, r, active[:n_active], shown, low, product, z)
        for a in range(n_active):
            k = active[a]
            _project(z[k], free[k], count[k], bias)
            slope[k] = _turn(p[k], r[k], z[k], slope[k])
            shown[a] = p[k]
        narrow_product(K, shown[:n_active], product[:n_active])
        for a in range(n_active):
            k = active[a]
            size[k] = _advance(ridge[k], free[k], count[k], bias, x[k], r[k], p[k], product[a], slope[k])
    return False, needed


@compiled
def _begin(K, ridge, right, free, missing, bias, x, r, count):
    """Write x that have the right sums, on a few rows, and their residuals."""
    for k in range(len(x)):
        count[k] = free[k].sum()
        x[k], r[k] = 0.0, right[k]
        if bias and missing[k] != 0:
            _spread(K, ridge[k], free[k], int(count[k]), missing[k], x[k], r[k])
        _project(r[k], free[k], count[k], bias)


@compiled
def _spread(K, ridge, free, count, amount, x, r):
    """Add ``amount`` to x in equal parts, on a few free rows at equal distances; the residual r follows."""
    distance = (count + SPREAD - 1) // SPREAD
    part, passed = amount / ((count + distance - 1) // distance), 0
    for i in range(len(free)):
        if free[i]:
            if passed % distance == 0:
                x[i], row = part, K[i]
                r[i] -= part * ridge[i]
                for j in range(len(x)):
                    r[j] -= part * row[j]
            passed += 1


@compiled
def _precondition(G, H, scale, factors, r, active, shown, low, product, z):
    """Write the preconditioned residuals of some problems into z."""
    c = len(active)
    for a in range(c):
        k = active[a]
        for i in range(len(z[k])):
            z[k, i] = scale[k, i] * r[k, i]
            shown[a, i] = z[k, i]
    if len(G) == 0:
        return
    narrow_product(G, shown[:c], low[:c])
    for a in range(c):
        factor = factors[active[a]]
        part = low[a].astype(np.float64)
        solve_transposed(factor, len(part), part)
        solve_upper(factor, len(part), part)
        low[a] = part
    narrow_product(H, low[:c], product[:c])
    for a in range(c):
        k = active[a]
        for i in range(len(z[k])):
            z[k, i] -= scale[k, i] * product[a, i]


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
def _turn(p, r, z, slope):
    """The next direction, z made conjugate to p; ``slope`` was the product of residual and z. Returns the new one."""
    new = 0.0
    for i in range(len(p)):
        new += r[i] * z[i]
    share = new / slope if slope > 0 else 0.0
    for i in range(len(p)):
        p[i] = z[i] + share * p[i]
    return new


@compiled
def _advance(ridge, free, count, bias, x, r, p, product, slope):
    """One step along p, of which ``product`` is that with K; returns the new square of the residual."""
    n, q = len(p), np.empty(len(p))
    for i in range(n):
        q[i] = product[i] + ridge[i] * p[i]
    _project(q, free, count, bias)
    curvature, new = 0.0, 0.0
    for i in range(n):
        curvature += p[i] * q[i]
    length = slope / curvature if curvature > 0 else 0.0
    for i in range(n):
        x[i] += length * p[i]
        r[i] -= length * q[i]
        new += r[i] * r[i]
    return new
