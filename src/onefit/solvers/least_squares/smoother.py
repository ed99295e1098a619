r"""A least-squares machine on all rows: residuals, leverages, leave-one-out residuals.

In coordinates scaled by ``S = sqrt(W)`` the residuals are ``ridge G S y``, so that in those of the data

.. math:: y - f = \gamma S^{-1} G S y, \qquad 1 - H_{ii} = \gamma G_{ii}, \qquad
          y_i - f^{(-i)}_i = (S^{-1} G S y)_i / G_{ii}.

The values :math:`f^{(-i)}_i` themselves, where signs and ranks are read, are those of ``small_values``.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import Array
from ...data import Targets
from ...gram import Gram
from ...linalg import heldout
from ...linalg.cost import Route, cheapest_route
from ...linalg.factor import NotPositiveDefiniteError
from ...machines.capabilities import Smoother
from .small_values import left_out_values


def smoother_path(gram: Gram, targets: Targets, ridges: Array, *, bias: bool, spectral: bool, values: bool) -> Smoother:
    """The machine for every ridge, from one spectrum (``spectral``) or from what is cheapest for a definite matrix.

    Cost: O(n³) for the factor, then O(n²) a ridge; with ``values`` O(n²) more for each that is below rounding.
    """
    route: Route = "spectrum"
    if not spectral:
        route = cheapest_route(gram.n, (), len(ridges), leave_one_out=True, positive=bool((ridges > 0).all()))
    try:
        return _by_route(gram, targets, ridges, bias, route, values)
    except NotPositiveDefiniteError:
        return _by_route(gram, targets, ridges, bias, "spectrum", values)


def _by_route(gram: Gram, targets: Targets, ridges: Array, bias: bool, route: Route, values: bool) -> Smoother:
    weights = targets.whole_weights
    scale = np.ones((gram.n, 1)) if weights is None else np.sqrt(weights)[:, None]
    factor = gram.factor(weights, bias, route)
    bad = factor.singular(ridges)
    L, (n, c) = len(ridges), targets.Y.shape
    residuals, left_out, slacks = np.empty((L, n, c)), np.empty((L, n, c)), np.empty((L, n, 1))
    found, coupling = (np.empty((L, n, c)), factor.coupling) if values else (None, None)
    for positions, inverse in factor.inverses(factor.harmless(ridges, bad)):
        dual = inverse.apply(targets.Y * scale)
        residuals[positions] = dual / scale
        slacks[positions] = inverse.diagonals()[:, :, None]
        singly = heldout.single_residuals(inverse, dual)
        left_out[positions] = singly / scale
        if found is not None:
            found[positions] = left_out_values(gram, inverse, dual, singly, targets.Y, weights, coupling)
        del inverse  # before the next one is made
    return Smoother(ridges[:, None, None], residuals, slacks, left_out, bad, found)
