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
    K, G, H, scale, factors, ridge, right, free, missing, bias, goal, rough, limit, look, patient, x, image
):
    """Write into x (t, n) the solutions of ``(K + D) x = right`` on each problem's free rows, into ``image`` ``K x``.

    With a bias up to a constant, and with the sums ``missing``. A problem is solved when no residual is above its
    ``goal``, or when their root mean square is at most its ``rough`` times the first. Products have the precision of G:
    single precision leaves some 1e-6 of a residual.
    Returns (which are solved within ``limit`` steps, how many each seemed to need for its goal after ``look`` steps, 0
    if there were not as many). If one that is not ``patient`` needs more than the limit, all are given up.

    Preconditioned by the inverse of ``1 / scale + GᵀG`` on the free rows, for ``scale`` (t, n), zero elsewhere, and G
    (r, n) with its transpose H; ``factors`` (t, r, r) are the upper ones of ``I + G scale Gᵀ``.
    Cost: O(n² + n r) a step for each problem that is not solved yet.
    """
    t, n = right.shape
    size, aim, first, slope, count = np.empty(t), np.empty(t), np.empty(t), np.zeros(t), np.empty(t)
    r, p, z = np.empty((t, n)), np.zeros((t, n)), np.empty((t, n))
    shown, product, low = np.empty((t, n), G.dtype), np.empty((t, n), G.dtype), np.empty((t, len(G)), G.dtype)
    _begin(K, ridge, right, free, missing, bias, x, image, r, count)
    for k in range(t):
        size[k] = (r[k] * r[k]).sum()
        aim[k] = count[k] * goal[k] * goal[k]
        first[k] = max(size[k], aim[k])
    active, needed, solved, hopeless = np.empty(t, dtype=np.int64), np.zeros(t), np.ones(t, dtype=np.bool_), False
    for step in range(limit + 1):
        n_active = 0
        for k in range(t):
            reached = size[k] <= aim[k] and np.abs(r[k]).max() <= goal[k]
            if not (reached or size[k] <= rough[k] * rough[k] * first[k]):  # nor is NaN
                active[n_active] = k
                n_active += 1
                if step == look and not size[k] <= aim[k]:
                    shrunk = np.log(size[k] / first[k]) / look
                    needed[k] = np.log(aim[k] / first[k]) / shrunk if shrunk < 0 else np.inf
                    hopeless |= needed[k] > limit and not patient[k]
        if n_active == 0 or step == limit or hopeless:
            break
        _precondition(G, H, scale, factors, r, active[:n_active], shown, low, product, z)
        for a in range(n_active):
            k = active[a]
            _project(z[k], free[k], count[k], bias)
            slope[k] = _turn(p[k], r[k], z[k], slope[k])
            shown[a] = p[k]
        narrow_product(K, shown[:n_active], product[:n_active])
        for a in range(n_active):
            k = active[a]
            size[k] = _advance(ridge[k], free[k], count[k], bias, x[k], image[k], r[k], p[k], product[a], slope[k])
    solved[active[:n_active]] = False
    return solved, needed


@compiled
def _begin(K, ridge, right, free, missing, bias, x, image, r, count):
    """Write x that have the right sums, on a few rows, with their images and residuals."""
    for k in range(len(x)):
        count[k] = free[k].sum()
        x[k], image[k] = 0.0, 0.0
        if bias and missing[k] != 0:
            _spread(K, free[k], int(count[k]), missing[k], x[k], image[k])
        for i in range(len(x[k])):
            r[k, i] = right[k, i] - image[k, i] - ridge[k, i] * x[k, i]
        _project(r[k], free[k], count[k], bias)


@compiled
def _spread(K, free, count, amount, x, image):
    """Add ``amount`` to x in equal parts, on a few free rows at equal distances; ``image`` follows."""
    distance = (count + SPREAD - 1) // SPREAD
    part, passed = amount / ((count + distance - 1) // distance), 0
    for i in range(len(free)):
        if free[i]:
            if passed % distance == 0:
                x[i], row = part, K[i]
                for j in range(len(x)):
                    image[j] += part * row[j]
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
def _advance(ridge, free, count, bias, x, image, r, p, product, slope):
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
        image[i] += length * product[i]
        r[i] -= length * q[i]
        new += r[i] * r[i]
    return new
