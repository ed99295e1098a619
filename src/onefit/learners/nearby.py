r"""Systems along a path of penalties from one inverse.

With P the inverse of ``M = K + D`` on some rows (with a bias plus a constant), that for another ridge ``(1 + c) D`` is

.. math:: P - c P D P + c^2 P D P D P - \dots

which converges for \|c\| < 1, since D is not above M, and fast where D is small beside K. Two terms are soon enough
where right sides are multiples of the ridge, as those of a series without rows at bounds; and they are needed on the
rows of each split only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .bordered import BorderedDense, Rows, product_with, with_bias, without_bias
from .dual import Array

NEAR = 0.5
"""Change of a ridge, relative to the norm of what it is added to, up to which the last inverse is used."""

NEGLIGIBLE = 1e-9
"""What that may neglect of a value, relative to the targets."""

DIGITS = 1e-8
"""Relative to the solution: terms that are left out of one that is not exact."""


class Known:
    """A system with the ridge D, and how its inverse changes if that is multiplied by ``1 + c``."""

    def __init__(self, system: BorderedDense, ridge: Array) -> None:
        """``ridge`` is that of the rows of the system, in their order."""
        self.system, self.ridge = system, ridge
        self.size = float(np.linalg.norm(system.shared.P))  # at least the norm of P
        self.change = self._change(system.q)
        self._changes: dict[bytes, Array] = {}

    def second(self, v: Array) -> Array:
        """``P D P D P v``: what c² is multiplied by."""
        return self._change(self._change(self.system.shared.P @ v))

    def change_of(self, rows: Rows) -> Array:
        """The part of ``P D P`` that belongs to some rows."""
        key = rows.tobytes()
        if key not in self._changes:
            part = self.system.shared.P[rows] * np.sqrt(self.ridge)
            self._changes[key] = part @ part.T
        return self._changes[key]

    def _change(self, v: Array) -> Array:
        return np.asarray(self.system.shared.P @ (self.ridge * v))


class BorderedNear:
    """For ``M + c D`` in place of ``M = K + D``, whose inverse P is known: ``P - c P D P + …``.

    Solutions are to be refined, ``exact`` says. Parts of the matrix are those of the first two terms, which all c
    share. Cost: O(m² t) for each term of a solve; a part of l rows O(m l²) for the first c.
    """

    exact = False

    def __init__(self, known: Known, c: float) -> None:
        self.known, self.c = known, c
        self.system, self.q = known.system, known.system.q - c * known.change

    def solve(self, right: Array, sums: Array) -> tuple[Array, Array]:
        P, scale = self.system.shared.P, -self.c * self.known.ridge[:, None]
        term = product_with(P, right)
        x = term.copy()
        while np.abs(term).max() > DIGITS * np.abs(x).max():
            term = product_with(P, scale * term)
            x += term
        return with_bias(self.q, x, right, sums, self.system)

    def block(self, rows: Rows) -> Array:
        block = self.system.shared.P[np.ix_(rows, rows)] - self.c * self.known.change_of(rows)
        return without_bias(block, self.q, rows) if self.system.bias else block

    def without(self, right: Array, free: NDArray[np.bool_], sums: Array) -> Array | None:
        raise NotImplementedError("systems on fewer rows need the inverse itself")


@dataclass
class Kept:
    """The last inverse along a path of penalties."""

    known: Known | None = None
    lacking: float = 0.0  # of the first term of a series if c² is left out, relative to the targets

    def put(self, system: BorderedDense, ridge: Array, slopes: Array, target: Array) -> None:
        """Keep a system, with the ridge and the slopes that the series of its penalty starts from."""
        base = system.shared.base
        self.known = Known(system, ridge[base])
        lacking = ridge[base] * self.known.second(ridge[base] * slopes[base])
        self.lacking = float(np.abs(lacking).max() / np.abs(target).max())

    def near(self, ridge: Array, curved: NDArray[np.bool_], order: float) -> BorderedNear | None:
        """The system of another penalty from it, if that has the same curved rows and nearly the same ridge."""
        if self.known is None or np.isinf(order):  # the whole series takes rows out of the inverse itself
            return None
        base = self.known.system.shared.base
        if len(base) != curved.sum() or not curved[base].all():
            return None
        shares = ridge[base] / self.known.ridge
        c = float(shares[0]) - 1.0
        if np.ptp(shares) > 8 * np.finfo(np.float64).eps or abs(c) * self.known.ridge.max() * self.known.size > NEAR:
            return None
        neglected = (c * shares[0]) ** 2 * self.lacking * order * (order + 1) / 2
        return BorderedNear(self.known, c) if neglected <= NEGLIGIBLE else None
