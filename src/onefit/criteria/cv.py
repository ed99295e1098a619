"""Exact cross-validation."""

from __future__ import annotations

from dataclasses import dataclass

from .._arrays import Array
from .._checks import check_number
from ..machines import Exactness
from ..machines.capabilities import Gradient
from ..machines.evidence import Evidence
from ._mean_losses import held_out_gradient, mean_loss
from .base import Criterion
from .row_losses import Loss, check_aggregate, check_loss


@dataclass(frozen=True)
class CV(Criterion):
    """t-fold cross-validation, exact: the loss of really retraining on every fold.

    In a search of support vector machines, ``certify=True`` solves a fold only until the duality gap proves every
    held-out label (the scores are then exactly those of retraining), or every held-out value of a regression up to
    ``tolerance`` times the standard deviation of the targets. ``prune=True`` stops as soon as a candidate's best
    possible score is below one that is proved. ``exactness`` and ``error_bound`` (of the mean score) say what was done.

    ``loss`` is "error" (wrong labels), "squared", "hinge", "absolute" or a function of targets and decision values (of
    classes: targets -1 and +1) that returns one number for each row. None is the share of wrong labels, or the squared
    error of a regression. A row of several columns has the mean of their losses: one-vs-rest columns, or the pairs of
    classes that its class is in, +1 for the class that sorts last.

    A search averages folds, and without ``loss`` takes its ``scoring``, whose weights of tested rows are those of
    ``GridSearchCV``; a given loss weighs them as the machine does.

    Cost    one factorisation of K and O(Σ l_i² n) for folds of l_i rows.
    Oracle  retraining on every fold.
    Laws    with squared error, V(c y) = c² V(y); with an intercept, V(y + c) = V(y).
    Source  the mean over points is t-CV in Section 2 of Liu, Liao, Jiang, Ding, Lin & Wang, Fast cross-validation for
            kernel-based algorithms, the mean over folds the loss of f_kcv in Section V of Liu, Liao, Zhang, Ren & Wang,
            Kernel stability for model selection in kernel-based algorithms; neither is numbered.

    Parameters
    ----------
    scale_penalty : bool, default=False
        Whether the penalty follows the number of training rows, as in ``KernelSearchCV``.
    aggregate : {"points", "folds"}, default="points"
        Mean over all tested rows, or mean of the folds' means.
    certify : bool, default=False
        Whether a search of support vector machines may stop a fold once its labels or values are proved.
    prune : bool, default=False
        Whether it may give up candidates that cannot win any more; needs ``certify``.
    tolerance : float, default=1e-3
        Error of certified values of a regression, relative to the standard deviation of the targets.
    loss : {"error", "squared", "hinge", "absolute"} or callable, default=None
        Loss to average, as above.

    Examples
    --------
    >>> import numpy as np
    >>> from onefit import LSSVR, criteria
    >>> K = np.eye(4)
    >>> round(criteria.CV()(K, np.ones(4), LSSVR(kernel="precomputed"), cv=2), 12)
    0.0
    """

    scale_penalty: bool = False
    aggregate: str = "points"
    certify: bool = False
    prune: bool = False
    tolerance: float = 1e-3
    loss: Loss | None = None

    name = "cv"
    reads = ("heldout",)
    scores = True
    formula = "(1/n) Σ_folds Σ_{i in fold} loss(y_i, f without that fold)"
    cost = "one factorisation, then O(Σ l_i² n) a penalty; SVM: a few steps a fold"
    exactness = Exactness.EXACT
    estimates = "the error on new data, from retraining"
    use = "the reference; the default"
    failures = "noisy for small n; twins across folds leak (group them)"

    def __post_init__(self) -> None:
        if self.prune and not self.certify:
            raise ValueError("prune=True needs certify=True: what is not certified cannot be ruled out.")
        check_number("tolerance", self.tolerance, "non-negative")
        check_aggregate(self.aggregate)
        check_loss(self.loss)
        if self.certify and self.loss is not None:
            raise ValueError("certify=True proves labels, or values of a regression: leave out loss.")

    def path(self, evidence: Evidence) -> Array:
        """The mean loss on held-out rows."""
        held = evidence.held(None, self.scale_penalty)
        return mean_loss(evidence, held, self.loss, self.aggregate)

    def tangent(self, evidence: Evidence) -> Gradient:
        """The mean loss with derivatives: about as costly as the value for least squares, a training a fold for others.

        Squared, hinge, absolute and given losses; the share of wrong labels has none.
        """
        tested = [fold.test for fold in evidence.gram.problem.folds]
        tangent = evidence.tangent(self.scale_penalty)
        return held_out_gradient(evidence, tangent, tested, self.loss, self.aggregate)
