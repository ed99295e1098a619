"""Mean losses of machines: on the rows that they are trained on, on held-out rows, and their moments over folds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._arrays import Array, Indices
from ..kernels import NotDifferentiableError
from ..machines.capabilities import Gradient, HeldOutTangent
from ..machines.evidence import Evidence, OutOfFold
from .row_losses import ERROR, Loss, left_out_losses, loss_slope, mean_of_rows, row_losses


def empirical_risk(evidence: Evidence, loss: Loss | None = None) -> Array:
    """Mean loss on all rows of machines trained on all rows (E,).

    None is the loss of the machine: squared for least squares, hinge for support vector classification (of pairs of
    classes the mean over those that a row's class is in), epsilon-insensitive for support vector regression, minus the
    logarithm of the likelihood for logistic regression. Rows count alike, whatever they weigh in training; of several
    targets it is the mean.
    """
    machine = evidence.machine
    loss = machine.learner.loss if loss is None else loss

    def compute() -> Array:
        if loss == "squared" and "smoother" in machine.learner.offers:  # residuals have more digits than y - f
            return np.asarray((evidence.smoother().residuals ** 2).mean(axis=(1, 2)))
        losses = row_losses(loss, machine.coded.coding, machine.coded.labels, evidence.fitted)
        return np.asarray(losses.mean(axis=1))

    return evidence.once(("risk", loss), compute)


def left_out_loss(evidence: Evidence, loss: Loss | None, share: float = 1.0) -> Array:
    """Mean loss (E,) with ``share`` of the ridge; None is the loss of ``held_out_losses``.

    A squared error is that of the residuals, whose digits ``y - (y - residual)`` would lose.
    """
    loss = prediction_loss(evidence) if loss is None else loss
    if loss == "squared" and not evidence.some_class_left_out:
        return np.asarray((evidence.smoother(share).left_out ** 2).mean(axis=(1, 2)))
    return mean_loss(evidence, evidence.left_out(share), loss, "points")


def check_correlation(correlation: Any) -> None:
    """Refuse what is neither None nor a correlation of two folds that leaves some variance."""
    if correlation is not None and not 0 <= correlation < 1:
        raise ValueError(f"correlation must be None or a number from 0 up to 1, got {correlation!r}.")


def fold_means(evidence: Evidence, held: OutOfFold, loss: Loss | None) -> Array:
    """Mean loss of every split (E, J), ``loss`` as in ``mean_loss``; of leave-one-out the loss of every row."""
    losses = held_out_losses(evidence, held, loss)
    if held.folds.leave_one_out:
        return losses[0]
    return np.stack(list(map(mean_of_rows, losses, _tested_weights(evidence, held, loss))), axis=1)


def tested_share(held: OutOfFold) -> float:
    """Mean share of the rows that a split tests."""
    n = held.folds.n
    return float(np.mean([len(fold.test) for fold in held.folds])) / n


def fold_moments(means: Array, correlation: float) -> tuple[Array, Array]:
    r"""(variance of one fold's error, covariance of two folds') from the errors (…, J) of J folds.

    The sample variance of exchangeable folds estimates the difference of the two without bias, and nothing that is
    computed from one sample estimates either: the correlation has to be supposed.
    """
    variance = means.var(axis=-1, ddof=1) / (1.0 - correlation)
    return variance, correlation * variance


def mean_loss(
    evidence: Evidence, held: OutOfFold, loss: Loss | None, aggregate: str, usual: Loss | None = None
) -> Array:
    """Mean held-out loss (E,); a ``loss`` of None is the ``usual`` one, and without that as in ``held_out_losses``.

    ``aggregate="points"`` pools all tested rows, ``"folds"`` averages the folds' means.
    """
    losses = held_out_losses(evidence, held, usual if loss is None else loss)
    weights = _tested_weights(evidence, held, loss)
    if aggregate == "points":
        given = None if weights[0] is None else np.concatenate(weights)
        return mean_of_rows(np.concatenate(losses, axis=1), given)
    return np.asarray(np.mean(list(map(mean_of_rows, losses, weights)), axis=0))


def _tested_weights(evidence: Evidence, held: OutOfFold, loss: Loss | None) -> list[Any]:
    """Weights of the tested rows of each split; None if they count alike.

    They are those of a search by the same ``loss``: the machine's where a loss is given, else those of its scorer. In
    leave-one-out rows count alike, as a fold of one row is not weighed either.
    """
    weights = evidence.score_weights if loss is None else evidence.loss_weights
    if weights is None or held.folds.leave_one_out:
        return [None] * len(held.tested)
    parts = [weights[rows] for rows in held.tested]
    if not all(part.any() for part in parts):
        evidence.reasons.append("the tested rows of a fold all have weight zero")
    return parts


def trainable(evidence: Evidence, held: OutOfFold) -> bool:
    """Whether every split has two classes to train on; the reason is kept if not."""
    if any(classes is not None and len(classes) < 2 for classes in held.present):
        evidence.reasons.append("a fold trains on one class only")
        return False
    return True


def held_out_losses(evidence: Evidence, held: OutOfFold, loss: Loss | None) -> list[Array]:
    """Losses (E, rows) of each split; None is the share of wrong labels, or the squared error of a regression."""
    coded, folds, present = evidence.machine.coded, held.folds, held.present
    if not trainable(evidence, held):
        return [np.full((evidence.size, len(rows)), np.nan) for rows in held.tested]
    loss = prediction_loss(evidence) if loss is None else loss
    losses = []
    for k, (tested, part) in enumerate(zip(held.tested, held.parts)):
        if folds.leave_one_out:
            found = left_out_losses(loss, coded.coding, coded.labels, part, present)
        else:
            found = row_losses(loss, coded.coding, coded.labels[tested], part, present[k])
        if np.isnan(found[~held.failed]).any():
            evidence.reasons.append("a fold is trained without the class of a row, which then has no target")
        found[held.failed] = np.nan
        losses.append(found)
    return losses


def held_out_gradient(
    evidence: Evidence, tangent: HeldOutTangent, tested: list[Indices], loss: Loss | None, aggregate: str
) -> Gradient:
    """The mean held-out loss of one candidate with derivatives; ``tested`` are the rows of each split."""
    coded = evidence.machine.coded
    loss = prediction_loss(evidence) if loss is None else loss
    values = tangent.values
    if any(np.isnan(part).any() for part in values):
        raise NotDifferentiableError("A fold trains without one of the classes: its values have no derivatives.")
    left_out = len(tested) == evidence.n and all(len(rows) == 1 for rows in tested)
    given = None if left_out else evidence.loss_weights  # as in ``_tested_weights``
    weights = [np.ones(len(rows)) if given is None else given[rows] for rows in tested]
    everything = sum(float(part.sum()) for part in weights)
    total, slopes = 0.0, []
    for rows, part, own in zip(tested, values, weights):
        Y, F, counted = coded.coding.columns(coded.labels[rows], part)
        share = own / (everything if aggregate == "points" else len(tested) * own.sum())
        total += float(share @ row_losses(loss, coded.coding, coded.labels[rows], part[None])[0])
        slope = np.zeros(F.shape)
        slope[counted] = loss_slope(loss, Y[counted], F[counted])
        slopes.append(slope * (share / counted.sum(axis=1))[:, None])
    return replace(tangent.pullback(slopes), value=total)


def prediction_loss(evidence: Evidence) -> str:
    """The loss of a prediction: a wrong label, or the squared error of a regression."""
    return "squared" if evidence.machine.coded.coding.classes is None else ERROR
