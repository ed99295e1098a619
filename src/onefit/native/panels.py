"""Matrices in panels, and their products with a few vectors.

A panel are the columns of a matrix that fill one line of the cache, row after row; an array (panels, rows, columns) has
all of them, with zeros where the columns run out. A product reads it straight through and keeps its sums in registers:
twice as fast as along rows for a matrix that leaves the cache, a third faster for one that does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from .compiling import compiled
from .narrow import narrow_product

LINE = 64
"""Bytes of a row of a panel."""
REGISTER = 32
"""Bytes of a register: two of them hold that."""
MOST = 6
"""Vectors whose sums fit into the other registers."""
RUN = 128
"""Rows that are added up apart: one sum of all would gather rounding."""
BLOCK = 16
"""Rows that are rearranged at a time, so that memory is read and written in runs."""


def empty_panels(shape: tuple[int, ...], kind: type[np.floating[Any]]) -> NDArray[Any]:
    """Panels for a matrix of some shape, to be filled; they have their zeros where its columns run out."""
    rows, columns = shape
    width = LINE // np.dtype(kind).itemsize
    panels = np.empty((-(-columns // width), rows, width), dtype=kind)
    panels[columns // width :, :, columns % width :] = 0.0
    return panels


@compiled
def fill_panels(K, shift, unit, panels):
    """Write ``(K - shift) / unit`` into panels."""
    n, width = len(K), panels.shape[2]
    for first in range(0, n, BLOCK):
        for p in range(len(panels)):
            start = p * width
            for j in range(first, min(first + BLOCK, n)):
                source, row = K[j, start : start + width], panels[p, j]
                for i in range(len(source)):
                    row[i] = (source[i] - shift) / unit


@compiled
def take_panels(panels, rows, columns, out):
    """Write some rows and columns into other panels."""
    _, n, width = panels.shape
    numbers, places = panels.reshape(-1), np.empty(width, dtype=np.intp)
    for p in range(len(out)):
        count = min(width, len(columns) - p * width)
        for i in range(count):
            column = columns[p * width + i]
            places[i] = column // width * n * width + column % width
        for a in range(len(rows)):
            row, below = out[p, a], rows[a] * width
            for i in range(count):
                row[i] = numbers[places[i] + below]


@compiled
def product(K, B, out):
    """Write into ``out`` (t, n) products of vectors B (t, m) with the columns of panels, or the rows of a matrix."""
    if K.ndim == 3:
        panel_product(K, B, out)
    else:
        narrow_product(K, B, out)


@compiled
def add_row(K, i, amount, out):
    """Add ``amount`` times a row of panels, or of a matrix, to ``out``."""
    if K.ndim == 3:
        width = K.shape[2]
        for p in range(len(K)):
            part, row = out[p * width : (p + 1) * width], K[p, i]
            for j in range(len(part)):
                part[j] += amount * row[j]
    else:
        row = K[i]
        for j in range(len(out)):
            out[j] += amount * row[j]


@compiled
def panel_product(panels, B, out):
    """Write ``B K`` into ``out`` (t, n) for contiguous vectors B (t, m), all of one precision. Cost: 2 t n m.

    Groups of up to six vectors meet a panel, and each group has its part of the next one fetched.
    """
    (t, n), (_, m, width) = out.shape, panels.shape
    groups = (t + MOST - 1) // MOST
    sums = np.empty((MOST, width), dtype=out.dtype)
    for p in range(len(panels)):
        used, k = min(width, n - p * width), 0
        for group in range(groups):
            count = (t - k + groups - group - 1) // (groups - group)
            sums[:] = 0.0
            for first in range(0, m, RUN):
                ahead = (m + (m * group + first) // groups) * LINE
                _sum_up(count, panels[p], B, k, first, min(first + RUN, m), ahead, 2 * LINE // groups, sums)
            for a in range(count):
                for i in range(used):
                    out[k + a, p * width + i] = sums[a, i]
            k += count


@compiled
def _sum_up(count, panel, B, k, first, stop, ahead, stride, sums):
    """Add the products of ``count`` vectors from k on with some rows of a panel to ``sums``."""
    if count == 6:
        _meet(6, panel, B, k, first, stop, ahead, stride, sums)
    elif count == 5:
        _meet(5, panel, B, k, first, stop, ahead, stride, sums)
    elif count == 4:
        _meet(4, panel, B, k, first, stop, ahead, stride, sums)
    elif count == 3:
        _meet(3, panel, B, k, first, stop, ahead, stride, sums)
    elif count == 2:
        _meet(2, panel, B, k, first, stop, ahead, stride, sums)
    else:
        _meet(1, panel, B, k, first, stop, ahead, stride, sums)
    if (stop - first) % 2 == 1:  # rows are met in pairs
        for a in range(count):
            for i in range(panel.shape[1]):
                sums[a, i] += B[k + a, stop - 1] * panel[stop - 1, i]


def _meet(count, panel, B, k, first, stop, ahead, stride, sums):
    """The same but for the last of an odd number of rows, for a ``count`` that is a constant.

    Meanwhile memory is fetched, from ``ahead`` bytes after the panel's begin on, ``stride`` further for every two rows.
    """
    stop -= (stop - first) % 2
    sums[:count] += B[k : k + count, first:stop] @ panel[first:stop]


@overload(_meet, prefer_literal=True)
def _compile_meet(count, panel, B, k, first, stop, ahead, stride, sums):
    def meet(count, panel, B, k, first, stop, ahead, stride, sums):
        return _meet_in_registers(count, panel, B, k, first, stop, ahead, stride, sums)

    return meet if isinstance(count, types.IntegerLiteral) else None


@intrinsic(prefer_literal=True)
def _meet_in_registers(context, count, panel, B, k, first, stop, ahead, stride, sums):
    """What compilers do not make of loops: all sums in registers, and memory that is asked for in time."""

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        panel, B, sums = (context.make_array(kinds[a])(context, builder, arguments[a]).data for a in (1, 2, 8))
        length = builder.extract_value(context.make_array(kinds[2])(context, builder, arguments[2]).shape, 1)
        meeting = _Meeting(builder, context.get_value_type(kinds[1].dtype), kinds[0].literal_value)
        meeting.write(panel, B, length, *arguments[3:8], sums)
        return context.get_dummy_value()

    if not isinstance(count, types.IntegerLiteral):
        return None
    return types.void(count, panel, B, *[types.intp] * 5, sums), generate


class _Meeting:
    """The instructions of ``_meet`` for some number of vectors."""

    def __init__(self, builder, kind, count):
        self.builder, self.count = builder, count
        self.lanes = REGISTER // (4 if kind == ir.FloatType() else 8)
        self.register = ir.VectorType(kind, self.lanes)

    def write(self, panel, B, length, k, first, stop, ahead, stride, sums):
        builder, whole = self.builder, k.type
        places = [
            [self._as_register(builder.gep(sums, [whole((2 * a + half) * self.lanes)])) for half in range(2)]
            for a in range(self.count)
        ]
        zero = ir.Constant(self.register, [0.0] * self.lanes)
        totals = [[cgutils.alloca_once_value(builder, zero) for _ in range(2)] for _ in range(self.count)]
        vectors = [builder.gep(B, [builder.mul(length, builder.add(k, whole(a)))]) for a in range(self.count)]
        fetched = builder.gep(builder.bitcast(panel, ir.IntType(8).as_pointer()), [ahead])
        with cgutils.for_range(builder, builder.udiv(builder.sub(stop, first), whole(2))) as loop:
            self._fetch(builder.gep(fetched, [builder.mul(loop.index, stride)]))
            for u in range(2):
                row = builder.add(builder.add(first, whole(u)), builder.mul(loop.index, whole(2)))
                self._add_row(panel, vectors, row, totals)
        for pair, parts in zip(places, totals):
            for place, total in zip(pair, parts):
                builder.store(builder.fadd(builder.load(place, align=4), builder.load(total)), place, align=4)

    def _add_row(self, panel, vectors, row, totals):
        """One row of the panel times the numbers that the vectors have there."""
        builder, whole = self.builder, row.type
        source = builder.gep(panel, [builder.mul(row, whole(2 * self.lanes))])
        halves = [
            builder.load(self._as_register(builder.gep(source, [whole(half * self.lanes)])), align=4)
            for half in range(2)
        ]
        for vector, parts in zip(vectors, totals):
            number = self._everywhere(builder.load(builder.gep(vector, [row])))
            for half, total in zip(halves, parts):
                product = builder.fmul(half, number, flags=("contract",))
                builder.store(builder.fadd(product, builder.load(total), flags=("contract",)), total)

    def _everywhere(self, number):
        """A register with the same number in all places."""
        undefined, index = ir.Constant(self.register, ir.Undefined), ir.IntType(32)
        first = self.builder.insert_element(undefined, number, index(0))
        mask = ir.Constant(ir.VectorType(index, self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(first, undefined, mask)

    def _as_register(self, place):
        return self.builder.bitcast(place, self.register.as_pointer())

    def _fetch(self, address):
        """Have two lines brought near."""
        index = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, index, index, index])
        fetch = self.builder.module.declare_intrinsic("llvm.prefetch", (address.type,), kind)
        read, near, data = index(0), index(3), index(1)
        for line in range(2):
            self.builder.call(fetch, [self.builder.gep(address, [index(line * LINE)]), read, near, data])
