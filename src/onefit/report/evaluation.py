"""The page of ``onefit evaluate``: how a saved model does on rows that it was not trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .predictions import Classification, Regression, classified, regressed
from .probabilities import Calibration, calibrated_facts


@dataclass(frozen=True)
class Interval:
    """A score and its bootstrap interval; NaN where there is none."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Evaluation:
    """All sections of the page."""

    title: str
    model: str
    data: str
    rows: int
    level: float
    replicates: int
    measures: list[Interval]
    verdict: str
    predictions: Classification | Regression
    calibration: Calibration | None
    facts: list[tuple[str, str]]


def pictures_of(
    y: np.ndarray,
    values: np.ndarray,
    *,
    classes: list | None,
    decision: np.ndarray | None = None,
    probability: np.ndarray | None = None,
    positive: Any = None,
) -> tuple[Classification | Regression, Calibration | None]:
    """Facts about predictions: counts and curves of classes, errors of numbers; and calibration, of two classes."""
    if classes is None:
        return regressed(y, values, np.ones(len(y), dtype=bool)), None
    labels = np.unique(np.concatenate([np.asarray(classes), y]))
    shown = decision if decision is not None else np.zeros((len(y), 2))
    found = classified(y, values, labels, shown, 0)
    if probability is None or len(classes) != 2 or len(np.unique(y)) < 2:
        return found, None
    wanted = classes[1] if positive is None else positive
    chances = probability[:, classes.index(wanted)]
    return found, calibrated_facts(chances, y == wanted, str(wanted))


def evaluation_page(facts: Evaluation) -> str:
    """The page. A pure function of the facts."""
    from . import figures
    from .page import environment, largest_classes, thresholds_for_script

    return (
        environment()
        .get_template("evaluation.html")
        .render(
            evaluation=facts,
            figures=figures,
            calibration=facts.calibration,
            is_classified=isinstance(facts.predictions, Classification),
            is_regressed=isinstance(facts.predictions, Regression),
            shown_classes=largest_classes(facts.predictions),
            thresholds=None if facts.calibration is None else thresholds_for_script(facts.calibration.thresholds),
        )
    )
