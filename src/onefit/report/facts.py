"""Everything a report says, read off a fitted search; nothing here knows about HTML."""

from __future__ import annotations

import os
import platform
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import joblib
import numpy as np
from sklearn.base import is_classifier

from ..estimators.comparison import Comparison
from ..machines import Exactness
from ..search.choice import warn_at_edge
from ..studies.manifest import processor
from .criteria_compared import CriteriaChoices, compared
from .judgement import Judgement
from .kernel_picture import KernelPicture, kernel_picture
from .overview import Overview, overview_of
from .predictions import Classification, Regression, out_of_fold
from .probabilities import Calibration, calibration_of
from .scores import Scores, read_scores
from .sureness import Sureness, sureness_of
from .surface import Curve, Panel, panels_of, validation_curves
from .text import plain, python
from .understanding import Importance, LearningCurve, importance_of, learning_curve_of

PACKAGES = ("onefit", "scikit-learn", "numpy", "scipy", "joblib")

BOUNDED = (Exactness.EXACT, Exactness.CERTIFIED, Exactness.APPROXIMATE)
"""Labels whose error bounds say something: what was trained has none, what was given up needs none."""

LEDGER_WORDS = {
    "base": "base matrices (distances, inner products)",
    "gram": "Gram matrices",
    "block": "rectangular parts of Gram matrices",
    "eigendecomposition": "eigendecompositions",
    "band form": "reductions to band form",
    "cholesky": "Cholesky factorisations",
    "fit": "trainings of an estimator",
    "full solution": "dual problems of all rows",
    "fold solution": "dual problems of the rows of a fold",
    "heldout": "passes for held-out values",
    "pass": "passes over all rows, a block at a time",
    "scoring": "calls for scores",
    "proved in round 0": "held-out values proved at the start",
    "proved in round 1": "held-out values proved in one round",
    "proved in round 2": "held-out values proved in two rounds",
    "proved later": "held-out values proved later",
    "proved by solving": "held-out values proved by solving",
}


@dataclass(frozen=True)
class Cost:
    """Work of the search, and the trainings that it took the place of.

    ``trainings`` is what GridSearchCV would train: candidates (those that the time budget reached) times splits, a
    count and not a measurement.
    ``trained`` of them were really trained; ``work`` is the sum of the candidates' measured seconds, ``refit`` that of
    training the chosen model on all rows (None if that was not done).
    """

    candidates: int
    trainings: int
    trained: int
    work: float
    refit: float | None
    ledger: list[tuple[str, int, float]]

    @property
    def replaced(self) -> int:
        """Trainings that were not needed."""
        return self.trainings - self.trained


@dataclass(frozen=True)
class Facts:
    """All sections of a report. Where a section has none of its facts, ``missing`` says why, by its name."""

    title: str
    model: str
    scores: Scores
    advice: list[str]
    labels: list[tuple[str, int]]  # exactness, number of candidates
    largest_bounds: dict[str, float]  # by exactness, NaN where nothing is known
    remarks: list[tuple[str, int]]  # status other than ok, number of candidates
    panels: list[Panel]
    panels_left_out: int
    curves: list[Curve]
    compared: CriteriaChoices | None
    predictions: Classification | Regression | None
    kernel: KernelPicture | None
    cost: Cost
    setup: list[tuple[str, str]]
    machine: list[tuple[str, str]]
    missing: dict[str, str]
    judgement: Judgement | None
    overview: Overview | None
    sureness: Sureness | None
    learning: LearningCurve | None
    importance: Importance | None
    calibration: Calibration | None
    code: str


def gather(
    search: Any,
    *,
    title: str | None = None,
    X: Any = None,
    y: Any = None,
    comparison: Comparison | None = None,
    remark: str | None = None,
    judgement: Judgement | None = None,
    groups: Any = None,
    feature_names: Sequence[str] | None = None,
    column_kinds: Sequence[str] | None = None,
    positive: Any = None,
    code: str | None = None,
    thorough: bool = True,
) -> Facts:
    """The facts of a fitted search; those that need the data only if they are given, and costly ones if thorough."""
    scores = read_scores(search)
    predictions, no_predictions = out_of_fold(search, y)
    kernel, no_kernel = kernel_picture(search, X, y)
    panels, left_out = panels_of(scores)
    counts = Counter(scores.exactness.tolist())
    remarks = Counter(plain(text) for text in scores.status.tolist() if text != "ok")
    return Facts(
        title=title or "Kernel search",
        model=type(getattr(search.estimator, "steps", [(None, search.estimator)])[-1][1]).__name__,
        scores=scores,
        advice=([remark] if remark else []) + advice_of(search, scores),
        largest_bounds={label: _largest(scores.bounds[scores.exactness == label]) for label in BOUNDED},
        labels=[(str(label), counts[label]) for label in Exactness if counts[label]],
        remarks=remarks.most_common(20),
        panels=panels,
        panels_left_out=left_out,
        curves=validation_curves(scores),
        compared=compared(search, scores, comparison),
        predictions=predictions,
        kernel=kernel,
        cost=cost_of(search, scores),
        setup=setup_of(search, scores, X, y),
        machine=machine_facts(),
        missing={"predictions": no_predictions, "kernel": no_kernel},
        judgement=judgement,
        overview=overview_of(X, y, classifier=is_classifier(search.estimator), names=feature_names, kinds=column_kinds),
        sureness=sureness_of(search, scores, X, y, groups) if thorough else None,
        learning=learning_curve_of(search, scores, X, y, groups) if thorough else None,
        importance=importance_of(search, scores, X, y, feature_names) if thorough else None,
        calibration=calibration_of(search, y, positive) if is_classifier(search.estimator) else None,
        code=code or _code(search, scores),
    )


def _code(search: Any, scores: Scores) -> str:
    """A line that builds the chosen model."""
    return f"model = {python(search.estimator)}.set_params(**{python(scores.params[scores.best])})"


def _largest(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.max()) if len(known) else np.nan


def advice_of(search: Any, scores: Scores) -> list[str]:
    """Remarks on a choice that leaves something open: an edge of the grid, ties."""
    advice = []
    if not callable(search.refit):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            table = {"params": scores.params, "mean_test_score": scores.merit, "exactness": scores.exactness}
            warn_at_edge(table, scores.best, "score")
        advice += [str(warning.message) for warning in caught]
    ties = int((scores.ranks == scores.ranks[scores.best]).sum()) - 1
    if ties and np.isfinite(scores.values[scores.best]):
        advice.append(f"Other candidates with the same score: {ties:,}. Ties go to the first of the grid.")
    return advice


def cost_of(search: Any, scores: Scores) -> Cost:
    """Counts and seconds as they were taken during the search."""
    ledger = getattr(search, "ledger_", None)
    entries = [] if ledger is None else [(LEDGER_WORDS[e], ledger[e], ledger.seconds[e]) for e in ledger.counts]
    retrained = int((scores.exactness == Exactness.RETRAINED).sum())
    reached = int((scores.exactness != Exactness.UNREACHED).sum())
    return Cost(
        candidates=reached,
        trainings=reached * search.n_splits_,
        trained=retrained * search.n_splits_,
        work=float(np.nansum(scores.seconds)),
        refit=getattr(search, "refit_time_", None),
        ledger=[entry for entry in entries if entry[1]],
    )


def setup_of(search: Any, scores: Scores, X: Any, y: Any) -> list[tuple[str, str]]:
    """The arguments of the search, so that it can be repeated."""
    rows = len(search.oof_decision_) if hasattr(search, "oof_decision_") else None
    if X is not None:
        rows = X.shape[0] if hasattr(X, "shape") else len(X)
    facts = {
        "estimator": python(search.estimator),
        "param_grid": python(search.param_grid),
        "chosen": python(scores.params[scores.best]),
        "criterion": python(search.criterion),
        "cv": python(search.cv),
        "splits": str(search.n_splits_),
        "scoring": repr(search.scoring),
        "preprocessing": search.preprocessing,
        "scale_penalty": repr(search.scale_penalty),
        "screen": repr(search.screen),
        "n_jobs": repr(search.n_jobs),
        "rows": "not known" if rows is None else f"{rows:,}",
    }
    if X is not None:
        facts["columns"] = f"{X.shape[1]:,}" if getattr(X, "ndim", 0) == 2 else "not known"
        facts["fingerprint of X, y"] = f"{joblib.hash(X)}, {joblib.hash(y)}"
    return [(name, text if len(text) <= 2000 else text[:2000] + "…") for name, text in facts.items()]


def machine_facts() -> list[tuple[str, str]]:
    """Versions, processor and time of writing."""
    facts = {"written": datetime.now().astimezone().isoformat(timespec="seconds"), "Python": platform.python_version()}
    for package in PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:  # a source tree that was not installed
            continue
    facts |= {"processor": processor(), "cores": str(os.cpu_count()), "system": platform.platform()}
    return list(facts.items())
