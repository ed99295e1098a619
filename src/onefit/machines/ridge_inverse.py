"""The inverse that functions of a least-squares machine are differentiated with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..data import Targets
from ..gram import Gram
from ..linalg.inverse import mirror_upper
from ..linalg.lapack import cholesky_in_place, invert_in_place

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RidgeInverse:
    """``P = (K + ridge / weights)^{-1}``, on the complement of the constant function with a bias; ``dP = -P dK P``.

    ``dual`` are the coefficients, ``diagonal`` is what is on the diagonal besides K: ``ridge / weights``.
    ``log_determinant`` is that of the matrix without the constraint of a bias.
    """

    P: Array
    Y: Array
    ridge: float
    diagonal: Array
    log_determinant: float

    @classmethod
    def of(cls, gram: Gram, targets: Targets, ridge: float, bias: bool) -> RidgeInverse:
        """Factorise and invert. A ``LinAlgError`` if the matrix is not positive definite."""
        weights = targets.whole_weights
        diagonal = np.full(gram.n, ridge) if weights is None else ridge / weights
        P = np.array(gram.dense(), dtype=np.float64, order="C")
        P.flat[:: len(P) + 1] += diagonal
        with gram.problem.ledger.record("cholesky"):
            if not cholesky_in_place(P, len(P)):
                raise np.linalg.LinAlgError("K + alpha I is not positive definite to working precision")
            log_determinant = 2.0 * float(np.log(P.diagonal()).sum())
            invert_in_place(P, factorised=True)
        mirror_upper(P)
        if bias:
            sums = P.sum(axis=1)
            sums /= np.sqrt(sums.sum())
            for rows in range(0, len(P), 256):  # no second n x n array
                P[rows : rows + 256] -= sums[rows : rows + 256, None] * sums
        return cls(P, targets.Y, ridge, diagonal, log_determinant)

    @cached_property
    def dual(self) -> Array:
        """Coefficients (n, c) of the machine trained on all rows."""
        return np.asarray(self.P @ self.Y)

    def log_ridge(self, gram: Array) -> float:
        """``dL/dlog ridge`` from ``dL/dK``: the ridge is on the diagonal of what is inverted."""
        return float(gram.diagonal() @ self.diagonal)
