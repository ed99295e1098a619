"""Pairs of rows, the base matrices between them, and the derivatives of these with respect to the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import Array
from .bases import BLOCK, Base, Change, ChangedFeatures, changes_nothing, cityblock, dense, dot, scale_features, sqdist
from .parameters import NotDifferentiableError

if TYPE_CHECKING:
    from .base import Kernel


class RowPairs:
    """Rows X, and Y or X again, with the base matrices between them, each computed at most once.

    Kernels are evaluated and differentiated on them: ``base`` gives matrices, ``changed`` the rows as kernels with
    scales, columns or a matrix of their own see them.
    """

    def __init__(self, X: Any, Y: Any = None) -> None:
        self.X, self.Y = X, Y
        self._bases: dict[Base, Array] = {}
        self._changed: dict[tuple[Change, tuple[Any, ...]], RowPairs] = {}
        self._grams: dict[Kernel, Array] = {}

    def base(self, base: Base) -> Array:
        """The base matrix between the rows: read it, do not write."""
        if isinstance(base, ChangedFeatures):
            return self.changed(base.change, base.by).base(base.base)
        if base not in self._bases:
            self._bases[base] = base(self.X, self.Y)
        return self._bases[base]

    def fresh(self, base: Base) -> Array:
        """A copy of the base matrix, which may be written."""
        return self.base(base).copy()

    def gram(self, kernel: Kernel) -> Array:
        """The Gram matrix of a kernel, computed once and kept: read it, do not write."""
        if kernel not in self._grams:
            self._grams[kernel] = kernel.evaluate(self.fresh)
        return self._grams[kernel]

    def changed(self, change: Change, by: tuple[Any, ...]) -> RowPairs:
        """The rows with their features scaled, selected or mapped."""
        if changes_nothing(change, by) and len(by) == self.X.shape[1]:
            return self
        if (change, by) not in self._changed:
            Y = None if self.Y is None else change(self.Y, by)
            self._changed[change, by] = RowPairs(change(self.X, by), Y)
        return self._changed[change, by]

    def forget_scaled(self) -> None:
        """Drop the matrices of scaled rows: the next step of a search has other scales."""
        self._changed = {key: rows for key, rows in self._changed.items() if key[0] is not scale_features}
        for rows in self._changed.values():
            rows.forget_scaled()

    def input_gradient(self, base: Base, S: Array) -> Array:
        r"""``Σ_b S_ab ∂base(x_a, y_b)/∂x_a`` for all rows a, shape (n, d); in place of an n x n x d array.

        Cost: two products with S; for the city-block distance O(n m d) element by element.
        """
        rule = _INPUT_GRADIENTS.get(base)
        if rule is None:
            raise NotDifferentiableError(
                f"{getattr(base, '__name__', base)} has no derivative with respect to features here: "
                "one scale per feature needs distances or inner products."
            )
        return rule(dense(self.X), dense(self.X if self.Y is None else self.Y), S)


def _of_sqdist(X: Array, Y: Array, S: Array) -> Array:
    centre = Y.mean(axis=0)
    return np.asarray(2.0 * ((X - centre) * S.sum(axis=1)[:, None] - S @ (Y - centre)))


def _of_dot(X: Array, Y: Array, S: Array) -> Array:
    return np.asarray(S @ Y)


def _of_cityblock(X: Array, Y: Array, S: Array) -> Array:
    found = np.empty(X.shape)
    step = max(1, BLOCK // max(1, len(Y)))
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        for j in range(X.shape[1]):
            found[rows, j] = np.einsum("ab,ab->a", S[rows], np.sign(X[rows, j, None] - Y[:, j]))
    return found


_INPUT_GRADIENTS: dict[Base, Callable[[Array, Array, Array], Array]] = {
    sqdist: _of_sqdist,
    dot: _of_dot,
    cityblock: _of_cityblock,
}
