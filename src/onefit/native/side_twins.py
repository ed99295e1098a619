"""NumPy twins of the loops that take several problems: the same names, arguments and results (see ``twins``)."""

from __future__ import annotations

import numpy as np

from .twins import slopes

AWAY = 1e-9
"""Distance from an end of a piece, relative to the sum of all coefficients, that is clear."""

SPREAD = 16
"""Rows that a sum is spread over at first."""


def narrow_product(K, B, out):
    """Write ``B Kᵀ`` into ``out``."""
    out[:] = B @ K.T.astype(np.float64)


def dense(panels, columns):
    """The matrix (rows, columns) that panels are of."""
    count, rows, width = panels.shape
    return panels.transpose(1, 0, 2).reshape(rows, count * width)[:, :columns]


def fill_panels(K, shift, unit, panels):
    """Write ``(K - shift) / unit`` into panels."""
    width = panels.shape[2]
    for p, panel in enumerate(panels):
        part = K[:, p * width : (p + 1) * width]
        panel[:, : part.shape[1]] = (part - shift) / unit


def take_panels(panels, rows, columns, out):
    """Write some rows and columns into other panels."""
    fill_panels(dense(panels, None)[np.ix_(rows, columns)], 0.0, 1.0, out)


def panel_product(panels, B, out):
    """Write ``B K`` into ``out``."""
    out[:] = B @ dense(panels, out.shape[1])


def add_row(K, i, amount, out):
    """Add ``amount`` times a row of panels, or of a matrix, to ``out``."""
    out += amount * (K if K.ndim == 2 else dense(K, len(out)))[i]


def row_products(K, rows, b, out):
    """Write ``K[rows] b`` into ``out``."""
    out[:] = K[rows].astype(np.float64) @ b


def projected_gradients(
    K, G, H, scale, inverses, ridge, right, free, missing, bias, goal, rough, limit, look, patient, x, image
):
    """Conjugate gradients for ``(K + D) x = right`` on each problem's free rows, one problem after the other.

    With a bias up to a constant, and with the sums ``missing``; ``image`` is ``K x``. Preconditioned by the inverse of
    ``1 / scale + GᵀG`` on the free rows, G in panels. Residuals of a problem's ``goal`` are enough, or a root mean
    square of its ``rough`` times the first.
    Returns (which reach it within ``limit`` steps, how many each seems to need for its goal after ``look`` steps); if
    one that is not ``patient`` needs more than the limit, no more are tried after the look. Those that are patient
    count as solved when all others are, after the look.
    """
    K, G = (part if part.ndim == 2 else dense(part, right.shape[1]) for part in (K, G))
    parts, t = (scale, ridge, right, free, missing), len(right)
    outcomes, waited_for, last = np.empty((3, t)), np.full(t, patient.all()) | ~patient, limit + 1.0
    for k in np.argsort(~waited_for, kind="stable"):
        if not waited_for[k] and outcomes[0, waited_for].all():
            last = max(look, outcomes[2, waited_for].max())
        most = int(min(limit, last))
        outcomes[:, k] = _gradients(K, G, *(part[k] for part in parts), bias, goal[k], rough[k], most, look, x[k])
        outcomes[0, k] += last <= limit and np.isfinite(x[k]).all()
    image[:] = x @ K
    solved, needed, steps = outcomes[0] > 0, *outcomes[1:]
    if (needed[~patient] > limit).any():
        solved &= steps < look
    return solved, needed


def follow_scales(H, old, scale, equal, matrices):
    """Add ``Hᵀ (scale - old) H`` to the matrices."""
    difference = np.where(np.abs(scale - old) > equal * old, scale - old, 0.0)
    matrices += np.einsum("tn,na,nb->tab", difference, H, H)


def invert_each(matrices):
    """Overwrite matrices (t, r, r) by their inverses."""
    matrices[:] = np.linalg.inv(matrices)


def _gradients(K, G, scale, ridge, right, free, missing, bias, goal, rough, limit, look, x):
    count, needed = free.sum(), 0.0

    def project(values):
        return np.where(free, values - (values[free].mean() if bias else 0.0), 0.0)

    def precondition(values):
        low = G[:, free]
        out = np.zeros(len(free))
        out[free] = np.linalg.solve(np.diag(1 / scale[free]) + low.T @ low, values[free])
        return project(out)

    x[:] = 0.0
    if bias and missing:  # a start with the right sum
        places = np.flatnonzero(free)
        x[places[:: -(-count // SPREAD)]] = 1.0
        x *= missing / x.sum()
    r = project(right - K @ x - ridge * x)
    size, aim, slope, p = r @ r, count * goal**2, np.inf, np.zeros(len(r))
    first = max(size, aim)
    for step in range(limit + 1):
        if np.abs(r).max() <= goal or size <= rough**2 * first:
            return True, needed, step
        if step == look and not size <= aim:
            shrunk = np.log(size / first) / look
            needed = np.log(aim / first) / shrunk if shrunk < 0 else np.inf
        if step == limit:
            return False, needed, step
        z = precondition(r)
        p, slope = z + r @ z / slope * p, r @ z
        q = project(K @ p + ridge * p)
        x += slope / (p @ q) * p
        r = r - slope / (p @ q) * q
        size = r @ r
    return False, needed, limit


def take_systems(
    rows, unit, target, epsilon, u, beta, side, missing, all_ridges, all_free, all_scales, ridge, free, scale, right
):
    """Write the systems of problems on some rows; returns what right sides are divided by."""
    ridge[:], free[:], scale[:] = all_ridges[:, rows] / unit, all_free[:, rows], all_scales[:, rows]
    gradient = u + all_ridges * beta - target + side * epsilon
    right[:] = np.where(free, -gradient[:, rows] / unit, 0.0)
    size = np.maximum(np.abs(right).max(axis=1), np.abs(missing))
    size[size == 0] = 1.0
    right /= size[:, None]
    return size


def put_steps(rows, x, size, beta):
    """Take steps on some rows; returns their lengths and sums, before they are multiplied by ``size``."""
    beta[:, rows] += size[:, None] * x
    return np.linalg.norm(x, axis=1), x.sum(axis=1)


def add_images(which, rows, image, factor, constant, u):
    """Add ``factor`` times ``image``, and a ``constant``, to some rows of ``u`` for ``which`` problems."""
    u[np.ix_(which, rows)] += factor[:, None] * image + constant[:, None]


def update_each(K, u, beta, before, which):
    """``u += K (beta - before)`` for some problems."""
    u[which] += (beta - before)[which] @ K


def change_sets(
    K, ridge, target, epsilon, lower, upper, bias, tolerance, before, beta, u, free, side, b, residual, changes
):
    """Rest what a step from ``before`` has put over an end of its piece, free what would gain; all problems at once."""
    gradient = u + ridge * beta - target
    if bias:
        b[:] = -np.mean(gradient + side * epsilon, axis=1, where=free)
    else:
        b[:] = 0.0
    gradient += b[:, None]
    residual[:] = np.abs((gradient + side * epsilon) * free).max(axis=1)
    over, gaining = _changes(gradient, epsilon, lower, upper, tolerance, before, beta, free, side)
    u[:] = beta @ K
    changes[:] = over.sum(axis=1) + gaining.sum(axis=1)


def tell_bias(epsilon, lower, upper, beta, free):
    """Which problems have a free coefficient that is clearly away from the ends of its piece."""
    near = AWAY * np.abs(beta).sum(axis=1, keepdims=True)
    away = free & (beta > lower + near) & (beta < upper - near)
    return (away & ((np.abs(beta) > near) | (epsilon == 0))).any(axis=1)


def _changes(gradient, epsilon, lower, upper, tolerance, before, beta, free, side):
    """Change coefficients and sets; returns (which were over an end, which gain)."""
    rising, falling = slopes(gradient, epsilon, beta)
    rise = (beta < upper) & (rising < -tolerance)
    gaining = ~free & (lower < upper) & (rise | ((beta > lower) & (falling > tolerance)))
    up, two = beta > before, epsilon > 0
    end = np.where(up, np.where(two & (side < 0), 0.0, upper), np.where(two & (side > 0), 0.0, lower))
    over = free & np.where(up, beta >= end, beta <= end)
    side[gaining] = np.where((beta > 0) | ((beta == 0) & rise), 1.0, -1.0)[gaining]
    beta[over] = end[over]
    free ^= over | gaining
    return over, gaining


def schur_leaps(
    P, ones, Q, q_ones, S, right, start, reach, gradient, epsilon, lower, upper, bias, missing, tolerance,
    beta, free, side, R, q, U, max_leaps,
):  # fmt: skip
    """Leaps on the rows of the base and of Q, each by a dense system of the matrix that P, Q and S describe."""
    M = np.linalg.inv(P)
    M = np.block([[M, M @ Q.T], [Q @ M, S + Q @ M @ Q.T]])
    first = beta.copy()
    for _ in range(max_leaps):
        before, moved = beta.copy(), np.where(free, 0.0, beta - first)
        wanted = (-(gradient + side * epsilon) - M @ moved)[free]
        along, across = np.linalg.solve(M[np.ix_(free, free)], np.column_stack([wanted, np.ones(free.sum())])).T
        b = (moved.sum() + along.sum() - missing) / across.sum() if bias else 0.0
        moved[free] = along - b * across
        beta[free] = (first + moved)[free]
        slope = gradient + M @ moved + b
        over, gaining = _changes(slope, epsilon, lower, upper, tolerance, before, beta, free, side)
        if not (over | gaining).any():
            return True
    return False
