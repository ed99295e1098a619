r"""Cholesky factors of a matrix without each of several blocks, by divide and conquer.

Leaving block k out for every k, one factorisation at a time, costs t m³ / 3. Here the indices outside half of the
blocks are eliminated once for that half, which leaves a Schur complement of half the size, and so on: about 0.8 m³ for
all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk, dtrsm

from .lapack import cholesky_in_place

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Take = Callable[[Rows, Rows], Array]
"""Given rows and columns, return a fresh C-ordered block of a symmetric matrix."""


@dataclass(frozen=True)
class _Eliminated:
    """Rows of the factor: of the indices ``own``, with columns ``own`` (triangular) and ``later``."""

    own: Rows
    triangle: Array
    later: Rows
    rest: Array


def leave_out_factors(take: Take, m: int, blocks: list[Rows], U: Array) -> Iterator[Rows | None]:
    """For each block, write U with ``UᵀU = M[order, order]`` into the leading part of U; yield ``order``.

    M is m x m; ``order`` are all indices but those of the block. Blocks must not overlap. Yields None where M is not
    positive definite to working precision. Memory: less than m² doubles besides U.
    """
    rest = np.setdiff1d(np.arange(m), np.concatenate(blocks))
    inside = np.concatenate(blocks)
    path: list[_Eliminated] = []
    if len(rest):
        complement, step = _eliminate(take, rest, inside)
        if step is None:
            yield from [None] * len(blocks)
            return
        path.append(step)
        take = _from_upper(complement, inside)
    yield from _descend(take, blocks, path, U)


def _descend(take: Take, blocks: list[Rows], path: list[_Eliminated], U: Array) -> Iterator[Rows | None]:
    if len(blocks) == 1:
        yield _assemble(path, U)
        return
    half = len(blocks) // 2
    for mine, others in ((blocks[:half], blocks[half:]), (blocks[half:], blocks[:half])):
        inside = np.concatenate(mine)
        complement, step = _eliminate(take, np.concatenate(others), inside)
        if step is None:
            yield from [None] * len(mine)
        else:
            yield from _descend(_from_upper(complement, inside), mine, [*path, step], U)


def _eliminate(take: Take, own: Rows, later: Rows) -> tuple[Array, _Eliminated | None]:
    """Eliminate the indices ``own``: their rows of the factor, and the Schur complement (upper triangle) on the others.

    LAPACK reads rows as columns, so upper triangles are lower ones to it.
    """
    triangle, cross, complement = take(own, own), take(own, later), take(later, later)
    if not cholesky_in_place(triangle, len(own)):
        return complement, None
    if not len(own) or not len(later):
        return complement, _Eliminated(own, triangle, later, cross)
    solved = dtrsm(1.0, triangle.T, cross.T, side=1, lower=1, trans_a=1, overwrite_b=1)
    reduced = dsyrk(-1.0, solved, beta=1.0, c=complement.T, lower=1, overwrite_c=1)
    return reduced.T, _Eliminated(own, triangle, later, solved.T)


def _from_upper(S: Array, ids: Rows) -> Take:
    """Blocks of a matrix of which the upper triangle is known, by the ids of its rows."""
    place = np.empty(int(ids.max(initial=-1)) + 1, dtype=np.intp)
    place[ids] = np.arange(len(ids))

    def take(rows: Rows, columns: Rows) -> Array:
        r, c = place[rows], place[columns]
        if len(r) and len(c) and r[0] > c[0]:  # blocks of ids are contiguous: all of it lies below the diagonal
            return np.ascontiguousarray(S[np.ix_(c, r)].T)
        return np.ascontiguousarray(S[np.ix_(r, c)])

    return take


def _assemble(path: list[_Eliminated], U: Array) -> Rows:
    """The factor whose rows are those eliminated on the way, in their order."""
    order = np.concatenate([step.own for step in path]) if path else np.empty(0, dtype=np.intp)
    start = 0
    for step in path:
        stop = start + len(step.own)
        U[start:stop, start:stop] = step.triangle
        if stop < len(order):
            place = np.empty(int(step.later.max(initial=-1)) + 1, dtype=np.intp)
            place[step.later] = np.arange(len(step.later))
            U[start:stop, stop : len(order)] = step.rest[:, place[order[stop:]]]
        start = stop
    return order
