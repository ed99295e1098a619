"""The contract of a factorisation of a Gram matrix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._arrays import Array, Indices, Mask

EPS = float(np.finfo(np.float64).eps)


class NotPositiveDefiniteError(ArithmeticError):
    """``K + ridge I`` has no Cholesky factor: use the spectrum."""


class Inverse(Protocol):
    """``G = (K + ridge I)^{-1}`` on the complement of an unpenalised direction, if there is one, for L ridges."""

    @property
    def ridges(self) -> Array:
        """The ridges (L,)."""

    @property
    def definite(self) -> bool:
        """Whether K is positive semi-definite, so that no block of G can be singular."""

    def norms(self) -> Array:
        """The norms of G, or bounds of them (L,)."""

    def apply(self, B: Array) -> Array:
        """``G B`` (L, n, c) for B of shape (n, c) or (L, n, c)."""

    def apply_columns(self, rows: Indices, B: Array) -> Array:
        """``G[:, rows] B`` for B of shape (L, len(rows), c)."""

    def diagonals(self) -> Array:
        """The diagonals of G (L, n)."""

    def blocks(self, rows: Indices) -> Iterator[Array]:
        """``G[rows, rows]`` for one ridge after the other."""


@dataclass(frozen=True)
class Solved:
    """Solutions of ``(K + ridge I) dual + b v = Y`` with ``v @ dual = 0`` for L ridges, v the bias direction.

    ``error`` is the size of rounding in a prediction, relative to the largest value. ``singular`` marks ridges without
    a unique solution: NaN, or the solution of minimum norm where that was asked for.
    """

    dual: Array  # (L, n, c)
    bias: Array  # (L, c): zero without a bias direction
    error: Array  # (L,)
    singular: Mask  # (L,)


class Factor(ABC):
    """A factorisation for ``(K + ridge I)^{-1}`` at any ridge, on the complement of ``null`` if there is one."""

    @property
    @abstractmethod
    def null(self) -> Array | None:
        """The unit vector that was projected out first (an unpenalised bias), if there is one."""

    @property
    @abstractmethod
    def coupling(self) -> Array | None:
        """``K null``, of K before the projection; None without one."""

    @property
    @abstractmethod
    def inaccuracy(self) -> float:
        """How far the factor may be from that of K: ``10 eps |K| + error``, K before any projection."""

    @abstractmethod
    def inverses(self, ridges: Array) -> Iterator[tuple[Indices, Inverse]]:
        """(positions of some ridges, their inverses), until all ridges are served."""

    @abstractmethod
    def solve(self, Y: Array, ridges: Array, *, minimum_norm: bool = False) -> Solved:
        """Solutions for targets Y (n, c) at every ridge."""

    @abstractmethod
    def smallest_pivots(self, ridges: Array) -> Array:
        """``min |s + ridge|`` over the spectrum; of a positive definite matrix at least the ridge."""

    @abstractmethod
    def singular(self, ridges: Array) -> Mask:
        """Which of ``K + ridge I`` are known to be singular to working precision."""

    @abstractmethod
    def harmless(self, ridges: Array, bad: Mask) -> Array:
        """The ridges, with bad ones replaced by some that can be computed with: their results are not used."""

    def biases(self, Y: Array, dual: Array) -> Array:
        """The bias (L, c) that goes with solutions ``dual`` (L, n, c) for targets Y; zero without a bias direction."""
        if self.null is None or self.coupling is None:
            return np.zeros((len(dual), Y.shape[1]))
        return np.asarray(self.null @ Y - self.coupling @ dual)

    def rounding(self, ridges: Array) -> Array:
        """Relative size of rounding and neglected parts in a solution: ``inaccuracy / min |s + ridge|``."""
        with np.errstate(divide="ignore", invalid="ignore"):  # no pivot, no digits
            return np.asarray(self.inaccuracy / self.smallest_pivots(ridges))


def unit_bias(n: int, scale: Array | None) -> Array:
    """The constant function in coordinates scaled by ``scale``, at unit length."""
    direction = np.ones(n) if scale is None else scale
    return np.asarray(direction / np.linalg.norm(direction))
