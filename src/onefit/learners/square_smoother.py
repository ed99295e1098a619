r"""A least-squares machine on all rows: residuals, leverages, leave-one-out residuals.

In coordinates scaled by ``S = sqrt(W)`` the residuals are ``ridge G S y``, so that in those of the data

.. math:: y - f = \gamma S^{-1} G S y, \qquad 1 - H_{ii} = \gamma G_{ii}, \qquad
          y_i - f^{(-i)}_i = (S^{-1} G S y)_i / G_{ii}.

The values :math:`f^{(-i)}_i` themselves, where signs and ranks are read, are those of ``small_values``.
"""

from __future__ import annotations

import numpy as np

from ..core import Targets, Workspace
from ..core.capabilities import Smoother
from ..linalg import heldout
from ..linalg.factor import harmless, singular
from ..linalg.inverse import NotPositiveDefiniteError
from ..linalg.spectrum import Array
from .small_values import bias_coupling, left_out_values


def smoother_path(
    ws: Workspace, targets: Targets, ridges: Array, *, bias: bool, spectral: bool, values: bool
) -> Smoother:
    """The machine for every ridge, from one spectrum or from one Cholesky inverse each.

    Cost: O(n³) for the factor, then O(n²) a ridge; with ``values`` O(n²) more for each that is below rounding.
    """
    if not spectral:
        try:
            return _by_route(ws, targets, ridges, bias, "inverse", values)
        except NotPositiveDefiniteError:
            pass
    return _by_route(ws, targets, ridges, bias, "spectrum", values)


def _by_route(ws: Workspace, targets: Targets, ridges: Array, bias: bool, route: str, values: bool) -> Smoother:
    weights = targets.whole_weights
    scale = np.ones((ws.n, 1)) if weights is None else np.sqrt(weights)[:, None]
    factor = ws.factor(weights, bias, route)
    bad = singular(factor, ridges)
    L, (n, c) = len(ridges), targets.Y.shape
    residuals, left_out, slacks = np.empty((L, n, c)), np.empty((L, n, c)), np.empty((L, n, 1))
    found, coupling = (np.empty((L, n, c)), bias_coupling(factor)) if values else (None, None)
    for positions, inverse in factor.inverses(harmless(factor, ridges, bad)):
        dual = inverse.apply(targets.Y * scale)
        residuals[positions] = dual / scale
        slacks[positions] = inverse.diagonals()[:, :, None]
        singly = heldout.single_residuals(inverse, dual)
        left_out[positions] = singly / scale
        if found is not None:
            found[positions] = left_out_values(ws, inverse, dual, singly, targets.Y, weights, coupling)
        del inverse  # before the next one is made
    return Smoother(ridges[:, None, None], residuals, slacks, left_out, bad, found)
