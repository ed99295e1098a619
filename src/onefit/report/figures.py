"""The charts of a report."""

from __future__ import annotations

import numpy as np

from .criteria_compared import CriterionChoice
from .drawing import chart, diamond, dots, horizontal, line, star, vertical
from .kernel_picture import KernelPicture
from .predictions import Classification, Regression
from .probabilities import Calibration, Thresholds
from .surface import Curve, spans_decades
from .text import number
from .understanding import LearningCurve


def validation(curve: Curve) -> str:
    """Score over a parameter, a band of one standard error, the chosen value and the one-standard-error choice."""
    known = np.isfinite(curve.errors)
    errors = np.where(known, curve.errors, 0.0)
    x = horizontal(curve.places, curve.logarithmic)
    y = vertical([*(curve.values - errors), *(curve.values + errors), curve.threshold])
    across, up = x(curve.places), y(curve.values)
    marks = []
    if known.any():
        outline = np.concatenate([y(curve.values - errors), y(curve.values + errors)[::-1]])
        marks.append(line(np.concatenate([across, across[::-1]]), outline, "band", closed=True))
    if np.isfinite(curve.threshold):
        level = np.full(2, float(y(curve.threshold)))
        marks.append(line(np.array([x.start, x.end]), level, "threshold"))
    tips = [
        f"{curve.parameter}={place:.6g}: {number(value, 6)}" + (f" ± {number(error, 2)}" if has else "")
        for place, value, error, has in zip(curve.places, curve.values, curve.errors, known)
    ]
    marks += [line(across, up), dots(across, up, tips)]
    if curve.cautious is not None:
        marks.append(diamond(across[curve.cautious], up[curve.cautious]))
    if curve.best is not None:
        marks.append(star(across[curve.best], up[curve.best]))
    label = f"Curve of {curve.score} over {curve.parameter}: {len(curve.places)} values"
    if curve.best is not None:
        label += f", chosen {curve.places[curve.best]:.6g} with {number(curve.values[curve.best], 6)}"
    return chart(label, x, y, curve.parameter, curve.score, "".join(marks))


def roc(facts: Classification) -> str:
    """True over false positive rate."""
    assert facts.roc is not None
    x, y = horizontal([0.0, 1.0]), vertical([0.0, 1.0])
    chance = line(x(np.array([0.0, 1.0])), y(np.array([0.0, 1.0])), "threshold")
    label = f"ROC curve of class {facts.classes[-1]}: area {number(facts.auc)}"
    marks = chance + line(x(facts.roc[0]), y(facts.roc[1]))
    return chart(label, x, y, "false positive rate", "true positive rate", marks)


def precision_recall(facts: Classification) -> str:
    """Precision over recall."""
    assert facts.pr is not None
    x, y = horizontal([0.0, 1.0]), vertical([0.0, 1.0])
    share = facts.confusion[-1].sum() / facts.confusion.sum()
    chance = line(x(np.array([0.0, 1.0])), y(np.array([share, share])), "threshold")
    label = f"Precision-recall curve of class {facts.classes[-1]}: average precision {number(facts.average_precision)}"
    return chart(label, x, y, "recall", "precision", chance + line(x(facts.pr[0]), y(facts.pr[1])))


def learning(curve: LearningCurve) -> str:
    """Score over the number of rows, with a band of one standard error."""
    x = horizontal(curve.rows)
    y = vertical([*(curve.values - curve.errors), *(curve.values + curve.errors)])
    across, up = x(curve.rows), y(curve.values)
    outline = np.concatenate([y(curve.values - curve.errors), y(curve.values + curve.errors)[::-1]])
    tips = [f"{rows:,.0f} rows: {number(value)} ± {number(error, 2)}"
            for rows, value, error in zip(curve.rows, curve.values, curve.errors)]  # fmt: skip
    marks = line(np.concatenate([across, across[::-1]]), outline, "band", closed=True)
    label = f"Learning curve: {curve.score} over rows, from {tips[0]} to {tips[-1]}"
    return chart(label, x, y, "rows", curve.score, marks + line(across, up) + dots(across, up, tips))


def calibration(facts: Calibration) -> str:
    """Observed shares over mean predicted probabilities, in groups of equally many rows."""
    x, y = horizontal([0.0, 1.0]), vertical([0.0, 1.0])
    across, up = x(facts.predicted), y(facts.observed)
    tips = [f"{size:,} rows: predicted {number(p, 3)}, observed {number(o, 3)}"
            for p, o, size in zip(facts.predicted, facts.observed, facts.sizes)]  # fmt: skip
    ideal = line(x(np.array([0.0, 1.0])), y(np.array([0.0, 1.0])), "threshold")
    label = f"Calibration of the probability of {facts.thresholds.positive}: Brier score {number(facts.brier)}"
    marks = ideal + line(across, up) + dots(across, up, tips)
    return chart(label, x, y, "predicted probability", "observed share", marks)


def threshold(facts: Thresholds) -> str:
    """Precision, recall and F1 over the threshold of the probability."""
    x, y = horizontal([0.0, 1.0]), vertical([0.0, 1.0])
    across = x(facts.places)
    best = int(np.argmax(facts.f1))
    marks = line(across, y(facts.recall)) + line(across, y(facts.precision), "line second")
    marks += line(across, y(facts.f1), "line third") + star(float(across[best]), float(y(facts.f1[best])))
    label = (
        f"Recall, precision and F1 of {facts.positive} over the threshold of its probability: F1 is largest, "
        f"{number(facts.f1[best])}, at {number(facts.places[best], 3)}"
    )
    return chart(label, x, y, "threshold of the probability", "share", marks)


def predicted_and_true(facts: Regression) -> str:
    """Predictions over targets, and where they would be equal."""
    true, predicted = facts.true[facts.shown], facts.predicted[facts.shown]
    both = np.concatenate([true, predicted])
    x, y = horizontal(both), vertical(both)
    ends = np.array([both.min(), both.max()])
    marks = dots(x(true), y(predicted), kind="row", radius=2.5) + line(x(ends), y(ends), "threshold")
    label = f"Predictions over true values of {len(true)} rows"
    return chart(label, x, y, "true", "predicted", marks)


def residuals(facts: Regression) -> str:
    """Errors over predictions."""
    true, predicted = facts.true[facts.shown], facts.predicted[facts.shown]
    errors = true - predicted
    x, y = horizontal(predicted), vertical([*errors, 0.0])
    zero = line(np.array([x.start, x.end]), np.full(2, float(y(0.0))), "threshold")
    marks = dots(x(predicted), y(errors), kind="row", radius=2.5) + zero
    label = f"Residuals over predictions of {len(true)} rows"
    return chart(label, x, y, "predicted", "true less predicted", marks)


def spectrum(facts: KernelPicture) -> str:
    """Eigenvalues down to the smallest that rounding lets see, and the ridge; nothing if none is positive."""
    floor = max(0.0, facts.eigenvalues[0] * 1e-16 * facts.n)
    kept = facts.eigenvalues[facts.eigenvalues > floor]
    if len(kept) == 0:
        return ""
    ranks = np.arange(1.0, len(kept) + 1)
    x = horizontal(ranks, logarithmic=len(ranks) > 1)
    ridge = [facts.ridge] if facts.ridge and facts.ridge > 0 else []
    y = vertical([*kept, *ridge], logarithmic=True)
    marks = line(x(ranks), y(kept))
    if ridge:
        marks += line(np.array([x.start, x.end]), np.full(2, float(y(ridge[0]))), "threshold")
    label = f"{len(kept)} eigenvalues of the Gram matrix from {number(kept[0])} down to {number(kept[-1])}"
    return chart(label, x, y, "place", "eigenvalue", marks)


def criterion(choice: CriterionChoice, parameter: str) -> str:
    """The best natural value of a criterion over a parameter, and what it chooses."""
    x, y = horizontal(choice.places, spans_decades(choice.places)), vertical(choice.curve)
    known = np.isfinite(choice.curve)
    across, up = x(choice.places[known]), y(choice.curve[known])
    tips = [f"{parameter}={place:.6g}: {number(value, 6)}" for place, value in zip(choice.places, choice.curve)]
    marks = line(across, up) + dots(across, up, np.array(tips)[known].tolist())
    if choice.chosen_at is not None:
        marks += star(float(x(choice.chosen_at)), float(y(choice.value)))
    label = f"{choice.criterion} over {parameter}, best value {number(choice.value, 6)}"
    return chart(label, x, y, parameter, choice.criterion, marks)
