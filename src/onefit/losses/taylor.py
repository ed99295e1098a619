r"""Taylor coefficients of the slope of a loss, row by row, while its values move along a path.

With values :math:`f(\epsilon) = \sum_s T_s \epsilon^s` the slope :math:`l'(y, f(\epsilon))` has coefficients

.. math:: P_s = w T_s + h_s, \qquad w = l''(y, T_0),

in which :math:`h_s` follows from the terms before :math:`T_s`: a term of a series solves a system with the curvature w,
whose right side has :math:`h_s`. Oracle: the derivatives of the loss along a line.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.special import expit

from .._arrays import Array


class SlopeSeries(Protocol):
    """Coefficients of one slope, order by order: ``rest`` is asked for before ``add``."""

    def rest(self) -> Array | float:
        """``h_s`` of the order that comes next, from one on."""

    def add(self, term: Array) -> Array:
        """``P_s`` of that order, whose values have the coefficients ``T_s``."""


class FrozenSlope:
    """The slope of a loss whose curvature stays as it is: that of a quadratic, or of pieces of such."""

    def __init__(self, curvature: Array) -> None:
        self._curvature = curvature

    def rest(self) -> float:
        """Zero."""
        return 0.0

    def add(self, term: Array) -> Array:
        """``w T_s``."""
        return self._curvature * term


class LogisticSlope:
    r"""The slope :math:`\sigma(f) - 1[y = 1]` of the logistic loss, from values ``f``.

    With :math:`p = \sigma(f)` and :math:`q = p (1 - p)`, :math:`p' = q f'` gives

    .. math:: h_s = \frac1s \sum_{k=1}^{s-1} k \, T_k q_{s-k}, \qquad q_s = p_s - \sum_{j=0}^s p_j p_{s-j},

    so that all derivatives enter by products of lower terms. Cost: O(s) products of arrays for order s.
    """

    def __init__(self, f: Array) -> None:
        self._p = [np.asarray(expit(f))]
        self._q = [np.asarray(expit(f) * expit(-f))]
        self._terms: list[Array] = [np.zeros(np.shape(f))]  # T_0 itself is not needed
        self._rest = self._terms[0]

    def rest(self) -> Array:
        """``h_s``."""
        s, T, q = len(self._p), self._terms, self._q
        self._rest = np.asarray(sum((j * T[j] * q[s - j] for j in range(1, s)), np.zeros(T[0].shape)) / s)
        return self._rest

    def add(self, term: Array) -> Array:
        """``p_s``, which is ``P_s``."""
        s, p, q = len(self._p), self._p, self._q
        p.append(q[0] * term + self._rest)
        self._terms.append(term)
        q.append(p[s] - sum((p[j] * p[s - j] for j in range(s + 1)), np.zeros(p[0].shape)))
        return p[s]
