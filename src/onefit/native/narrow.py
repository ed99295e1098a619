"""Products of a matrix with a few vectors, which a general product spends on rearranging the matrix."""

from __future__ import annotations

from .compiling import compiled

TILE = 16384
"""Bytes of a row of the matrix at a time: four of them stay near, and memory is read in long runs."""


@compiled
def narrow_product(K, B, out):
    """Write ``B Kᵀ`` into ``out`` (t, n) for K (n, m), in double or single precision, and vectors B (t, m).

    Four rows of K meet two vectors at a time; where rows run out, the last is used again. Sums have the precision of
    ``out``. Cost: 2 t n m, about twice as fast as a general product for ten vectors, and twice that if all is single.
    """
    (n, m), t, tile = K.shape, len(B), TILE // K.itemsize
    out[:] = 0.0
    zero = out.dtype.type(0.0)
    for start in range(0, m, tile):
        stop = min(start + tile, m)
        for i in range(0, n, 4):
            i1, i2, i3 = min(i + 1, n - 1), min(i + 2, n - 1), min(i + 3, n - 1)
            r0, r1, r2, r3 = K[i, start:stop], K[i1, start:stop], K[i2, start:stop], K[i3, start:stop]
            for k in range(0, t - 1, 2):
                x, y = B[k, start:stop], B[k + 1, start:stop]
                x0, x1, x2, x3, y0, y1, y2, y3 = zero, zero, zero, zero, zero, zero, zero, zero
                for j in range(stop - start):
                    x0 += r0[j] * x[j]
                    x1 += r1[j] * x[j]
                    x2 += r2[j] * x[j]
                    x3 += r3[j] * x[j]
                    y0 += r0[j] * y[j]
                    y1 += r1[j] * y[j]
                    y2 += r2[j] * y[j]
                    y3 += r3[j] * y[j]
                _add(out[k], i, x0, x1, x2, x3)
                _add(out[k + 1], i, y0, y1, y2, y3)
            if t % 2 == 1:
                x, x0, x1, x2, x3 = B[t - 1, start:stop], zero, zero, zero, zero
                for j in range(stop - start):
                    x0 += r0[j] * x[j]
                    x1 += r1[j] * x[j]
                    x2 += r2[j] * x[j]
                    x3 += r3[j] * x[j]
                _add(out[t - 1], i, x0, x1, x2, x3)


@compiled
def row_products(K, rows, b, out):
    """Write ``K[rows] b`` into ``out``, four rows at a time and without copies of them. Cost: 2 len(rows) n."""
    last = len(rows) - 1
    for a in range(0, len(rows), 4):
        r0, r1 = K[rows[a]], K[rows[min(a + 1, last)]]
        r2, r3 = K[rows[min(a + 2, last)]], K[rows[min(a + 3, last)]]
        x0, x1, x2, x3 = 0.0, 0.0, 0.0, 0.0
        for j in range(len(b)):
            x0 += r0[j] * b[j]
            x1 += r1[j] * b[j]
            x2 += r2[j] * b[j]
            x3 += r3[j] * b[j]
        out[a] = 0.0
        out[a + 1 : a + 4] = 0.0
        _add(out, a, x0, x1, x2, x3)


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
