"""Preconditioned conjugate gradients for the free coefficients of several dual problems on one matrix."""

from __future__ import annotations

import numpy as np

from .compiling import compiled
from .panels import add_row, panel_product, product

SPREAD = 16
"""Rows that a sum is spread over at first, of which no product with all of K has to know."""


@compiled
def projected_gradients(
    K, G, H, scale, inverses, ridge, right, free, missing, bias, goal, rough, limit, look, patient, x, image
):
    """Write into x (t, n) the solutions of ``(K + D) x = right`` on each problem's free rows, into ``image`` ``K x``.

    With a bias up to a constant, and with the sums ``missing``. A problem is solved when no residual is above its
    ``goal``, or when their root mean square is at most its ``rough`` times the first. Products have the precision of G:
    single precision leaves some 1e-6 of a residual.
    Returns (which are solved within ``limit`` steps, how many each seemed to need for its goal after ``look`` steps, 0
    if there were not as many). If one that is not ``patient`` needs more than the limit, all are given up. Those that
    are patient count as solved when all others are, after ``look`` steps: products with a single vector are slow.

    Preconditioned by the inverse of ``1 / scale + GᵀG`` on the free rows, for ``scale`` (t, n), zero elsewhere, and
    panels of G (r, n) and of its transpose H; ``inverses`` (t, r, r) are those of ``I + G scale Gᵀ``.
    K is a matrix, or the panels of one.
    Cost: O(n² + n r) a step for each problem that is not solved yet.
    """
    t, n = right.shape
    size, aim, first, slope, count = np.empty(t), np.empty(t), np.empty(t), np.zeros(t), np.empty(t)
    r, p, z = np.empty((t, n)), np.zeros((t, n)), np.empty(n)
    shown, moved = np.empty((t, n), G.dtype), np.empty((t, n), G.dtype)
    low = np.empty((t, inverses.shape[1]), G.dtype)
    _begin(K, ridge, right, free, missing, bias, x, image, r, count)
    for k in range(t):
        size[k] = (r[k] * r[k]).sum()
        aim[k] = count[k] * goal[k] * goal[k]
        first[k] = max(size[k], aim[k])
    active, needed, solved, hopeless = np.empty(t, dtype=np.int64), np.zeros(t), np.ones(t, dtype=np.bool_), False
    for step in range(limit + 1):
        n_active, waited_for = 0, patient.all()
        for k in range(t):
            reached = size[k] <= aim[k] and np.abs(r[k]).max() <= goal[k]
            if not (reached or size[k] <= rough[k] * rough[k] * first[k]):  # nor is NaN
                active[n_active] = k
                n_active += 1
                waited_for |= not patient[k]
                if step == look and not size[k] <= aim[k]:
                    shrunk = np.log(size[k] / first[k]) / look
                    needed[k] = np.log(aim[k] / first[k]) / shrunk if shrunk < 0 else np.inf
                    hopeless |= needed[k] > limit and not patient[k]
        if step >= look and not waited_for:
            for k in active[:n_active]:
                solved[k] = np.isfinite(size[k])
            n_active = 0
        if n_active == 0 or step == limit or hopeless:
            break
        _precondition(G, H, scale, inverses, r, active[:n_active], shown, low, moved)
        for a in range(n_active):
            k = active[a]
            slope[k] = _turn(scale[k], moved[a], free[k], count[k], bias, z, p[k], r[k], slope[k], shown[a])
        product(K, shown[:n_active], moved[:n_active])
        for a in range(n_active):
            k = active[a]
            size[k] = _advance(ridge[k], free[k], count[k], bias, x[k], image[k], r[k], p[k], moved[a], slope[k])
    solved[active[:n_active]] = False
    return solved, needed


@compiled
def follow_scales(H, old, scale, equal, matrices):
    """Add ``Hᵀ (scale - old) H`` to symmetric matrices (t, r, r) for H (n, r) and scales (t, n).

    Rows are left out whose scales differ by no more than ``equal`` times the old one. Cost: O(r²) for each other row;
    four of them are met at a time.
    """
    n = len(H)
    rows, amounts = np.empty(n + 3, dtype=np.int64), np.empty(n + 3)
    for k in range(len(scale)):
        count = 0
        for i in range(n):
            difference = scale[k, i] - old[k, i]
            if abs(difference) > equal * old[k, i]:
                rows[count], amounts[count] = i, difference
                count += 1
        if count > 0:
            rows[count : count + 3], amounts[count : count + 3] = rows[0], 0.0
        for a in range(0, count, 4):
            w, x, y, z = H[rows[a]], H[rows[a + 1]], H[rows[a + 2]], H[rows[a + 3]]
            _add_squares(w, x, y, z, amounts[a : a + 4], matrices[k])


@compiled
def _add_squares(w, x, y, z, amounts, matrix):
    """Add the outer products of four vectors with themselves, each times its amount."""
    for a in range(len(w)):
        of_w, of_x, of_y, of_z = amounts[0] * w[a], amounts[1] * x[a], amounts[2] * y[a], amounts[3] * z[a]
        line = matrix[a]
        for b in range(len(w)):
            line[b] += of_w * w[b] + of_x * x[b] + of_y * y[b] + of_z * z[b]


@compiled
def invert_each(matrices):
    """Overwrite symmetric positive definite matrices (t, r, r) by their inverses.

    Gauss-Jordan elimination without pivots: what it loses does not depend on how rows and columns are scaled, and those
    of ``I + G scale Gᵀ`` differ by as many orders of magnitude as eigenvalues of K do. Cost: r³ for each.
    """
    t, r, _ = matrices.shape
    pivot = np.empty(r)
    for a in range(t):
        A = matrices[a]
        for k in range(r):
            share = 1.0 / A[k, k]
            for j in range(r):
                pivot[j] = A[k, j] * share
            pivot[k] = share
            for i in range(0, r - 3, 4):
                w, x, y, z = A[i], A[i + 1], A[i + 2], A[i + 3]
                of_w, of_x, of_y, of_z = w[k], x[k], y[k], z[k]
                w[k], x[k], y[k], z[k] = 0.0, 0.0, 0.0, 0.0
                for j in range(r):
                    w[j] -= of_w * pivot[j]
                    x[j] -= of_x * pivot[j]
                    y[j] -= of_y * pivot[j]
                    z[j] -= of_z * pivot[j]
            for i in range(r - r % 4, r):
                w, of_w = A[i], A[i, k]
                w[k] = 0.0
                for j in range(r):
                    w[j] -= of_w * pivot[j]
            for j in range(r):
                A[k, j] = pivot[j]


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
                x[i] = part
                add_row(K, i, part, image)
            passed += 1


@compiled
def _precondition(G, H, scale, inverses, r, active, shown, low, back):
    """Write into ``back`` what ``scale`` times the residuals of some problems has too much, before it is scaled."""
    c = len(active)
    if low.shape[1] == 0:
        back[:c] = 0.0
        return
    for a in range(c):
        k = active[a]
        for i in range(r.shape[1]):
            shown[a, i] = scale[k, i] * r[k, i]
    panel_product(H, shown[:c], low[:c])
    for a in range(c):
        part = low[a].astype(np.float64)
        for i in range(len(part)):
            row, total = inverses[active[a], i], 0.0
            for j in range(len(part)):
                total += row[j] * part[j]
            low[a, i] = total
    panel_product(G, low[:c], back[:c])


@compiled
def _project(values, free, count, bias):
    """Keep the free rows, with a bias less their mean."""
    total = 0.0
    for i in range(len(values)):
        values[i] *= free[i]
        total += values[i]
    if bias:
        mean = total / count
        for i in range(len(values)):
            values[i] -= mean * free[i]


@compiled
def _turn(scale, back, free, count, bias, z, p, r, slope, shown):
    """The next direction: z, the preconditioned residual, made conjugate to p. Returns its product with the residual.

    ``slope`` was that product. With a bias residuals sum to zero, so that it is the same for z less its mean.
    """
    total, new = 0.0, 0.0
    for i in range(len(p)):
        z[i] = scale[i] * (r[i] - back[i])
        total += z[i]
        new += r[i] * z[i]
    mean = total / count if bias else 0.0
    share = new / slope if slope > 0 else 0.0
    for i in range(len(p)):
        p[i] = z[i] - mean * free[i] + share * p[i]
        shown[i] = p[i]
    return new


@compiled
def _advance(ridge, free, count, bias, x, image, r, p, moved, slope):
    """One step along p, of which ``moved`` is the product with K; returns the new square of the residual.

    The residual turns by the image of p under ``K + D`` on the free rows, with a bias less its mean. As p sums to zero
    then, its product with p is the same without.
    """
    total, curvature, new = 0.0, 0.0, 0.0
    for i in range(len(p)):
        turned = (moved[i] + ridge[i] * p[i]) * free[i]
        total += turned
        curvature += p[i] * turned
    mean = total / count if bias else 0.0
    length = slope / curvature if curvature > 0 else 0.0
    for i in range(len(p)):
        x[i] += length * p[i]
        image[i] += length * moved[i]
        r[i] -= length * (moved[i] + ridge[i] * p[i] - mean) * free[i]
        new += r[i] * r[i]
    return new
