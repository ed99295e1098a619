"""Products of a matrix with a few vectors, which a general product spends on rearranging the matrix."""

from __future__ import annotations

from .compiling import compiled

TILE = 16384
"""Bytes of a row of the matrix at a time, less the more vectors there are: four rows stay near, and the vectors too."""


@compiled
def narrow_product(K, B, out):
    """Write ``B Kᵀ`` into ``out`` (t, n) for K (n, m), in double or single precision, and vectors B (t, m).

    Four rows of K meet three vectors at a time, as many as registers have room for the sums of; where rows run out, the
    last is used again. Sums have the precision of ``out``. Cost: 2 t n m, about twice as fast as a general product for
    ten vectors, and twice that if all is single.
    """
    (n, m), t = K.shape, len(B)
    tile = max(1, TILE // (K.itemsize * max(1, t // 3)))
    out[:] = 0.0
    for i in range(0, n, 4):
        i1, i2, i3 = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
        for start in range(0, m, tile):
            stop, k = min(start + tile, m), 0
            rows = K[i, start:stop], K[i1, start:stop], K[i2, start:stop], K[i3, start:stop]
            while k < t:
                left = t - k
                if left == 1:
                    _meet_one(rows, B[k, start:stop], out[k], i)
                    k += 1
                elif left == 2 or left == 4:
                    _meet_two(rows, B[k, start:stop], B[k + 1, start:stop], out[k], out[k + 1], i)
                    k += 2
                else:
                    vectors = B[k, start:stop], B[k + 1, start:stop], B[k + 2, start:stop]
                    _meet_three(rows, vectors, out[k : k + 3], i)
                    k += 3


@compiled
def _meet_three(rows, vectors, out, i):
    """Add the products of four rows with three vectors to ``out``, from place i on; the vectors stay in registers."""
    (r0, r1, r2, r3), (x, y, z), zero = rows, vectors, out.dtype.type(0.0)
    x0, x1, x2, x3, y0, y1, y2, y3 = zero, zero, zero, zero, zero, zero, zero, zero
    z0, z1, z2, z3 = zero, zero, zero, zero
    for j in range(len(x)):
        x0 += r0[j] * x[j]
        y0 += r0[j] * y[j]
        z0 += r0[j] * z[j]
        x1 += r1[j] * x[j]
        y1 += r1[j] * y[j]
        z1 += r1[j] * z[j]
        x2 += r2[j] * x[j]
        y2 += r2[j] * y[j]
        z2 += r2[j] * z[j]
        x3 += r3[j] * x[j]
        y3 += r3[j] * y[j]
        z3 += r3[j] * z[j]
    _add(out[0], i, x0, x1, x2, x3)
    _add(out[1], i, y0, y1, y2, y3)
    _add(out[2], i, z0, z1, z2, z3)


@compiled
def _meet_two(rows, x, y, out_x, out_y, i):
    """The same for two vectors."""
    (r0, r1, r2, r3), zero = rows, out_x.dtype.type(0.0)
    x0, x1, x2, x3, y0, y1, y2, y3 = zero, zero, zero, zero, zero, zero, zero, zero
    for j in range(len(x)):
        x0 += r0[j] * x[j]
        x1 += r1[j] * x[j]
        x2 += r2[j] * x[j]
        x3 += r3[j] * x[j]
        y0 += r0[j] * y[j]
        y1 += r1[j] * y[j]
        y2 += r2[j] * y[j]
        y3 += r3[j] * y[j]
    _add(out_x, i, x0, x1, x2, x3)
    _add(out_y, i, y0, y1, y2, y3)


@compiled
def _meet_one(rows, x, out, i):
    """The same for one vector."""
    (r0, r1, r2, r3), zero = rows, out.dtype.type(0.0)
    x0, x1, x2, x3 = zero, zero, zero, zero
    for j in range(len(x)):
        x0 += r0[j] * x[j]
        x1 += r1[j] * x[j]
        x2 += r2[j] * x[j]
        x3 += r3[j] * x[j]
    _add(out, i, x0, x1, x2, x3)


@compiled
def row_products(K, rows, b, out):
    """Write ``K[rows] b`` into ``out``, four rows at a time and without copies of them. Cost: 2 len(rows) n."""
    last = len(rows) - 1
    out[:] = 0.0
    for a in range(0, len(rows), 4):
        some = K[rows[a]], K[rows[min(a + 1, last)]], K[rows[min(a + 2, last)]], K[rows[min(a + 3, last)]]
        _meet_one(some, b, out, a)


@compiled
def _add(values, i, a, b, c, d):
    """Add four numbers from place i on, or as many as there are places."""
    values[i] += a
    if i + 1 < len(values):
        values[i + 1] += b
    if i + 2 < len(values):
        values[i + 2] += c
    if i + 3 < len(values):
        values[i + 3] += d
