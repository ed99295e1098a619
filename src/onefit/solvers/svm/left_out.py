r"""Every row left out by itself: one Newton step of each retrained machine, all from one inverse.

It is the whole series of ``series.py`` for leave-one-out folds. Let S be the rows at which the loss is curved, D the
ridge there, and

.. math:: \begin{pmatrix} G & g \\ g^T & g_0 \end{pmatrix} =
          \begin{pmatrix} (K + D)_{SS} & 1 \\ 1^T & 0 \end{pmatrix}^{-1}.

Leaving out a row i of S changes the coefficients of S by :math:`-G_{\cdot i} \beta_i / G_{ii}` and the bias by
:math:`-g_i \beta_i / G_{ii}`. A coefficient that rests at a bound goes to S: :math:`(K + D)_{SS} a + b' 1 = K_{Si}
\beta_i`, :math:`\sum a = \beta_i`. A row without a coefficient changes nothing.

Cost: O(m³) for m rows of S, O(n m) for each row with a coefficient. Oracle: the splits one by one (``series.py``), and
dense systems without the row.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import Array, Indices
from .series import Terms
from .subproblem import SMALL

CHUNK = 512
"""Rows that are left out side by side."""


def can_leave_out(terms: Terms) -> bool:
    """Whether every row can be left out: S is not empty then, with a bias to be determined by it."""
    return terms.start.lacking is None and len(terms.S) > int(terms.bias)


def left_out_values(terms: Terms, at: Indices) -> Array:
    """Values of some members of the problem, by their places in it, each by the machine without it."""
    problem, start = terms.problem, terms.start
    moved = start.slopes[at] != 0.0
    values = np.empty(len(at))
    values[~moved] = problem.values_of(start.u, start.beta, start.b, problem.members[at[~moved]])
    for kind, change in ((start.curved[at], _without_curved), (~start.curved[at], _without_bounded)):
        numbers = np.flatnonzero(moved & kind)
        for first in range(0, len(numbers), CHUNK):
            chunk = numbers[first : first + CHUNK]
            values[chunk] = _values(terms, at[chunk], *change(terms, at[chunk]))
    return values


def _without_curved(terms: Terms, at: Indices) -> tuple[Array, Array]:
    """(changes of the coefficients (n, t), of the bias (t,)) if rows of S are left out."""
    system, own = terms.system(1.0), terms.start.slopes[at]
    unit = np.zeros((len(terms.start.slopes), len(at)))
    unit[at, np.arange(len(at))] = 1.0
    a = np.zeros_like(unit)
    a[terms.S], biases = terms.solve(system, unit[terms.S], np.zeros(len(at)))
    scale = -own / a[at, np.arange(len(at))]
    return a * scale, biases * scale


def _without_bounded(terms: Terms, at: Indices) -> tuple[Array, Array]:
    """(changes of the coefficients (n, t), of the bias (t,)) if rows at a bound are left out."""
    system, own = terms.system(1.0), terms.start.slopes[at]
    a = np.zeros((len(terms.start.slopes), len(at)))
    a[at, np.arange(len(at))] = -own
    a[terms.S], biases = terms.solve(system, -terms.image(a)[terms.S], own)
    return a, biases


def _values(terms: Terms, at: Indices, a: Array, biases: Array) -> Array:
    """Values of the rows that were left out; small ones anew, from coefficients without theirs."""
    problem, start = terms.problem, terms.start
    u = start.u[at] + terms.image_at(at, a)
    values = np.asarray(u + start.b + biases)
    betas = start.beta[:, None] + a
    for k in np.flatnonzero(np.abs(u) <= SMALL * problem.magnitude * np.abs(betas).max(axis=0)):
        betas[at[k], k] = 0.0  # but for rounding
        values[k] = problem.combination(betas[:, k], start.b + biases[k], problem.members[at[[k]]])[0]
    return values
