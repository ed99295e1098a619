r"""Matrix products of doubles with some 80 instead of 53 bits, by products of slices that BLAS computes without error.

Both matrices are cut into slices of so few bits that a product of two slices has no rounding at all:

.. math:: K D = \sum_{i + j < 4} K_i D_j + O(2^{-4 b} |K| |D|), \qquad 2 b + \log_2 n \le 53,

where row i of K and column j of D are measured by their largest entries. Source: Ozaki, Ogita, Oishi & Rump (2012),
"Error-free transformations of matrix multiplication by using fast routines of matrix multiplication".
"""

from __future__ import annotations

import numpy as np

from .._arrays import Array

SLICES = 4
"""Slices of a matrix: of 21 bits each for a thousand rows. 84 bits leave twelve digits to a sum whose terms exceed it
by 1e14, which is when doubles leave none."""

_ROWS = 64
"""Rows of K that are sliced at a time: a thousand columns of them stay in a cache."""


def sliced_product(K: Array, high: Array, low: Array) -> Array:
    """``K (high + low)`` rounded to doubles at the end: K (m, n), the others (n, q), all finite.

    Cost: ten products of doubles, with K sliced some rows at a time; no more than a few arrays like ``high``.
    """
    n = K.shape[1]
    bits = (53 - int(np.ceil(np.log2(max(n, 2))))) // 2
    largest = float(np.abs(K).max(initial=0.0))
    unit = _power_above(largest)  # so that no slice overflows
    units = _power_above(np.abs(high).max(axis=0, initial=0.0))
    columns = _slices([high / units, low / units], bits, axis=0)
    out = np.empty((len(K), high.shape[1]))
    for start in range(0, len(K), _ROWS):
        rows = _slices([K[start : start + _ROWS] / unit], bits, axis=1)
        out[start : start + _ROWS] = _sum_of_products(rows, columns)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(out * unit * units)


def add_exactly(high: Array, low: Array, change: Array) -> tuple[Array, Array]:
    """``high + low + change`` as a rounded sum and what was rounded off (Knuth's two-sum)."""
    total = high + change
    part = total - high
    return total, low + ((high - (total - part)) + (change - part))


def _power_above(values: Array | float) -> Array:
    """The smallest power of two above each value; one for zero."""
    exponents = np.frexp(values)[1]
    return np.asarray(np.ldexp(1.0, np.where(np.asarray(values) > 0, exponents, 0)))


def _slices(parts: list[Array], bits: int, axis: int) -> list[Array]:
    """Cut the sum of some arrays, which are overwritten, into slices along ``axis``, as far as they are not zero."""
    rest, *others = parts
    grid = _power_above(np.abs(rest).max(axis=axis, keepdims=True, initial=0.0))
    slices: list[Array] = []
    while len(slices) < SLICES:
        grid = grid * 2.0**-bits
        shift = 0.75 * 2.0**53 * grid  # numbers of this size are multiples of the grid
        piece = rest + shift
        piece -= shift
        rest -= piece
        slices.append(piece)
        if others and len(slices) == 2:  # what is left of the first has the size of the second by now
            rest += others.pop()
        if not others and len(slices) < SLICES and not rest.any():
            break
    return slices


def _sum_of_products(rows: list[Array], columns: list[Array]) -> Array:
    """The sum of the products of slices, largest first, its rounding carried along."""
    high = rows[0] @ columns[0]
    low = np.zeros_like(high)
    for level in range(1, SLICES):
        for i in range(level + 1):
            if i < len(rows) and level - i < len(columns):
                high, low = add_exactly(high, low, rows[i] @ columns[level - i])
    return np.asarray(high + low)
