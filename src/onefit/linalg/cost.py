"""Which factorisation is cheapest: one spectrum, one Cholesky inverse a ridge, or one spectrum a fold.

The rule counts multiplications and weighs them by how fast LAPACK gets through them, measured on one thread
with OpenBLAS for n = 1000 and 2000 (relative to a matrix product):

====================  =======================================  ======
route                 work for L ridges and folds removing l_i  factor
====================  =======================================  ======
spectrum              n³                                        8
  and for each ridge  Σ l_i² n                                  1
inverse, each ridge   n³                                        1.7
per fold              Σ (n - l_i)³                              8
  by band form        Σ (n - l_i)³                              0.9
  and for each ridge  Σ (n - l_i)³                              0.012
====================  =======================================  ======

Leave-one-out needs diagonals only, O(n²) a ridge instead of Σ l_i² n. One spectrum per fold pays off when the
training sets are small (two folds, or a test set of half the data): it must cost less than half of the others,
since it also reads the data t times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Route = Literal["spectrum", "inverse", "per_fold"]

SPECTRUM = 8.0
"""Cost of an eigendecomposition, in matrix products: see the table above."""

INVERSE = 1.7
"""Cost of a Cholesky inverse, in matrix products: see the table above."""


BAND = 0.9
"""Cost of a reduction to band form, in matrix products: see the table above."""

BAND_RIDGE = 0.012
"""Cost of one more ridge from a band form, in matrix products: see the table above."""

BAND_ROWS = 200
"""Rows below which calls cost more than arithmetic, and one spectrum serves all folds."""


def cheapest_route(
    n: int, training_sizes: Sequence[int], n_ridges: int, *, leave_one_out: bool, positive: bool
) -> Route:
    """Choose by the table above. An inverse by Cholesky needs ``positive`` definiteness to be expected.

    >>> cheapest_route(1000, [900] * 10, 15, leave_one_out=False, positive=True)
    'spectrum'
    >>> cheapest_route(1000, [900] * 10, 1, leave_one_out=False, positive=True)
    'inverse'
    >>> cheapest_route(1000, [500, 500], 15, leave_one_out=False, positive=True)
    'per_fold'
    """
    removed = [n - m for m in training_sizes]
    blocks = float(n**2 if leave_one_out else sum(size**2 for size in removed) * n)
    solves = 0.0 if leave_one_out else sum(size**3 for size in removed) / 3
    costs: dict[Route, float] = {"spectrum": SPECTRUM * n**3 + n_ridges * (blocks + solves)}
    if positive:
        costs["inverse"] = n_ridges * (INVERSE * n**3 + solves)
    best: Route = min(costs, key=lambda route: costs[route])
    per_fold = SPECTRUM * float(sum(m**3 for m in training_sizes))
    if positive:
        cost = n_ridges * INVERSE / 3
        if n >= BAND_ROWS:
            cost = min(cost, BAND + n_ridges * BAND_RIDGE)
        per_fold = min(per_fold, cost * sum(m**3 for m in training_sizes))
    return "per_fold" if per_fold < costs[best] / 2 else best
