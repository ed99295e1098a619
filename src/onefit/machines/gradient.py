"""Derivatives of criteria and of held-out values, in adjoint form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Gradient:
    """A value L and its derivatives with respect to the Gram matrix and the regularisation.

    ``gram`` is ``dL/dK`` (n, n), symmetric: a change dK of the Gram matrix changes L by ``Σ gram_ij dK_ij``. A kernel
    turns it into derivatives of its parameters (``Kernel.pullback``). ``log_penalty`` is the derivative with respect to
    the logarithm of the ridge, or of C, ``log_epsilon`` that of the tube of support vector regression.
    """

    value: float
    gram: Array
    log_penalty: float = 0.0
    log_epsilon: float = 0.0


class HeldOutTangent(Protocol):
    """Held-out values of one machine, and how they depend on the Gram matrix and the penalty."""

    @property
    def values(self) -> list[Array]:
        """Values (l, c) of the rows that each split tests."""

    def pullback(self, slopes: list[Array]) -> Gradient:
        """Derivatives of a function of the values whose derivatives with respect to them are ``slopes``."""


def symmetric_product(left: Array, right: Array) -> Array:
    """``(left rightᵀ + right leftᵀ) / 2`` of matrices (n, k)."""
    product = left @ right.T
    product += product.T.copy()
    product *= 0.5
    return np.asarray(product)
