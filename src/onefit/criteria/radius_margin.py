"""The radius-margin bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from ..machines.capabilities import Gradient
from ..machines.evidence import Evidence
from .base import Criterion


@dataclass(frozen=True)
class RadiusMargin(Criterion):
    r"""Squared radius of the smallest ball around the rows times the squared norm of the weights.

    .. math:: \frac1n R^2 \|w\|^2, \qquad \|w\|^2 = \sum_i \alpha_i

    in the feature space of K + 1/(2C) I, in which an L2-SVM has a hard margin. R² is the largest value of
    :math:`\sum b_i \tilde K_{ii} - b^T \tilde K b` over b >= 0 with sum one. Not valid for the soft margin of the hinge
    loss.

    Cost    two quadratic programs.
    Oracle  the largest distance to the centre; LIBSVM or Newton's method for the weights.
    Laws    at least the leave-one-out error without bias; invariant to scaling of K by c and C by 1/c.
    Source  Vapnik (1998); Chapelle, Vapnik, Bousquet & Mukherjee (2002).
            Numbers of their equations were not at hand.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import L2SVC, criteria
    >>> y = np.array([-1, -1, 1, 1])
    >>> round(criteria.RadiusMargin()(np.eye(4), y, L2SVC(kernel="precomputed")), 6)
    0.75
    """

    name = "radius_margin"
    reads = ("gram", "margin", "ball")
    classes = "two"
    formula = "(1/n) R² ‖w‖²"
    cost = "two quadratic programs"
    estimates = "leave-one-out, from above"
    use = "smooth in the parameters, for gradient search"
    failures = "often far above one; not valid for SVC's hinge loss"

    def path(self, evidence: Evidence) -> Array:
        """The bound for every candidate."""
        norms = evidence.of_margins(lambda margin: float(np.abs(margin.beta).sum()))
        return np.array([ball.squared_radius for ball in evidence.balls]) * norms / evidence.n

    def tangent(self, evidence: Evidence) -> Gradient:
        """``(1/n) [|w|² (diag b - b bᵀ) - R² β βᵀ]``: both are optimal values, so that only the matrix changes them."""
        ((margin,),), (ball,) = evidence.margins, evidence.balls
        norm, b, n = float(np.abs(margin.beta).sum()), ball.weights, evidence.n
        gram = -(norm * np.outer(b, b) + ball.squared_radius * np.outer(margin.beta, margin.beta))
        gram.flat[:: n + 1] += norm * b
        gram /= n
        return Gradient(ball.squared_radius * norm / n, gram, -float(gram.diagonal() @ ball.ridge))
