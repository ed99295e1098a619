"""Which factorisation is cheapest: one band form, one spectrum, one inverse a ridge, or a factorisation a fold.

The rule counts multiplications and weighs them by how fast LAPACK gets through them, relative to a product of two
matrices: on one thread with OpenBLAS, whole searches of 60 to 1,000 rows, two to ten folds, one to ten ridges.

====================  ========================================  =========
route                 work for L ridges and folds removing l_i  factor
====================  ========================================  =========
spectrum              n³                                        4.5
band                  n³                                        2.4
  and for each ridge  Σ l_i² n, and a solution Σ l_i³ / 3       0.7
inverse, each ridge   n³                                        1.0
per fold, each        its Gram matrix and spectrum, (n - l_i)³  0.6 + 4.5
  by Cholesky         (n - l_i)³, each ridge                    0.3
  by band form        (n - l_i)³                                0.9
  and for each ridge  (n - l_i)³                                0.012
====================  ========================================  =========

Leave-one-out needs diagonals only, O(n²) a ridge instead of Σ l_i² n. Of 90 combinations of 250 to 1,000 rows the rule
misses the fastest route by more than 10 % in three, two of them of 250 rows, where times vary by as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from .band import AVAILABLE

Route = Literal["spectrum", "band", "inverse", "per_fold"]

SPECTRUM = 4.5
"""Cost of an eigendecomposition, in matrix products: see the table above."""

ROTATED_BAND = 2.4
"""Cost of a band form with an explicit rotation, in matrix products: see the table above."""

BLOCKS = 0.7
"""Cost of the blocks of an inverse that folds remove, in matrix products: see the table above."""

INVERSE = 1.0
"""Cost of a Cholesky inverse, in matrix products: see the table above."""

CHOLESKY = 0.3
"""Cost of a Cholesky factorisation, in matrix products: see the table above."""

BAND = 0.9
"""Cost of a reduction to band form, in matrix products: see the table above."""

BAND_RIDGE = 0.012
"""Cost of one more ridge from a band form, in matrix products: see the table above."""

FOLD = 0.6
"""Cost of the Gram matrix of one fold, in matrix products: see the table above."""


def cheapest_route(
    n: int, training_sizes: Sequence[int], n_ridges: int, *, leave_one_out: bool, positive: bool
) -> Route:
    """Choose by the table above. All but a spectrum need ``positive`` definiteness to be expected.

    >>> cheapest_route(1000, [900] * 10, 15, leave_one_out=False, positive=True)
    'band'
    >>> cheapest_route(1000, [900] * 10, 1, leave_one_out=False, positive=True)
    'inverse'
    >>> cheapest_route(1000, [500, 500], 15, leave_one_out=False, positive=True)
    'per_fold'
    """
    removed = [n - m for m in training_sizes]
    blocks, solves = float(n**2), 0.0
    if not leave_one_out:
        blocks, solves = float(sum(size**2 for size in removed) * n), float(sum(size**3 for size in removed) / 3)
    per_ridge = BLOCKS * (blocks + solves)
    costs: dict[Route, float] = {"spectrum": SPECTRUM * n**3 + n_ridges * per_ridge}
    if positive:
        costs["inverse"] = n_ridges * (INVERSE * n**3 + BLOCKS * solves)
    if positive and AVAILABLE:
        costs["band"] = ROTATED_BAND * n**3 + n_ridges * per_ridge
    if not leave_one_out:
        path = min(n_ridges * CHOLESKY, BAND + n_ridges * BAND_RIDGE if AVAILABLE else SPECTRUM)
        costs["per_fold"] = (FOLD + (path if positive else SPECTRUM)) * float(sum(m**3 for m in training_sizes))
    return min(costs, key=lambda route: costs[route])
